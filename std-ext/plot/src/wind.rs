//! A wind, or any other quantity that goes east and north.

use crate::arrow::{ACROSS, Arrow, Arrows};
use crate::map::Map;
use crate::picture::{Cell, Sheet};
use crate::projected::index;

/// The two parts of a wind, as they lie on the globe.
#[derive(Debug)]
pub struct Wind {
    /// To the east.
    pub east: Sheet,
    /// To the north.
    pub north: Sheet,
    /// The units of both parts.
    pub units: String,
}

impl Wind {
    /// Arrows at places of equal distances in a map. `None` where there is no wind at all.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few arrows"
    )]
    pub fn arrows(&self, map: &Map) -> Option<Arrows> {
        let (width, height) = map.size();
        let apart = width.max(height) / ACROSS;
        let count = |length: f64| ((length / apart).floor() as usize).max(1);
        let (rows, columns) = (count(height), count(width));
        let mut arrows = Vec::new();
        let mut most = 0.0_f64;
        for cell in 0..rows * columns {
            let share = |at: usize, count: usize| (at as f64 + 0.5) / count as f64;
            let at = (share(cell % columns, columns), share(cell / columns, rows));
            let Some((speed, along)) = map.place(at).and_then(|place| self.along(map, place)) else { continue };
            most = most.max(speed);
            arrows.push(Arrow { at, along });
        }
        (most > 0.0 && most.is_finite()).then(|| Arrows { arrows, most, units: self.units.clone() })
    }

    /// The speed at a longitude and latitude, and where the wind goes in the picture.
    fn along(&self, map: &Map, place: (f64, f64)) -> Option<(f64, (f64, f64))> {
        let (east, north) = (value(&self.east, place)?, value(&self.north, place)?);
        let [to_east, to_north] = map.projection.directions(place)?;
        let along = (east * to_east.0 + north * to_north.0, -(east * to_east.1 + north * to_north.1));
        Some((east.hypot(north), along))
    }
}

/// The value at a longitude and latitude.
fn value(sheet: &Sheet, (longitude, latitude): (f64, f64)) -> Option<f64> {
    let bounds = sheet.map.as_ref()?.bounds;
    let longitude = bounds.west + (longitude - bounds.west).rem_euclid(360.0);
    let (x, y) = bounds.share((longitude, latitude));
    if !((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)) {
        return None;
    }
    match sheet.cell(index(y, sheet.field.rows()), index(x, sheet.field.columns())) {
        Cell::Value(value) => Some(value),
        Cell::Missing | Cell::Outside => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::field::Field;

    fn wind(east: f64, north: f64) -> Wind {
        let map = Map::plain(Bounds { west: -180.0, east: 180.0, north: 90.0, south: -90.0 });
        let sheet = |value: f64| Sheet {
            field: Field::new(18, 36, vec![value; 18 * 36]).unwrap(),
            axes: map.axes(),
            map: Some(map),
            inside: None,
        };
        Wind { east: sheet(east), north: sheet(north), units: "m/s".into() }
    }

    fn map(kind: &str) -> Map {
        Map::new(Bounds { west: -180.0, east: 180.0, north: 90.0, south: -90.0 }, kind.parse().unwrap()).unwrap()
    }

    #[test]
    fn arrows_go_where_the_wind_goes() {
        for (east, north, along) in [(3.0, 0.0, (3.0, 0.0)), (0.0, 2.0, (0.0, -2.0)), (-1.0, -1.0, (-1.0, 1.0))] {
            for kind in ["plate-carree", "mercator"] {
                let found = wind(east, north).arrows(&map(kind)).unwrap();
                assert!((found.most - east.hypot(north)).abs() < 1e-9 && found.arrows.len() > 400, "{kind}");
                for arrow in &found.arrows {
                    let near = (arrow.along.0 - along.0).abs() < 1e-6 && (arrow.along.1 - along.1).abs() < 1e-6;
                    assert!(near, "{kind}: {arrow:?}");
                }
            }
        }
        // A wind from the west goes around the pole: at the right of the picture up, at the left down.
        let found = wind(1.0, 0.0).arrows(&map("polar:90,0")).unwrap();
        for Arrow { at: (x, y), along } in found.arrows {
            let (right, down) = (x - 0.5, y - 0.5);
            let turn = (right * along.1 - down * along.0) / right.hypot(down);
            assert!((turn + 1.0).abs() < 1e-6, "{x} {y} {along:?}");
        }
    }

    #[test]
    fn an_arrow_has_its_tip_in_front() {
        let found = wind(4.0, 0.0).arrows(&map("plate-carree")).unwrap();
        let lines = found.of(Arrow { at: (0.5, 0.5), along: (2.0, 0.0) }, (720.0, 360.0));
        let (shaft, head) = (&lines[0], &lines[1]);
        let length = (shaft[1].0 - shaft[0].0) * 720.0;
        assert!((length - 720.0 / 32.0 / 2.0).abs() < 1e-9 && (shaft[0].1 - 0.5).abs() < 1e-9, "{lines:?}");
        assert!(head[1] == shaft[1] && head[0].0 < head[1].0 && head[2].0 < head[1].0, "{lines:?}");
        // No wind, and none that is known.
        assert_eq!(wind(0.0, 0.0).arrows(&map("plate-carree")), None);
        assert_eq!(wind(f64::NAN, 1.0).arrows(&map("plate-carree")), None);
    }
}
