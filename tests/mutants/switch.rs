//! Which change is switched on. This file is put into the copy of the package, where every function with changes asks here.
//!
//! | variable | what it does |
//! |---|---|
//! | `TGM_MUTANT` | the number of the change that is switched on |
//! | `TGM_REACHED` | no change is on, and the numbers of the functions that are called are appended to this file |

extern crate std as library;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use library::fs::{File, OpenOptions};
use library::io::{Cursor, Write as _};
use library::sync::OnceLock;

/// The number of no change.
const NOTHING: u32 = 0;
/// In place of a number: no change is on, and calls are recorded.
const RECORDING: u32 = u32::MAX - 1;
/// In place of a number: nobody has asked yet.
const UNKNOWN: u32 = u32::MAX;

/// The change that is on.
static ON: AtomicU32 = AtomicU32::new(UNKNOWN);
/// The functions that were recorded.
static REACHED: [AtomicBool; FUNCTIONS] = [const { AtomicBool::new(false) }; FUNCTIONS];
/// Where they are recorded.
static RECORD: OnceLock<File> = OnceLock::new();

/// The number of the change that is on, asked by a function. What the compiler evaluates is not changed.
#[inline(always)]
pub(crate) const fn on(function: usize) -> u32 {
    core::intrinsics::const_eval_select((function,), at_compile_time, at_run_time)
}

const fn at_compile_time(_: usize) -> u32 {
    NOTHING
}

#[inline(always)]
fn at_run_time(function: usize) -> u32 {
    let on = ON.load(Relaxed);
    if on < RECORDING { on } else { first_asked(function) }
}

#[cold]
#[inline(never)]
fn first_asked(function: usize) -> u32 {
    if ON.load(Relaxed) == UNKNOWN {
        let number = library::env::var("TGM_MUTANT").map(|number| number.parse().expect("TGM_MUTANT: a number"));
        let recording = if library::env::var_os("TGM_REACHED").is_some() { RECORDING } else { NOTHING };
        ON.store(number.unwrap_or(recording), Relaxed);
    }
    let on = ON.load(Relaxed);
    if on != RECORDING {
        return on;
    }
    if !REACHED[function].swap(true, Relaxed) {
        // Nothing is allocated for a line, as tests count allocations.
        let mut line = Cursor::new([0; 24]);
        let written = library::writeln!(line, "{function}").and_then(|()| {
            let len = line.position() as usize;
            record().write_all(&line.get_ref()[..len])
        });
        written.expect("the record can be written");
    }
    NOTHING
}

/// The file in which calls are recorded.
fn record() -> &'static File {
    RECORD.get_or_init(|| {
        let path = library::env::var_os("TGM_REACHED").expect("checked when recording began");
        OpenOptions::new().create(true).append(true).open(path).expect("the record can be written")
    })
}
