//! Threads that help a caller with its work.
//!
//! They wait for the next call when one ends, because to start a thread takes as long as to decode a hundred kilobytes. A team
//! works for one call at a time. So no call waits for work that another call gave to helpers: a small object is decoded at once
//! while a large one is.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};

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
fn helpers() -> MutexGuard<'static, BTreeMap<u32, Helpers>> {
    static HELPERS: Mutex<BTreeMap<u32, Helpers>> = Mutex::new(BTreeMap::new());
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// are busy, and with another one there would be more helpers than processors. Also if the system has no more threads.
    pub(super) fn take(count: u32) -> Option<Self> {
        let (process, mut helpers) = (process(), helpers());
        let Helpers { idle, started } = helpers.entry(process).or_default();
        let may_start = !idle.contains_key(&count) || started.saturating_add(count) <= processors();
        let pool = match idle.entry(count).or_default().pop() {
            Some(pool) => pool,
            None if may_start => start(count).inspect(|_| *started += count)?,
            None => return None,
        };
        Some(Self { process, count, pool: Some(pool) })
    }

    /// Calls `work` on the calling thread, and at the same time on threads of the team, on `most` of them.
    pub(super) fn join_in(&self, most: usize, work: &(dyn Fn() + Sync)) {
        let Some(pool) = &self.pool else { return work() };
        pool.in_place_scope(|scope| {
            for _ in 0..most.min(self.count as usize) {
                scope.spawn(|_| work());
            }
            work();
        });
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            helpers().entry(self.process).or_default().idle.entry(self.count).or_default().push(pool);
        }
    }
}

fn start(count: u32) -> Option<ThreadPool> {
    let name = |i| format!("tgm-{i}");
    ThreadPoolBuilder::new().num_threads(count as usize).thread_name(name).build().ok()
}
