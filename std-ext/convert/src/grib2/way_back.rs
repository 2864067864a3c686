//! One object on its way back to GRIB: its own sections, with the bits of bitmap and data.
//!
//! The integers of section 7 come from the payload where that holds them, in any number of bits and after any lossless
//! compression. Otherwise they come from the values: an integer is taken back if it gives its value to the bit.

use std::borrow::Cow;

use tgm_codec::about::Input;
use tgm_codec::{codec, find};
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter};
use tgm_core::packing::Packing;
use tgm_std::internal::{Trusted, mask_set, reserve, reserve_more, trusted_values};
use tgm_std::{CompressionBackend, DecodeOptions, Result, TensogramError};

use super::bitmap::{self, BITMAP_HEAD_LEN, EARLIER, count_ones, inverted, predefined};
use super::codes::{compact, packed_len, taken, with_width};
use super::complex::{Complex, Groups, has_negative};
use super::packings::{Curved, Places, SecondOrder};
use super::recipe::{Kept, Recipe, refused};
use super::representation::{Ccsds, Representation};
use super::sections::{END, HEAD_LEN, INDICATOR_LEN, Section};
use super::stream;

/// Code table 6.0: no bitmap.
const NO_BITMAP: u8 = 255;
/// Why values cannot be stored as section 5 says.
const EDITED: &str = "GRIB section 5 cannot give its values: they were edited, or encoded with loss";

/// What the section of a bitmap states.
pub(super) enum StatedBits<'s> {
    /// All points have a value.
    None,
    /// The mask has the bits, for which the section has so many bytes.
    OfMask { room: u64 },
    /// These bits.
    Literal(&'s [u8]),
}

/// Why integers cannot be stored in groups.
const NO_PLACE: &str = "its values were edited, and its GRIB groups have no place for them";

/// What a field can take from the ones before it.
#[derive(Default)]
pub(super) struct Earlier {
    /// The last bitmap that was written.
    bits: Option<Vec<u8>>,
    /// The last section 3.
    grid: Vec<u8>,
}

/// One object on its way back.
pub(super) struct WayBack<'f, 'a> {
    pub(super) index: usize,
    pub(super) trusted: Trusted<'f, 'a>,
    pub(super) recipe: &'f Recipe<'f>,
    pub(super) options: &'f DecodeOptions,
}

impl WayBack<'_, '_> {
    /// Appends the sections that the field does not share with the one before it.
    pub(super) fn append(&self, earlier: &mut Earlier, made: &mut Vec<u8>) -> Result<()> {
        let mut sections = self.recipe.sections.as_slice();
        if let (0, [indicator, rest @ ..]) = (self.index, sections) {
            if indicator.len() != INDICATOR_LEN {
                return Err(self.refused("GRIB section 0 was edited"));
            }
            made.extend_from_slice(indicator);
            sections = rest;
        }
        let points = self.trusted.descriptor().element_count();
        let (mut representation, mut bitmap) = (None, None);
        for section in sections {
            made.extend_from_slice(section);
            match section.get(HEAD_LEN - 1) {
                Some(3) => earlier.grid = section.to_vec(),
                Some(5) => {
                    let grid = Section::parse(&earlier.grid, 0)?;
                    representation = Some(Representation::parse(Section::parse(section, 0)?, grid)?);
                }
                Some(6) => {
                    // Data with missing values of their own have more gaps than the bitmap.
                    let is_apart = representation.as_ref().is_some_and(Representation::has_missing);
                    bitmap = if self.recipe.unread.is_some() {
                        None
                    } else if is_apart {
                        self.literal(section, points, earlier.bits.as_deref())?
                    } else {
                        self.bitmap(section, points, earlier.bits.as_deref())?
                    };
                    if section.len() == BITMAP_HEAD_LEN && section.last() == Some(&0) {
                        made.extend_from_slice(bitmap.as_deref().unwrap_or_default());
                    }
                    // A later field may have more points than this one, and take bits that were spare here.
                    let literal = section.get(BITMAP_HEAD_LEN..).filter(|bits| !bits.is_empty());
                    match (literal, section.get(BITMAP_HEAD_LEN - 1)) {
                        (Some(bits), Some(0)) => earlier.bits = Some(bits.to_vec()),
                        (None, Some(0)) => earlier.bits.clone_from(&bitmap),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let representation = representation.ok_or_else(|| self.refused("GRIB section 5 was edited"))?;
        let content = self.content(&representation, bitmap.as_deref(), points)?;
        let length = u32::try_from(content.len() + HEAD_LEN).map_err(|_| self.refused("its data exceed a section"))?;
        reserve_more(made, HEAD_LEN + content.len() + END.len())?;
        made.extend_from_slice(&length.to_be_bytes());
        made.push(7);
        made.extend_from_slice(&content);
        Ok(())
    }

    /// The encoded values.
    pub(super) fn content(
        &self,
        representation: &Representation,
        bitmap: Option<&[u8]>,
        points: u64,
    ) -> Result<Cow<'_, [u8]>> {
        match (self.recipe.data, representation) {
            (Some(data), _) if self.recipe.unread.is_some() => self.unread(data, points),
            (data, Representation::Complex(packing, complex)) => self.complex(packing, complex, data, bitmap, points),
            (Some(data), _) => Ok(data.into()),
            (None, Representation::Curved(curved)) => self.curved(curved, bitmap, points),
            (None, Representation::Runs(packing, runs)) => {
                let made = runs.encode(&self.taken(packing, bitmap, points)?)?;
                made.map(Cow::Owned).ok_or_else(|| self.refused(EDITED))
            }
            (None, Representation::SecondOrder(packing, order)) => {
                self.second_order(packing, order, bitmap, points).map(Cow::Owned)
            }
            (None, _) => self.data(representation, bitmap, points),
        }
    }

    pub(super) fn refused(&self, text: &str) -> TensogramError {
        refused(self.index, text)
    }

    /// Which points have a value, by section 6 and the object's mask, which must agree.
    fn bitmap(&self, section: &[u8], points: u64, earlier: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let stated = section.get(BITMAP_HEAD_LEN..).unwrap_or_default();
        let stated = match section.get(BITMAP_HEAD_LEN - 1) {
            Some(code) if has_no_bits(*code) => StatedBits::None,
            Some(0) if stated.is_empty() => StatedBits::OfMask {
                room: section.first_chunk().map_or(0, |length| u32::from_be_bytes(*length).into()),
            },
            Some(0) => StatedBits::Literal(stated),
            Some(&EARLIER) => StatedBits::Literal(earlier.unwrap_or_default()),
            _ => StatedBits::Literal(&[]),
        };
        self.present(&stated, points)
    }

    /// Which points have a value, by what a section states and the object's mask, which must agree.
    pub(super) fn present(&self, stated: &StatedBits<'_>, points: u64) -> Result<Option<Vec<u8>>> {
        let room = match stated {
            StatedBits::None if self.trusted.descriptor().masks().is_empty() => return Ok(None),
            StatedBits::None => 0,
            // The bits that the section states, before any memory is reserved for the mask.
            StatedBits::OfMask { room } => *room,
            StatedBits::Literal(bits) => bits.len() as u64,
        };
        if points.div_ceil(8) > room {
            return Err(self.refused("it has more points than the bitmap of its GRIB section has bits"));
        }
        self.options.limits.check_bytes(self.trusted.payload().len() as u64, points.div_ceil(8))?;
        let present = inverted(&self.gaps(points)?, points);
        let is_same = match stated {
            StatedBits::OfMask { .. } => true,
            // Bits that belong to no point are not compared.
            StatedBits::Literal(bits) => {
                bits.get(..present.len()).is_some_and(|bits| inverted(&inverted(bits, points), points) == present)
            }
            StatedBits::None => false,
        };
        if is_same { Ok(Some(present)) } else { Err(self.refused("its mask is not the bitmap of its GRIB section")) }
    }

    /// The bitmap that section 6 has or names.
    fn literal(&self, section: &[u8], points: u64, earlier: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let bits = match section.get(BITMAP_HEAD_LEN - 1) {
            Some(code) if has_no_bits(*code) => return Ok(None),
            Some(0) => section.get(BITMAP_HEAD_LEN..),
            Some(&EARLIER) => earlier,
            _ => None,
        };
        let len = usize::try_from(points.div_ceil(8)).ok();
        let bits = bits.zip(len).and_then(|(bits, len)| bits.get(..len));
        bits.map(|bits| Some(bits.to_vec())).ok_or_else(|| self.refused("GRIB section 6 was edited"))
    }

    /// Section 7 from octet 6 on, of integers in groups. `data` are the bytes, if the groups do not give them.
    fn complex(
        &self,
        packing: &Packing,
        complex: &Complex,
        data: Option<&[u8]>,
        bitmap: Option<&[u8]>,
        points: u64,
    ) -> Result<Cow<'_, [u8]>> {
        let gaps = self.gaps(points)?;
        let room = points.saturating_mul(size_of::<i64>() as u64);
        self.options.limits.check_bytes(self.trusted.payload().len() as u64, room)?;
        if let Some(data) = data {
            let count = bitmap.map_or(points, |bits| count_ones(bits, points));
            let decoded = complex.decode(data, count, &self.options.limits)?;
            // Objects have these as values, which are compared with the ones of the whole message at the end.
            if has_negative(&decoded.integers) {
                return Ok(Cow::Owned(data.to_vec()));
            }
        }
        let integers = self.taken_with(packing, &gaps, bitmap, points)?;
        let made = match (data, &self.recipe.groups) {
            (Some(data), _) => {
                let decoded = complex.decode(data, integers.len() as u64, &self.options.limits)?;
                (decoded.integers == integers).then(|| data.to_vec())
            }
            (None, Some(Kept::Head(groups))) => complex.encode(&integers, *groups)?,
            (None, Some(Kept::Lengths(lengths))) => match complex.derive(&integers, lengths)? {
                Some(head) => complex.encode(&integers, Groups { head: &head, unused: lengths.unused })?,
                None => None,
            },
            (None, None) => None,
        };
        made.map(Cow::Owned).ok_or_else(|| self.refused(NO_PLACE))
    }

    /// The integers of the points that have one by section 6, [`NONE`](super::codes::NONE) for those that miss it all the same.
    fn taken(&self, packing: &Packing, bitmap: Option<&[u8]>, points: u64) -> Result<Vec<i64>> {
        let room = points.saturating_mul(size_of::<i64>() as u64);
        self.options.limits.check_bytes(self.trusted.payload().len() as u64, room)?;
        self.taken_with(packing, &self.gaps(points)?, bitmap, points)
    }

    /// [`Self::taken`] where the bits of the mask are known.
    fn taken_with(&self, packing: &Packing, gaps: &[u8], bitmap: Option<&[u8]>, points: u64) -> Result<Vec<i64>> {
        let (stored, bits) = match self.integers(packing, gaps, points) {
            // Section 5 tells the bits of references. A single group may have none, and its integers have bits all the same.
            Err(_) if packing.bits_per_value == 0 => {
                self.integers(&Packing { bits_per_value: u64::BITS, ..*packing }, gaps, points)?
            }
            found => found?,
        };
        let integers = taken(&stored, bits, bitmap, gaps, points);
        integers.ok_or_else(|| self.refused("its mask is not the bitmap of GRIB section 6"))
    }

    /// Section 7 from octet 6 on, of values that do not rise in equal steps with their integers.
    fn curved(&self, curved: &Curved, bitmap: Option<&[u8]>, points: u64) -> Result<Cow<'_, [u8]>> {
        let room = points.saturating_mul(size_of::<f64>() as u64);
        self.options.limits.check_bytes(self.trusted.payload().len() as u64, room)?;
        let stored = self.floats(u64::BITS, points)?;
        let stored = match bitmap {
            Some(bitmap) => compact(&stored, u64::BITS, bitmap, points)?.into(),
            None => stored,
        };
        let values: Vec<_> = stored.as_chunks().0.iter().map(|bytes| f64::from_be_bytes(*bytes)).collect();
        let made = curved.encode(&values, &self.options.limits)?;
        made.map(Cow::Owned).ok_or_else(|| self.refused(EDITED))
    }

    /// Section 7 from octet 6 on, of integers in groups of second order.
    fn second_order(
        &self,
        packing: &Packing,
        order: &SecondOrder,
        bitmap: Option<&[u8]>,
        points: u64,
    ) -> Result<Vec<u8>> {
        let count = bitmap.map_or(points, |bits| count_ones(bits, points));
        let places = Places { bitmap, points, count };
        let integers = if order.is_to_and_fro() {
            let turned = order.turned_back(self.taken(packing, None, points)?, places);
            turned.ok_or_else(|| self.refused("its mask is not the bitmap of GRIB section 6"))?
        } else {
            self.taken(packing, bitmap, points)?
        };
        let integers = integers.as_slice();
        let made = match &self.recipe.groups {
            Some(Kept::Head(groups)) => order.encode(integers, places, groups.head)?,
            Some(Kept::Lengths(lengths)) => match order.derive(integers, &lengths.bytes)? {
                Some(head) => order.encode(integers, places, &head)?,
                None => None,
            },
            None => None,
        };
        made.ok_or_else(|| self.refused(NO_PLACE))
    }

    /// The bytes of values that could not be read, which are all missing still.
    fn unread<'d>(&self, data: &'d [u8], points: u64) -> Result<Cow<'d, [u8]>> {
        self.options.limits.check_bytes(data.len() as u64, points.div_ceil(8))?;
        let is_empty = count_ones(&self.gaps(points)?, points) == points;
        if is_empty { Ok(data.into()) } else { Err(self.refused("it has values, and its GRIB data cannot be edited")) }
    }

    /// The bits of the mask of NaN: all 0 if there is none.
    fn gaps(&self, points: u64) -> Result<Vec<u8>> {
        let masks = mask_set(self.trusted, self.options)?;
        if masks.pos_inf.is_some() || masks.neg_inf.is_some() {
            return Err(self.refused("GRIB has no infinities"));
        }
        let mut bits = reserve(packed_len(points, 1)?)?;
        for (byte, eight) in bits.iter_mut().zip(masks.nan.as_deref().unwrap_or_default().chunks(8)) {
            *byte = eight.iter().enumerate().fold(0, |byte, (i, is_set)| byte | (u8::from(*is_set) << (7 - i)));
        }
        Ok(bits)
    }

    /// Section 7 from octet 6 on.
    fn data(&self, representation: &Representation, bitmap: Option<&[u8]>, points: u64) -> Result<Cow<'_, [u8]>> {
        let Some(packing) = representation.packing() else {
            let bits = representation.bits();
            let stored = self.floats(bits, points)?;
            let Some(bitmap) = bitmap else { return Ok(stored) };
            return compact(&stored, bits, bitmap, points).map(Cow::Owned);
        };
        let descriptor = self.trusted.descriptor();
        if let (Representation::Ccsds(packing, ccsds), None) = (representation, bitmap)
            && stored_bits(descriptor, packing) == Some(packing.bits_per_value)
            && is_stream(descriptor, *ccsds)
        {
            ccsds.params(packing.bits_per_value)?;
            return Ok(self.trusted.payload().into());
        }
        let (mut dense, bits) = self.integers(packing, &self.gaps(points)?, points)?;
        let mut count = points;
        if let Some(bitmap) = bitmap {
            dense = compact(&dense, bits, bitmap, points)?.into();
            count = count_ones(bitmap, points);
        }
        if bits != packing.bits_per_value {
            let narrow = with_width(&dense, (bits, packing.bits_per_value), count)?;
            dense = narrow.ok_or_else(|| self.refused(EDITED))?.into();
        }
        stream::data(representation, dense, count)
    }

    /// The integers that are the values by the numbers of `packing`, dense, and the bits of each. There is one for each
    /// point, and any where `gaps` has a 1.
    ///
    /// Whatever encoding and compression the object has by now: where `packing` does not say the same, each value must be
    /// one that the integers give.
    fn integers(&self, packing: &Packing, gaps: &[u8], points: u64) -> Result<(Cow<'_, [u8]>, u32)> {
        if let Some(bits) = stored_bits(self.trusted.descriptor(), packing) {
            return Ok((self.stored(points, bits)?, bits));
        }
        let values = self.values(Dtype::Float64)?;
        let values = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
        let mut integers = Vec::new();
        reserve_more(&mut integers, packed_len(points, u64::BITS)?)?;
        for (value, is_gap) in values.zip(bitmap::iter(gaps, points)) {
            let integer = if is_gap { Some(0) } else { integer_of(packing, value) };
            integers.extend_from_slice(&integer.ok_or_else(|| self.refused(EDITED))?.to_be_bytes());
        }
        Ok((integers.into(), u64::BITS))
    }

    /// Floating-point numbers of `bits` bits, big-endian.
    fn floats(&self, bits: u32, points: u64) -> Result<Cow<'_, [u8]>> {
        let (descriptor, dtype) = (self.trusted.descriptor(), if bits == 32 { Dtype::Float32 } else { Dtype::Float64 });
        let is_of_bytes = descriptor
            .compression()
            .known()
            .is_some_and(|compression| find(compression).is_none_or(|codec| codec.about().input == Input::Bytes));
        if is_of_bytes
            && (descriptor.encoding().known(), descriptor.filter().known())
                == (Some(Encoding::None), Some(Filter::None))
            && (descriptor.dtype(), descriptor.byte_order()) == (dtype, ByteOrder::Big)
        {
            return self.stored(points, bits);
        }
        let mut values = self.values(dtype)?.into_owned();
        if cfg!(target_endian = "little") {
            values.chunks_exact_mut(dtype.byte_width()).for_each(<[u8]>::reverse);
        }
        Ok(values.into())
    }

    /// The values, in the byte order of the machine.
    fn values(&self, dtype: Dtype) -> Result<Cow<'_, [u8]>> {
        if self.trusted.descriptor().dtype() != dtype {
            return Err(self.refused(EDITED));
        }
        trusted_values(self.trusted, &DecodeOptions { native_byte_order: true, ..self.options.clone() })
    }

    /// The payload without its compression.
    fn stored(&self, points: u64, bits: u32) -> Result<Cow<'_, [u8]>> {
        let (descriptor, payload) = (self.trusted.descriptor(), self.trusted.payload());
        let len = packed_len(points, bits)?;
        match descriptor.compression().known() {
            Some(Compression::None) => {
                let stored = payload.get(..len).filter(|_| payload.len() == len);
                stored.map(Cow::Borrowed).ok_or_else(|| self.refused("its payload has not the length of its values"))
            }
            Some(compression) => {
                self.options.limits.check_bytes(payload.len() as u64, len as u64)?;
                let mut stored = reserve(len)?;
                let codec = codec(compression, CompressionBackend::Auto)?;
                let decompressed = codec.decompress_into(payload, descriptor, &mut stored);
                decompressed.map_err(|error| {
                    let error = error.in_codec(codec.name()).shift(self.trusted.region_offset());
                    TensogramError::from(error).within(format_args!("object {}", self.index))
                })?;
                Ok(stored.into())
            }
            None => Err(self.refused("its compression is unknown")),
        }
    }
}

/// Whether section 6 with this code stands for values at all points.
fn has_no_bits(code: u8) -> bool {
    code == NO_BITMAP || predefined(code).is_some()
}

/// The bits of an object's packed values, if they are the integers of `packing`, in any number of bits.
fn stored_bits(descriptor: &Descriptor<'_>, packing: &Packing) -> Option<u32> {
    let stages = (descriptor.encoding().known(), descriptor.filter().known());
    let stored = descriptor.packing().ok().filter(|_| stages == (Some(Encoding::SimplePacking), Some(Filter::None)))?;
    let is_same = Packing { bits_per_value: packing.bits_per_value, ..stored } == *packing;
    (is_same && stored.bits_per_value <= u64::BITS).then_some(stored.bits_per_value)
}

/// The integer that gives a value, to the bit. `None` if there is none, or if its neighbours give the same value.
fn integer_of(packing: &Packing, value: f64) -> Option<u64> {
    const GREATEST: f64 = 9_007_199_254_740_992.0;
    let (formula, wanted) = (packing.formula(), value.to_bits());
    let gives = |integer: f64| formula.value_of(integer).to_bits() == wanted;
    if packing.bits_per_value == 0 {
        return gives(0.0).then_some(0);
    }
    let integer = ((value - packing.reference_value) / packing.scale()).round();
    if !(0.0..=GREATEST).contains(&integer) || !gives(integer) || gives(integer + 1.0) || gives(integer - 1.0) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and within 2^53")]
    Some(integer as u64)
}

/// Whether the payload is a stream with these parameters.
fn is_stream(descriptor: &Descriptor<'_>, ccsds: Ccsds) -> bool {
    descriptor.compression().known() == Some(Compression::Szip)
        && descriptor
            .szip()
            .is_ok_and(|szip| (szip.flags, szip.block_size, szip.rsi) == (ccsds.flags, ccsds.block_size, ccsds.rsi))
}
