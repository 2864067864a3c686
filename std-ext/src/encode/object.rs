//! One data object on its way into a frame (FORMAT §1.7, §4.2; PIPELINE §2).
//!
//! | type | state |
//! |---|---|
//! | [`Draft`](draft::Draft) | went through all stages but the compressor |
//! | [`Object`] | ready to be written |
//! | [`Planned`] | one of both: objects of a message are compressed where they are written |

mod described;
mod draft;
mod planned;
mod ready;

pub(crate) use planned::Planned;
pub(crate) use ready::Object;
