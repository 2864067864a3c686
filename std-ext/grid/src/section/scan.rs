//! The order in which points follow each other.

use crate::coordinates::Coordinates;

/// The order in which the points of a rectangle are scanned (flag table 3.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    pub(super) columns: u32,
    pub(super) rows: u32,
    pub(super) mode: u8,
}

impl Scan {
    /// Bits of the mode.
    pub(super) const WEST: u8 = 0x80;
    pub(super) const NORTH: u8 = 0x40;
    pub(super) const COLUMNS: u8 = 0x20;
    pub(super) const ALTERNATING: u8 = 0x10;
    pub(super) const OFFSET: u8 = 0x0f;

    /// Column and row of each point. Both count from the first point. `None` if rows are offset, or
    /// rows and columns do not make `points`.
    pub(super) fn places(self, points: u32) -> Option<impl Iterator<Item = (u32, u32)>> {
        let Self { columns, rows, mode } = self;
        let is_rectangle = u64::from(columns) * u64::from(rows) == u64::from(points) && mode & Self::OFFSET == 0;
        let by_column = mode & Self::COLUMNS != 0;
        let (outer, inner) = if by_column { (columns, rows) } else { (rows, columns) };
        let place = move |(line, at): (u32, u32)| {
            let is_turned = mode & Self::ALTERNATING != 0 && line % 2 == 1;
            let at = if is_turned { inner - 1 - at } else { at };
            if by_column { (line, at) } else { (at, line) }
        };
        is_rectangle.then(|| (0..outer).flat_map(move |line| (0..inner).map(move |at| (line, at))).map(place))
    }

    /// The points of a rectangle on a plane: the first one lies at `(x, y)`, and columns and rows are `step` apart.
    pub(super) fn on_plane(
        self,
        points: u32,
        (x, y): (f64, f64),
        step: (f64, f64),
        unproject: impl Fn((f64, f64)) -> (f64, f64),
    ) -> Option<Coordinates> {
        let mut found = Coordinates::with_capacity(points)?;
        let right = if self.mode & Self::WEST == 0 { step.0 } else { -step.0 };
        let up = if self.mode & Self::NORTH == 0 { -step.1 } else { step.1 };
        for (column, row) in self.places(points)? {
            let (latitude, longitude) = unproject((x + right * f64::from(column), y + up * f64::from(row)));
            found.push(latitude, turn(longitude));
        }
        Some(found)
    }
}

/// A longitude from 0 to 360.
pub(super) fn turn(longitude: f64) -> f64 {
    let turned = longitude.rem_euclid(360.0);
    // The rest of a tiny negative number is rounded up.
    if turned < 360.0 { turned } else { 0.0 }
}
