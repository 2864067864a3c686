//! Element types and byte order (FORMAT §3.5, PIPELINE §1).

use core::fmt;

use super::WireName;
use crate::target::IS_SMALL;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Dtype {
    /// IEEE 754 binary16.
    Float16,
    /// The upper half of an IEEE 754 binary32.
    Bfloat16,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
    /// Real then imaginary part, each binary32.
    Complex64,
    /// Real then imaginary part, each binary64.
    Complex128,
    /// 8-bit two's complement.
    Int8,
    /// 16-bit two's complement.
    Int16,
    /// 32-bit two's complement.
    Int32,
    /// 64-bit two's complement.
    Int64,
    /// 8-bit unsigned.
    Uint8,
    /// 16-bit unsigned.
    Uint16,
    /// 32-bit unsigned.
    Uint32,
    /// 64-bit unsigned.
    Uint64,
    /// One bit for each element, most significant bit first.
    Bitmask,
}

impl Dtype {
    /// Every dtype of the format.
    pub const ALL: [Self; 15] = [
        Self::Float16,
        Self::Bfloat16,
        Self::Float32,
        Self::Float64,
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

    /// The name written in descriptors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float16 => "float16",
            Self::Bfloat16 => "bfloat16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Bitmask => "bitmask",
        }
    }

    /// The dtype with this name: exact and in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_bytes(name.as_bytes())
    }

    /// Bytes of an element; 0 for [`Dtype::Bitmask`], whose elements are bits.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "ported programs pass the method to iterators of references")]
    #[inline]
    pub const fn byte_width(&self) -> usize {
        match self {
            Self::Bitmask => 0,
            Self::Int8 | Self::Uint8 => 1,
            Self::Float16 | Self::Bfloat16 | Self::Int16 | Self::Uint16 => 2,
            Self::Float32 | Self::Int32 | Self::Uint32 => 4,
            Self::Float64 | Self::Complex64 | Self::Int64 | Self::Uint64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Bytes that are reversed together when the byte order changes; 0 for [`Dtype::Bitmask`].
    ///
    /// This is the width of an element, except that each part of a complex number is reversed by itself.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "ported programs pass the method to iterators of references")]
    #[inline]
    pub const fn swap_unit_size(&self) -> usize {
        match self {
            Self::Complex64 => 4,
            Self::Complex128 => 8,
            other => other.byte_width(),
        }
    }

    /// Whether elements can be NaN or infinite. Only such objects have masks.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::Float16 | Self::Bfloat16 | Self::Float32 | Self::Float64 | Self::Complex64 | Self::Complex128
        )
    }

    /// Bytes of `count` elements without padding, ⌈count / 8⌉ for [`Dtype::Bitmask`]; `None` if that exceeds `u64`.
    ///
    /// ```
    /// use tgm_core::descriptor::Dtype;
    ///
    /// assert_eq!(Dtype::Complex64.byte_len(3), Some(24));
    /// assert_eq!(Dtype::Bitmask.byte_len(9), Some(2));
    /// ```
    #[inline]
    pub const fn byte_len(self, count: u64) -> Option<u64> {
        match self {
            Self::Bitmask => Some(count.div_ceil(8)),
            other => count.checked_mul(other.byte_width() as u64),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The order of bytes within a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ByteOrder {
    /// Most significant byte first.
    Big,
    /// Least significant byte first.
    Little,
}

impl ByteOrder {
    /// The byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// The byte order of this machine: [`Self::NATIVE`] as a function.
    pub const fn native() -> Self {
        Self::NATIVE
    }

    /// The name written in descriptors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Big => "big",
            Self::Little => "little",
        }
    }

    /// The order with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_bytes(name.as_bytes())
    }
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl WireName for Dtype {
    fn all() -> &'static [Self] {
        &Self::ALL
    }

    fn wire_name(self) -> &'static str {
        self.name()
    }

    // Written out, because the compiler then compares each name as one or two integers.
    #[inline]
    fn from_bytes(name: &[u8]) -> Option<Self> {
        if IS_SMALL {
            return Self::ALL.into_iter().find(|known| known.name().as_bytes() == name);
        }
        Some(match name {
            b"float32" => Self::Float32,
            b"float64" => Self::Float64,
            b"float16" => Self::Float16,
            b"bfloat16" => Self::Bfloat16,
            b"complex64" => Self::Complex64,
            b"complex128" => Self::Complex128,
            b"int8" => Self::Int8,
            b"int16" => Self::Int16,
            b"int32" => Self::Int32,
            b"int64" => Self::Int64,
            b"uint8" => Self::Uint8,
            b"uint16" => Self::Uint16,
            b"uint32" => Self::Uint32,
            b"uint64" => Self::Uint64,
            b"bitmask" => Self::Bitmask,
            _ => return None,
        })
    }
}

impl WireName for ByteOrder {
    fn all() -> &'static [Self] {
        &[Self::Big, Self::Little]
    }

    fn wire_name(self) -> &'static str {
        self.name()
    }

    #[inline]
    fn from_bytes(name: &[u8]) -> Option<Self> {
        match name {
            b"big" => Some(Self::Big),
            b"little" => Some(Self::Little),
            _ => None,
        }
    }
}
