//! Coastlines: Natural Earth 1:50m, which is in the public domain, with fewer points (`tests/peers/plot/coastlines.py`).

use crate::lines::Lines;
use crate::map::Map;

/// Lines of points, as that script describes them.
static LINES: &[u8] = include_bytes!("coastlines.bin");
/// The size of a step.
const STEP: f64 = 0.01;

/// The coasts that a map shows, cut at its edges. Points that are nearer to each other than `least`, in degrees, are one.
pub fn within(map: &Map, least: f64) -> Lines {
    let mut found = Lines::new();
    for line in lines(LINES) {
        map.add(&mut found, &line, least);
    }
    found
}

/// Longitudes and latitudes of the points of each line.
fn lines(mut bytes: &[u8]) -> impl Iterator<Item = Vec<(f64, f64)>> {
    std::iter::from_fn(move || {
        let count = leb128(&mut bytes)?;
        let (mut x, mut y) = (0, 0);
        let mut point = || {
            x += signed(&mut bytes)?;
            y += signed(&mut bytes)?;
            Some((f64::from(x) * STEP, f64::from(y) * STEP))
        };
        (0..count).map(|_| point()).collect::<Option<Vec<_>>>()
    })
}

fn leb128(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

fn signed(bytes: &mut &[u8]) -> Option<i32> {
    let number = leb128(bytes)?;
    let half = i32::try_from(number >> 1).ok()?;
    Some(if number & 1 == 0 { half } else { -half - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;

    const GLOBE: Bounds = Bounds { west: -180.0, east: 180.0, north: 90.0, south: -90.0 };

    #[test]
    fn all_lines_are_on_the_globe() {
        let all: Vec<_> = lines(LINES).collect();
        assert!(all.len() > 1000 && all.iter().all(|line| line.len() > 1));
        let points = || all.iter().flatten();
        assert!(points().all(|(lon, lat)| (-180.0..=180.0).contains(lon) && (-90.0..=84.0).contains(lat)));
        // Land's End, the westernmost point of Cornwall, and Cape Agulhas.
        for (lon, lat) in [(-5.7, 50.07), (20.0, -34.82)] {
            let near = points().map(|point| (point.0 - lon).hypot(point.1 - lat)).fold(f64::MAX, f64::min);
            assert!(near < 0.1, "{lon} {lat}: {near}");
        }
    }

    #[test]
    fn lines_end_at_the_edges_of_the_area() {
        let iberia = Bounds { west: -10.0, east: 4.0, north: 44.5, south: 35.5 };
        for bounds in [
            GLOBE,
            iberia,
            Bounds { west: 170.0, east: 190.0, north: 70.0, south: 60.0 },
            Bounds { west: 0.0, east: 360.0, ..GLOBE },
        ] {
            let found = within(&Map::plain(bounds), 0.0);
            let inside = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
            assert!(found.iter().flatten().all(|(x, y)| inside(x) && inside(y)), "{bounds:?}");
            assert!(found.iter().all(|line| line.len() > 1) && !found.is_empty(), "{bounds:?}");
        }
        // Nothing but water.
        assert!(within(&Map::plain(Bounds { west: -140.0, east: -130.0, north: 5.0, south: -5.0 }), 0.0).is_empty());
        let points = |least: f64| within(&Map::plain(GLOBE), least).iter().map(Vec::len).sum::<usize>();
        assert!(points(0.5) * 3 < points(0.0));
    }
}
