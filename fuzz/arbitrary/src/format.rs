//! Names, fixed layouts and parameters of the format.
//!
//! Names are any that the format has. Fixed layouts are nearly valid: a magic or a number is wrong once in a while.

use std::num::NonZeroU64;

use arbitrary::{Arbitrary, Result, Unstructured};
use tgm_core::descriptor::{
    ByteOrder, Compression, Dtype, Encoding, Filter, MaskKind, MaskMethod, Stage, SzipParams, ZfpMode, szip_flags,
};
use tgm_core::packing::Packing;
use tgm_core::phase::DecodePhase;
use tgm_core::push::Link;
use tgm_core::selection::Pick;
use tgm_core::wire::{
    END_MAGIC, FRAME_END, FRAME_MAGIC, FrameFlags, FrameHeader, FrameTail, FrameType, MAGIC, MessageFlags, ObjectTail,
    Postamble, Preamble, WIRE_VERSION,
};

use crate::{Any, any};

/// `Arbitrary` that gives each of the listed values.
macro_rules! one_of {
    ($($type:ty: $all:expr;)*) => {
        $(impl<'a> Arbitrary<'a> for Any<$type> {
            fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
                u.choose(&$all[..]).copied().map(Self)
            }

            fn size_hint(_: usize) -> (usize, Option<usize>) {
                (1, Some(1))
            }
        })*
    };
}

one_of! {
    ByteOrder: [ByteOrder::Big, ByteOrder::Little];
    Compression: Compression::ALL;
    DecodePhase: [DecodePhase::Header, DecodePhase::Body, DecodePhase::Preceded, DecodePhase::Footer];
    Dtype: Dtype::ALL;
    Encoding: Encoding::ALL;
    Filter: Filter::ALL;
    FrameType: FrameType::ALL;
    Link: [Link::Reliable, Link::Lossy];
    MaskKind: MaskKind::ALL;
    MaskMethod: MaskMethod::ALL;
}

impl<'a> Arbitrary<'a> for Any<Stage> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(match u.int_in_range(0..=3_u8)? {
            0 => Stage::Encoding(any_or_none(u)?),
            1 => Stage::Filter(any_or_none(u)?),
            2 => Stage::Compression(any_or_none(u)?),
            _ => Stage::Masks(any_or_none(u)?),
        }))
    }
}

/// Bits that have a meaning; once in a while any bits.
impl<'a> Arbitrary<'a> for Any<MessageFlags> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(MessageFlags::new(u.arbitrary::<u16>()? & if is_rare(u)? { u16::MAX } else { MessageFlags::KNOWN })))
    }
}

/// Bits that have a meaning; once in a while any bits.
impl<'a> Arbitrary<'a> for Any<FrameFlags> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(FrameFlags::new(u.arbitrary::<u16>()? & if is_rare(u)? { u16::MAX } else { FrameFlags::KNOWN })))
    }
}

impl<'a> Arbitrary<'a> for Any<Preamble> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(Preamble {
            magic: mostly(*MAGIC, u)?,
            version: mostly(WIRE_VERSION, u)?.into(),
            flags: any::<MessageFlags>(u)?.bits().into(),
            reserved: mostly(0_u32, u)?.into(),
            total_length: length(u)?.into(),
        }))
    }
}

impl<'a> Arbitrary<'a> for Any<FrameHeader> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let frame_type: FrameType = any(u)?;
        Ok(Self(FrameHeader {
            magic: mostly(*FRAME_MAGIC, u)?,
            frame_type: mostly(frame_type.as_u16(), u)?.into(),
            version: mostly(1_u16, u)?.into(),
            flags: any::<FrameFlags>(u)?.bits().into(),
            total_length: length(u)?.into(),
        }))
    }
}

impl<'a> Arbitrary<'a> for Any<FrameTail> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(FrameTail { hash: u.arbitrary::<u64>()?.into(), end: mostly(*FRAME_END, u)? }))
    }
}

impl<'a> Arbitrary<'a> for Any<ObjectTail> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let tail: FrameTail = any(u)?;
        Ok(Self(ObjectTail { cbor_offset: length(u)?.into(), hash: tail.hash, end: tail.end }))
    }
}

impl<'a> Arbitrary<'a> for Any<Postamble> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(Postamble {
            first_footer_offset: length(u)?.into(),
            total_length: length(u)?.into(),
            magic: mostly(*END_MAGIC, u)?,
        }))
    }
}

/// Parameters that the format allows.
impl<'a> Arbitrary<'a> for Any<SzipParams> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(SzipParams {
            rsi: if is_rare(u)? { u.int_in_range(1..=4096)? } else { *u.choose(&[128, 1, 2, 4096])? },
            block_size: *u.choose(&[16, 8, 32, 64])?,
            flags: *u.choose(&[
                szip_flags::PREPROCESS,
                0,
                szip_flags::PREPROCESS | szip_flags::MSB,
                szip_flags::MSB,
            ])?,
        }))
    }
}

/// Bounds that the format allows.
impl<'a> Arbitrary<'a> for Any<ZfpMode> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(match u.int_in_range(0..=2_u8)? {
            0 => ZfpMode::FixedRate(f64::from(u.int_in_range(1..=64_u8)?)),
            1 => ZfpMode::FixedPrecision(u.int_in_range(1..=64)?),
            _ => ZfpMode::FixedAccuracy(*u.choose(&[0.125, 1e-3, 1.0, 1e-12])?),
        }))
    }
}

/// Parameters that the format allows, and widths up to 64 bits.
impl<'a> Arbitrary<'a> for Any<Packing> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let reference: f64 = u.arbitrary()?;
        Ok(Self(Packing {
            reference_value: if reference.is_finite() { reference } else { 0.0 },
            binary_scale_factor: u.int_in_range(-256..=256)?,
            decimal_scale_factor: u.int_in_range(-12..=12)?,
            bits_per_value: u.int_in_range(0..=64)?,
        }))
    }
}

/// Ranges may be empty, backwards and beyond the dimension.
impl<'a> Arbitrary<'a> for Any<Pick> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(match u.int_in_range(0..=2_u8)? {
            0 => Pick::All,
            1 => Pick::Index(length(u)?),
            _ => {
                let step = NonZeroU64::new(length(u)?).unwrap_or(NonZeroU64::MIN);
                Pick::Range { start: length(u)?, end: length(u)?, step }
            }
        }))
    }
}

/// A known name, or `None` for an unknown one.
fn any_or_none<'a, T>(u: &mut Unstructured<'a>) -> Result<Option<T>>
where
    Any<T>: Arbitrary<'a>,
{
    if u.arbitrary()? { any(u).map(Some) } else { Ok(None) }
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
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::collections::HashSet;

    use tgm_core::zerocopy::IntoBytes;

    use super::*;

    /// What each of 4096 inputs makes.
    fn made<T>() -> Vec<T>
    where
        Any<T>: for<'a> Arbitrary<'a>,
    {
        let input = |seed: u32| (0..64_u32).map(|at| noise(seed, at)).collect::<Vec<u8>>();
        (0..4096).map(|seed| any(&mut Unstructured::new(&input(seed))).unwrap()).collect()
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
        assert_eq!(any::<Preamble>(&mut none()).unwrap().magic, *MAGIC);
        assert_eq!(any::<FrameTail>(&mut none()).unwrap().end, *FRAME_END);
        assert_eq!(any(&mut none()), Ok(Dtype::Float16));
    }
}
