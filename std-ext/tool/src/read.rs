//! Reading: files at positions, their messages, lost bytes between them, digests, keys, arrays of other programs.

pub(crate) mod about;
pub(crate) mod asked;
pub(crate) mod cataloged;
pub(crate) mod differ;
pub(crate) mod digests;
pub(crate) mod elements;
pub(crate) mod entry;
pub(crate) mod foreign;
pub(crate) mod in_order;
pub(crate) mod input;
pub(crate) mod lost;
pub(crate) mod messages;
pub(crate) mod numbers;
pub(crate) mod objects;
pub(crate) mod opening;
#[cfg(feature = "plot")]
pub(crate) mod picture;
pub(crate) mod pipes;
pub(crate) mod places;
pub(crate) mod select;
pub(crate) mod statistics;
pub(crate) mod streamed;
pub(crate) mod structure;
pub(crate) mod tensor_input;
pub(crate) mod values;
