//! The fields of a message: each section 7 with the sections that describe it.
//!
//! A message may hold several fields. A field repeats sections from 2, 3 or 4 on, and takes the others from the field
//! before it (regulation 92.2.3). A message of edition 1 is one field.

use tgm_grid::GridSection;

use super::bitmap::{BITMAP_HEAD_LEN, Bitmap, count_ones, inverted, predefined};
use super::edition1;
use super::error::{GribError, GribErrorKind, at_grid};
use super::packings::{triangle, values_of};
use super::representation::Representation;
use super::sections::{HEAD_LEN, Message, Section, Sections};

/// One field: the sections that apply to it.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub(super) indicator: Section<'a>,
    pub(super) identification: Section<'a>,
    /// What edition 2 alone has.
    pub(super) second: Option<Second<'a>>,
    /// Section 3, and section 2 of edition 1, which may have none.
    pub(super) grid: Option<Section<'a>>,
    /// Section 5, and section 4 of edition 1.
    pub(super) representation: Section<'a>,
    /// Section 6, and section 3 of edition 1, which may have none.
    pub(super) bitmap_section: Option<Section<'a>>,
    pub(super) bitmap: Bitmap<'a>,
    /// The number of a bitmap that the message does not hold.
    pub(super) predefined: Option<u16>,
    /// Section 7, and section 4 of edition 1.
    pub(super) data: Section<'a>,
    /// The octet of that section where the encoded values begin.
    pub(super) data_octet: usize,
    /// Where its own sections begin, which follow the sections of the field before it. 0 for the first field.
    pub(super) start: usize,
}

/// The sections of a field that edition 2 alone has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second<'a> {
    pub(super) local: Option<Section<'a>>,
    pub(super) product: Section<'a>,
}

/// The points of a field, and which of them have a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present<'a> {
    pub(super) points: u64,
    pub(super) bitmap: Option<&'a [u8]>,
    pub(super) count: u64,
    /// The number of a bitmap of the originating centre's.
    pub(super) predefined: Option<u16>,
}

impl Present<'_> {
    /// A bit for each point, which is 1 where the point has no value. `None` if all have one.
    pub(super) fn gaps(&self) -> Option<Vec<u8>> {
        self.bitmap.filter(|_| self.count != self.points).map(|bits| inverted(bits, self.points))
    }
}

impl<'a> Message<'a> {
    /// The fields in order: each section 7, with the sections that describe it.
    pub const fn fields(&self) -> Fields<'a> {
        Fields::new(*self)
    }
}

/// The fields of a message. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    message: Message<'a>,
    sections: Sections<'a>,
    /// The last section of each number from 1 to 6.
    current: [Option<Section<'a>>; 6],
    /// The last bitmap that the message holds.
    bits: Option<&'a [u8]>,
    start: usize,
    is_done: bool,
}

impl<'a> Fields<'a> {
    pub(super) const fn new(message: Message<'a>) -> Self {
        Self { message, sections: message.sections(), current: [None; 6], bits: None, start: 0, is_done: false }
    }

    fn read(&mut self) -> Result<Option<Field<'a>>, GribError> {
        let is_first_edition = self.message.is_first_edition();
        let data = loop {
            let Some(section) = self.sections.next().transpose()? else { return Ok(None) };
            if is_first_edition && section.number() == 4 {
                return self.first_edition(section).map(Some);
            }
            let slot = usize::from(section.number()).checked_sub(1).and_then(|slot| self.current.get_mut(slot));
            match slot {
                Some(slot) => *slot = Some(section),
                None => break section,
            }
        };
        // The order of sections is checked, so these were there before the data.
        let missing = GribErrorKind::SectionOrder { before: 0, section: 7 }.at(data.offset());
        let [Some(identification), local, Some(grid), Some(product), Some(representation), Some(bitmap_section)] =
            self.current
        else {
            return Err(missing);
        };
        let bitmap = Bitmap::parse(bitmap_section, self.bits)?;
        if let Bitmap::Bits(bits) = bitmap {
            self.bits = Some(bits);
        }
        let start = self.start;
        self.start = data.offset() + data.as_bytes().len();
        let indicator = Section::indicator(self.message);
        let predefined = predefined(bitmap_section.u8(BITMAP_HEAD_LEN)?).map(u16::from);
        Ok(Some(Field {
            indicator,
            identification,
            second: Some(Second { local, product }),
            grid: Some(grid),
            representation,
            bitmap_section: Some(bitmap_section),
            bitmap,
            predefined,
            data,
            data_octet: HEAD_LEN + 1,
            start,
        }))
    }

    /// The field of a message of edition 1, whose section 4 this is.
    fn first_edition(&self, data: Section<'a>) -> Result<Field<'a>, GribError> {
        let [Some(identification), grid, bitmap_section, ..] = self.current else {
            return Err(GribErrorKind::SectionOrder { before: 0, section: 4 }.at(data.offset()));
        };
        let (bitmap, predefined) = bitmap_section.map_or(Ok((Bitmap::None, None)), edition1::bitmap)?;
        Ok(Field {
            indicator: Section::indicator(self.message),
            identification,
            second: None,
            grid,
            representation: data,
            bitmap_section,
            bitmap,
            predefined,
            data,
            data_octet: edition1::head_len(data)? + 1,
            start: 0,
        })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, GribError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = if self.is_done { Ok(None) } else { self.read() };
        self.is_done = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

impl std::iter::FusedIterator for Fields<'_> {}

impl<'a> Field<'a> {
    /// The section that says which grid it has: section 3, and section 2 of edition 1. `None` for fields of edition 1 without that
    /// section, or with one that says of another number of points: some centres have forms of their own.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub fn grid(&self) -> Result<Option<GridSection<'a>>, GribError> {
        if let Some(grid) = self.section_3()? {
            return Ok(Some(grid));
        }
        let points = self.point_count()?;
        let grid = self.grid.and_then(|section| GridSection::parse(section.as_bytes()).ok());
        Ok(grid.filter(|grid| grid.point_count().map(u64::from) == Ok(points)))
    }

    /// Section 3 of edition 2.
    fn section_3(&self) -> Result<Option<GridSection<'a>>, GribError> {
        let section = self.second.and(self.grid);
        section.map(|section| GridSection::parse(section.as_bytes()).map_err(at_grid(section.offset()))).transpose()
    }

    /// Where the section of its grid begins. Without one, where its data do.
    pub(super) fn grid_offset(&self) -> usize {
        self.grid.map_or(self.data.offset(), |section| section.offset())
    }

    /// Points of its grid. Spectral coefficients have no points: as many as there are values.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub fn point_count(&self) -> Result<u64, GribError> {
        if let Some(count) = self.coefficients()? {
            return Ok(count);
        }
        match self.section_3()? {
            Some(grid) => grid.point_count().map(u64::from).map_err(at_grid(self.grid_offset())),
            None => Ok(edition1::shape(self)?.iter().product()),
        }
    }

    /// The shape of its tensor, slowest dimension first.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub(super) fn shape(&self) -> Result<Vec<u64>, GribError> {
        if let Some(count) = self.coefficients()? {
            return Ok(vec![count]);
        }
        match self.section_3()? {
            Some(grid) => grid.shape().map_err(at_grid(self.grid_offset())),
            None => edition1::shape(self),
        }
    }

    /// How many values it has, if they are coefficients of edition 2, which have no places. Spherical harmonics are counted by their truncation, as
    /// encoders leave another number in section 5; waves in two directions are as many as it states.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    fn coefficients(&self) -> Result<Option<u64>, GribError> {
        let (Some(_), Some(grid)) = (self.second, self.grid) else { return Ok(None) };
        let template = grid.u16(13)?;
        if matches!(template, 50..=53)
            && let Some(truncation) = triangle(grid)?
        {
            return Ok(Some(values_of(truncation)));
        }
        if matches!(template, 50..=53 | 61..=63) { self.value_count().map(Some) } else { Ok(None) }
    }

    /// The number of values that section 5 states (octets 6 to 9). Some encoders state all points, with a bitmap too. Edition 1 states
    /// none: there it is the number of points that have a value.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub fn value_count(&self) -> Result<u64, GribError> {
        if self.second.is_none() { Ok(self.present()?.count) } else { self.representation.u32(6).map(u64::from) }
    }

    /// How its values are stored.
    pub(super) fn stored(&self) -> Result<Representation, GribError> {
        match (self.second, self.grid) {
            (Some(_), Some(grid)) => Representation::parse(self.representation, grid),
            (_, grid) => edition1::parse(self.identification, grid, self.representation),
        }
    }

    /// Which points have a value. Checks that the sections of grid, packing and bitmap agree.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`], [`GribErrorKind::ShortBitmap`], [`GribErrorKind::ValueCount`],
    /// [`GribErrorKind::PredefinedBitmap`].
    pub(super) fn present(&self) -> Result<Present<'a>, GribError> {
        let points = self.point_count()?;
        // What cannot be read may count values in another way. No point has a value then.
        if matches!(self.stored()?, Representation::Unread(_)) {
            return Ok(Present { points, bitmap: None, count: points, predefined: None });
        }
        let bitmap_offset = self.bitmap_section.map_or(0, |section| section.offset());
        let bitmap = self.bitmap.of_points(points, bitmap_offset)?;
        let count = bitmap.map_or(points, |bits| count_ones(bits, points));
        let predefined = self.predefined;
        let present = Present { points, bitmap, count, predefined };
        let (is_right, stated) = if self.second.is_none() {
            // Nothing states the number of values. A bitmap that is not there leaves fewer of them than points.
            (predefined.is_none() || edition1::has_data(self, points)?, count)
        } else {
            let stated = self.coefficients()?.map_or_else(|| self.value_count(), Ok)?;
            (stated == count || (bitmap.is_some() && stated == points), stated)
        };
        if is_right {
            return Ok(present);
        }
        Err(match predefined {
            Some(code) => GribErrorKind::PredefinedBitmap(code).at(bitmap_offset),
            None => GribErrorKind::ValueCount { stated, points: count }.at(self.representation.offset()),
        })
    }

    /// The encoded values: section 7 from octet 6 on. In edition 1, section 4 from octet 12 on, with what may stand between them and the
    /// end of the message.
    pub fn data(&self) -> &'a [u8] {
        self.data.from_octet(self.data_octet)
    }

    /// Which points have a value.
    pub const fn bitmap(&self) -> Bitmap<'a> {
        self.bitmap
    }

    /// The section that applies to it: 1 to 7, or 1 to 4 in edition 1. Messages may have no section 2, and no section 3 in edition 1.
    pub fn section(&self, number: u8) -> Option<Section<'a>> {
        match (number, self.second) {
            (1, _) => Some(self.identification),
            (2, Some(second)) => second.local,
            (3, Some(_)) | (2, None) => self.grid,
            (4, Some(second)) => Some(second.product),
            (5, Some(_)) => Some(self.representation),
            (6, Some(_)) | (3, None) => self.bitmap_section,
            (7, Some(_)) | (4, None) => Some(self.data),
            _ => None,
        }
    }
}
