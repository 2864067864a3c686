//! Work on several threads: objects of a message, or pieces of one object (FORMAT §4.1 `threads`, PIPELINE §5.10).
//!
//! Results do not depend on the number of threads. If there are several errors, the one that a single thread would meet
//! first is returned.

#[cfg(feature = "parallel")]
mod team;

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

#[cfg(feature = "parallel")]
use self::team::Team;
use crate::error::{CodecError, Result};
use crate::fresh::cleared;

/// The default threshold for threads: fewer bytes of payload are processed on the calling thread.
pub const DEFAULT_PARALLEL_THRESHOLD_BYTES: usize = 64 << 10;
/// The environment variable with the number of threads, for options that say 0. A process reads it once.
pub const ENV_THREADS: &str = "TENSOGRAM_THREADS";

/// Pieces for each thread. With several, a slow piece delays the others less.
#[cfg(feature = "parallel")]
const PIECES: usize = 4;
/// The greatest number of threads that is ever started.
#[cfg(feature = "parallel")]
const MOST: u32 = 1024;

/// The number of threads that a piece of work may use. For zstd, 0 (nothing was asked for) is not the same as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(u32);

impl Threads {
    /// The calling thread only, because no threads were requested.
    pub const NONE: Self = Self(0);

    /// The number that options ask for, where 0 means the number in [`ENV_THREADS`]. It is [`Self::NONE`] for fewer
    /// bytes than the threshold, and without feature `parallel`.
    ///
    /// # Errors
    /// [`CodecError`] if the variable is read and is not a number.
    #[inline]
    pub fn resolve(asked: u32, bytes: u64, threshold: Option<usize>) -> Result<Self> {
        // The variable is read even for few bytes, so that a wrong one shows at the first call.
        let asked = if asked == 0 { from_environment()? } else { asked };
        let enough = bytes >= threshold.unwrap_or(DEFAULT_PARALLEL_THRESHOLD_BYTES) as u64;
        Ok(if enough && cfg!(feature = "parallel") { Self(asked) } else { Self::NONE })
    }

    /// Whether the work stays on the calling thread.
    #[inline]
    pub const fn is_one(self) -> bool {
        self.0 <= 1
    }

    /// The number for each of several pieces of work that run at the same time: one, if one was requested.
    #[must_use]
    #[inline]
    pub const fn alone(self) -> Self {
        if self.is_one() { self } else { Self(1) }
    }

    /// The number of threads that was requested.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0
    }

    /// The results of `f` for all items, in their order. If some items fail, the first of them decides the error.
    ///
    /// # Errors
    /// The errors of `f`.
    pub fn map<T: Sync, R: Send, E: Send>(
        self,
        items: &[T],
        f: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        #[cfg(feature = "parallel")]
        if !self.is_one() && items.len() > 1 {
            return self.share(items.iter(), f).into_iter().collect();
        }
        items.iter().map(f).collect()
    }

    /// Calls `f` for all items.
    pub fn for_each<T: Send>(self, items: impl ExactSizeIterator<Item = T> + Send, f: impl Fn(T) + Sync) {
        #[cfg(feature = "parallel")]
        if !self.is_one() && items.len() > 1 {
            self.share(items, f);
            return;
        }
        items.for_each(f);
    }

    /// Calls `f` for all pieces of `out`, with the place of each piece. Places are multiples of `grain`.
    ///
    /// # Errors
    /// That of the first piece that fails.
    pub fn pieces<T: Send, E: Send>(
        self,
        out: &mut [T],
        grain: usize,
        f: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        #[cfg(feature = "parallel")]
        if !self.is_one() {
            let len = self.piece_len(out.len(), grain);
            if out.len() > len {
                let pieces = out.chunks_mut(len).enumerate();
                return self.share(pieces, |(i, piece)| f(i * len, piece)).into_iter().collect();
            }
        }
        let _ = grain;
        f(0, out)
    }

    /// [`Self::pieces`] of fresh memory. Each thread clears the pieces that it gets.
    #[allow(unsafe_code, reason = "all of the memory is cleared")]
    pub fn fresh_pieces(
        self,
        memory: &mut [MaybeUninit<u8>],
        grain: usize,
        f: impl Fn(usize, &mut [u8]) + Sync,
    ) -> &mut [u8] {
        let cleared = self.pieces(memory, grain, |start, piece| {
            f(start, cleared(piece));
            Ok::<_, Infallible>(())
        });
        match cleared {
            Ok(()) => {}
        }
        // SAFETY: the pieces cover the memory, and every one of them was cleared.
        unsafe { memory.assume_init_mut() }
    }

    /// The length of all pieces of `len` bytes but the last one: a multiple of `grain`.
    #[cfg(feature = "parallel")]
    fn piece_len(self, len: usize, grain: usize) -> usize {
        // Only as many threads count as will be started: four times the requested number may exceed 32 bits.
        let pieces = self.0.clamp(1, MOST) as usize * PIECES;
        len.div_ceil(pieces).checked_next_multiple_of(grain.max(1)).unwrap_or(usize::MAX).max(1)
    }

    /// The results of `f` for all items, in their order.
    #[cfg(feature = "parallel")]
    fn share<T: Send, R: Send>(
        self,
        items: impl ExactSizeIterator<Item = T> + Send,
        f: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        use std::sync::{Mutex, PoisonError};

        let count = items.len();
        let items = Mutex::new(items.enumerate());
        let results = Mutex::new((0..count).map(|_| None).collect::<Vec<_>>());
        self.take_turns(count, &|| {
            let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, item)) = next else { return false };
            let result = f(item);
            if let Some(place) = results.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index) {
                *place = Some(result);
            }
            true
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
    }

    /// Calls `turn` until it returns `false`, which it does after `count` turns.
    ///
    /// The calling thread takes part, and helpers join it: each takes the next turn when it is free. So the work does not wait
    /// for a thread to wake up, and no more threads run than were requested. Without helpers the caller does all.
    ///
    /// Not generic, so that the compiler translates it once.
    #[cfg(feature = "parallel")]
    fn take_turns(self, count: usize, turn: &(dyn Fn() -> bool + Sync)) {
        let work = || while turn() {};
        match Team::take(self.0.min(MOST).saturating_sub(1)) {
            Some(team) => team.join_in(count.saturating_sub(1), &work),
            None => work(),
        }
    }
}

fn from_environment() -> Result<u32> {
    // Kept, because reading the environment takes a good part of the time that a small message takes.
    static ASKED: OnceLock<std::result::Result<u32, String>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| {
        let Some(text) = std::env::var_os(ENV_THREADS) else { return Ok(0) };
        let text = text.to_string_lossy();
        if text.trim().is_empty() {
            return Ok(0);
        }
        text.trim().parse().map_err(|_| format!("invalid {ENV_THREADS} value: {text} is not a number of threads"))
    });
    asked.clone().map_err(CodecError::new)
}

#[cfg(test)]
mod tests {
    use super::Threads;

    #[test]
    fn results_come_in_order_and_the_first_error_wins() {
        for threads in [Threads(1), Threads(2), Threads(7)] {
            let items: Vec<u32> = (0..100).collect();
            assert_eq!(threads.map(&items, |i| Ok::<_, ()>(i * 2)).unwrap(), (0..200).step_by(2).collect::<Vec<_>>());
            assert_eq!(threads.map(&items, |&i| if i % 30 == 29 { Err(i) } else { Ok(i) }), Err(29));
        }
    }

    #[test]
    fn pieces_cover_everything_at_multiples_of_the_grain() {
        for threads in [Threads(1), Threads(2), Threads(3)] {
            for len in [0, 1, 5, 24, 25, 1000] {
                let mut out = vec![0; len];
                let fill = |start: usize, piece: &mut [u8]| {
                    assert!(start.is_multiple_of(3));
                    for (i, byte) in piece.iter_mut().enumerate() {
                        *byte = u8::try_from((start + i) % 251).unwrap() + 1;
                    }
                    Ok::<_, ()>(())
                };
                threads.pieces(&mut out, 3, fill).unwrap();
                assert!(out.iter().enumerate().all(|(i, byte)| usize::from(*byte) == i % 251 + 1), "{threads:?} {len}");
            }
        }
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn there_are_no_more_pieces_than_the_most_threads_take_whatever_is_asked_for() {
        for asked in [super::MOST, super::MOST + 1, 1 << 30, u32::MAX] {
            let len = Threads(asked).piece_len(1 << 20, 1);
            assert_eq!(len, (1 << 20) / (super::MOST as usize * super::PIECES), "{asked}");
        }
        assert_eq!(Threads(u32::MAX).piece_len(0, 0), 1);
        assert_eq!(Threads(2).piece_len(usize::MAX, usize::MAX - 1), usize::MAX - 1);
    }

    /// Both items wait for each other, so two threads have them. No other test asks for this number, so the helpers are free.
    #[cfg(feature = "parallel")]
    #[test]
    fn the_calling_thread_takes_part() {
        let meeting = std::sync::Barrier::new(2);
        let work = |_: &u8| {
            meeting.wait();
            Ok::<_, ()>(std::thread::current().id())
        };
        let threads = Threads(5).map(&[1, 2], work).unwrap();
        assert!(threads[0] != threads[1] && threads.contains(&std::thread::current().id()));
    }

    /// As many calls as there are processors, and one more, do work that does not end. The next one ends all the same.
    #[cfg(feature = "parallel")]
    #[test]
    fn a_call_does_not_wait_for_the_work_of_others() {
        use std::sync::mpsc::channel;
        use std::sync::{Mutex, PoisonError};
        use std::time::Duration;

        let threads = Threads(6);
        let calls = std::thread::available_parallelism().map_or(1, usize::from) + 1;
        let (done, is_done) = channel();
        let (release, released) = channel::<()>();
        let (begun, has_begun) = channel();
        let released = Mutex::new(released);
        std::thread::scope(|scope| {
            for _ in 0..calls {
                let (begun, released) = (begun.clone(), &released);
                scope.spawn(move || {
                    threads.map(&[(); 6], |()| {
                        let _ = begun.send(());
                        let _ = released.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        Ok::<_, ()>(())
                    })
                });
            }
            for _ in 0..calls {
                has_begun.recv().unwrap();
            }
            scope.spawn(move || done.send(threads.map(&[1, 2], |i| Ok::<_, ()>(2 * i))));
            let found = is_done.recv_timeout(Duration::from_mins(1));
            drop(release);
            assert_eq!(found.ok(), Some(Ok(vec![2, 4])));
        });
    }

    #[test]
    fn few_bytes_stay_on_the_calling_thread() {
        assert!(Threads::resolve(4, 100, None).unwrap().is_one());
        assert_eq!(Threads::resolve(4, 100, Some(0)).unwrap().is_one(), !cfg!(feature = "parallel"));
        assert_eq!(Threads::resolve(4, 1 << 20, None).unwrap().is_one(), !cfg!(feature = "parallel"));
    }
}
