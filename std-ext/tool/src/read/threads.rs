//! How many threads work, and on how much.

use std::num::NonZero;
use std::thread;

/// Results that may wait for the caller, for each thread.
pub(crate) const AHEAD: usize = 2;
/// Where messages are longer than this, one result may wait for each thread.
const LONG: u64 = 4 << 20;
/// Bytes of messages that threads hold: of longer messages fewer are worked on at a time.
const HELD: u64 = 512 << 20;

/// How many threads work on messages if `asked` are asked for. 0 stands for all processors.
pub(crate) fn thread_count(asked: u32) -> usize {
    match usize::try_from(asked) {
        Ok(0) | Err(_) => thread::available_parallelism().map_or(1, NonZero::get),
        Ok(asked) => asked,
    }
}

/// How many of `threads` threads work on items of which the longest has `longest` bytes, and for each how many results may
/// wait: so that memory is bounded.
pub(crate) fn bounded(threads: usize, longest: u64) -> (usize, usize) {
    // At most HELD, which is a usize on every machine that the tool runs on.
    let most = usize::try_from(HELD / longest.max(1)).unwrap_or(usize::MAX);
    (threads.min(most).max(1), if longest > LONG { 1 } else { AHEAD })
}

/// How many of `threads` threads work on one message each, if there are `count` messages, and how many threads each of them has
/// for the objects of its message: few messages of many objects keep all threads busy too. Codecs are not told of these threads,
/// because bytes that they make may hang on the number.
pub(crate) fn shared(threads: usize, count: usize) -> (usize, u32) {
    let messages = threads.min(count).max(1);
    (messages, u32::try_from(threads / messages).unwrap_or(u32::MAX).max(1))
}
