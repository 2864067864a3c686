//! The parameters and numbers of samples that the tests go through. `SZIP_ROUNDS=n` repeats everything with other data.

use crate::{Config, Rng};

const RSIS: [u32; 11] = [1, 2, 3, 7, 16, 63, 64, 65, 128, 200, 4096];
/// Flags that are valid with every number of bits.
pub const FLAGS: [u32; 7] = [0, 1, 4, 8, 9, 12, 13];

/// How often tests repeat everything with other data.
pub fn rounds() -> u64 {
    std::env::var("SZIP_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number"))
}

/// Calls `check` with every combination of parameters, each with a generator that depends on it and on `seed`.
pub fn every_config(seed: u64, mut check: impl FnMut(Config, &mut Rng)) {
    for round in 0..rounds() {
        for bits in 1..=32 {
            for block_size in [8, 16, 32, 64] {
                for rsi in RSIS {
                    for flags in
                        FLAGS.into_iter().flat_map(|flags| [flags, flags | 16]).filter(|f| bits <= 4 || f & 16 == 0)
                    {
                        let seed = seed | round << 40 | u64::from(bits << 24 | block_size << 17 | rsi << 5 | flags);
                        check(Config { bits, block_size, rsi, flags }, &mut Rng::new(seed));
                    }
                }
            }
        }
    }
}

/// A number of samples: a few, about a block, about an interval, or several intervals and a part.
pub fn count(rng: &mut Rng, config: Config) -> usize {
    let block = config.block_size as usize;
    let per_rsi = config.samples_per_rsi();
    let count = match rng.below(8) {
        0 => rng.pick(&[1, 2, 3]),
        1 => block - 1 + rng.below(3) as usize,
        2 => per_rsi.min(20_000) + rng.below(3) as usize - 1,
        _ => rng.below((3 * per_rsi + block).clamp(200, 9000) as u64) as usize,
    };
    count.max(1)
}
