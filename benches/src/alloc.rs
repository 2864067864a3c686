//! A counting allocator: allocations, bytes and the most bytes alive at once, of all threads, while [`measure`] runs.
//!
//! Outside of `measure`, and so in all that is timed, it costs one load. C libraries that call `malloc` are not
//! counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// Passes every call to the system's allocator.
pub struct Counting;

static ENABLED: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// What a piece of work allocated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Allocations and reallocations.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// The most bytes alive at once.
    pub peak: u64,
}

/// Runs `work` and returns what it allocated.
pub fn measure(work: impl FnOnce()) -> Usage {
    for counter in [&COUNT, &BYTES] {
        counter.store(0, Relaxed);
    }
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ENABLED.store(true, Relaxed);
    work();
    ENABLED.store(false, Relaxed);
    Usage { count: COUNT.load(Relaxed), bytes: BYTES.load(Relaxed), peak: PEAK.load(Relaxed).max(0) as u64 }
}

#[cold]
fn allocated(size: usize, grown: i64) {
    COUNT.fetch_add(1, Relaxed);
    BYTES.fetch_add(size as u64, Relaxed);
    let live = LIVE.fetch_add(grown, Relaxed) + grown;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every method passes its arguments to `System` unchanged and returns the result.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ENABLED.load(Relaxed) {
            allocated(layout.size(), layout.size() as i64);
        }
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, and `System` requires the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ENABLED.load(Relaxed) {
            allocated(layout.size(), layout.size() as i64);
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if ENABLED.load(Relaxed) {
            LIVE.fetch_sub(layout.size() as i64, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if ENABLED.load(Relaxed) {
            allocated(new_size, new_size as i64 - layout.size() as i64);
        }
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
