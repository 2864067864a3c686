//! A counting allocator: it counts allocations and their bytes per thread, so that tests can run in parallel.
#![allow(unsafe_code, reason = "a global allocator is unsafe by nature; each call is passed on unchanged")]
#![allow(clippy::cast_possible_wrap, reason = "no allocation is larger than `isize::MAX`")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Passes every call to the system's allocator and counts it for the calling thread.
///
/// A test binary that wants counts declares it: `#[global_allocator] static COUNTING: Counting = Counting;`
#[derive(Clone, Copy, Debug)]
pub struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn add(size: usize) {
    // A thread that ends has lost its thread-locals; nothing is measured then.
    let _ = COUNT.try_with(|count| count.set(count.get().wrapping_add(1)));
    grow(size as i64);
}

fn grow(by: i64) {
    let live = LIVE.try_with(|live| {
        live.set(live.get().wrapping_add(by));
        live.get()
    });
    if let Ok(live) = live {
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live)));
    }
}

// SAFETY: every method passes its arguments to `System` unchanged and returns the result; the counters are
// thread-local cells that need no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, and `System` requires the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        grow(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get().wrapping_add(1)));
        grow(new_size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// What a piece of work allocated on its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Allocations and reallocations.
    pub count: u64,
    /// The most bytes that were live at once, without those that were live before.
    pub peak: u64,
}

/// Runs `work` and returns its result with what it allocated: zeros unless [`Counting`] is the global allocator.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    let count = COUNT.get();
    let live = LIVE.get();
    PEAK.set(live);
    let result = work();
    let peak = u64::try_from(PEAK.get() - live).unwrap_or(0);
    (result, Usage { count: COUNT.get() - count, peak })
}
