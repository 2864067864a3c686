//! What section 2 says of areas: its bounds, and which Gaussian grid it has.

use tgm_grid::Octets;

use super::super::super::product::{Key, Product};

/// Kinds of grids: of latitude and longitude, and Gaussian.
const LAT_LON: u8 = 0;
const GAUSSIAN: u8 = 4;
/// What the tables add to the number of an octahedral grid.
const OCTAHEDRAL: i64 = 100_000;
/// Places of parallels without coordinate values.
const NONE: u8 = 255;
/// Numbers that are missing.
const MISSING: u16 = u16::MAX;
/// Thousandths of a degree.
const UNITS: f64 = 1000.0;

/// What rules ask of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super::super) struct GridFacts {
    is_gaussian: bool,
    /// Latitude and longitude of the first point and of the last, in thousandths of a degree.
    bounds: [i32; 4],
    /// How many there are in a row, in a column.
    counts: [u16; 2],
    /// Steps along a row and a column in thousandths of a degree; of a Gaussian grid, its number instead of the second.
    steps: [u16; 2],
    /// The longest row, of a reduced grid; and whether rows grow by four points each.
    rows: Option<(u16, bool)>,
}

impl GridFacts {
    /// Reads it for grids of latitude and longitude and Gaussian ones.
    pub(super) fn of(octets: Octets<'_>) -> Option<Self> {
        let kind = octets.u8(6).filter(|kind| [LAT_LON, GAUSSIAN].contains(kind))?;
        let thousandths = |octet| octets.array::<3>(octet).map(signed);
        let counts = [octets.u16(7)?, octets.u16(9)?];
        let bounds = [thousandths(11)?, thousandths(14)?, thousandths(18)?, thousandths(21)?];
        let rows = rows(octets, counts[1]);
        Some(Self { is_gaussian: kind == GAUSSIAN, bounds, counts, steps: [octets.u16(24)?, octets.u16(26)?], rows })
    }

    /// Adds what rules ask for.
    pub(super) fn set(self, product: &mut Product) {
        let [north, west, south, east] = self.bounds;
        product.set(Key::LatitudeOfFirstGridPoint, north);
        product.set(Key::LongitudeOfFirstGridPoint, west);
        product.set(Key::LatitudeOfLastGridPoint, south);
        product.set(Key::LongitudeOfLastGridPoint, east);
        if let (true, Some((_, is_octahedral))) = (self.is_gaussian, self.rows) {
            let [_, number] = self.steps;
            product.set(Key::GridName, i64::from(number) + if is_octahedral { OCTAHEDRAL } else { 0 });
        }
        if self.is_gaussian {
            product.set(Key::Global, i64::from(self.is_global()));
        }
    }

    /// Whether a Gaussian grid covers the earth: its first and last rows are less than one row from the poles' ones, and each
    /// row goes round.
    fn is_global(self) -> bool {
        let [first, west, last, east] = self.bounds.map(|bound| f64::from(bound) / UNITS);
        let [columns, _] = self.counts;
        let [_, number] = self.steps;
        let longest = f64::from(self.rows.map_or(columns, |(longest, _)| longest).max(1));
        // Zeros of the Bessel function J0 lead to the two northernmost rows, well enough.
        let row = |zero: f64| 90.0 - (zero / (2.0 * f64::from(number) + 0.5)).to_degrees();
        let (north, distance) = (row(2.404_826), row(2.404_826) - row(5.520_078));
        let gap = 360.0 / longest;
        (first - north).abs() < distance
            && (last + north).abs() < distance
            && west == 0.0
            && (east - (360.0 - gap)).abs() <= gap
    }

    /// The number of a Gaussian grid, or the steps of others in degrees.
    pub(in super::super::super) fn increments(self) -> Option<String> {
        let [along, down] = self.steps;
        if self.is_gaussian {
            return Some(down.to_string());
        }
        let [first, west, last, east] = self.bounds;
        let [columns, rows] = self.counts;
        let step = |stated: u16, from: i32, to: i32, count: u16| match stated {
            MISSING => {
                let gaps = count.checked_sub(1).filter(|gaps| *gaps > 0)?;
                Some(f64::from((to - from).abs()) / UNITS / f64::from(gaps))
            }
            stated => Some(f64::from(stated) / UNITS),
        };
        Some(format!("{}/{}", step(along, west, east, columns)?, step(down, first, last, rows)?))
    }
}

/// The longest row of a reduced grid, and whether it is octahedral: 20 points at the pole, and four more in each row.
fn rows(octets: Octets<'_>, count: u16) -> Option<(u16, bool)> {
    let (values, place) = (octets.u8(4)?, octets.u8(5)?);
    let start =
        usize::from(place).checked_add(usize::from(values) * 4).filter(|_| place != NONE && count != MISSING)?;
    let rows = octets.from(start).as_chunks::<2>().0.get(..usize::from(count)).filter(|rows| !rows.is_empty())?;
    let row = |bytes: &[u8; 2]| u16::from_be_bytes(*bytes);
    let half = rows.get(..rows.len() / 2).unwrap_or_default();
    let is_octahedral = half
        .iter()
        .map(row)
        .zip(0_u16..)
        .all(|(points, at)| at.checked_mul(4).and_then(|more| more.checked_add(20)) == Some(points));
    Some((rows.iter().map(row).max()?, is_octahedral))
}

/// A number of three octets with a sign.
fn signed([a, b, c]: [u8; 3]) -> i32 {
    let amount = i32::from_be_bytes([0, a & 0x7f, b, c]);
    if a & 0x80 == 0 { amount } else { -amount }
}
