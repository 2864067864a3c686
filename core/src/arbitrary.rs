//! `Arbitrary` of the crate of that name, for types that own what they hold.
//!
//! Names of the format are any of theirs. Fixed layouts are nearly valid: a magic or a number is wrong once in a while.

use core::num::NonZeroU64;

use ::arbitrary::{Arbitrary, Result, Unstructured};

use crate::descriptor::{MaskKind, SzipParams, ZfpMode};
use crate::names::{
    ByteOrder, Compression, DecodePhase, Dtype, Encoding, Filter, FrameType, MaskMethod, Stage, szip_flags,
};
#[cfg(feature = "packing")]
use crate::packing::Packing;
#[cfg(feature = "push")]
use crate::push::Link;
use crate::selection::Pick;
use crate::wire::{
    END_MAGIC, FRAME_END, FRAME_MAGIC, FrameFlags, FrameHeader, FrameTail, MAGIC, MessageFlags, ObjectTail, Postamble,
    Preamble, WIRE_VERSION,
};

/// `Arbitrary` that gives each of the listed values.
macro_rules! one_of {
    ($($type:ty: $all:expr;)*) => {
        $(impl<'a> Arbitrary<'a> for $type {
            fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
                u.choose(&$all[..]).copied()
            }

            fn size_hint(_: usize) -> (usize, Option<usize>) {
                (1, Some(1))
            }
        })*
    };
}

one_of! {
    ByteOrder: [Self::Big, Self::Little];
    Compression: Self::ALL;
    DecodePhase: [Self::Header, Self::Body, Self::Preceded, Self::Footer];
    Dtype: Self::ALL;
    Encoding: Self::ALL;
    Filter: Self::ALL;
    FrameType: Self::ALL;
    MaskKind: Self::ALL;
    MaskMethod: Self::ALL;
}

#[cfg(feature = "push")]
one_of! {
    Link: [Self::Reliable, Self::Lossy];
}

impl<'a> Arbitrary<'a> for Stage {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=3_u8)? {
            0 => Self::Encoding(u.arbitrary()?),
            1 => Self::Filter(u.arbitrary()?),
            2 => Self::Compression(u.arbitrary()?),
            _ => Self::Masks(u.arbitrary()?),
        })
    }
}

/// Bits that have a meaning; once in a while any bits.
impl<'a> Arbitrary<'a> for MessageFlags {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self::new(u.arbitrary::<u16>()? & if is_rare(u)? { u16::MAX } else { Self::KNOWN }))
    }
}

/// Bits that have a meaning; once in a while any bits.
impl<'a> Arbitrary<'a> for FrameFlags {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self::new(u.arbitrary::<u16>()? & if is_rare(u)? { u16::MAX } else { Self::KNOWN }))
    }
}

impl<'a> Arbitrary<'a> for Preamble {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            magic: mostly(*MAGIC, u)?,
            version: mostly(WIRE_VERSION, u)?.into(),
            flags: u.arbitrary::<MessageFlags>()?.bits().into(),
            reserved: mostly(0_u32, u)?.into(),
            total_length: length(u)?.into(),
        })
    }
}

impl<'a> Arbitrary<'a> for FrameHeader {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let frame_type: FrameType = u.arbitrary()?;
        Ok(Self {
            magic: mostly(*FRAME_MAGIC, u)?,
            frame_type: mostly(frame_type.as_u16(), u)?.into(),
            version: mostly(1_u16, u)?.into(),
            flags: u.arbitrary::<FrameFlags>()?.bits().into(),
            total_length: length(u)?.into(),
        })
    }
}

impl<'a> Arbitrary<'a> for FrameTail {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self { hash: u.arbitrary::<u64>()?.into(), end: mostly(*FRAME_END, u)? })
    }
}

impl<'a> Arbitrary<'a> for ObjectTail {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let tail: FrameTail = u.arbitrary()?;
        Ok(Self { cbor_offset: length(u)?.into(), hash: tail.hash, end: tail.end })
    }
}

impl<'a> Arbitrary<'a> for Postamble {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            first_footer_offset: length(u)?.into(),
            total_length: length(u)?.into(),
            magic: mostly(*END_MAGIC, u)?,
        })
    }
}

/// Parameters that the format allows.
impl<'a> Arbitrary<'a> for SzipParams {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            rsi: if is_rare(u)? { u.int_in_range(1..=4096)? } else { *u.choose(&[128, 1, 2, 4096])? },
            block_size: *u.choose(&[16, 8, 32, 64])?,
            flags: *u.choose(&[
                szip_flags::PREPROCESS,
                0,
                szip_flags::PREPROCESS | szip_flags::MSB,
                szip_flags::MSB,
            ])?,
        })
    }
}

/// Bounds that the format allows.
impl<'a> Arbitrary<'a> for ZfpMode {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=2_u8)? {
            0 => Self::FixedRate(f64::from(u.int_in_range(1..=64_u8)?)),
            1 => Self::FixedPrecision(u.int_in_range(1..=64)?),
            _ => Self::FixedAccuracy(*u.choose(&[0.125, 1e-3, 1.0, 1e-12])?),
        })
    }
}

/// Parameters that the format allows, and widths up to 64 bits.
#[cfg(feature = "packing")]
impl<'a> Arbitrary<'a> for Packing {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let reference: f64 = u.arbitrary()?;
        Ok(Self {
            reference_value: if reference.is_finite() { reference } else { 0.0 },
            binary_scale_factor: u.int_in_range(-256..=256)?,
            decimal_scale_factor: u.int_in_range(-12..=12)?,
            bits_per_value: u.int_in_range(0..=64)?,
        })
    }
}

/// Ranges may be empty, backwards and beyond the dimension.
impl<'a> Arbitrary<'a> for Pick {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=2_u8)? {
            0 => Self::All,
            1 => Self::Index(length(u)?),
            _ => {
                let step = NonZeroU64::new(length(u)?).unwrap_or(NonZeroU64::MIN);
                Self::Range { start: length(u)?, end: length(u)?, step }
            }
        })
    }
}

/// A small number, or once in a while any number.
fn length(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(if is_rare(u)? { u.arbitrary::<u64>()? } else { u.arbitrary::<u8>()?.into() })
}

/// `right`, or once in a while anything.
fn mostly<'a, T: Arbitrary<'a>>(right: T, u: &mut Unstructured<'a>) -> Result<T> {
    if is_rare(u)? { u.arbitrary() } else { Ok(right) }
}

/// Whether the next decision is one of the rare ones: one in sixteen.
fn is_rare(u: &mut Unstructured<'_>) -> Result<bool> {
    Ok(u.int_in_range(0..=15_u8)? == 15)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::vec::Vec;

    use zerocopy::IntoBytes;

    use super::*;

    /// What each of 4096 inputs makes.
    fn made<T: for<'a> Arbitrary<'a>>() -> Vec<T> {
        let input = |seed: u32| (0..64_u32).map(|at| noise(seed, at)).collect::<Vec<u8>>();
        (0..4096).map(|seed| T::arbitrary(&mut Unstructured::new(&input(seed))).unwrap()).collect()
    }

    fn noise(seed: u32, at: u32) -> u8 {
        ((seed * 64 + at).wrapping_mul(0x9e37_79b1) >> 13).to_le_bytes()[0]
    }

    #[test]
    fn every_name_is_made() {
        macro_rules! all {
            ($($type:ty),*) => { $(assert_eq!(made::<$type>().into_iter().collect::<HashSet<_>>().len(), <$type>::ALL.len());)* };
        }
        all!(Compression, Dtype, Encoding, Filter, FrameType, MaskKind, MaskMethod);
    }

    #[test]
    fn layouts_are_mostly_valid_and_sometimes_not() {
        let share = |right: usize| assert!((3000..4000).contains(&right), "{right} of 4096 are right");
        share(made::<Preamble>().iter().filter(|preamble| preamble.magic == *MAGIC).count());
        share(
            made::<FrameHeader>().iter().filter(|header| FrameType::from_u16(header.frame_type.get()).is_ok()).count(),
        );
        share(made::<Postamble>().iter().filter(|postamble| postamble.as_bytes().ends_with(END_MAGIC)).count());
    }

    #[test]
    fn no_bytes_make_valid_layouts() {
        let none = || Unstructured::new(&[]);
        assert_eq!(Preamble::arbitrary(&mut none()).unwrap().magic, *MAGIC);
        assert_eq!(FrameTail::arbitrary(&mut none()).unwrap().end, *FRAME_END);
        assert_eq!(Dtype::arbitrary(&mut none()), Ok(Dtype::Float16));
    }
}
