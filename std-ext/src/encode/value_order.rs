//! The byte order of values for codecs that compress numbers and not bytes: zfp and sz3.

use tgm_codec::CodecError;
use tgm_codec::about::Input;
use tgm_core::descriptor::{ByteOrder, Compression, Dtype};

use crate::base::error::Result;
use crate::base::hint::Hint;
use crate::base::options::ValueOrder;
use crate::model::types::DataObjectDescriptor;

/// The check needs at least this many values. Fewer could look plausible in either order by chance.
const LEAST: usize = 16;
/// Magnitudes of measurements and model values. Bytes in the wrong order rarely have them, because the last digits of a
/// number become its exponent.
const USUAL: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// The byte order of the values in `data`.
///
/// # Errors
/// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for values that seem to be in another order than the
/// declared one, unless the caller has said which order it is.
pub(super) fn determine(descriptor: &DataObjectDescriptor, data: &[u8], said: ValueOrder) -> Result<ByteOrder> {
    let declared = descriptor.byte_order;
    if !codes_numbers(&descriptor.compression) || descriptor.dtype != Dtype::Float64 || declared == ByteOrder::NATIVE {
        return Ok(declared);
    }
    match said {
        ValueOrder::Native => Ok(ByteOrder::NATIVE),
        ValueOrder::Checked if look_native(data.as_chunks().0) => {
            let (native, declared) = (ByteOrder::NATIVE.name(), declared.name());
            let text = format!(
                "the values are of usual magnitudes as {native} endian, which this machine is, and not as the \
                 {declared} endian that the descriptor says: {}",
                Hint::ValueOrder
            );
            Err(CodecError::new(text).in_codec(&descriptor.compression).into())
        }
        ValueOrder::Checked | ValueOrder::Declared => Ok(declared),
    }
}

/// Whether a compression is of numbers, and not of bytes.
pub(crate) fn codes_numbers(compression: &str) -> bool {
    let codec = Compression::from_name(compression).and_then(tgm_codec::find);
    codec.is_some_and(|codec| codec.about().input == Input::Numbers)
}

/// Whether values look plausible in this machine's byte order, and not in the other.
///
/// If values are in the other order, the first few decide. Read in this machine's order, two of three numbers with
/// random digits have an unusual magnitude, and so do all numbers with few digits.
fn look_native(values: &[[u8; 8]]) -> bool {
    let (mut seen, mut odd) = (0_usize, 0_usize);
    for bytes in values {
        let native = f64::from_ne_bytes(*bytes);
        // Zeros and values for masks say nothing about the order.
        if native == 0.0 || !native.is_finite() {
            continue;
        }
        if !USUAL.contains(&native.abs()) {
            return false;
        }
        let mut swapped = *bytes;
        swapped.reverse();
        seen += 1;
        odd += usize::from(!USUAL.contains(&f64::from_ne_bytes(swapped).abs()));
    }
    seen >= LEAST && odd >= seen / 4
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    const OTHER: ByteOrder = match ByteOrder::NATIVE {
        ByteOrder::Big => ByteOrder::Little,
        ByteOrder::Little => ByteOrder::Big,
    };

    fn bytes(values: &[f64], order: ByteOrder) -> Vec<u8> {
        let bytes = values.iter().map(|value| match order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        });
        bytes.flatten().collect()
    }

    #[test]
    fn values_in_their_order_pass_whatever_they_are() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(state)
        };
        let many = |value: f64| vec![value; 100];
        let cases = [
            (0..2000).map(|_| random()).collect(),
            (0..100).map(f64::from).collect(),
            many(0.0),
            many(1.0),
            many(273.15),
            many(f64::MIN_POSITIVE),
            many(f64::NAN),
            many(5e-324),
            vec![1e300; LEAST - 1],
        ];
        for values in cases {
            assert!(!look_native(bytes(&values, OTHER).as_chunks().0), "{:?}", values.first());
        }
        assert!(look_native(bytes(&many(1.0), ByteOrder::NATIVE).as_chunks().0));
        assert!(!look_native(bytes(&[1.0; LEAST - 1], ByteOrder::NATIVE).as_chunks().0));
        assert!(look_native(bytes(&[1.0; LEAST], ByteOrder::NATIVE).as_chunks().0));
    }

    #[test]
    fn a_quarter_of_values_that_are_odd_the_other_way_round_tells_the_order() {
        // A number that is the same both ways, and of usual magnitude.
        let same = f64::from_bits(0x4045_4545_4545_4540);
        assert_eq!(same.to_bits(), same.to_bits().swap_bytes());
        for (odd, is_native) in [(0, false), (4, false), (5, true), (6, true), (20, true)] {
            let values = [vec![1.0; odd], vec![same; 20 - odd]].concat();
            assert_eq!(look_native(bytes(&values, ByteOrder::NATIVE).as_chunks().0), is_native, "{odd}");
        }
    }

    /// Codecs of bytes keep them in the declared order.
    #[test]
    fn other_codecs_do_not_ask() {
        let descriptor = DataObjectDescriptor::new(Dtype::Float64, OTHER, &[400]);
        for order in [ValueOrder::Checked, ValueOrder::Declared, ValueOrder::Native] {
            assert_eq!(determine(&descriptor, &bytes(&[1.0; 400], ByteOrder::NATIVE), order).unwrap(), OTHER);
        }
    }
}
