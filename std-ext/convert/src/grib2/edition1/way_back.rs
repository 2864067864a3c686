//! An object of edition 1 on its way back: its sections, with the bits of the bitmap and the data.

use tgm_std::Result;
use tgm_std::internal::reserve_more;

use super::super::recipe::Recipe;
use super::super::sections::{END, MAGIC, Section};
use super::super::way_back::{StatedBits, WayBack};
use super::representation;
use super::sections::{BITMAP_HEAD_LEN, FLAGS, INDICATOR_LEN, bitmap, message_len, next_number};
use crate::grib2::bitmap::Bitmap;

/// The sections that an object keeps.
pub(in super::super) struct Parts<'a> {
    indicator: &'a [u8],
    identification: &'a [u8],
    grid: Option<&'a [u8]>,
    bitmap: Option<&'a [u8]>,
    /// Section 4 without its data.
    head: &'a [u8],
}

impl<'a> Parts<'a> {
    /// The sections of an object that is of edition 1. `None` for others.
    pub(in super::super) fn of(recipe: &Recipe<'a>) -> Option<Self> {
        let mut sections = recipe.sections.iter().copied();
        let indicator = sections.next().filter(|section| {
            section.len() == INDICATOR_LEN && section.starts_with(MAGIC) && section.last() == Some(&1)
        })?;
        let identification = sections.next()?;
        let flags = *identification.get(FLAGS - 1)?;
        let (mut grid, mut bitmap, mut number) = (None, None, next_number(1, flags));
        while number < 4 {
            let place = if number == 2 { &mut grid } else { &mut bitmap };
            *place = Some(sections.next()?);
            number = next_number(number, flags);
        }
        let head = sections.next()?;
        sections.next().is_none().then_some(Self { indicator, identification, grid, bitmap, head })
    }
}

/// The bits of section 3.
fn literal_bits(section: Option<&[u8]>, points: u64) -> Result<Option<Vec<u8>>> {
    let Some(section) = section else { return Ok(None) };
    let bits = bitmap(Section::new(3, 0, section))?.0.of_points(points, 0)?;
    Ok(bits.map(<[u8]>::to_vec))
}

impl WayBack<'_, '_> {
    /// Appends the sections of an object of edition 1.
    pub(in super::super) fn append_first_edition(&self, parts: &Parts<'_>, made: &mut Vec<u8>) -> Result<()> {
        let start = made.len();
        for section in
            [Some(parts.indicator), Some(parts.identification), parts.grid, parts.bitmap].into_iter().flatten()
        {
            made.extend_from_slice(section);
        }
        let points = self.trusted.descriptor().element_count();
        let whole = [parts.head, self.recipe.data.unwrap_or_default()].concat();
        let grid = parts.grid.map(|bytes| Section::new(2, 0, bytes));
        let identification = Section::new(1, 0, parts.identification);
        let representation = representation::parse(identification, grid, Section::new(4, 0, &whole))?;
        // Data with missing values of their own have more gaps than the bitmap, which is kept then.
        let bits = if self.recipe.unread.is_some() {
            None
        } else if representation.has_missing() {
            literal_bits(parts.bitmap, points)?
        } else {
            self.bits(parts.bitmap, points, made)?
        };
        let content = self.content(&representation, bits.as_deref(), points)?;
        reserve_more(made, parts.head.len() + content.len() + END.len())?;
        made.extend_from_slice(parts.head);
        made.extend_from_slice(&content);
        let length = message_len(parts.indicator, parts.head)?;
        let used = (made.len() - start + END.len()) as u64;
        let spare =
            length.checked_sub(used).ok_or_else(|| self.refused("its data exceed the length of its message"))?;
        self.append_zeros(spare, made)
    }

    /// Appends the bits that the mask has to section 3, which is the last in `made`.
    fn bits(&self, section: Option<&[u8]>, points: u64, made: &mut Vec<u8>) -> Result<Option<Vec<u8>>> {
        let Some(section) = section.map(|bytes| Section::new(3, 0, bytes)) else {
            return self.present(&StatedBits::None, points);
        };
        let (literal, length, bytes) = (bitmap(section)?.0, section.u24(1)?, section.as_bytes());
        let room = u64::from(length).checked_sub(BITMAP_HEAD_LEN as u64);
        let room = room.ok_or_else(|| self.refused("GRIB section 3 was edited"))?;
        match literal {
            Bitmap::None => self.present(&StatedBits::None, points),
            Bitmap::Bits([]) if bytes.len() == BITMAP_HEAD_LEN => {
                let present = self.present(&StatedBits::OfMask { room }, points)?;
                let bits = present.as_deref().unwrap_or_default();
                made.extend_from_slice(bits);
                let spare =
                    room.checked_sub(bits.len() as u64).ok_or_else(|| self.refused("GRIB section 3 was edited"))?;
                self.append_zeros(spare, made)?;
                Ok(present)
            }
            Bitmap::Bits(bits) => self.present(&StatedBits::Literal(bits), points),
        }
    }

    /// Appends zeros up to a length that a section states.
    fn append_zeros(&self, count: u64, made: &mut Vec<u8>) -> Result<()> {
        let count = self.options.limits.check_bytes(self.trusted.payload().len() as u64, count)?;
        reserve_more(made, count)?;
        made.resize(made.len() + count, 0);
        Ok(())
    }
}
