//! Faults, one for each word. A sanitizer that lets its fault pass proves nothing about the tests.

use std::env;
use std::hint::black_box;
use std::process::exit;
use std::sync::Barrier;
use std::thread;

fn main() {
    match env::args().nth(1).as_deref() {
        Some("uninitialised") => uninitialised(),
        Some("beyond") => beyond(),
        Some("leak") => leak(),
        Some("race") => race(),
        _ => exit(2),
    }
}

/// Decides by memory that nobody has written to.
fn uninitialised() {
    let numbers = black_box(Vec::<u64>::with_capacity(3));
    // SAFETY: none. The number is in the allocation, but has no value.
    let number = unsafe { *black_box(numbers.as_ptr()) };
    if number == 7 {
        println!("seven");
    }
}

/// Reads the byte after an allocation.
fn beyond() {
    let bytes = black_box(vec![1_u8; 17]);
    // SAFETY: none. There is no such byte.
    black_box(unsafe { *black_box(bytes.as_ptr()).add(bytes.len()) });
}

/// Forgets an allocation.
fn leak() {
    black_box(Box::leak(Box::new([7_u64; 3])));
}

/// Counts on two threads without a lock.
fn race() {
    static mut COUNT: u64 = 0;
    let start = Barrier::new(2);
    let add = || {
        start.wait();
        // SAFETY: none. The other thread writes at the same time.
        unsafe { COUNT += 1 };
    };
    thread::scope(|threads| {
        threads.spawn(add);
        threads.spawn(add);
    });
}
