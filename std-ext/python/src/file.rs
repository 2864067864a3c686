//! Files of messages.

pub(crate) mod handle;
mod iterate;
pub(crate) mod open;
mod tensogram_file;

pub(crate) use self::iterate::TensogramFileIter;
pub(crate) use self::open::_open_again;
pub(crate) use self::tensogram_file::TensogramFile;
