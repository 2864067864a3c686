//! What readers hand on, one message at a time, and what is done with it.

use std::borrow::Cow;

use tgm_convert::arrays::Arrays;
use tgm_std::TensogramError;

use crate::read::entry::MessageNumber;
use crate::read::values::as_stored;
use crate::show::output::Out;
use crate::write::destination::Failure;

use super::losses::Losses;

/// The bytes of a message, checked as far as the reader can, and where it is from.
pub(super) struct Item<'a> {
    /// The place as text.
    pub(super) place: &'a str,
    pub(super) message: Cow<'a, [u8]>,
    /// The number and the place in its file, if it was a message there.
    pub(super) number: MessageNumber,
    pub(super) offset: u64,
    /// How many threads may work on its objects.
    pub(super) threads: u32,
}

/// What a writer takes, in order and on one thread.
pub(super) enum Taken<'a, M> {
    /// What was made of a message.
    Made(M),
    /// The arrays of a whole file.
    Arrays(Arrays<'a>),
}

/// What makes of each message what is written of it, on several threads.
pub(super) type Make<'s, M> = dyn Fn(Item<'_>) -> M + Sync + 's;
/// What writes it, and the places as text.
pub(super) type Take<'s, M> = dyn FnMut(&mut Out, &mut Losses, &str, Taken<'_, M>) -> Result<(), Failure> + 's;

/// What is done with all that is read.
pub(super) struct Sink<'m, 't, 's, M> {
    pub(super) make: &'m Make<'s, M>,
    pub(super) take: &'t mut Take<'s, M>,
}

impl Item<'_> {
    /// The arrays of the message. Its objects are decoded, integers that stayed packed become values, and pieces whole arrays.
    ///
    /// # Errors
    /// The errors of [`Arrays::decode`], [`Arrays::unpacked`] and [`Arrays::whole`].
    pub(super) fn arrays(&self) -> Result<Arrays<'_>, TensogramError> {
        Arrays::decode(&self.message, &as_stored())?.unpacked()?.whole()
    }
}
