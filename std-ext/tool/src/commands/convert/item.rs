//! What readers hand on, one message at a time.

#[cfg(any(feature = "netcdf", feature = "zarr"))]
use std::borrow::Cow;

use tgm_convert::arrays::Arrays;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
use tgm_std::EncodeOptions;
use tgm_std::TensogramError;

use crate::read::values::as_stored;
use crate::show::output::Out;
use crate::write::destination::Failure;

use super::losses::Losses;

/// What becomes of one message, or becomes one.
pub(super) enum Item<'a> {
    /// The bytes of a message, checked as far as the reader can.
    Message(&'a [u8]),
    /// Arrays of a file.
    Arrays(Arrays<'a>),
}

/// What takes the items, with their places as text.
pub(super) type Sink<'s> = dyn FnMut(&mut Out, &mut Losses, &str, Item<'_>) -> Result<(), Failure> + 's;

impl<'a> Item<'a> {
    /// The arrays of the item. The objects of a message are decoded.
    ///
    /// # Errors
    /// The errors of [`Arrays::decode`].
    pub(super) fn into_arrays(self) -> Result<Arrays<'a>, TensogramError> {
        match self {
            Self::Message(message) => Arrays::decode(message, &as_stored()),
            Self::Arrays(arrays) => Ok(arrays),
        }
    }

    /// The message, or the one that the arrays become.
    ///
    /// # Errors
    /// The errors of [`Arrays::encode`].
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    pub(super) fn into_message(self, options: &EncodeOptions) -> Result<Cow<'a, [u8]>, TensogramError> {
        match self {
            Self::Message(message) => Ok(Cow::Borrowed(message)),
            Self::Arrays(arrays) => arrays.encode(options).map(Cow::Owned),
        }
    }
}
