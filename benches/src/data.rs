//! Generated data, the same in every run, and a description of the machine.

use std::fs;

/// `SplitMix64`.
pub struct Rng(u64);

impl Rng {
    /// A generator whose sequence depends on the seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `end`.
    pub const fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A temperature-like field of 1440 columns: waves, and noise of some hundredths of a kelvin.
pub fn field(count: usize) -> Vec<f64> {
    let mut rng = Rng::new(7);
    let columns: Vec<f64> = (0..1440).map(|i| f64::from(i) / 1440.0 * std::f64::consts::TAU).collect();
    let mut values = Vec::with_capacity(count);
    for row in 0..count.div_ceil(1440) {
        let y = row as f64;
        let (a, b) = (22.0 * (y / 90.0).cos(), y / 31.0);
        values.extend(
            columns.iter().map(|x| 273.0 + a * (3.0 * x).sin() + 7.0 * (5.0 * x + b).sin() + 0.05 * rng.unit()),
        );
    }
    values.truncate(count);
    values
}

/// Random numbers between 200 and 300.
pub fn noise(count: usize) -> Vec<f64> {
    let mut rng = Rng::new(11);
    (0..count).map(|_| 200.0 + 100.0 * rng.unit()).collect()
}

/// Random bytes.
pub fn junk(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(13);
    let mut bytes: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| rng.next().to_le_bytes()).collect();
    bytes.truncate(len);
    bytes
}

/// [`field`] as float32 in the machine's order.
pub fn field_f32(count: usize) -> Vec<f32> {
    field(count).into_iter().map(|value| value as f32).collect()
}

/// Processor, cores, memory and how busy the machine is.
pub fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let line = |name: &str| cpu.lines().find(|line| line.starts_with(name)).and_then(|line| line.split(':').nth(1));
    let model = line("model name").unwrap_or(" unknown").trim();
    let flags = line("flags").unwrap_or_default();
    let simd = ["avx2", "avx512bw", "avx512vbmi"].into_iter().filter(|&name| flags.split(' ').any(|flag| flag == name));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("?");
    format!("{model}, {cores} cores, {}, load {load}", simd.collect::<Vec<_>>().join(" "))
}
