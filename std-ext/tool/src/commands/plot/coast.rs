//! Coastlines: Natural Earth 1:50m, which is in the public domain, with fewer points (`tests/peers/plot/coastlines.py`).

use crate::commands::plot::bounds::Bounds;
use crate::commands::plot::canvas::Lines;

/// Lines of points, as that script describes them.
static LINES: &[u8] = include_bytes!("coastlines.bin");
/// The size of a step.
const STEP: f64 = 0.01;

/// The coasts within `bounds`, cut at its edges. Points that are nearer to each other than `least`, in degrees, are one.
pub(crate) fn within(bounds: &Bounds, least: f64) -> Lines {
    let mut found = Lines::new();
    for line in lines(LINES) {
        let longitudes = || line.iter().map(|point| point.0);
        let (west, east) = (longitudes().fold(f64::MAX, f64::min), longitudes().fold(f64::MIN, f64::max));
        for turn in [-360.0, 0.0, 360.0] {
            if east + turn >= bounds.west && west + turn <= bounds.east {
                add(&mut found, &line, turn, bounds, least);
            }
        }
    }
    found
}

fn add(found: &mut Lines, line: &[(f64, f64)], turn: f64, bounds: &Bounds, least: f64) {
    let mut run: Vec<(f64, f64)> = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    let end = line.len().saturating_sub(1);
    for (at, (longitude, latitude)) in line.iter().enumerate() {
        let point = (longitude + turn, *latitude);
        let Some(from) = before else {
            before = Some(point);
            continue;
        };
        if at != end && (point.0 - from.0).abs().max((point.1 - from.1).abs()) < least {
            continue;
        }
        before = Some(point);
        let Some((start, end)) = cut(bounds.share(from), bounds.share(point)) else { continue };
        if run.last() != Some(&start) {
            found.extend(Some(std::mem::take(&mut run)).filter(|run| run.len() > 1));
            run.push(start);
        }
        run.push(end);
    }
    found.extend(Some(run).filter(|run| run.len() > 1));
}

/// The part of a line from one point to another that lies between 0 and 1 in both directions.
fn cut(from: (f64, f64), to: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for (step, room) in [(-dx, from.0), (dx, 1.0 - from.0), (-dy, from.1), (dy, 1.0 - from.1)] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            first = first.max(room / step);
        } else {
            last = last.min(room / step);
        }
    }
    let at = |share: f64| match share {
        0.0 => from,
        1.0 => to,
        _ => (from.0 + share * dx, from.1 + share * dy),
    };
    (first < last).then(|| (at(first), at(last)))
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
            let found = within(&bounds, 0.0);
            let inside = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
            assert!(found.iter().flatten().all(|(x, y)| inside(x) && inside(y)), "{bounds:?}");
            assert!(found.iter().all(|line| line.len() > 1) && !found.is_empty(), "{bounds:?}");
        }
        // Nothing but water.
        assert!(within(&Bounds { west: -140.0, east: -130.0, north: 5.0, south: -5.0 }, 0.0).is_empty());
        let points = |least: f64| within(&GLOBE, least).iter().map(Vec::len).sum::<usize>();
        assert!(points(0.5) * 3 < points(0.0));
    }

    #[test]
    fn lines_are_cut() {
        assert_eq!(cut((-1.0, 0.5), (1.0, 0.5)), Some(((0.0, 0.5), (1.0, 0.5))));
        assert_eq!(cut((0.25, 0.5), (0.75, 0.5)), Some(((0.25, 0.5), (0.75, 0.5))));
        assert_eq!(cut((-1.0, -0.5), (1.0, -0.5)), None);
        assert_eq!(cut((-1.0, 0.5), (0.5, 2.0)), None);
    }
}
