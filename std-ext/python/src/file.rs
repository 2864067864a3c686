//! Files of messages.

/// A call that fetches parts of several messages together. Only sources at addresses answer it, so a build that has
/// none refuses it.
macro_rules! batch {
    ($call:expr) => {{
        #[cfg(feature = "remote")]
        let answer = $call;
        #[cfg(not(feature = "remote"))]
        let answer = Err(std::io::Error::other("batch decode requires a remote backend").into());
        answer
    }};
}
pub(crate) use batch;

pub(crate) mod handle;
mod iterate;
pub(crate) mod open;
pub(crate) mod origin;
mod tensogram_file;

pub(crate) use self::iterate::TensogramFileIter;
pub(crate) use self::open::_open_again;
pub(crate) use self::tensogram_file::TensogramFile;
