//! A source of ranges of bytes that a function of the caller reads.

use std::ffi::c_void;
use std::io::ErrorKind;
use std::sync::Mutex;

use tgm_std::Archive;
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, ReadOptions, Tag, Want};

use crate::locks::lock;

/// A `tgm_read_fn` of C: fills `out` with the bytes from `offset` on, and returns 0 if it did.
pub type ReadFn = Option<unsafe extern "C" fn(user: *mut c_void, offset: u64, out: *mut u8, len: usize) -> i32>;

/// The function, what it is called with, and the length of the source.
pub(crate) struct Source {
    read: unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize) -> i32,
    /// The caller's pointer. It is locked during a call, so calls come one at a time.
    user: Mutex<User>,
    size: u64,
}

struct User(*mut c_void);

// SAFETY: the header says that the function is called on any thread. The pointer is only passed on.
unsafe impl Send for User {}

impl Source {
    /// `None` without a function.
    pub(crate) fn new(read: ReadFn, user: *mut c_void, size: u64) -> Option<Self> {
        Some(Self { read: read?, user: Mutex::new(User(user)), size })
    }

    pub(crate) fn into_archive(self) -> Archive<'static> {
        Archive::from_fetch(self, ReadOptions::local())
    }

    fn failure(&self, kind: FetchErrorKind, text: &str) -> FetchError {
        FetchError::new(kind, format!("{}: {text}", self.name()))
    }
}

impl RangeFetch for Source {
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        let range = want.within(self.size);
        let too_large = || self.failure(FetchErrorKind::TooLarge, &format!("no memory for {want:?}"));
        let len = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| too_large())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| too_large())?;
        bytes.resize(len, 0);
        if len > 0 {
            let user = lock(&self.user);
            // SAFETY: the header's contract: the function may be called with this pointer until the archive and its objects
            // are freed. It writes the `len` bytes of `bytes` at most.
            let code = unsafe { (self.read)(user.0, range.start, bytes.as_mut_ptr(), len) };
            if code != 0 {
                let text = format!("the reading function returned {code} for {want:?}");
                return Err(self.failure(FetchErrorKind::Io(ErrorKind::Other), &text));
            }
        }
        Ok(Fetched { offset: range.start, bytes, size: Some(self.size), tag: None })
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: true, size: Some(self.size) }
    }

    fn name(&self) -> String {
        "a source of the program".into()
    }
}
