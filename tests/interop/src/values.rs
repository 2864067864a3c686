//! Elements: patterns of values in every dtype and byte order, with non-finite values in between.

/// Element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's words")]
pub enum Dtype {
    Float16,
    Bfloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Bitmask,
}

impl Dtype {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Float64,
        Self::Float32,
        Self::Float16,
        Self::Bfloat16,
        Self::Complex64,
        Self::Complex128,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
        Self::Bitmask,
    ];

    /// Bytes of an element; 0 for bits.
    pub const fn width(self) -> usize {
        match self {
            Self::Bitmask => 0,
            Self::Int8 | Self::Uint8 => 1,
            Self::Float16 | Self::Bfloat16 | Self::Int16 | Self::Uint16 => 2,
            Self::Float32 | Self::Int32 | Self::Uint32 => 4,
            Self::Float64 | Self::Int64 | Self::Uint64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Bytes of `count` elements.
    pub const fn byte_len(self, count: usize) -> usize {
        match self {
            Self::Bitmask => count.div_ceil(8),
            _ => count * self.width(),
        }
    }

    /// The floats that an element is made of, and how many of them.
    const fn float(self) -> Option<(Float, usize)> {
        match self {
            Self::Float16 => Some((Float::HALF, 1)),
            Self::Bfloat16 => Some((Float::BRAIN, 1)),
            Self::Float32 => Some((Float::SINGLE, 1)),
            Self::Float64 => Some((Float::DOUBLE, 1)),
            Self::Complex64 => Some((Float::SINGLE, 2)),
            Self::Complex128 => Some((Float::DOUBLE, 2)),
            _ => None,
        }
    }
}

/// Byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's words")]
pub enum Order {
    Little,
    Big,
}

impl Order {
    /// The byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// A binary floating-point format.
#[derive(Clone, Copy)]
struct Float {
    bytes: usize,
    fraction_bits: u32,
}

impl Float {
    const HALF: Self = Self { bytes: 2, fraction_bits: 10 };
    const BRAIN: Self = Self { bytes: 2, fraction_bits: 7 };
    const SINGLE: Self = Self { bytes: 4, fraction_bits: 23 };
    const DOUBLE: Self = Self { bytes: 8, fraction_bits: 52 };

    const fn sign(self) -> u64 {
        1 << (self.bytes * 8 - 1)
    }

    const fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction_bits)
    }

    const fn quiet_nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction_bits - 1)
    }

    /// The bits of a number, rounded or cut.
    fn bits(self, value: f64) -> u64 {
        match (self.bytes, self.fraction_bits) {
            (8, _) => value.to_bits(),
            (4, _) => u64::from((value as f32).to_bits()),
            (_, 7) => u64::from((value as f32).to_bits() >> 16),
            _ => u64::from(half::f16::from_f64(value).to_bits()),
        }
    }

    /// The bits, changed if they are not a finite number.
    const fn made_finite(self, bits: u64) -> u64 {
        let bits = bits & (self.sign() << 1).wrapping_sub(1);
        if bits & self.infinity() == self.infinity() { bits & !(1 << self.fraction_bits) } else { bits }
    }
}

/// A generator of numbers that depends on its seed alone (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A sequence of elements.
#[derive(Clone, Debug)]
pub struct Values {
    /// How values depend on the index.
    pub kind: Kind,
    /// Selects one of the sequences of that kind.
    pub seed: u64,
}

/// How values depend on the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All zero.
    Zeros,
    /// All the same.
    Constant,
    /// 0, 1, 2, …
    Ramp,
    /// A wave with a little noise.
    Smooth,
    /// Zeros, here and there a number.
    Sparse,
    /// Runs of equal numbers, some of them zero.
    Steps,
    /// Any finite bits.
    Noise,
    /// Powers of two of either sign, from the smallest to the largest, and both zeros.
    Extremes,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Ramp, Self::Zeros, Self::Constant, Self::Smooth, Self::Sparse, Self::Steps, Self::Noise, Self::Extremes];
}

/// Which elements are not finite.
#[derive(Clone, Debug)]
pub enum NonFinite {
    /// None of them.
    None,
    /// Some, at random.
    Strewn {
        /// Of 256 elements, how many are not finite.
        of_256: u8,
        /// The greatest length of a run of them.
        run: u8,
        /// Bit 0: NaN; bit 1: +∞; bit 2: −∞.
        kinds: u8,
        /// Selects the places.
        seed: u64,
    },
    /// All are of one kind (0, 1, 2 as above).
    All(u8),
}

/// The bits in the place of a non-finite value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// NaN of some sign and payload, an infinity, in one or both parts of a complex number.
    Any,
    /// What decoders restore.
    Canonical,
    /// What encoders substitute.
    Zero,
}

impl NonFinite {
    /// The kind of each element.
    pub fn kinds(&self, count: usize) -> Vec<Option<u8>> {
        match *self {
            Self::None => vec![None; count],
            Self::All(kind) => vec![Some(kind % 3); count],
            Self::Strewn { of_256, run, kinds, seed } => {
                let wanted: Vec<u8> = (0..3).filter(|kind| kinds >> kind & 1 == 1).collect();
                let mut rng = Rng(seed);
                let mut state = (None, 0_u64);
                let next = |_| {
                    if state.1 == 0 {
                        let draw = rng.next();
                        let hit = !wanted.is_empty() && (draw & 255) < u64::from(of_256);
                        let kind = hit.then(|| wanted[(draw >> 8) as usize % wanted.len()]);
                        state = (kind, if hit { 1 + (draw >> 32) % u64::from(run.max(1)) } else { 1 });
                    }
                    state.1 -= 1;
                    state.0
                };
                (0..count).map(next).collect()
            }
        }
    }
}

impl Values {
    /// The elements as an encoder is given them.
    pub fn bytes(&self, dtype: Dtype, order: Order, count: usize, non_finite: &NonFinite) -> Vec<u8> {
        self.bytes_with(dtype, order, count, non_finite, Pattern::Any)
    }

    /// The elements, with `pattern` where they are not finite.
    pub fn bytes_with(
        &self,
        dtype: Dtype,
        order: Order,
        count: usize,
        non_finite: &NonFinite,
        pattern: Pattern,
    ) -> Vec<u8> {
        if dtype == Dtype::Bitmask {
            return self.packed_bits(count);
        }
        let (float, parts) = dtype.float().map_or((None, 1), |(float, parts)| (Some(float), parts));
        let unit = dtype.width() / parts;
        let mut out = Vec::with_capacity(dtype.byte_len(count));
        let mut rng = Rng(self.seed);
        let mut strewn = Rng(!self.seed);
        let kinds = non_finite.kinds(count);
        for (index, kind) in kinds.into_iter().enumerate() {
            let draw = strewn.next();
            for part in 0..parts {
                let plain = self.element(&mut rng, index + part, unit, float);
                let bits = match (float, kind) {
                    (Some(float), Some(kind)) => non_finite_bits(float, kind, pattern, plain, draw, part, parts),
                    _ => plain,
                };
                match order {
                    Order::Little => out.extend_from_slice(&bits.to_le_bytes()[..unit]),
                    Order::Big => out.extend_from_slice(&bits.to_be_bytes()[8 - unit..]),
                }
            }
        }
        out
    }

    fn element(&self, rng: &mut Rng, index: usize, unit: usize, float: Option<Float>) -> u64 {
        let draw = rng.next();
        let (i, seed) = (index as f64, (self.seed % 1000) as f64);
        let number = match self.kind {
            Kind::Zeros => 0.0,
            Kind::Constant => seed + 0.25,
            Kind::Ramp => i,
            Kind::Smooth => 250.0 + 30.0 * (i / (7.0 + seed)).sin() + (draw % 64) as f64 / 256.0,
            Kind::Sparse if !draw.is_multiple_of(16) => 0.0,
            Kind::Sparse => (draw >> 32) as f64 / 65536.0,
            Kind::Steps => (Rng(self.seed ^ (index as u64 / 23)).next() % 7) as f64,
            Kind::Noise => return float.map_or(draw, |float| float.made_finite(draw)),
            Kind::Extremes => {
                let shift = (draw >> 8) % (unit as u64 * 8);
                return float.map_or(1 << shift, |float| {
                    float.made_finite((float.sign() * (draw & 1)) | (draw >> 16 << shift))
                });
            }
        };
        float.map_or(number as i64 as u64, |float| float.made_finite(float.bits(number)))
    }

    fn packed_bits(&self, count: usize) -> Vec<u8> {
        let mut rng = Rng(self.seed);
        let mut out = vec![0; count.div_ceil(8)];
        for index in 0..count {
            let draw = rng.next();
            let set = match self.kind {
                Kind::Zeros => false,
                Kind::Constant => true,
                Kind::Ramp => index % 2 == 1,
                Kind::Smooth => index / 37 % 2 == 1,
                Kind::Sparse => draw.is_multiple_of(32),
                Kind::Steps => Rng(self.seed ^ (index as u64 / 23)).next() % 2 == 1,
                Kind::Noise => draw % 2 == 1,
                Kind::Extremes => index == 0 || index + 1 == count,
            };
            out[index / 8] |= u8::from(set) << (7 - index % 8);
        }
        out
    }
}

/// The bits of a float that is not finite, or of the other part of a complex number that is not.
fn non_finite_bits(float: Float, kind: u8, pattern: Pattern, plain: u64, draw: u64, part: usize, parts: usize) -> u64 {
    let infinity = if kind == 2 { float.infinity() | float.sign() } else { float.infinity() };
    match pattern {
        Pattern::Zero => 0,
        Pattern::Canonical if kind == 0 => float.quiet_nan(),
        Pattern::Canonical => infinity,
        // One part of a complex number may be finite, or of a kind that the other part outranks.
        Pattern::Any if parts == 2 && draw % 3 == part as u64 => match (kind, draw >> 2 & 1) {
            (0, 1) => float.infinity() | (float.sign() * (draw >> 3 & 1)),
            (1, 1) => float.infinity() | float.sign(),
            _ => plain,
        },
        Pattern::Any if kind == 0 => {
            let fraction = (draw >> 8) & ((1 << float.fraction_bits) - 1);
            float.infinity() | fraction.max(1) | (float.sign() * (draw >> 4 & 1))
        }
        Pattern::Any => infinity,
    }
}
