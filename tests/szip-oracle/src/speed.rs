//! Data and timing that the measurements of speed share.

use crate::{Config, Rng};

/// How often each job runs.
pub const RUNS: usize = 21;
/// The number of samples in a job.
pub const COUNT: usize = 1_000_000;

/// Seconds of processor time that this thread has used: other work of the machine does not count.
fn now() -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanos: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    let mut time = Timespec { seconds: 0, nanos: 0 };
    // SAFETY: `time` is a timespec of 64-bit Linux; clock 3 is CLOCK_THREAD_CPUTIME_ID.
    unsafe { clock_gettime(3, &raw mut time) };
    time.seconds as f64 + time.nanos as f64 * 1e-9
}

/// The median of each job's times, in nanoseconds per sample. The jobs take turns.
pub fn medians<const N: usize>(jobs: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    let mut jobs = jobs;
    for _ in 0..RUNS {
        for (job, times) in jobs.iter_mut().zip(&mut times) {
            let start = now();
            job();
            times.push((now() - start) * 1e9 / COUNT as f64);
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    })
}

/// A field of 1440 columns: smooth, plus normal noise of this deviation.
pub fn smooth(bits: u32, noise: f64) -> Vec<u32> {
    let mut rng = Rng::new(7);
    let max = f64::from(u32::MAX >> (32 - bits));
    (0..COUNT)
        .map(|i| {
            let (x, y) = ((i % 1440) as f64 / 1440.0 * std::f64::consts::TAU, (i / 1440) as f64);
            let value = 0.5 + 0.3 * (3.0 * x).sin() * (y / 90.0).cos() + 0.12 * (5.0 * x + y / 31.0).sin();
            (value * max + noise * rng.normal()).clamp(0.0, max) as u32
        })
        .collect()
}

/// Calls `compare` with each case that is measured: a name, parameters and [`COUNT`] samples.
pub fn for_each_case(compare: impl Fn(&str, Config, &[u32])) {
    let usual = Config { bits: 16, block_size: 16, rsi: 128, flags: 12 };
    for noise in [0.0, 3.0, 30.0, 300.0] {
        compare(&format!("16 bits, noise {noise}"), usual, &smooth(16, noise));
    }
    let field = smooth(16, 10.0);
    for (block_size, rsi) in [(8, 16), (8, 128), (32, 128), (64, 128), (16, 1), (64, 4096)] {
        compare(&format!("16 bits, block {block_size}, rsi {rsi}"), Config { block_size, rsi, ..usual }, &field);
    }
    compare("16 bits, little-endian", Config { flags: 8, ..usual }, &field);
    compare("16 bits, signed", Config { flags: 13, ..usual }, &field);
    compare("16 bits, no predictor", Config { flags: 4, ..usual }, &field);
    compare("8 bits, noise 1", Config { bits: 8, ..usual }, &smooth(8, 1.0));
    compare("12 bits, noise 3", Config { bits: 12, ..usual }, &smooth(12, 3.0));
    compare("24 bits, noise 1000", Config { bits: 24, ..usual }, &smooth(24, 1e3));
    compare("32 bits, noise 1e5", Config { bits: 32, ..usual }, &smooth(32, 1e5));
    let mut rng = Rng::new(1);
    let noise: Vec<u32> = (0..COUNT).map(|_| rng.next() as u32).collect();
    for bits in [8, 16, 24, 32] {
        let noise: Vec<u32> = noise.iter().map(|value| value >> (32 - bits)).collect();
        compare(&format!("{bits} bits, random"), Config { bits, ..usual }, &noise);
    }
    compare("16 bits, zeros", usual, &vec![0; COUNT]);
    for (name, end) in [("small", 4), ("large", 60_000)] {
        let sparse: Vec<u32> = (0..COUNT).map(|_| if rng.below(20) == 0 { rng.below(end) as u32 } else { 0 }).collect();
        compare(&format!("16 bits, 1 in 20 {name}"), usual, &sparse);
    }
}
