//! HEALPix: pixels of equal areas, whose centres lie on rings of one latitude.
//!
//! ```text
//! N = Nside, 4 N - 1 rings, ring r from 1 in the north      sin φ and λ of pixel j from 1 of a ring:
//! r < N        4 r pixels        sin φ = 1 - r² / 3 N²              λ = (j - ½) 90° / r
//! N ≤ r ≤ 3 N  4 N pixels        sin φ = (2 N - r) 2 / 3 N          λ = (j - s) 90° / N, s = ½ for odd r - N + 1, else 1
//! r > 3 N      as ring 4 N - r, south of the equator
//! ```
//!
//! The nested order counts along a curve in each of 12 faces: the even and the odd bits of a number are its place in the face.
//!
//! K. M. Górski et al., HEALPix: A Framework for High-Resolution Discretization and Fast Analysis of Data Distributed on the
//! Sphere (2005).
//!
//! | octets of 3.150 | |
//! |---|---|
//! | 32 to 35 | Nside |
//! | 36 to 39 | longitude of the first point of nested faces, in millionths of a degree: 45 |
//! | 40 | position of points in their cells: 4 for the centre |
//! | 41 | order: 0 for rings, 1 for nested |
//! | 42 | scanning mode: 0 |

use super::{Edition, Grid, Parsed, Template, Word};
use crate::coordinates::{Coordinates, angle};
use crate::error::GridError;
use crate::octets::Needed;

/// Template 3.150.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[150],
    scanning_mode: None,
    words: &[&[
        Word::unsigned("Nside", 32, 4),
        Word::signed("longitudeOfFirstGridPoint", 36, 4),
        Word::unsigned("gridPointPosition", 40, 1),
        Word::unsigned("ordering", 41, 1),
        Word::unsigned("scanningMode", 42, 1),
    ]],
    parse,
};

/// The longitude of the first point, and the place of points in cells.
const FIRST: u32 = 45_000_000;
const CENTRE: u8 = 4;

/// The rings of the four southern, eastern … corners of the 12 faces, and the columns, as multiples of Nside and of half of it.
const RINGS: [u64; 12] = [2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4];
const COLUMNS: [u64; 12] = [1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7];

/// The pixels of HEALPix, each a point. Any point is computed by itself: nothing is stored.
///
/// ```
/// use tgm_grid::Healpix;
///
/// let nested = Healpix::new(2, true).unwrap();
/// let (latitude, longitude) = nested.place(0).unwrap();
/// assert!((latitude - 19.471_220_634_490_69).abs() < 1e-13 && longitude == 45.0);
/// assert_eq!((nested.point_count(), nested.nearest(19.0, 45.0)), (48, Some(0)));
/// // Nested order needs a power of 2.
/// assert_eq!(Healpix::new(3, true), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Healpix {
    nside: u64,
    is_nested: bool,
}

/// A place on a ring: rings count from 1, pixels from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pixel {
    ring: u64,
    column: u64,
}

impl Healpix {
    /// The greatest Nside: pixels of one with twice as many had more than 32 bits.
    pub const MOST: u32 = 1 << 14;

    /// The grid with so many pixels along the side of a face, in the order of rings or in the nested one. `None` for 0, for more than
    /// [`Self::MOST`], and for a nested one that is not a power of 2.
    pub const fn new(nside: u32, is_nested: bool) -> Option<Self> {
        if nside == 0 || nside > Self::MOST || (is_nested && !nside.is_power_of_two()) {
            return None;
        }
        Some(Self { nside: nside as u64, is_nested })
    }

    /// The number of pixels along the side of a face.
    pub const fn nside(self) -> u64 {
        self.nside
    }

    /// Whether pixels have the nested order.
    pub const fn is_nested(self) -> bool {
        self.is_nested
    }

    /// The number of points: 12 Nside².
    pub const fn point_count(self) -> u64 {
        12 * self.nside * self.nside
    }

    /// Latitude and longitude of a point, in degrees. `None` for none.
    pub fn place(self, index: u64) -> Option<(f64, f64)> {
        if index >= self.point_count() {
            return None;
        }
        let pixel = if self.is_nested { self.of_nested(index) } else { self.of_rings(index) };
        Some((self.latitude(pixel.ring), self.longitude(pixel)))
    }

    /// The point nearest to a place on the sphere. `None` for a place that is not a number.
    ///
    /// Looks at the two nearest points of a few rings.
    pub fn nearest(self, latitude: f64, longitude: f64) -> Option<u64> {
        if !(latitude.abs() <= 90.0 && longitude.is_finite()) {
            return None;
        }
        let rings = 4 * self.nside - 1;
        // Latitudes fall from ring to ring.
        let (mut low, mut high) = (1, rings + 1);
        while low < high {
            let middle = u64::midpoint(low, high);
            if self.latitude(middle) > latitude { low = middle + 1 } else { high = middle }
        }
        let mut best: Option<(f64, Pixel)> = None;
        let mut look = |ring: u64| {
            let is_far = |(least, _): (f64, Pixel)| (self.latitude(ring) - latitude).abs() > least;
            if best.is_some_and(is_far) {
                return false;
            }
            for pixel in self.beside(ring, longitude) {
                let far = angle((self.latitude(ring), self.longitude(pixel)), (latitude, longitude));
                let is_nearer = best.is_none_or(|(least, _)| far < least);
                best = if is_nearer { Some((far, pixel)) } else { best };
            }
            true
        };
        let _ = (low..=rings).all(&mut look);
        let _ = (1..low).rev().all(&mut look);
        best.map(|(_, pixel)| if self.is_nested { self.to_nested(pixel) } else { self.to_rings(pixel) })
    }

    /// The pixels of a ring west and east of a longitude.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few pixels"
    )]
    fn beside(self, ring: u64, longitude: f64) -> [Pixel; 2] {
        let count = 4 * self.quarter(ring);
        let step = 360.0 / count as f64;
        let first = self.longitude(Pixel { ring, column: 0 });
        let west = ((longitude - first).rem_euclid(360.0) / step).floor() as u64;
        [west, west + 1].map(|column| Pixel { ring, column: column % count })
    }

    /// A quarter of the pixels of a ring.
    const fn quarter(self, ring: u64) -> u64 {
        let (north, south) = (ring, 4 * self.nside - ring);
        let least = if north < south { north } else { south };
        if least < self.nside { least } else { self.nside }
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer rings")]
    fn latitude(self, ring: u64) -> f64 {
        let (n, quarter) = (self.nside as f64, self.quarter(ring) as f64);
        let is_north = ring < 2 * self.nside;
        if self.quarter(ring) == self.nside {
            return ((2.0 * n - ring as f64) * 2.0 / (3.0 * n)).asin().to_degrees();
        }
        // 1 - sin φ, from which the cosine has all its digits near the pole.
        let below = quarter * quarter / (3.0 * n * n);
        let latitude = (1.0 - below).atan2((below * (2.0 - below)).sqrt()).to_degrees();
        if is_north { latitude } else { -latitude }
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer pixels")]
    fn longitude(self, Pixel { ring, column }: Pixel) -> f64 {
        let quarter = self.quarter(ring);
        let halves = 2 * column + u64::from(self.is_shifted(ring));
        halves as f64 * 45.0 / quarter as f64
    }

    /// Whether the first pixel of a ring lies half a pixel east of 0.
    const fn is_shifted(self, ring: u64) -> bool {
        self.quarter(ring) < self.nside || (ring + self.nside).is_multiple_of(2)
    }

    /// The pixels north of a ring.
    const fn before(self, ring: u64) -> u64 {
        let (n, south) = (self.nside, 4 * self.nside - ring);
        if ring <= n {
            2 * ring * (ring - 1)
        } else if ring <= 3 * n {
            2 * n * (n - 1) + 4 * n * (ring - n)
        } else {
            12 * n * n - 2 * south * (south + 1)
        }
    }

    const fn of_rings(self, index: u64) -> Pixel {
        let (n, all) = (self.nside, self.point_count());
        let cap = 2 * n * (n - 1);
        let ring = if index < cap {
            u64::midpoint(1, (1 + 2 * index).isqrt())
        } else if index < all - cap {
            n + (index - cap) / (4 * n)
        } else {
            4 * n - u64::midpoint(1, (2 * (all - index) - 1).isqrt())
        };
        Pixel { ring, column: index - self.before(ring) }
    }

    const fn to_rings(self, Pixel { ring, column }: Pixel) -> u64 {
        self.before(ring) + column
    }

    fn of_nested(self, index: u64) -> Pixel {
        let n = self.nside;
        let (face, within) = (index / (n * n), index % (n * n));
        let (x, y) = (even_bits(within), even_bits(within >> 1));
        let at = |table: &[u64; 12]| usize::try_from(face).ok().and_then(|face| table.get(face)).copied().unwrap_or(0);
        let ring = at(&RINGS) * n - x - y - 1;
        let quarter = self.quarter(ring);
        // Twice the column, from 1 on, which may lie a circle back.
        let twice = at(&COLUMNS) * quarter + x + 1 + u64::from(!self.is_shifted(ring)) + 8 * quarter - y;
        Pixel { ring, column: (twice / 2 - 1) % (4 * quarter) }
    }

    /// The number of a pixel, by its face and its place in it.
    fn to_nested(self, pixel: Pixel) -> u64 {
        let n = self.nside;
        let quarter = self.quarter(pixel.ring);
        for (face, (ring, column)) in RINGS.into_iter().zip(COLUMNS).enumerate() {
            // x + y and x - y: the first by the ring, the second by the column, a circle back or not.
            let Some(sum) = (ring * n).checked_sub(pixel.ring + 1) else { continue };
            let twice = 2 * (pixel.column + 1) + 8 * quarter;
            let base = column * quarter + 1 + u64::from(!self.is_shifted(pixel.ring));
            for circles in 0..3 {
                let Some(difference) = (twice + n).checked_sub(base + 8 * quarter * circles) else { continue };
                // difference is x - y + n.
                let Some(double) = (sum + difference).checked_sub(n) else { continue };
                let (x, y) = (double / 2, sum.wrapping_sub(double / 2));
                if double.is_multiple_of(2) && x < n && y < n {
                    return face as u64 * n * n + spread(x) + 2 * spread(y);
                }
            }
        }
        0
    }
}

/// The bits 0, 2, 4 … side by side.
const fn even_bits(number: u64) -> u64 {
    let mut bits = number & 0x5555_5555_5555_5555;
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) & 0x0000_0000_ffff_ffff
}

/// Bits side by side as bits 0, 2, 4 ….
const fn spread(number: u64) -> u64 {
    let mut bits = number & 0x0000_0000_ffff_ffff;
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & 0x5555_5555_5555_5555
}

/// `None` for points elsewhere than in the centre, faces that are turned, and other orders.
fn parse(section: Needed<'_>) -> Parsed {
    let (nside, first) = (section.u32(32)?, section.u32(36)?);
    let (position, order, mode) = (section.u8(40)?, section.u8(41)?, section.u8(42)?);
    if nside == 0 {
        return Err(GridError::Contradiction);
    }
    let is_known = first == FIRST && position == CENTRE && order <= 1 && mode == 0;
    let found = Healpix::new(nside, order == 1).filter(|_| is_known);
    Ok(found.map(|found| Box::new(found) as Box<dyn Grid>))
}

impl Grid for Healpix {
    fn coordinates(&self, points: u32) -> Option<Coordinates> {
        if self.point_count() != u64::from(points) {
            return None;
        }
        let mut found = Coordinates::with_capacity(points)?;
        for (latitude, longitude) in (0..self.point_count()).filter_map(|index| self.place(index)) {
            found.push(latitude, longitude);
        }
        Some(found)
    }

    fn as_healpix(&self) -> Option<Healpix> {
        Some(*self)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn near(found: Option<(f64, f64)>, (latitude, longitude): (f64, f64)) {
        let (lat, lon) = found.unwrap();
        assert!((lat - latitude).abs() < 1e-13 && (lon - longitude).abs() < 1e-13, "{lat} {lon}");
    }

    /// Places that healpy 1.20 gives.
    #[test]
    fn pixels_are_where_healpy_has_them() {
        let at = |nside, is_nested, index| Healpix::new(nside, is_nested).unwrap().place(index);
        near(at(2, true, 0), (19.471_220_634_490_69, 45.0));
        near(at(4, false, 0), (78.284_147_605_107_63, 45.0));
        near(at(1, false, 5), (0.0, 90.0));
        near(at(3, false, 107), (-74.357_528_987_000_73, 315.0));
        near(at(16, true, 1234), (14.477_512_185_929_925, 8.437_5));
        near(at(16, false, 3071), (-87.075_819_642_949_97, 315.0));
        near(at(1024, true, 7_654_321), (-6.504_500_094_011_931, 290.786_132_812_499_94));
        near(at(8192, true, 805_306_367), (-0.004_662_742_478_544_146, 315.0));
        near(at(8192, false, 3), (89.994_289_330_066_72, 315.0));
        near(at(8192, true, 0), (0.004_662_742_478_544_146, 45.0));
    }

    #[test]
    fn orders_count_the_same_pixels() {
        for nside in [1, 2, 4, 8, 64] {
            let nested = Healpix::new(nside, true).unwrap();
            let rings = Healpix::new(nside, false).unwrap();
            for index in 0..nested.point_count() {
                let pixel = nested.of_nested(index);
                assert_eq!(nested.to_nested(pixel), index);
                assert_eq!(rings.of_rings(rings.to_rings(pixel)), pixel);
                assert_eq!(rings.place(rings.to_rings(pixel)), nested.place(index));
            }
        }
        // The last pixels of a grid that has no table.
        for (nside, is_nested) in [(8192, true), (8192, false), (5461, false)] {
            let grid = Healpix::new(nside, is_nested).unwrap();
            for index in [0, 1, grid.point_count() / 3, grid.point_count() / 2, grid.point_count() - 1] {
                let (latitude, longitude) = grid.place(index).unwrap();
                assert_eq!(grid.nearest(latitude, longitude), Some(index));
            }
            assert_eq!(grid.place(grid.point_count()), None);
        }
    }

    #[test]
    fn the_nearest_pixel_is_the_nearest_of_all() {
        for (nside, is_nested) in [(1, true), (1, false), (3, false), (8, true), (7, false)] {
            let grid = Healpix::new(nside, is_nested).unwrap();
            for step in 0..500_u32 {
                let latitude = f64::from(step) * 0.36 - 90.0;
                let longitude = f64::from(step) * 77.7 - 3600.0;
                let far = |index: u64| angle(grid.place(index).unwrap(), (latitude, longitude));
                let least = (0..grid.point_count()).map(far).fold(f64::MAX, f64::min);
                let found = far(grid.nearest(latitude, longitude).unwrap());
                assert!((found - least).abs() < 1e-9, "{nside} {latitude} {longitude}: {found} {least}");
            }
            assert_eq!((grid.nearest(f64::NAN, 0.0), grid.nearest(91.0, 0.0)), (None, None));
        }
    }
}
