//! The Rust types whose values objects hold.

use std::fmt::Debug;

use half::{bf16, f16};
use tgm_codec::memory;
use tgm_core::tensor::{Complex, Element};

use crate::base::error::Result;

/// A Rust type whose values an object can hold.
///
/// These are all types of [`Element`]: integers and floats of 8 to 64 bits, `half::f16`, `half::bf16` and
/// [`Complex`]. Feature `num-complex` adds `num_complex::Complex<f32>` and `num_complex::Complex<f64>`, which have the
/// same layout as [`Complex`].
///
/// The trait is sealed.
///
/// ```
/// use tgm_std::{DecodeOptions, MessageBuilder, Number, ObjectBuilder, Result, to_vec};
///
/// /// Stores values in a message and reads them again.
/// fn there_and_back<T: Number>(values: &[T]) -> Result<Vec<T>> {
///     let object = ObjectBuilder::new(&[values.len() as u64], values)?;
///     let bytes = MessageBuilder::new().object(object).encode()?;
///     read(&tgm_std::core::Message::parse(&bytes)?.object(0)?).values()
/// }
///
/// assert_eq!(there_and_back(&[1_i16, -2, 3])?, [1, -2, 3]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub trait Number: sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The element type of the same layout.
    type Element: Element;

    /// The same values as elements. O(1).
    fn as_elements(values: &[Self]) -> &[Self::Element];

    /// The same values as elements that can be written to. O(1).
    fn as_elements_mut(values: &mut [Self]) -> &mut [Self::Element];

    /// `len` zeros, all of which will be written to.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) if there is no memory.
    #[doc(hidden)]
    fn zeros(len: usize) -> Result<Vec<Self>>;

    /// The same values as floats that values of other types are converted to. `None` if they are of any other type.
    #[doc(hidden)]
    fn floats(_values: &mut [Self]) -> Option<Floats<'_>> {
        None
    }
}

/// Places for floats that values of other types are converted to.
#[derive(Debug)]
pub enum Floats<'f> {
    /// Single precision.
    F32(&'f mut [f32]),
    /// Double precision.
    F64(&'f mut [f64]),
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($element:ty $(as $float:ident)?),*) => {$(
        impl sealed::Sealed for $element {}

        impl Number for $element {
            type Element = Self;

            fn as_elements(values: &[Self]) -> &[Self] {
                values
            }

            fn as_elements_mut(values: &mut [Self]) -> &mut [Self] {
                values
            }

            fn zeros(len: usize) -> Result<Vec<Self>> {
                Ok(memory::zeros(len)?)
            }
            $(

            fn floats(values: &mut [Self]) -> Option<Floats<'_>> {
                Some(Floats::$float(values))
            }
            )?
        }
    )*};
}

elements!(f16, bf16, f32 as F32, f64 as F64, i8, i16, i32, i64, u8, u16, u32, u64, Complex<f32>, Complex<f64>);

#[cfg(feature = "num-complex")]
macro_rules! complexes {
    ($($part:ty),*) => {$(
        impl sealed::Sealed for num_complex::Complex<$part> {}

        impl Number for num_complex::Complex<$part> {
            type Element = Complex<$part>;

            // Two steps, as each crate knows one of the two complex types. Both are free.
            fn as_elements(values: &[Self]) -> &[Complex<$part>] {
                let pairs: &[[$part; 2]] = bytemuck::cast_slice(values);
                zerocopy::transmute_ref!(pairs)
            }

            fn as_elements_mut(values: &mut [Self]) -> &mut [Complex<$part>] {
                let pairs: &mut [[$part; 2]] = bytemuck::cast_slice_mut(values);
                zerocopy::transmute_mut!(pairs)
            }

            // The parts are zeros first, in memory that becomes the vector's without a copy.
            fn zeros(len: usize) -> Result<Vec<Self>> {
                Ok(bytemuck::cast_vec(memory::zeros::<[$part; 2]>(len)?))
            }
        }
    )*};
}

#[cfg(feature = "num-complex")]
complexes!(f32, f64);

#[cfg(all(test, feature = "num-complex"))]
mod tests {
    use num_complex::Complex;

    use super::Number;

    #[test]
    fn complex_numbers_are_the_elements_of_the_same_parts() {
        let mut values = [Complex::new(1.0_f32, -2.0), Complex::new(3.0, 4.0)];
        assert!(Number::as_elements(&values).iter().zip(&values).all(|(a, b)| (a.re, a.im) == (b.re, b.im)));
        Number::as_elements_mut(&mut values)[1].im = 5.0;
        assert_eq!(values[1], Complex::new(3.0, 5.0));
        assert!(<Complex<f64> as Number>::as_elements(&[]).is_empty());
    }
}
