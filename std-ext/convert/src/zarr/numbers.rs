//! Single numbers of the types of numpy, in the byte order that their names tell.

use half::f16;

/// A type of numbers, by its name in numpy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    kind: Kind,
    size: usize,
    is_big: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// The sum: of integers as an integer, which wraps around.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Self::Integer(one.wrapping_add(other)),
            (one, other) => Self::Float(one.to_f64() + other.to_f64()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest float is wanted")]
    fn to_f64(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

impl Type {
    /// The type with a name such as `<i4`. Truth values are numbers of one byte.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (order, rest) = match name.split_at_checked(1)? {
            ("<" | ">" | "|" | "=", rest) => (name, rest),
            _ => ("<", name),
        };
        let (kind, size) = match rest {
            "b1" | "bool" | "u1" | "uint8" => (Kind::Unsigned, 1),
            "u2" | "uint16" => (Kind::Unsigned, 2),
            "u4" | "uint32" => (Kind::Unsigned, 4),
            "u8" | "uint64" => (Kind::Unsigned, 8),
            "i1" | "int8" => (Kind::Signed, 1),
            "i2" | "int16" => (Kind::Signed, 2),
            "i4" | "int32" => (Kind::Signed, 4),
            "i8" | "int64" => (Kind::Signed, 8),
            "f2" | "float16" => (Kind::Float, 2),
            "f4" | "float32" => (Kind::Float, 4),
            "f8" | "float64" => (Kind::Float, 8),
            _ => return None,
        };
        Some(Self { kind, size, is_big: order.starts_with('>') })
    }

    /// Bytes of a number.
    pub(super) const fn size(self) -> usize {
        self.size
    }

    /// The number zero.
    pub(super) fn zero(self) -> Number {
        if self.kind == Kind::Float { Number::Float(0.0) } else { Number::Integer(0) }
    }

    /// The number of these bytes. `None` if there are too few.
    pub(super) fn read(self, bytes: &[u8]) -> Option<Number> {
        let mut little = [0_u8; 8];
        let bytes = bytes.get(..self.size)?;
        let places = little.iter_mut().zip(0..self.size);
        for (place, index) in places {
            *place = *bytes.get(if self.is_big { self.size - 1 - index } else { index })?;
        }
        let [a, b, c, d, ..] = little;
        let unsigned = u64::from_le_bytes(little);
        Some(match (self.kind, self.size) {
            (Kind::Float, 2) => Number::Float(f16::from_le_bytes([a, b]).to_f64()),
            (Kind::Float, 4) => Number::Float(f32::from_le_bytes([a, b, c, d]).into()),
            (Kind::Float, _) => Number::Float(f64::from_bits(unsigned)),
            (Kind::Unsigned, _) => Number::Integer(unsigned.into()),
            (Kind::Signed, size) => {
                let unused = 64 - 8 * size;
                Number::Integer((unsigned.cast_signed() << unused >> unused).into())
            }
        })
    }

    /// Writes the bytes of a number, as numpy casts it: integers wrap around, and floats lose what is after the point.
    #[expect(clippy::cast_possible_truncation, reason = "numpy casts so")]
    pub(super) fn write(self, number: Number, place: &mut [u8]) {
        let little = match (self.kind, self.size, number) {
            (Kind::Float, 2, number) => u64::from(f16::from_f64(number.to_f64()).to_bits()),
            (Kind::Float, 4, number) => u64::from((number.to_f64() as f32).to_bits()),
            (Kind::Float, _, number) => number.to_f64().to_bits(),
            (_, _, Number::Integer(number)) => (number as i64).cast_unsigned(),
            (_, _, Number::Float(number)) => (number as i128 as i64).cast_unsigned(),
        };
        let mut bytes = little.to_le_bytes();
        if let Some(bytes) = bytes.get_mut(..self.size) {
            if self.is_big {
                bytes.reverse();
            }
            place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        }
    }

    /// The number after it was written and read.
    pub(super) fn rounded(self, number: Number) -> Number {
        let mut bytes = [0; 8];
        self.write(number, &mut bytes);
        self.read(&bytes).unwrap_or(number)
    }

    /// The number after two operations on floats, each rounded to `float32` if the number is one.
    pub(super) fn in_floats(self, number: Number, first: impl Fn(f64) -> f64, second: impl Fn(f64) -> f64) -> Number {
        let is_narrow = self.kind == Kind::Float && self.size <= 4;
        let round = |float| if is_narrow { self.rounded(Number::Float(float)).to_f64() } else { float };
        Number::Float(round(second(round(first(number.to_f64())))))
    }
}
