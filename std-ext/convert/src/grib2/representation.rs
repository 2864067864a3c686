//! Section 5: how the values are stored.
//!
//! | octets | 5.0 and 5.42 | 5.4 |
//! |---|---|---|
//! | 6 to 9 | number of values | likewise |
//! | 10 to 11 | number of the template | likewise |
//! | 12 to 15 | reference value R, IEEE 32 bits | 12: precision (code table 5.7) |
//! | 16 to 17 | binary scale factor E | |
//! | 18 to 19 | decimal scale factor D | |
//! | 20 | bits of each value | |
//! | 21 | type of the original values | |
//! | 22, 23, 24 to 25 | 5.42: flags, block size, reference sample interval | |
//!
//! Templates 5.2, 5.3, 5.40 and 5.41 share octets 12 to 21 with 5.0.

use tgm_core::packing::Packing;
use tgm_core::szip::{Params, flags};
use tgm_grid::GridSection;
use tgm_std::Result;
#[cfg(doc)]
use tgm_std::TensogramError;

use super::complex::Complex;
use super::error::{GribError, GribErrorKind, at_grid};
use super::packings::{BiFourier, Curved, Logarithm, RunLength, SecondOrder, Spectral};
use super::sections::Section;
use crate::error::encoding;

/// The most bits of a packed value that the format has.
const MAX_BITS: u8 = 64;

/// How the values of a field are stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Representation {
    /// Template 5.0, and fields of 0 bits: integers one after the other.
    Simple(Packing),
    /// Template 5.42: the same integers, compressed.
    Ccsds(Packing, Ccsds),
    /// Templates 5.2 and 5.3: integers in groups. The packing has the bits of a group's reference.
    Complex(Packing, Complex),
    /// Templates 5.40 and 5.41: integers as the pixels of a picture. The packing has the bits that section 5 states.
    Picture(Packing, Codec),
    /// Template 5.4: floating-point numbers, of 32 or 64 bits.
    Ieee(u32),
    /// Simple packing by a binary scale factor that is missing: no point has a value, whatever the data are.
    Absent(Packing),
    /// Templates 5.50, 5.51 and 5.61: values that do not rise in equal steps with their integers.
    Curved(Curved),
    /// Template 5.200: integers of levels, in runs.
    Runs(Packing, RunLength),
    /// Templates 5.50001 and 5.50002: integers in groups of second order.
    SecondOrder(Packing, SecondOrder),
    /// Values that cannot be read here, and why.
    Unread(GribErrorKind),
}

/// The binary scale factor of 2 octets that is missing: all bits are 1.
const NO_SCALE: i32 = -32767;

/// A codec of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// Template 5.40.
    Jpeg2000,
    /// Template 5.41.
    Png,
}

/// The parameters of CCSDS 121.0-B in template 5.42.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ccsds {
    pub(super) flags: u32,
    pub(super) block_size: u32,
    pub(super) rsi: u32,
}

impl Representation {
    /// Reads section 5, of a field whose section 3 is `grid`. What is not supported is [`Self::Unread`].
    pub(super) fn parse(section: Section<'_>, grid: Section<'_>) -> Result<Self, GribError> {
        match Self::parse_known(section, grid) {
            Err(error) if error.kind().is_unread() => Ok(Self::Unread(error.kind())),
            found => found,
        }
    }

    fn parse_known(section: Section<'_>, grid: Section<'_>) -> Result<Self, GribError> {
        match section.u16(10)? {
            0 => packing(section).map(Self::simple),
            42 => {
                let packing = packing(section)?;
                if packing.bits_per_value == 0 {
                    return Ok(Self::Simple(packing));
                }
                let flags = section.u8(22)?.into();
                let ccsds = Ccsds { flags, block_size: section.u8(23)?.into(), rsi: section.u16(24)?.into() };
                Ok(Self::Ccsds(packing, ccsds))
            }
            number @ (2 | 3) => {
                let complex = Complex::parse(section, number == 3)?;
                Ok(Self::Complex(packing(section)?, complex))
            }
            number @ (40 | 41) => {
                let packing = packing(section)?;
                // Encoders write no picture of values that are all the same.
                if packing.bits_per_value == 0 {
                    return Ok(Self::Simple(packing));
                }
                Ok(Self::Picture(packing, if number == 40 { Codec::Jpeg2000 } else { Codec::Png }))
            }
            4 => ieee(section.u8(12)?, section.offset()),
            // A matrix of one value at each point, without bitmaps of its own.
            1 if section.u8(21)? == 0 && u32::from(section.u16(26)?) * u32::from(section.u16(28)?) <= 1 => {
                packing(section).map(Self::simple)
            }
            number @ (50 | 51) => Spectral::parse(section, grid, number == 51).map(Curved::Spectral).map(Self::Curved),
            53 => BiFourier::parse(section, grid).map(Curved::BiFourier).map(Self::Curved),
            61 => Logarithm::parse(section).map(Curved::Logarithm).map(Self::Curved),
            200 => RunLength::parse(section).map(|runs| Self::Runs(runs.packing(), runs)),
            number @ (50001 | 50002) => {
                let packing = packing(section)?;
                if packing.bits_per_value == 0 {
                    return Ok(Self::Simple(packing));
                }
                let order = SecondOrder::second_edition(section, number == 50002)?;
                Self::second_order(packing, order, || rows(grid), section.offset())
            }
            number => Err(GribErrorKind::DataTemplate(number).at(section.offset())),
        }
    }

    /// Simple packing with these numbers.
    pub(super) const fn simple(packing: Packing) -> Self {
        if packing.binary_scale_factor == NO_SCALE {
            return Self::Absent(Packing {
                reference_value: 0.0,
                binary_scale_factor: 0,
                bits_per_value: 0,
                ..packing
            });
        }
        Self::Simple(packing)
    }

    /// Second order packing, on a grid with these rows if it needs them.
    ///
    /// # Errors
    /// [`GribErrorKind::Rows`], and the errors of `rows`.
    pub(super) fn second_order(
        packing: Packing,
        order: SecondOrder,
        rows: impl FnOnce() -> Result<Option<Vec<u64>>, GribError>,
        at: usize,
    ) -> Result<Self, GribError> {
        if !order.needs_rows() {
            return Ok(Self::SecondOrder(packing, order));
        }
        let rows = rows()?.ok_or(GribErrorKind::Rows.at(at))?;
        Ok(Self::SecondOrder(packing, order.with_rows(rows)))
    }

    /// Bits of a value before compression. For integers in groups, bits of a group's reference.
    pub(super) const fn bits(&self) -> u32 {
        match self {
            Self::Ieee(bits) => *bits,
            Self::Curved(_) => u64::BITS,
            _ => match self.packing() {
                Some(packing) => packing.bits_per_value,
                None => 0,
            },
        }
    }

    /// The numbers of simple packing, which integers have.
    pub(super) const fn packing(&self) -> Option<&Packing> {
        match self {
            Self::Ieee(_) | Self::Curved(_) | Self::Unread(_) => None,
            Self::Simple(packing)
            | Self::Absent(packing)
            | Self::Ccsds(packing, _)
            | Self::Complex(packing, _)
            | Self::Picture(packing, _)
            | Self::Runs(packing, _)
            | Self::SecondOrder(packing, _) => Some(packing),
        }
    }

    /// Whether values can be missing that the bitmap does not tell.
    pub(super) const fn has_missing(&self) -> bool {
        match self {
            Self::Complex(_, complex) => complex.has_missing(),
            Self::Absent(_) | Self::Runs(..) | Self::Unread(_) => true,
            Self::SecondOrder(_, order) => order.is_to_and_fro(),
            _ => false,
        }
    }
}

/// Floating-point numbers of a precision (code table 5.7), by a section that begins at `at`.
pub(super) fn ieee(precision: u8, at: usize) -> Result<Representation, GribError> {
    match precision {
        1 => Ok(Representation::Ieee(32)),
        2 => Ok(Representation::Ieee(64)),
        code => Err(GribErrorKind::Precision(code).at(at)),
    }
}

/// The points of each row of a grid. `None` for a grid without rows.
fn rows(grid: Section<'_>) -> Result<Option<Vec<u64>>, GribError> {
    let parsed = GridSection::parse(grid.as_bytes()).map_err(at_grid(grid.offset()))?;
    let shape = parsed.shape().map_err(at_grid(grid.offset()))?;
    let [rows, columns] = shape[..] else { return Ok(None) };
    // No grid has more rows than points.
    Ok(usize::try_from(rows).ok().filter(|_| columns > 0).map(|rows| vec![columns; rows]))
}

/// The numbers that templates 5.0 and 5.42 share, in the format's terms.
fn packing(section: Section<'_>) -> Result<Packing, GribError> {
    let reference = f32::from_be_bytes(section.array(12)?);
    let numbers = (f64::from(reference), section.i16(16)?, section.i16(18)?, section.u8(20)?);
    let is_constant = numbers.3 == 0 && !matches!(section.u16(10)?, 2 | 3);
    packing_of(numbers, is_constant, section.offset())
}

/// The numbers of both editions, in the format's terms: reference value, binary and decimal scale factor, and bits. The section with
/// them begins `at` bytes into the message.
///
/// # Errors
/// [`GribErrorKind::Bits`], [`GribErrorKind::ReferenceValue`].
pub(super) fn packing_of(
    (reference, binary, decimal, bits): (f64, i32, i32, u8),
    is_constant: bool,
    at: usize,
) -> Result<Packing, GribError> {
    if bits > MAX_BITS {
        return Err(GribErrorKind::Bits(bits).at(at));
    }
    // Encoders write the value of a constant field as it is, whatever D says, and decoders return it so.
    let reference_value = if is_constant { reference } else { scaled(reference, decimal) };
    if !reference_value.is_finite() {
        return Err(GribErrorKind::ReferenceValue.at(at));
    }
    Ok(Packing {
        reference_value,
        binary_scale_factor: binary,
        decimal_scale_factor: decimal,
        bits_per_value: bits.into(),
    })
}

/// R / 10^D. Both powers that are used are exact up to 10^22, so the result is rounded once.
fn scaled(reference: f64, decimal: i32) -> f64 {
    if decimal < 0 { reference * 10_f64.powi(-decimal) } else { reference / 10_f64.powi(decimal) }
}

impl Ccsds {
    /// The parameters of the stream of values of `bits` bits. Decoded samples are big-endian.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for parameters out of range.
    pub(super) fn params(self, bits: u32) -> Result<Params> {
        let params = Params::new(bits, self.block_size, self.rsi, self.flags | flags::MSB);
        params.map_err(|kind| encoding(format!("GRIB section 5: {kind}")))
    }

    /// Whether the format can say that values of `bits` bits are compressed like this.
    pub(super) const fn is_in_format(bits: u32) -> bool {
        matches!(bits, 8 | 16 | 24 | 32)
    }
}
