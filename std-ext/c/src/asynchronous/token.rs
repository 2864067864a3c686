//! Tokens, which cancel any number of tasks.

use std::ptr;
use std::sync::Arc;

use super::task::Group;
use crate::args;
use crate::call::{get, run};

/// A `tgm_cancellation_token_t` of C. Its tasks do not need the handle.
pub struct Token {
    pub(super) tasks: Arc<Group>,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("is_cancelled", &self.tasks.is_closed()).finish()
    }
}

/// Makes a token.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_cancellation_token_create() -> *mut Token {
    get(ptr::null_mut(), || Some(Box::into_raw(Box::new(Token { tasks: Arc::default() }))))
}

/// Cancels the tasks that were launched with this token, and all that will be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_cancellation_token_cancel(tok: *mut Token) {
    run(|| {
        // SAFETY: the header's contract.
        if let Some(token) = unsafe { args::optional(tok) } {
            token.tasks.cancel();
        }
    });
}

/// Whether the token was cancelled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_cancellation_token_is_cancelled(tok: *const Token) -> bool {
    // SAFETY: the header's contract.
    get(false, || unsafe { args::optional(tok) }.map(|token| token.tasks.is_closed()))
}

/// Frees a token. Its tasks go on, and can be cancelled one by one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_cancellation_token_free(tok: *mut Token) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(tok) });
}
