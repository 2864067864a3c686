//! A counting allocator: number and size of allocations, for each thread by itself so that tests may run side by side.
#![allow(unsafe_code, reason = "a global allocator is unsafe by nature; each call is handed on unchanged")]
#![allow(clippy::cast_possible_wrap, reason = "no allocation is larger than `isize::MAX`")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Hands every call on to the system's allocator and counts it for the calling thread.
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
    // While a thread ends its locals are gone; nothing is measured then.
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

// SAFETY: every method hands its arguments on to `System` unchanged and returns what that returns; the counters are
// thread-local cells that need no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise is the one that `System` asks for.
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
    /// The most bytes that lived at once, beyond those that lived before.
    pub peak: u64,
}

/// Runs `work` and says what it allocated; zeros where [`Counting`] is not the global allocator.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    let count = COUNT.get();
    let live = LIVE.get();
    PEAK.set(live);
    let result = work();
    let peak = u64::try_from(PEAK.get() - live).unwrap_or(0);
    (result, Usage { count: COUNT.get() - count, peak })
}
