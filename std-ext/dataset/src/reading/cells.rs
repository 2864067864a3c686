//! The values of a variable.

use tgm_core::descriptor::Dtype;
use tgm_std::Result;
use tgm_std::deps::half::{bf16, f16};
use tgm_std::internal::reserve_more;

use super::Reading;
use super::arithmetic::{Arithmetic, double, integers, single};
use super::encoding;
use super::numbers::Number;

/// The greatest integer up to which `f64` holds all.
const EXACT: i128 = 1 << 53;

/// The values of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// In the byte order of the machine, of the type that [`Reading::dtype`] says.
    pub bytes: Vec<u8>,
    /// How many cells hold the number that NetCDF writes where nothing was written. They are not missing, as the file does
    /// not say so. Zero where the file names a fill value, and for bytes, which have no such number of their own.
    pub default_fills: usize,
}

impl Reading {
    /// The values of stored numbers in the byte order of the machine.
    ///
    /// # Errors
    /// Integers that are beyond 64 bits after a scale of integers, or that `float64` does not hold where cells are missing.
    pub fn cells(&self, stored: Vec<u8>) -> Result<Cells> {
        let default_fills = self.default_fills(&stored);
        if self.is_as_stored() {
            return Ok(Cells { bytes: stored, default_fills });
        }
        macro_rules! integers_of {
            ($type:ty) => {{
                let missing: Vec<$type> = self.missing_as(|number| match number {
                    Number::Integer(integer) => <$type>::try_from(integer).ok(),
                    Number::Float(_) => None,
                });
                #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "arithmetic is that of the float")]
                self.each(
                    &stored,
                    |bytes| <$type>::from_ne_bytes(bytes),
                    &missing,
                    (|number| number as f32, |number| number as f64, |number| Some(i128::from(number))),
                )
            }};
        }
        macro_rules! floats_of {
            ($type:ty, $load:expr, $single:expr, $double:expr) => {{
                let missing: Vec<$type> = self.missing_as(|number| Some($load(number.to_f64())));
                self.each(&stored, |bytes| <$type>::from_ne_bytes(bytes), &missing, ($single, $double, |_| None))
            }};
        }
        #[expect(clippy::cast_possible_truncation, reason = "these are exact in the type")]
        let bytes = match self.view {
            Dtype::Int8 => integers_of!(i8),
            Dtype::Int16 => integers_of!(i16),
            Dtype::Int32 => integers_of!(i32),
            Dtype::Int64 => integers_of!(i64),
            Dtype::Uint8 => integers_of!(u8),
            Dtype::Uint16 => integers_of!(u16),
            Dtype::Uint32 => integers_of!(u32),
            Dtype::Uint64 => integers_of!(u64),
            Dtype::Float16 => floats_of!(f16, f16::from_f64, f16::to_f32, f16::to_f64),
            Dtype::Bfloat16 => floats_of!(bf16, bf16::from_f64, bf16::to_f32, bf16::to_f64),
            Dtype::Float32 => floats_of!(f32, |float: f64| float as f32, |float| float, f64::from),
            Dtype::Float64 => floats_of!(f64, |float| float, |float| float as f32, |float| float),
            other => return Err(encoding(format!("{other} is not a type of numbers"))),
        }?;
        Ok(Cells { bytes, default_fills })
    }

    fn missing_as<T>(&self, convert: impl Fn(Number) -> Option<T>) -> Vec<T> {
        self.missing.iter().filter_map(convert).collect()
    }

    /// The values of numbers that `load` makes of their bytes.
    fn each<const N: usize, T: Copy + PartialEq>(
        &self,
        stored: &[u8],
        load: impl Fn([u8; N]) -> T,
        missing: &[T],
        (to_single, to_double, to_integer): (impl Fn(T) -> f32, impl Fn(T) -> f64, impl Fn(T) -> Option<i128>),
    ) -> Result<Vec<u8>> {
        let numbers = stored.as_chunks::<N>().0.iter().map(|bytes| load(*bytes));
        let is_missing = |number: &T| missing.contains(number);
        let beyond = || match self.arithmetic {
            Arithmetic::IntegersOrNan(None, None) => {
                encoding("cells are missing among integers, and one is beyond 2^53, which float64 does not hold")
            }
            _ => encoding("scale_factor and add_offset, which are integers, lead beyond what the values can be"),
        };
        Ok(match self.arithmetic {
            Arithmetic::Single(scale, offset) => {
                let value =
                    |number| if is_missing(&number) { f32::NAN } else { single(to_single(number), scale, offset) };
                gather(numbers.map(|number| Ok(value(number).to_ne_bytes())))?
            }
            Arithmetic::Double(scale, offset) => {
                let value =
                    |number| if is_missing(&number) { f64::NAN } else { double(to_double(number), scale, offset) };
                gather(numbers.map(|number| Ok(value(number).to_ne_bytes())))?
            }
            Arithmetic::Integers(scale, offset) => {
                let value = |number| {
                    let value = integers(to_integer(number)?, scale, offset)?;
                    i64::try_from(value).ok()
                };
                gather(numbers.map(|number| value(number).map(i64::to_ne_bytes).ok_or_else(beyond)))?
            }
            Arithmetic::IntegersOrNan(scale, offset) => {
                #[expect(clippy::cast_precision_loss, reason = "it is at most 2^53")]
                let value = |number| {
                    if is_missing(&number) {
                        return Some(f64::NAN);
                    }
                    let value = integers(to_integer(number)?, scale, offset)?;
                    (-EXACT..=EXACT).contains(&value).then_some(value as f64)
                };
                gather(numbers.map(|number| value(number).map(f64::to_ne_bytes).ok_or_else(beyond)))?
            }
            Arithmetic::None => {
                let nan = self.nan();
                let cell =
                    |bytes: &[u8; N]| if is_missing(&load(*bytes)) { nan.as_chunks().0.first().copied() } else { None };
                gather(stored.as_chunks::<N>().0.iter().map(|bytes| Ok(cell(bytes).unwrap_or(*bytes))))?
            }
        })
    }

    /// The bytes of the usual NaN of the type of the stored floats. Empty for integers.
    fn nan(&self) -> Vec<u8> {
        match self.view {
            Dtype::Float16 => f16::NAN.to_ne_bytes().to_vec(),
            Dtype::Bfloat16 => bf16::NAN.to_ne_bytes().to_vec(),
            Dtype::Float32 => f32::NAN.to_ne_bytes().to_vec(),
            Dtype::Float64 => f64::NAN.to_ne_bytes().to_vec(),
            _ => Vec::new(),
        }
    }

    fn default_fills(&self, stored: &[u8]) -> usize {
        fn count<const N: usize>(stored: &[u8], fill: [u8; N]) -> usize {
            stored.as_chunks().0.iter().filter(|bytes| **bytes == fill).count()
        }
        if self.has_fill {
            return 0;
        }
        match self.stored {
            Dtype::Int16 => count(stored, (-32767_i16).to_ne_bytes()),
            Dtype::Uint16 => count(stored, u16::MAX.to_ne_bytes()),
            Dtype::Int32 => count(stored, (-2_147_483_647_i32).to_ne_bytes()),
            Dtype::Uint32 => count(stored, u32::MAX.to_ne_bytes()),
            Dtype::Int64 => count(stored, (-9_223_372_036_854_775_806_i64).to_ne_bytes()),
            Dtype::Uint64 => count(stored, 18_446_744_073_709_551_614_u64.to_ne_bytes()),
            Dtype::Float32 => count(stored, FILL_OF_FLOATS.to_ne_bytes()),
            Dtype::Float64 => count(stored, f64::from(FILL_OF_FLOATS).to_ne_bytes()),
            _ => 0,
        }
    }
}

/// The default fill value of NetCDF for floats. It is exact in both types.
const FILL_OF_FLOATS: f32 = 9.969_21e36;

/// The bytes of elements after each other, in memory that is reserved at once: a file says how many there are.
///
/// # Errors
/// An element's error, or that there is no memory.
pub fn gather<const N: usize>(elements: impl ExactSizeIterator<Item = Result<[u8; N]>>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let len = elements.len().checked_mul(N);
    reserve_more(&mut bytes, len.ok_or_else(|| encoding("there are more bytes than addresses"))?)?;
    for element in elements {
        bytes.extend_from_slice(&element?);
    }
    Ok(bytes)
}
