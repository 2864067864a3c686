//! Work on many inputs, on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

/// Calls `check` for each item, on as many threads as there are processors. Returns the results in the order of the items.
///
/// # Panics
/// If `check` panics, with its message.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], check: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, check(item)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined =
            running.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        joined.collect()
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        assert!(on_all_cores(&items, |item| item * 2).into_iter().eq((0..1000).map(|item| item * 2)));
    }

    #[test]
    #[should_panic(expected = "item 700")]
    fn a_panic_is_passed_on() {
        let items: Vec<u32> = (0..1000).collect();
        on_all_cores(&items, |item| assert!(*item != 700, "item {item}"));
    }
}
