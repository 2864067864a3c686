//! What the measurements of speed share.

use crate::Rng;

/// How often each job runs.
pub const RUNS: usize = 21;
/// Samples of a job.
pub const COUNT: usize = 1_000_000;

/// Seconds of processor time that this thread has used: the machine may have other work.
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

/// The median of each job's times in nanoseconds a sample; the jobs take turns.
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

/// A field of 1440 columns, smooth but for normal noise of that deviation.
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
