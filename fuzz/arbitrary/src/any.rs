//! Values of types that other crates define.

use arbitrary::{Arbitrary, Result, Unstructured};

/// A value of a type of [`tgm_core`] or [`tgm_std`], which are not [`Arbitrary`] themselves.
///
/// ```
/// use tgm_arbitrary::arbitrary::{Arbitrary, Unstructured};
/// use tgm_arbitrary::{Any, any};
/// use tgm_std::{Dtype, EncodeOptions};
///
/// let mut u = Unstructured::new(b"bytes of the fuzzer");
/// let (Any(dtype), Any(options)) = <(Any<Dtype>, Any<EncodeOptions>)>::arbitrary(&mut u)?;
/// let other: Dtype = any(&mut u)?;
/// # Ok::<(), tgm_arbitrary::arbitrary::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Any<T>(pub T);

/// The value that [`Any`] makes.
///
/// # Errors
/// None: without bytes left it is a usual value. `Result` is what [`Unstructured`] returns.
pub fn any<'a, T>(u: &mut Unstructured<'a>) -> Result<T>
where
    Any<T>: Arbitrary<'a>,
{
    Any::arbitrary(u).map(|Any(value)| value)
}
