//! Events for programs that watch what is read: feature `tracing`. Without it these functions do nothing.
//! `doc/GUIDE.md` lists them, with their fields.
//!
//! Sources are named as in errors, without users, passwords and queries.
#![cfg_attr(not(feature = "tracing"), allow(unused_variables, reason = "nobody watches"))]

use std::fmt;
use std::time::Duration;

macro_rules! event {
    ($level:ident, $message:literal, $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::event!(target: "tgm_std", tracing::Level::$level, $($field)*, $message);
    };
}

/// A source is opened.
#[inline]
pub(crate) fn opened(source: &impl fmt::Display, how: &'static str) {
    event!(DEBUG, "open", source = %source, how);
}

/// A search for messages has come to its end.
#[inline]
pub(crate) fn scanned(messages: usize, from_end: usize, junk: usize) {
    event!(DEBUG, "scan", messages, from_end, junk);
}

/// Ranges are asked for at once.
#[inline]
pub(crate) fn requested(source: &str, ranges: usize) {
    event!(DEBUG, "request", source, ranges);
}

/// Bytes came.
#[inline]
pub(crate) fn answered(source: &str, offset: u64, bytes: usize) {
    event!(TRACE, "answer", source, offset, bytes);
}

/// A request failed, and is made again after a pause.
#[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "only servers are asked again"))]
#[inline]
pub(crate) fn retried(source: &str, failed: u32, pause: Duration, reason: &str) {
    event!(WARN, "retry", source, failed, pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), reason);
}

/// A call has its answer, or gave up.
#[inline]
pub(crate) fn ended(source: &str, requests: u64, kept: u64) {
    event!(TRACE, "done", source, requests, kept);
}
