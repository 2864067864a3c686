//! A field as pixels alone, for programs that draw the rest by themselves.

use crate::map::Map;
use crate::palette::{MISSING, Rgb};
use crate::picture::{Cell, Picture, Sheet};
use crate::projected::index;
use crate::projection::Projection;

/// A part of a picture, as shares of the whole one from the top left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };

    /// A share of the part as one of the whole picture.
    pub fn of(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + x * (self.right - self.left), self.top + y * (self.bottom - self.top))
    }

    /// Its width for a height of 1, where the whole picture is a square.
    pub fn ratio(&self) -> f64 {
        (self.right - self.left) / (self.bottom - self.top)
    }
}

/// Steps of the palette.
const STEPS: usize = 1024;

/// The pixels of a field, row by row: red, green, blue, and how opaque they are. Each has the colour of the cell that it lies in; outside of
/// the grid it is transparent. `map` is the map that is seen, of a field on the globe; of another field, `part` is the part.
pub fn pixels(
    picture: &Picture,
    sheet: &Sheet,
    map: Option<&Map>,
    part: &Part,
    (width, height): (usize, usize),
) -> Vec<u8> {
    let paint = Paint::new(picture);
    let mut pixels = Vec::with_capacity(width * height * 4);
    let is_plain = map.is_none_or(|map| matches!(map.projection, Projection::PlateCarree | Projection::Mercator));
    let (rows, columns) = (sheet.field.rows(), sheet.field.columns());
    let in_field = |share: (f64, f64)| match map {
        Some(map) => map.in_field(share),
        None => Some(part.of(share)).filter(|(x, y)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y)),
    };
    let row_of = |y: f64| index(y, rows);
    let column_of = |x: f64| index(x, columns);
    // In plain maps, all pixels of a column are in one column of the field.
    let along: Vec<Option<usize>> = if is_plain {
        let beside = (0..width)
            .map(|x| (0..height.min(3)).find_map(|y| in_field((middle(x, width), middle(y * height / 3, height)))));
        beside.map(|found| found.map(|(x, _)| column_of(x))).collect()
    } else {
        Vec::new()
    };
    for y in 0..height {
        let down = middle(y, height);
        let row =
            (0..width).filter(|_| is_plain).find_map(|x| in_field((middle(x, width), down))).map(|(_, y)| row_of(y));
        for x in 0..width {
            let place = if is_plain {
                row.zip(along.get(x).copied().flatten())
            } else {
                in_field((middle(x, width), down)).map(|(x, y)| (row_of(y), column_of(x)))
            };
            let cell = place.map_or(Cell::Outside, |(row, column)| sheet.cell(row, column));
            pixels.extend_from_slice(&paint.of(picture, cell));
        }
    }
    pixels
}

/// The share at which the middle of a pixel lies.
#[expect(clippy::cast_precision_loss, reason = "few pixels")]
fn middle(pixel: usize, count: usize) -> f64 {
    (pixel as f64 + 0.5) / count as f64
}

/// The colours of a picture, computed before.
struct Paint(Vec<Rgb>);

impl Paint {
    #[expect(clippy::cast_precision_loss, reason = "few steps")]
    fn new(picture: &Picture) -> Self {
        Self((0..STEPS).map(|step| picture.palette.colour(step as f64 / (STEPS - 1) as f64)).collect())
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few steps"
    )]
    fn of(&self, picture: &Picture, cell: Cell) -> [u8; 4] {
        let [red, green, blue] = match cell {
            Cell::Outside => return [0; 4],
            Cell::Missing => MISSING,
            Cell::Value(value) => {
                let step = (picture.share(value) * (STEPS - 1) as f64).round() as usize;
                self.0.get(step).copied().unwrap_or(MISSING)
            }
        };
        [red, green, blue, 255]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::drawing::{Look, Texts};
    use crate::field::Field;
    use crate::palette::Palette;
    use crate::picture::Drawn;

    /// A picture of the globe in cells of 90 degrees, of which one is missing.
    fn picture(has_map: bool) -> Picture {
        let values = vec![0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0, 7.0];
        let map = has_map.then_some(Map::plain(Bounds { west: -180.0, east: 180.0, north: 90.0, south: -90.0 }));
        let axes = map.map_or_else(
            || Map::plain(Bounds { west: 0.0, east: 1.0, north: 1.0, south: 0.0 }).axes(),
            |map| map.axes(),
        );
        let sheet = Sheet { field: Field::new(2, 4, values.clone()).unwrap(), axes, map, inside: None };
        Look::default().picture(values, &[2, 4], Texts::default(), |_| Ok(Some(sheet)), None, || None).unwrap()
    }

    fn drawn(picture: &Picture, kind: Option<&str>, part: Part, size: (usize, usize)) -> Vec<[u8; 4]> {
        let Drawn::Field(sheet) = &picture.drawn else { panic!("not a field") };
        let map = kind.map(|kind| {
            let found = Map::new(sheet.map.unwrap().bounds, kind.parse().unwrap()).unwrap();
            found.part([part.left, part.top, part.right, part.bottom])
        });
        pixels(picture, sheet, map.as_ref(), &part, size).chunks(4).map(|pixel| pixel.try_into().unwrap()).collect()
    }

    fn colour(value: f64) -> [u8; 4] {
        let [red, green, blue] = Palette::Viridis.colour(value / 7.0);
        [red, green, blue, 255]
    }

    const GREY: [u8; 4] = [96, 96, 96, 255];

    #[test]
    fn pixels_have_the_colours_of_their_cells() {
        let expected =
            [0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0, 7.0].map(|it| if it.is_nan() { GREY } else { colour(it) });
        for kind in [None, Some("plate-carree")] {
            let found = drawn(&picture(kind.is_some()), kind, Part::WHOLE, (4, 2));
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1),
                    "{kind:?}: {found:?} {expected:?}"
                );
            }
            // The lower left cell alone, and the cell right of it.
            let part = Part { left: 0.0, top: 0.5, right: 0.5, bottom: 1.0 };
            let found = drawn(&picture(kind.is_some()), kind, part, (2, 1));
            assert_eq!(found[0], GREY, "{kind:?}");
            assert!(found[1].iter().zip(colour(5.0)).all(|(a, b)| a.abs_diff(b) <= 1), "{kind:?}");
        }
    }

    #[test]
    fn beyond_the_globe_and_the_field_pixels_are_transparent() {
        let globe = drawn(&picture(true), Some("orthographic:0,45"), Part::WHOLE, (40, 40));
        assert_eq!([globe[0], globe[39], globe[1599]], [[0; 4]; 3]);
        // Above the middle lies the cell from 0 to 90 degrees east.
        assert!(globe[19 * 40 + 20].iter().zip(colour(2.0)).all(|(a, b)| a.abs_diff(b) <= 1));
        let wide = Part { left: 0.0, top: 0.0, right: 2.0, bottom: 1.0 };
        assert_eq!(drawn(&picture(false), None, wide, (8, 2))[4..8], [[0; 4]; 4]);
    }
}
