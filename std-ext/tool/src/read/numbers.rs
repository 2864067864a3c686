//! Conversion of values to float64, for stages that accept only float64.

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::TensogramError;

use crate::read::elements::{Elements, parts};

/// Converts values to float64 of this machine's byte order.
///
/// # Errors
/// For complex numbers and bitmasks; for the first integer that float64 cannot hold exactly.
pub(crate) fn to_float64(dtype: Dtype, order: ByteOrder, data: &[u8]) -> Result<Vec<u8>, TensogramError> {
    if parts(dtype) != 1 || dtype == Dtype::Bitmask {
        let text = format!("values are {dtype}, which are not real numbers");
        return Err(TensogramError::Encoding(text.into()));
    }
    // Only bitmasks need `count`.
    let elements = Elements { dtype, order, count: 0, bytes: data };
    let (mut values, mut inexact, mut index) = (Vec::new(), None, 0);
    elements.for_each(|number| {
        inexact = inexact.or_else(|| elements.integer(index).filter(|integer| !is_exact(*integer, number)));
        // After the first inexact integer, `index` stays: it is for the error text.
        if inexact.is_none() {
            index += 1;
        }
        values.extend_from_slice(&number.to_ne_bytes());
    });
    match inexact {
        None => Ok(values),
        Some(integer) => {
            let text = format!("element {index} is {integer}, which no float64 is equal to");
            Err(TensogramError::Encoding(text.into()))
        }
    }
}

/// Whether a float equals the integer that it was converted from.
#[expect(clippy::cast_possible_truncation, reason = "integers of 64 bits")]
const fn is_exact(integer: i128, number: f64) -> bool {
    number as i128 == integer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_convert_only_if_a_float64_equals_them() {
        let convert = |values: &[i64]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
            to_float64(Dtype::Int64, ByteOrder::Big, &bytes)
        };
        assert_eq!(convert(&[-(1 << 53)]).unwrap(), (-9_007_199_254_740_992.0_f64).to_ne_bytes());
        let error = convert(&[0, (1 << 53) + 1, 0, (1 << 53) + 3]).unwrap_err().to_string();
        assert!(error.contains("element 1 is 9007199254740993,"), "{error}");
        for dtype in [Dtype::Complex64, Dtype::Bitmask] {
            assert!(to_float64(dtype, ByteOrder::Big, &[]).is_err());
        }
    }
}
