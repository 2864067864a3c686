//! Work on several threads, with its results in order: one pipeline for all commands that go through many messages.
//!
//! ```text
//! items ─ one at a time ─▶ threads: read, work ─▶ results, at most so many ahead ─ in order ─▶ the caller: write, print
//! ```
//!
//! The caller's part runs beside the work. Memory is bounded, because threads wait while their results are too far ahead.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tgm_std::TensogramError;

use crate::read::cataloged::{Asked, Source};
use crate::read::distant::is_distant;
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::messages::{BATCH, Reader, Step, WINDOW, expect_all, for_each_step_of};
use crate::read::row::Row;
use crate::read::streamed::is_stream;
use crate::read::threads::{bounded, shared};
use crate::show::output::Out;

/// Bytes of a thread's stack, as the first thread has them.
const STACK: usize = 8 << 20;

/// What a thread may use for messages of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    /// Bytes of the file, [`u64::MAX`] for a stream.
    pub(crate) length: u64,
    /// Threads for the objects of one message.
    pub(crate) threads: u32,
}

/// Does `work` on each item, on `threads` threads, and gives each result to `take` in the order of the items, on this
/// thread. Each thread has a state of its own. For each thread `ahead` results may wait.
///
/// # Errors
/// The first error of `take`. No further item is taken up then.
pub(crate) fn in_order<I, T, S, R, E>(
    (threads, ahead): (usize, usize),
    items: I,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    I: Iterator<Item = T> + Send,
    R: Send,
{
    // The results that may wait: a bound.
    let desk = Desk::new(items, threads.saturating_mul(ahead));
    thread::scope(|scope| {
        let _closing = Closing(&desk);
        let spawn = |_: usize| {
            let run = || {
                let _closing = Closing(&desk);
                let mut state = state();
                while let Some((number, item)) = desk.next_item() {
                    desk.lay_down(number, work(&mut state, item));
                }
            };
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).is_ok()
        };
        let spawned = if threads > 1 { (0..threads).filter(|number| spawn(*number)).count() } else { 0 };
        if spawned == 0 {
            let mut state = state();
            while let Some((_, item)) = desk.next_item() {
                take(work(&mut state, item))?;
                desk.lock().results.clear();
            }
            return Ok(());
        }
        while let Some(result) = desk.next_result() {
            take(result)?;
        }
        Ok(())
    })
}

/// Where threads find items and lay down results. To come by the next item may take long, because files are read for it: other
/// threads lay down results meanwhile.
struct Desk<I, R> {
    items: Mutex<I>,
    /// Whoever holds both locks took the one of the items first.
    state: Mutex<State<R>>,
    has_room: Condvar,
    has_result: Condvar,
    ahead: usize,
}

struct State<R> {
    /// The number of the first of `results`.
    taken: usize,
    /// A place for each item that was given out and whose result was not taken.
    results: VecDeque<Option<R>>,
    /// There is no further item, or nobody takes results.
    is_closed: bool,
    /// A thread panicked, and its result never comes.
    is_broken: bool,
}

impl<I: Iterator, R> Desk<I, R> {
    fn new(items: I, ahead: usize) -> Self {
        let state = State { taken: 0, results: VecDeque::new(), is_closed: false, is_broken: false };
        let (has_room, has_result) = (Condvar::new(), Condvar::new());
        Self { items: Mutex::new(items), state: Mutex::new(state), has_room, has_result, ahead: ahead.max(1) }
    }

    /// A thread that panicked leaves a state that is sound: each change of it is complete.
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item and its number, when its result has room.
    fn next_item(&self) -> Option<(usize, I::Item)> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |state: &mut State<R>| !state.is_closed && state.results.len() >= self.ahead;
        let state = self.has_room.wait_while(self.lock(), is_full).unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return None;
        }
        drop(state);
        let Some(item) = items.next() else {
            self.close();
            return None;
        };
        let mut state = self.lock();
        state.results.push_back(None);
        Some((state.taken + state.results.len() - 1, item))
    }

    fn lay_down(&self, number: usize, result: R) {
        let mut state = self.lock();
        let place = number.checked_sub(state.taken);
        if let Some(slot) = place.and_then(|place| state.results.get_mut(place)) {
            *slot = Some(result);
        }
        drop(state);
        // Nobody waits for another one.
        if place == Some(0) {
            self.has_result.notify_one();
        }
    }

    /// The next result in order. `None` after the last one.
    fn next_result(&self) -> Option<R> {
        let mut state = self.lock();
        while !state.is_broken {
            if let Some(result) = state.results.front_mut().and_then(Option::take) {
                let was_full = state.results.len() >= self.ahead;
                state.results.pop_front();
                state.taken += 1;
                drop(state);
                if was_full {
                    self.has_room.notify_one();
                }
                return Some(result);
            }
            if state.results.is_empty() && state.is_closed {
                return None;
            }
            state = self.has_result.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.has_room.notify_all();
        self.has_result.notify_all();
    }
}

/// Closes the desk at the end of a thread, however it ends.
struct Closing<'d, I: Iterator, R>(&'d Desk<I, R>);

impl<I: Iterator, R> Drop for Closing<'_, I, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_broken = true;
        }
        self.0.close();
    }
}

impl Input {
    /// Does `work` on each message at these places, on `threads` threads that have a state each, and gives the results to
    /// `take` in the order of the places, on this thread. A message that cannot be read has its error.
    ///
    /// # Errors
    /// The first error of `take`.
    pub(crate) fn in_order<S, R: Send, E>(
        &self,
        (places, wanted, threads): (impl Iterator<Item = Place> + Send, MessagePart, usize),
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &Entry<'_>) -> R + Sync,
        mut take: impl FnMut(Place, Result<R, TensogramError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let read = |(reader, state): &mut (Reader<'_>, S), batch: Vec<Place>| -> Vec<_> {
            let mut each = |place: Place| (place, reader.entry(place, wanted).map(|entry| work(state, &entry)));
            batch.into_iter().map(&mut each).collect()
        };
        in_order(
            bounded(threads, self.longest_message()),
            batches(places),
            || (self.reader(), state()),
            read,
            |results| results.into_iter().try_for_each(|(place, result)| take(place, result)),
        )
    }
}

/// The selected messages of files.
pub(crate) struct Messages<'p> {
    pub(crate) paths: &'p [PathBuf],
    pub(crate) asked: Asked<'p>,
    /// The parts of a message that are read.
    pub(crate) wanted: MessagePart,
    pub(crate) threads: usize,
}

/// Why an iteration ends before the last message.
enum Stopped {
    /// The rest is not read.
    Done,
    Failed(io::Error),
}

/// What a command learns of messages that were worked on.
pub(crate) enum Worked<'e, R> {
    /// A message and what was found. The message has its place alone, without bytes.
    Message(&'e Entry<'e>, R),
    /// A stream has nothing for a while. What was printed so far is shown after this step.
    Pause,
}

impl Messages<'_> {
    /// Does `work` on each message that can be selected, on several threads, and calls `with` with the result, in order and on this thread. Each
    /// thread has a state of its own. What cannot be read is reported. The messages of a stream and of a source at an address
    /// are worked on as they come, on this thread, which may use all threads for the objects of a message.
    ///
    /// # Errors
    /// The errors of `with`.
    pub(crate) fn for_each<S, R: Send>(
        &self,
        out: &mut Out,
        state: impl Fn(Means) -> S + Sync,
        work: impl Fn(&mut S, &Entry<'_>) -> R + Sync,
        mut with: impl FnMut(&mut Out, Worked<'_, R>) -> io::Result<()>,
    ) -> io::Result<()> {
        expect_all(self.paths);
        for path in self.paths {
            for (number, source) in self.asked.sources(path, out).into_iter().enumerate() {
                // What a path names is opened, and reported if it cannot be. Nobody named the files of a tree.
                if number > 0 && out.is_full() {
                    break;
                }
                let done = self.work_on_source(&source, out, &state, &work, &mut with);
                if let Err(Stopped::Failed(error)) = done {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// [`Self::for_each`] of the messages of a source.
    fn work_on_source<S, R: Send>(
        &self,
        source: &Source,
        out: &mut Out,
        state: impl Fn(Means) -> S + Sync,
        work: impl Fn(&mut S, &Entry<'_>) -> R + Sync,
        mut with: impl FnMut(&mut Out, Worked<'_, R>) -> io::Result<()>,
    ) -> Result<(), Stopped> {
        let path = &source.path;
        if !source.is_cataloged() && (is_stream(path) || is_distant(path)) {
            let mut state = state(Means { length: u64::MAX, threads: shared(self.threads, 1).1 });
            let step = |out: &mut Out, step: Step<'_>| match step {
                Step::Message(entry) => {
                    let found = work(&mut state, entry);
                    with(out, Worked::Message(&Entry { bytes: &[], ..*entry }, found))
                }
                Step::Pause => with(out, Worked::Pause),
            };
            return for_each_step_of(source, self.asked, self.wanted, out, step).map_err(Stopped::Failed);
        }
        let mut row = if self.asked.choice.is_one() || source.is_cataloged() { None } else { Row::open(path) };
        if let Some(row) = &mut row {
            self.work_on_row(row, out, &state, &work, &mut with)?;
        }
        let opened = match row {
            None => source.open(self.asked, out).map(|input| (input, 0)),
            Some(row) => row.rest(out),
        };
        let Some((input, first)) = opened else { return Ok(()) };
        let Some(mut places) = self.asked.choice.of(&input, out) else { return Ok(()) };
        places.retain(|place| place.index >= first);
        let (name, mut left) = (input.name(), places.len());
        let (messages, threads) = shared(self.threads, left);
        input.in_order(
            (places.into_iter(), self.wanted, messages),
            || state(Means { length: input.len(), threads }),
            &work,
            |place, found| {
                if out.is_full() {
                    return Err(Stopped::Done);
                }
                left -= 1;
                match found {
                    Ok(found) => {
                        with(out, Worked::Message(&Entry::new(name, place, &[]), found)).map_err(Stopped::Failed)
                    }
                    Err(error) if input.report_unread(out, place, left, &error) => Err(Stopped::Done),
                    Err(_) => Ok(()),
                }
            },
        )
    }

    /// [`Self::for_each`] of the messages of a row.
    fn work_on_row<S, R: Send>(
        &self,
        row: &mut Row<'_>,
        out: &mut Out,
        state: impl Fn(Means) -> S + Sync,
        work: impl Fn(&mut S, &Entry<'_>) -> R + Sync,
        mut with: impl FnMut(&mut Out, Worked<'_, R>) -> io::Result<()>,
    ) -> Result<(), Stopped> {
        let (name, means) = (row.name().to_string(), Means { length: row.len(), threads: 1 });
        in_order(
            bounded(self.threads, WINDOW),
            row,
            || state(means),
            |state, batch| batch.entries(&name).map(|(place, entry)| (place, work(state, &entry))).collect::<Vec<_>>(),
            |results| {
                results.into_iter().try_for_each(|(place, found)| {
                    if out.is_full() {
                        return Err(Stopped::Done);
                    }
                    with(out, Worked::Message(&Entry::new(&name, place, &[]), found)).map_err(Stopped::Failed)
                })
            },
        )
    }
}

/// Places beside each other that are read together.
fn batches(places: impl Iterator<Item = Place> + Send) -> impl Iterator<Item = Vec<Place>> + Send {
    let mut places = places.peekable();
    std::iter::from_fn(move || {
        let first = places.next()?;
        // A window is a hint. It may end after all files.
        let (mut batch, end) = (vec![first], first.offset.saturating_add(WINDOW));
        let fits = |place: &Place| place.end() <= end;
        while batch.len() < BATCH
            && let Some(place) = places.next_if(fits)
        {
            batch.push(place);
        }
        Some(batch)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::read::threads::AHEAD;

    #[test]
    fn threads_take_a_message_each_and_what_is_left_its_objects() {
        let of = [(2, 0), (2, 1), (4, 100), (16, 3), (1, 5), (0, 5)];
        assert_eq!(of.map(|(threads, count)| shared(threads, count)), [(1, 2), (1, 2), (4, 1), (3, 5), (1, 1), (1, 1)]);
    }

    #[test]
    fn results_come_in_order_and_few_wait() {
        for threads in [0, 1, 2, 5] {
            let (taken, ahead, mut seen) = (AtomicUsize::new(0), AtomicUsize::new(0), Vec::new());
            let work = |count: &mut usize, item: usize| {
                *count += 1;
                ahead.fetch_max(item - taken.load(Ordering::SeqCst), Ordering::SeqCst);
                if item.is_multiple_of(7) {
                    thread::yield_now();
                }
                item * 2
            };
            in_order(
                (threads, AHEAD),
                0..500,
                || 0,
                work,
                |result| {
                    taken.fetch_add(1, Ordering::SeqCst);
                    seen.push(result);
                    Ok::<_, ()>(())
                },
            )
            .unwrap();
            assert_eq!(seen, (0..500).map(|item| item * 2).collect::<Vec<_>>());
            let most = if threads > 1 { threads * AHEAD + 1 } else { 1 };
            assert!(ahead.into_inner() <= most, "{threads}");
        }
    }

    #[test]
    fn after_an_error_nothing_is_taken_up() {
        for threads in [1, 3] {
            let begun = AtomicUsize::new(0);
            let work = |(): &mut (), item: usize| {
                begun.fetch_add(1, Ordering::SeqCst);
                item
            };
            let done =
                in_order((threads, AHEAD), 0..1000, || (), work, |item| if item == 5 { Err(item) } else { Ok(()) });
            assert_eq!(done, Err(5));
            assert!(begun.into_inner() <= 6 + threads * (AHEAD + 1));
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_a_thread_is_not_waited_for() {
        let work = |(): &mut (), item: usize| assert!(item != 9);
        _ = in_order((2, AHEAD), 0..100, || (), work, |()| Ok::<_, ()>(()));
    }

    #[test]
    fn neighbours_are_read_together_up_to_a_window() {
        let place = |index: usize, length: u64| Place { index, offset: index as u64 * length, length };
        let lens = |count: usize, length: u64| -> Vec<usize> {
            batches((0..count).map(|index| place(index, length))).map(|batch| batch.len()).collect()
        };
        assert_eq!(lens(100, 10), [BATCH, 36]);
        assert_eq!(lens(5, WINDOW / 2), [2, 2, 1]);
        assert_eq!(lens(2, 3 * WINDOW), [1, 1]);
        assert!(lens(0, 1).is_empty());
    }
}
