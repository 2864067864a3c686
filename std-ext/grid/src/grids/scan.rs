//! The order in which points follow each other.

use crate::error::GridError;
use crate::octets::Needed;

/// The order in which the points of a rectangle are scanned (flag table 3.4; in the first edition flag table 8, which has the first
/// three bits of it).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    pub(crate) mode: u8,
}

impl Scan {
    /// The numbers of a section of the first edition.
    pub(crate) fn of_first(section: Needed<'_>) -> Result<Self, GridError> {
        Ok(Self {
            columns: section.u16(7)?.into(),
            rows: section.u16(9)?.into(),
            mode: section.u8(28)? & Self::FIRST_BITS,
        })
    }

    /// The bits of the mode that the first edition has.
    const FIRST_BITS: u8 = 0xe0;

    /// Bits of the mode.
    pub(crate) const WEST: u8 = 0x80;
    pub(crate) const NORTH: u8 = 0x40;
    pub(crate) const COLUMNS: u8 = 0x20;
    pub(crate) const ALTERNATING: u8 = 0x10;
    pub(crate) const OFFSET: u8 = 0x0f;

    /// Whether rows and columns make `points` points. No points make nothing: the other of two numbers may be any then.
    fn is_whole(self, points: u32) -> bool {
        points > 0 && u64::from(self.columns) * u64::from(self.rows) == u64::from(points)
    }

    /// Whether `points` points lie in whole rows, all of which run the same way.
    pub(crate) fn is_rectangle(self, points: u32) -> bool {
        self.is_whole(points) && self.mode & (Self::ALTERNATING | Self::OFFSET) == 0
    }

    /// Whether the points of a column follow each other.
    pub(crate) const fn is_by_column(self) -> bool {
        self.mode & Self::COLUMNS != 0
    }

    /// Column and row of each point. Both count from the first point. `None` if rows are offset, or
    /// rows and columns do not make `points`.
    pub(crate) fn places(self, points: u32) -> Option<impl Iterator<Item = (u32, u32)>> {
        let Self { columns, rows, mode } = self;
        let is_rectangle = self.is_whole(points) && mode & Self::OFFSET == 0;
        let by_column = self.is_by_column();
        let (outer, inner) = if by_column { (columns, rows) } else { (rows, columns) };
        let place = move |(line, at): (u32, u32)| {
            let is_turned = mode & Self::ALTERNATING != 0 && line % 2 == 1;
            let at = if is_turned { inner - 1 - at } else { at };
            if by_column { (line, at) } else { (at, line) }
        };
        is_rectangle.then(|| (0..outer).flat_map(move |line| (0..inner).map(move |at| (line, at))).map(place))
    }
}

/// A longitude from 0 to 360. What is not a number stays so.
pub(crate) fn turn(longitude: f64) -> f64 {
    let turned = longitude.rem_euclid(360.0);
    // The rest of a tiny negative number is rounded up.
    if turned >= 360.0 { 0.0 } else { turned }
}
