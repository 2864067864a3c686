//! Threads that help a caller with its work.
//!
//! They wait for the next call when one ends, because to start a thread takes as long as to decode a hundred kilobytes. A team
//! works for one call at a time. So no call waits for work that another call gave to helpers: a small object is decoded at once
//! while a large one is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, Thread, available_parallelism, yield_now};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::interrupt::{self, Watch};

/// The helpers of one process.
#[derive(Default)]
struct Helpers {
    /// Teams that no call has, by the number of their threads. A number is there once a call asked for it.
    idle: BTreeMap<u32, Vec<ThreadPool>>,
    /// Threads of all teams.
    started: u32,
}

/// Helpers that one call has until this is dropped.
pub(super) struct Team {
    /// The process that started the threads.
    process: u32,
    count: u32,
    /// `None` only while this is dropped.
    pool: Option<ThreadPool>,
}

/// The helpers by process. A child that was forked has none of its parent's threads, so it starts its own. What belongs to the
/// parent stays untouched: another thread of the parent may have held a lock inside.
static HELPERS: Mutex<BTreeMap<u32, Helpers>> = Mutex::new(BTreeMap::new());

/// How often a call tries to take the lock. Other threads hold it for a few instructions only.
const TRIES: usize = 1000;

/// Takes the lock. `None` if it stays taken: a forked child does not have the thread of its parent that took it, so nobody ever
/// gives it back.
fn lock_or_give_up<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..TRIES {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => yield_now(),
        }
    }
    None
}

fn process() -> u32 {
    if cfg!(unix) { std::process::id() } else { 0 }
}

/// Kept, because to ask reads several files.
fn processors() -> u32 {
    static PROCESSORS: OnceLock<u32> = OnceLock::new();
    *PROCESSORS
        .get_or_init(|| available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)))
}

impl Team {
    /// A team of `count` threads, which may be started for this. `None` if the call had better work alone: teams of this size
    /// are busy, and with another one there would be more helpers than processors. Also if the system has no more threads, or the
    /// helpers cannot be had.
    pub(super) fn take(count: u32) -> Option<Self> {
        let process = process();
        let (idle, may_start) = Self::idle(process, count)?;
        let pool = match idle {
            Some(pool) => pool,
            None if may_start => start(count)?,
            None => return None,
        };
        Some(Self { process, count, pool: Some(pool) })
    }

    /// A team that no call has, or whether one may be started. Then it counts as started, even if the system has no more threads.
    fn idle(process: u32, count: u32) -> Option<(Option<ThreadPool>, bool)> {
        let mut helpers = lock_or_give_up(&HELPERS)?;
        let Helpers { idle, started } = helpers.entry(process).or_default();
        let may_start = !idle.contains_key(&count) || started.saturating_add(count) <= processors();
        let found = idle.entry(count).or_default().pop();
        if found.is_none() && may_start {
            *started = started.saturating_add(count);
        }
        Some((found, may_start))
    }

    /// Calls `work` on the calling thread, and at the same time on threads of the team, on `most` of them.
    pub(super) fn join_in(&self, most: usize, work: &(dyn Fn() + Sync)) {
        let Some(pool) = &self.pool else { return work() };
        let helpers = most.min(self.count as usize);
        let Some(watch) = Watch::of_this_thread() else {
            pool.in_place_scope(|scope| {
                for _ in 0..helpers {
                    scope.spawn(|_| work());
                }
                work();
            });
            return;
        };
        // Only this thread can ask whether to stop, so it does not just wait for the helpers.
        let busy = Busy { helpers: AtomicUsize::new(helpers), caller: thread::current() };
        pool.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| {
                    let _done = Done(&busy);
                    watch.clone().run(work);
                });
            }
            work();
            while busy.helpers.load(Ordering::Acquire) > 0 {
                interrupt::is_stopped();
                thread::park_timeout(PAUSE);
            }
        });
    }
}

/// How long a call waits for its helpers before it asks again whether to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// Helpers that a call waits for.
struct Busy {
    helpers: AtomicUsize,
    caller: Thread,
}

/// The end of a helper's work, also by a panic.
struct Done<'a>(&'a Busy);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.helpers.fetch_sub(1, Ordering::Release);
        self.0.caller.unpark();
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            // This can wait: the process had the helpers before, when it took the team.
            let mut helpers = HELPERS.lock().unwrap_or_else(PoisonError::into_inner);
            helpers.entry(self.process).or_default().idle.entry(self.count).or_default().push(pool);
        }
    }
}

fn start(count: u32) -> Option<ThreadPool> {
    let name = |i| format!("tgm-{i}");
    ThreadPoolBuilder::new().num_threads(count as usize).thread_name(name).build().ok()
}

#[cfg(test)]
mod tests {
    use super::{Mutex, lock_or_give_up};

    /// As in a forked child whose parent had the helpers in another thread.
    #[test]
    fn what_another_thread_keeps_is_not_waited_for() {
        let helpers = Mutex::new(1);
        let kept = helpers.lock().unwrap();
        assert!(lock_or_give_up(&helpers).is_none());
        drop(kept);
        assert_eq!(lock_or_give_up(&helpers).map(|guard| *guard), Some(1));
    }
}
