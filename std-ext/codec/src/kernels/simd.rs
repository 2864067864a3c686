//! The instructions that the processor has.

use std::sync::OnceLock;

/// The environment variable that limits vector instructions: `none`, `avx2` or `avx512`. It is read once.
///
/// `AArch64` always has NEON, so there only `none` changes anything.
pub const ENV_SIMD: &str = "TENSOGRAM_SIMD";

/// Groups of instructions that processors have together. Each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The instructions that every processor of the architecture has.
    Base,
    /// NEON: every processor of `AArch64`.
    Neon,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT: processors from 2013 on.
    Avx2,
    /// AVX-512 F, BW, DQ, VL, VBMI and VBMI2: processors from 2019 on, mostly of servers.
    Avx512,
}

/// A level that this processor has.
///
/// A value is made only after the processor has been asked, so code that holds one may use the level's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Simd(Level);

impl Simd {
    /// The best level that the processor has and [`ENV_SIMD`] allows.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Simd> = OnceLock::new();
        *BEST.get_or_init(|| {
            // Any other text sets no limit.
            let most = match std::env::var(ENV_SIMD).as_deref() {
                Ok("none") => Level::Base,
                Ok("avx2") => Level::Avx2,
                _ => Level::Avx512,
            };
            Self::all().filter(|simd| simd.0 <= most).max().unwrap_or(Self(Level::Base))
        })
    }

    /// Every level that the processor has.
    pub fn all() -> impl Iterator<Item = Self> {
        [Level::Base, Level::Neon, Level::Avx2, Level::Avx512].into_iter().filter(|level| is_there(*level)).map(Self)
    }

    /// The level.
    #[inline]
    pub const fn level(self) -> Level {
        self.0
    }

    /// The level's name.
    #[inline]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Level::Base => "base",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn is_there(level: Level) -> bool {
    let avx2 = || {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    };
    let avx512 = || {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
    };
    match level {
        Level::Base => true,
        Level::Neon => false,
        Level::Avx2 => avx2(),
        Level::Avx512 => avx2() && avx512(),
    }
}

#[cfg(not(target_arch = "x86_64"))]
const fn is_there(level: Level) -> bool {
    match level {
        Level::Base => true,
        // Part of the architecture, so the compiler knows it. The kernels take lanes in little-endian order.
        Level::Neon => cfg!(all(target_arch = "aarch64", target_endian = "little")),
        Level::Avx2 | Level::Avx512 => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_always_there_and_the_best_is_one_of_all() {
        let all: Vec<Simd> = Simd::all().collect();
        assert_eq!(all.first().map(|simd| simd.level()), Some(Level::Base));
        assert!(all.is_sorted() && all.contains(&Simd::best()));
    }
}
