//! Cases: rows that do the same work. Rows run in turns (A B C A B C …), so that other work of the machine hits all of
//! them, and are compared by their medians.
//!
//! A row is a closure that does `ops` operations. It is called until a turn takes some milliseconds, and each round
//! gives one time per operation. Time is processor time of the calling thread, which other programs disturb least, or
//! wall-clock time in cases with threads. Before each turn of a short row, one call warms the caches again. The
//! allocations of a row are counted in a separate call, after a first call has warmed it up.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::alloc::{self, Usage};

/// Nanoseconds per operation above which it does not pay to warm the caches.
const WARM_BELOW: f64 = 1e8;

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Small data and short turns.
    pub quick: bool,
    /// Rounds of each case.
    pub rounds: usize,
    /// Only cases with this in their name.
    pub cases: Option<String>,
    /// Only rows whose label begins with this.
    pub rows: Option<String>,
}

impl Settings {
    /// `full`, or `quick` in quick runs.
    pub fn size(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    fn turn(&self) -> Duration {
        Duration::from_micros(if self.quick { 500 } else { 5_000 })
    }
}

/// The clock of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Processor time of the calling thread.
    Thread,
    /// Wall-clock time.
    Wall,
}

impl Clock {
    fn now(self, start: Instant) -> Duration {
        match self {
            Self::Wall => start.elapsed(),
            Self::Thread => {
                let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                // SAFETY: `time` is a timespec that outlives the call.
                unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
                Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
            }
        }
    }
}

/// What a goal demands of one row, or of two. Rows are named by their labels.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// `row` is at least this many times as fast as the other row.
    Faster(&'static str, f64),
    /// `row` takes at most this many times the time of the other row.
    Within(&'static str, f64),
    /// `row` takes at most this many nanoseconds per operation.
    Nanos(f64),
    /// `row` makes at most this many allocations per operation.
    Allocations(u64),
    /// `row` has at most this many bytes alive at once.
    Peak(u64),
}

/// A goal and the row that must reach it.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// P1 to P19.
    pub id: &'static str,
    /// The label of the row.
    pub row: &'static str,
    /// What the row must reach.
    pub bound: Bound,
}

struct Row<'a> {
    label: &'static str,
    ops: u64,
    work: Box<dyn FnMut() + 'a>,
}

/// A case to be measured.
pub struct Case<'a> {
    name: String,
    bytes: u64,
    clock: Clock,
    rows: Vec<Row<'a>>,
    goals: Vec<Goal>,
}

impl<'a> Case<'a> {
    /// A case without rows.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), bytes: 0, clock: Clock::Thread, rows: Vec::new(), goals: Vec::new() }
    }

    /// Bytes that an operation takes in or puts out: the table shows GB/s.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes as u64;
        self
    }

    /// Measures wall-clock time.
    pub fn wall(mut self) -> Self {
        self.clock = Clock::Wall;
        self
    }

    /// Adds a row that does one operation per call.
    pub fn row<T>(self, label: &'static str, work: impl FnMut() -> T + 'a) -> Self {
        self.rows_of(label, 1, work)
    }

    /// Adds a row that does `ops` operations per call.
    pub fn rows_of<T>(mut self, label: &'static str, ops: u64, mut work: impl FnMut() -> T + 'a) -> Self {
        self.rows.push(Row {
            label,
            ops,
            work: Box::new(move || {
                black_box(work());
            }),
        });
        self
    }

    /// Adds a goal of row `row`.
    pub fn goal(mut self, id: &'static str, row: &'static str, bound: Bound) -> Self {
        self.goals.push(Goal { id, row, bound });
        self
    }

    /// Runs all rows in turns; `None` for a case that is not selected.
    pub fn measure(mut self, group: &'static str, settings: &Settings) -> Option<Measured> {
        if settings.cases.as_ref().is_some_and(|text| !self.name.contains(text)) {
            return None;
        }
        if let Some(text) = &settings.rows {
            self.rows.retain(|row| row.label.starts_with(text));
            self.goals.clear();
        }
        let clock = self.clock;
        let turns: Vec<(u64, Usage)> = self.rows.iter_mut().map(|row| prepare(row, clock, settings)).collect();
        let mut times = vec![Vec::with_capacity(settings.rounds); self.rows.len()];
        for _ in 0..settings.rounds {
            for ((row, (calls, _)), times) in self.rows.iter_mut().zip(&turns).zip(&mut times) {
                // The row before may have filled the caches with its own data.
                if times.last().is_none_or(|last| *last < WARM_BELOW) {
                    (row.work)();
                }
                let spent = time(row, *calls, clock);
                times.push(spent.as_secs_f64() * 1e9 / (*calls * row.ops) as f64);
            }
        }
        let rows = self.rows.iter().zip(turns).zip(times).map(|((row, (_, usage)), mut times)| {
            times.sort_by(f64::total_cmp);
            let per_op = |n: u64| n as f64 / row.ops as f64;
            MeasuredRow {
                label: row.label,
                nanos: times[times.len() / 2],
                least: times[0],
                most: times[times.len() - 1],
                allocations: per_op(usage.count),
                allocated: per_op(usage.bytes),
                peak: usage.peak,
            }
        });
        let rows = rows.collect();
        Some(Measured { group, name: self.name, bytes: self.bytes, clock, rows, goals: self.goals })
    }
}

/// Warms a row up, counts what a call allocates, and finds how many calls make a turn.
fn prepare(row: &mut Row<'_>, clock: Clock, settings: &Settings) -> (u64, Usage) {
    (row.work)();
    let usage = alloc::measure(|| (row.work)());
    let turn = settings.turn();
    let mut calls = 1_u64;
    loop {
        let spent = time(row, calls, clock);
        if spent * 2 >= turn {
            return (calls, usage);
        }
        let wanted = turn.as_secs_f64() / spent.as_secs_f64().max(1e-7);
        calls = (calls as f64 * wanted.clamp(2.0, 100.0)) as u64;
    }
}

fn time(row: &mut Row<'_>, calls: u64, clock: Clock) -> Duration {
    let origin = Instant::now();
    let start = clock.now(origin);
    for _ in 0..calls {
        (row.work)();
    }
    clock.now(origin).saturating_sub(start)
}

/// A case with its medians.
pub struct Measured {
    /// The group.
    pub group: &'static str,
    /// The case.
    pub name: String,
    /// Bytes per operation; 0 if a rate has no meaning.
    pub bytes: u64,
    /// The clock.
    pub clock: Clock,
    /// The rows.
    pub rows: Vec<MeasuredRow>,
    /// The goals.
    pub goals: Vec<Goal>,
}

/// A row with its median.
pub struct MeasuredRow {
    /// Who did the work.
    pub label: &'static str,
    /// Median of nanoseconds per operation.
    pub nanos: f64,
    /// The least nanoseconds per operation.
    pub least: f64,
    /// The most nanoseconds per operation.
    pub most: f64,
    /// Allocations per operation.
    pub allocations: f64,
    /// Bytes allocated per operation.
    pub allocated: f64,
    /// The most bytes alive at once in a call.
    pub peak: u64,
}

/// A goal, and whether it was reached.
pub struct Verdict {
    /// P1 to P19.
    pub id: &'static str,
    /// The case.
    pub case: String,
    /// What was demanded.
    pub demand: String,
    /// What was measured.
    pub figure: String,
    /// Whether the figure meets the demand.
    pub reached: bool,
}

impl Measured {
    /// The row with that label.
    pub fn row(&self, label: &str) -> &MeasuredRow {
        let row = self.rows.iter().find(|row| row.label == label);
        row.unwrap_or_else(|| panic!("{}: no row is called {label}", self.name))
    }

    /// The verdicts on all goals.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.goals.iter().map(|goal| {
            let row = self.row(goal.row);
            let who = goal.row;
            let (demand, figure, reached) = match goal.bound {
                Bound::Faster(other, factor) => {
                    let ratio = self.row(other).nanos / row.nanos;
                    (format!("{who}: ≥ {factor} × {other}"), format!("{ratio:.2} ×"), ratio >= factor)
                }
                Bound::Within(other, factor) => {
                    let ratio = row.nanos / self.row(other).nanos;
                    (format!("{who}: ≤ {factor} × the time of {other}"), format!("{ratio:.2} ×"), ratio <= factor)
                }
                Bound::Nanos(limit) => (format!("{who}: ≤ {}", nanos(limit)), nanos(row.nanos), row.nanos <= limit),
                Bound::Allocations(limit) => {
                    let is = row.allocations;
                    (format!("{who}: ≤ {limit} allocations"), format!("{is}"), is <= limit as f64)
                }
                Bound::Peak(limit) => (
                    format!("{who}: ≤ {} alive at once", bytes(limit as f64)),
                    bytes(row.peak as f64),
                    row.peak <= limit,
                ),
            };
            Verdict { id: goal.id, case: format!("{}: {}", self.group, self.name), demand, figure, reached }
        })
    }
}

/// A time in a unit that suits it.
pub fn nanos(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.1} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}

/// A number of bytes in a unit that suits it.
pub fn bytes(bytes: f64) -> String {
    match bytes {
        n if n < 1024.0 => format!("{n:.0} B"),
        n if n < 1024.0 * 1024.0 => format!("{:.1} KiB", n / 1024.0),
        n => format!("{:.1} MiB", n / 1024.0 / 1024.0),
    }
}
