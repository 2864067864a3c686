//! The fields of a message: each section 7 with the sections that describe it.
//!
//! A message may hold several fields. A field repeats sections from 2, 3 or 4 on, and takes the others from the field
//! before it (regulation 92.2.3).

use tgm_grid::GridSection;

use super::bitmap::{BITMAP_HEAD_LEN, Bitmap, count_ones, predefined};
use super::error::{GribError, GribErrorKind, at_grid};
use super::sections::{HEAD_LEN, Message, Section, Sections};

/// One field: the sections that apply to it.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub(super) indicator: Section<'a>,
    pub(super) identification: Section<'a>,
    pub(super) local: Option<Section<'a>>,
    pub(super) grid: Section<'a>,
    pub(super) product: Section<'a>,
    pub(super) representation: Section<'a>,
    pub(super) bitmap_section: Section<'a>,
    pub(super) bitmap: Bitmap<'a>,
    pub(super) data: Section<'a>,
    /// Where its own sections begin, which follow the sections of the field before it. 0 for the first field.
    pub(super) start: usize,
}

/// The points of a field, and which of them have a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present<'a> {
    pub(super) points: u64,
    pub(super) bitmap: Option<&'a [u8]>,
    pub(super) count: u64,
    /// The number of a bitmap of the originating centre's.
    pub(super) predefined: Option<u8>,
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
        let data = loop {
            let Some(section) = self.sections.next().transpose()? else { return Ok(None) };
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
        self.start = data.offset().saturating_add(data.as_bytes().len());
        let indicator = Section::indicator(self.message);
        Ok(Some(Field {
            indicator,
            identification,
            local,
            grid,
            product,
            representation,
            bitmap_section,
            bitmap,
            data,
            start,
        }))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, GribError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let read = self.read();
        self.is_done = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

impl std::iter::FusedIterator for Fields<'_> {}

impl<'a> Field<'a> {
    /// Its section 3, which says which grid it has.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub fn grid(&self) -> Result<GridSection<'a>, GribError> {
        GridSection::parse(self.grid.as_bytes()).map_err(at_grid(self.grid.offset()))
    }

    /// Points of its grid.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub fn point_count(&self) -> Result<u64, GribError> {
        self.grid()?.point_count().map(u64::from).map_err(at_grid(self.grid.offset()))
    }

    /// The shape of its tensor, slowest dimension first.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub(super) fn shape(&self) -> Result<Vec<u64>, GribError> {
        self.grid()?.shape().map_err(at_grid(self.grid.offset()))
    }

    /// The number of values that section 5 states (octets 6 to 9). Some encoders state all points, with a bitmap too.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub fn value_count(&self) -> Result<u64, GribError> {
        self.representation.u32(6).map(u64::from)
    }

    /// Which points have a value. Checks that sections 3, 5 and 6 agree.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`], [`GribErrorKind::ShortBitmap`], [`GribErrorKind::ValueCount`],
    /// [`GribErrorKind::PredefinedBitmap`].
    pub(super) fn present(&self) -> Result<Present<'a>, GribError> {
        let (points, stated) = (self.point_count()?, self.value_count()?);
        let bitmap = self.bitmap.of_points(points, self.bitmap_section.offset())?;
        let count = bitmap.map_or(points, |bits| count_ones(bits, points));
        let predefined = predefined(self.bitmap_section.u8(BITMAP_HEAD_LEN)?);
        if stated != count && (bitmap.is_none() || stated != points) {
            return Err(match predefined {
                Some(code) => GribErrorKind::PredefinedBitmap(code).at(self.bitmap_section.offset()),
                None => GribErrorKind::ValueCount { stated, points: count }.at(self.representation.offset()),
            });
        }
        Ok(Present { points, bitmap, count, predefined })
    }

    /// The encoded values: section 7 from octet 6 on.
    pub fn data(&self) -> &'a [u8] {
        self.data.from_octet(HEAD_LEN + 1)
    }

    /// Which points have a value.
    pub const fn bitmap(&self) -> Bitmap<'a> {
        self.bitmap
    }

    /// The section that applies to it: 1 to 7. Messages may have no section 2.
    pub const fn section(&self, number: u8) -> Option<Section<'a>> {
        match number {
            1 => Some(self.identification),
            2 => self.local,
            3 => Some(self.grid),
            4 => Some(self.product),
            5 => Some(self.representation),
            6 => Some(self.bitmap_section),
            7 => Some(self.data),
            _ => None,
        }
    }
}
