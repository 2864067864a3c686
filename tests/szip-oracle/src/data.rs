//! Samples of several kinds, which take different paths through the coder.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A number that is about normally distributed, with standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Constant,
    Zeros,
    /// Mostly one value, sometimes another.
    Spikes,
    /// Stretches of one value, hundreds of blocks long, with noise between.
    Plateaus,
    /// A random walk of small steps.
    Walk,
    Noise,
    Ramp,
    /// In turn the smallest and the largest, and values near them.
    Extremes,
    /// Small values near the smallest or largest.
    Edge,
    /// Pieces of all other kinds.
    Mixed,
}

pub const KINDS: [Kind; 10] = [
    Kind::Constant,
    Kind::Zeros,
    Kind::Spikes,
    Kind::Plateaus,
    Kind::Walk,
    Kind::Noise,
    Kind::Ramp,
    Kind::Extremes,
    Kind::Edge,
    Kind::Mixed,
];

/// `count` samples of 0 to 2^`bits` - 1.
pub fn samples(rng: &mut Rng, kind: Kind, bits: u32, count: usize) -> Vec<u32> {
    let max = u32::MAX >> (32 - bits);
    let base = rng.next() as u32 & max;
    let scale = 1_u64 << rng.below(u64::from(bits) + 1);
    let mut now = base;
    let mut left = 0;
    (0..count)
        .map(|i| match kind {
            Kind::Constant => base,
            Kind::Zeros => 0,
            Kind::Spikes if rng.below(40) == 0 => rng.below(scale) as u32 & max,
            Kind::Spikes => base,
            Kind::Plateaus => {
                if left == 0 {
                    left = rng.below(3000) + 1;
                    now = rng.next() as u32 & max;
                }
                left -= 1;
                if left < 20 { rng.next() as u32 & max } else { now }
            }
            Kind::Walk => {
                let step = rng.below(2 * scale + 1) as i64 - scale as i64;
                now = (i64::from(now) + step).clamp(0, max.into()) as u32;
                now
            }
            Kind::Noise => rng.next() as u32 & max,
            Kind::Ramp => base.wrapping_add((i as u32).wrapping_mul(scale as u32)) & max,
            Kind::Extremes if rng.below(3) == 0 => rng.pick(&[0, max, max / 2, max / 2 + 1, 1, max - 1]) & max,
            Kind::Extremes => (i as u32 & 1).wrapping_neg() & max,
            Kind::Edge => (rng.below(scale) as u32 & max) ^ if base & 1 == 0 { 0 } else { max },
            Kind::Mixed => {
                if left == 0 {
                    left = rng.below(300) + 1;
                    now = rng.next() as u32 & max;
                }
                left -= 1;
                match now & 3 {
                    0 => now,
                    1 => now ^ (rng.below(4) as u32 & max),
                    2 => (now ^ rng.below(scale) as u32) & max,
                    _ => rng.next() as u32 & max,
                }
            }
        })
        .collect()
}
