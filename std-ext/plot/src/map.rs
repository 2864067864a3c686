//! A map: a part of the globe in a projection, and where its places are in the picture.

use crate::axis::{Axis, degree_ticks, latitude};
use crate::bounds::Bounds;
use crate::lines::Lines;
use crate::projection::{MERCATOR_END, MapKind, Projection};

/// A map of the part of the globe that a field covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Map {
    /// The edges of the field.
    pub bounds: Bounds,
    /// How places become places of the picture.
    pub projection: Projection,
    /// The edges of the picture on the plane of the projection.
    window: Window,
}

/// Edges of a part of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Window {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Rows and columns of places by which the edges of a round map are found.
const PLACES: u16 = 180;
/// Degrees between meridians and parallels, and between the points of each.
const NET: usize = 30;
const NET_STEP: usize = 2;

impl Map {
    /// The map of degrees of one length.
    pub const fn plain(bounds: Bounds) -> Self {
        let Bounds { west, east, north, south } = bounds;
        let window = Window { left: west, right: east, top: north, bottom: south };
        Self { bounds, projection: Projection::PlateCarree, window }
    }

    /// A map of a kind. `None` if it shows nothing of the field.
    pub fn new(bounds: Bounds, kind: MapKind) -> Option<Self> {
        let Bounds { west, east, north, south } = bounds;
        let middle = (f64::midpoint(north, south).clamp(-90.0, 90.0), f64::midpoint(west, east));
        let projection = kind.of_field(middle);
        let window = match projection {
            Projection::PlateCarree => return Some(Self::plain(bounds)),
            Projection::Mercator => {
                let (north, south) = (north.min(MERCATOR_END), south.max(-MERCATOR_END));
                let edge = |latitude| projection.forward((west, latitude));
                let ((left, top), (_, bottom)) = (edge(north)?, edge(south)?);
                Window { left, right: left + (east - west), top, bottom }
            }
            Projection::Orthographic { .. } | Projection::Polar { .. } => around(&bounds, &projection)?,
        };
        let map = Self { bounds, projection, window };
        let (width, height) = map.size();
        (width > 1e-9 && height > 1e-9).then_some(map)
    }

    /// The part of it between four shares of its picture: left, top, right and bottom.
    #[must_use]
    pub fn part(mut self, [left, top, right, bottom]: [f64; 4]) -> Self {
        let ((width, height), Window { left: west, top: north, .. }) = (self.size(), self.window);
        self.window = Window {
            left: west + left * width,
            right: west + right * width,
            top: north - top * height,
            bottom: north - bottom * height,
        };
        self
    }

    /// The rows and columns of its picture: degrees, where these lie along the sides.
    pub fn axes(&self) -> [Axis; 2] {
        let Bounds { west, north, south, .. } = self.bounds;
        match self.projection {
            Projection::PlateCarree => {
                let Window { left, right, top, bottom } = self.window;
                [Axis::Latitudes(top, bottom), Axis::Longitudes(left, right)]
            }
            Projection::Mercator => {
                let (north, south) = (north.min(MERCATOR_END), south.max(-MERCATOR_END));
                let tick = |degrees: f64| Some((self.share((west, degrees))?.1, latitude(degrees)));
                let ticks = degree_ticks((south, north), 12).into_iter().rev().filter_map(tick).collect();
                [Axis::Labels(String::new(), ticks), Axis::Longitudes(self.window.left, self.window.right)]
            }
            Projection::Orthographic { .. } | Projection::Polar { .. } => {
                [(); 2].map(|()| Axis::Labels(String::new(), Vec::new()))
            }
        }
    }

    /// Its width and height on the plane.
    pub fn size(&self) -> (f64, f64) {
        (self.window.right - self.window.left, self.window.top - self.window.bottom)
    }

    /// About how many degrees it is wide.
    pub fn degrees(&self) -> f64 {
        let (width, _) = self.size();
        if self.projection.is_round() { width.to_degrees() } else { width }
    }

    /// Whether the field goes around the globe.
    pub fn is_circle(&self) -> bool {
        self.bounds.size().0 >= 360.0 - 1e-6
    }

    fn share_of(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (width, height) = self.size();
        ((x - self.window.left) / width, (self.window.top - y) / height)
    }

    /// Where a longitude and a latitude are, as shares from the top left. `None` if the projection does not show them.
    pub fn share(&self, place: (f64, f64)) -> Option<(f64, f64)> {
        self.projection.forward(place).map(|place| self.share_of(place))
    }

    /// The longitude and latitude at shares from the top left. `None` beyond the edge of a round map.
    pub fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let (width, height) = self.size();
        self.projection.inverse((self.window.left + x * width, self.window.top - y * height))
    }

    /// Where a place of the picture is in the field, as shares from its top left. `None` beyond the field.
    pub fn in_field(&self, share: (f64, f64)) -> Option<(f64, f64)> {
        let (longitude, latitude) = self.place(share)?;
        let longitude = self.bounds.west + (longitude - self.bounds.west).rem_euclid(360.0);
        let (x, y) = self.bounds.share((longitude, latitude));
        let is_in = |share: f64| (0.0..=1.0).contains(&share);
        (is_in(x) && is_in(y)).then_some((x, y))
    }

    /// Adds the parts of a line that the picture shows. Points that are nearer to each other than `least`, in degrees, are one.
    pub fn add(&self, found: &mut Lines, line: &[(f64, f64)], least: f64) {
        let longitudes = || line.iter().map(|point| point.0);
        let (west, east) = (longitudes().fold(f64::MAX, f64::min), longitudes().fold(f64::MIN, f64::max));
        if self.projection.is_round() {
            return self.add_turned(found, line, 0.0, least);
        }
        for turn in [-360.0, 0.0, 360.0] {
            if east + turn >= self.bounds.west && west + turn <= self.bounds.east {
                self.add_turned(found, line, turn, least);
            }
        }
    }

    fn add_turned(&self, found: &mut Lines, line: &[(f64, f64)], turn: f64, least: f64) {
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
            let Some((from, to)) = self.share(from).zip(self.share(point)) else { continue };
            let Some((start, end)) = cut(from, to) else { continue };
            if run.last() != Some(&start) {
                found.extend(Some(std::mem::take(&mut run)).filter(|run| run.len() > 1));
                run.push(start);
            }
            run.push(end);
        }
        found.extend(Some(run).filter(|run| run.len() > 1));
    }

    /// Meridians and parallels, and the edge of a round map. Nothing for others, whose axes have degrees.
    pub fn net(&self) -> Lines {
        let mut found = Lines::new();
        let Some(radius) = self.projection.radius() else { return found };
        let steps = |from: i16, to: i16, step: usize| (from..=to).step_by(step).map(f64::from);
        for longitude in steps(-180, 150, NET) {
            let meridian: Vec<_> = steps(-80, 80, NET_STEP).map(|latitude| (longitude, latitude)).collect();
            self.add(&mut found, &meridian, 0.0);
        }
        for latitude in steps(-60, 60, NET) {
            let parallel: Vec<_> = steps(-180, 180, NET_STEP).map(|longitude| (longitude, latitude)).collect();
            self.add(&mut found, &parallel, 0.0);
        }
        let edge = steps(0, 360, NET_STEP).map(|degrees| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            self.share_of((radius * cos, radius * sin))
        });
        let edge: Vec<_> = edge.collect();
        found.extend(edge.array_windows().filter_map(|[from, to]| cut(*from, *to)).map(|(from, to)| vec![from, to]));
        found
    }
}

/// The part of a plane that a field covers.
fn around(bounds: &Bounds, projection: &Projection) -> Option<Window> {
    let radius = projection.radius()?;
    let (width, height) = bounds.size();
    let at = |step: u16, length: f64| f64::from(step) / f64::from(PLACES) * length;
    let mut found: Option<Window> = None;
    for row in 0..=PLACES {
        for column in 0..=2 * PLACES {
            let latitude = (bounds.north - at(row, height)).clamp(-90.0, 90.0);
            let Some((x, y)) = projection.forward((bounds.west + at(column, width / 2.0), latitude)) else { continue };
            let window = found.get_or_insert(Window { left: x, right: x, top: y, bottom: y });
            *window = Window {
                left: window.left.min(x),
                right: window.right.max(x),
                top: window.top.max(y),
                bottom: window.bottom.min(y),
            };
        }
    }
    // Between two places that were looked at, the edge may go a little farther.
    let edge = |at: f64| if at.abs() > 0.98 * radius { at.signum() * radius } else { at };
    found.map(|it| Window { left: edge(it.left), right: edge(it.right), top: edge(it.top), bottom: edge(it.bottom) })
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

#[cfg(test)]
mod tests {
    use super::*;

    const GLOBE: Bounds = Bounds { west: -180.0, east: 180.0, north: 90.0, south: -90.0 };

    fn map(bounds: Bounds, kind: &str) -> Map {
        Map::new(bounds, kind.parse().unwrap()).unwrap()
    }

    #[test]
    fn lines_are_cut() {
        assert_eq!(cut((-1.0, 0.5), (1.0, 0.5)), Some(((0.0, 0.5), (1.0, 0.5))));
        assert_eq!(cut((0.25, 0.5), (0.75, 0.5)), Some(((0.25, 0.5), (0.75, 0.5))));
        assert_eq!(cut((-1.0, -0.5), (1.0, -0.5)), None);
        assert_eq!(cut((-1.0, 0.5), (0.5, 2.0)), None);
    }

    /// The middle of a round map is its centre, and the globe fills it.
    #[test]
    fn places_are_in_the_picture_where_the_projection_has_them() {
        let near = |found: Option<(f64, f64)>, (x, y): (f64, f64)| {
            let found = found.unwrap();
            assert!((found.0 - x).abs() < 1e-9 && (found.1 - y).abs() < 1e-9, "{found:?} {x} {y}");
        };
        let globe = map(GLOBE, "orthographic:50,10");
        assert_eq!(globe.size(), (2.0, 2.0));
        near(globe.share((10.0, 50.0)), (0.5, 0.5));
        near(globe.place((0.5, 0.5)), (10.0, 50.0));
        near(map(GLOBE, "orthographic").share((90.0, 0.0)), (1.0, 0.5));
        near(map(GLOBE, "polar").share((0.0, 90.0)), (0.5, 0.5));
        near(map(GLOBE, "polar").share((90.0, 0.0)), (1.0, 0.5));
        near(map(GLOBE, "polar:-90,0").share((0.0, -1e-9)), (0.5, 0.0));
        near(map(GLOBE, "mercator").share((-180.0, 0.0)), (0.0, 0.5));
        // A field in the south is seen from there, and a field of a region fills the picture.
        let south = map(Bounds { north: -40.0, ..GLOBE }, "polar");
        near(south.share((0.0, -90.0)), (0.5, 0.5));
        let europe = Bounds { west: -10.0, east: 30.0, north: 70.0, south: 35.0 };
        for kind in ["orthographic", "polar", "mercator", "plate-carree"] {
            let map = map(europe, kind);
            let shares: Vec<_> =
                (0..=40).flat_map(|x| (0..=35).map(move |y| (f64::from(x) - 10.0, f64::from(y) + 35.0))).collect();
            let shares: Vec<_> = shares.into_iter().filter_map(|place| map.share(place)).collect();
            let ends = |of: fn(&(f64, f64)) -> f64| {
                shares.iter().map(of).fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it), high.max(it)))
            };
            for (low, high) in [ends(|it| it.0), ends(|it| it.1)] {
                assert!(low.abs() < 1e-2 && (high - 1.0).abs() < 1e-2, "{kind}: {low} {high}");
            }
            assert!(map.in_field((0.5, 0.5)).is_some(), "{kind}");
        }
    }

    #[test]
    fn a_part_of_a_map_has_its_places_and_ticks() {
        let part = map(GLOBE, "plate-carree").part([0.5, 0.25, 0.75, 0.5]);
        assert_eq!(part.axes(), [Axis::Latitudes(45.0, 0.0), Axis::Longitudes(0.0, 90.0)]);
        assert_eq!((part.place((0.5, 0.5)), part.share((45.0, 22.5))), (Some((45.0, 22.5)), Some((0.5, 0.5))));
        // The field is the same.
        assert_eq!(part.in_field((0.0, 0.0)), Some((0.5, 0.25)));
        let globe = map(GLOBE, "orthographic:50,10").part([0.25, 0.25, 0.75, 0.75]);
        let (east, north) = globe.place((0.5, 0.5)).unwrap();
        assert!((east - 10.0).abs() < 1e-9 && (north - 50.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_map_does_not_show_is_refused() {
        let arctic = Bounds { south: 86.0, ..GLOBE };
        assert_eq!(Map::new(arctic, "mercator".parse().unwrap()), None);
        assert_eq!(Map::new(arctic, "polar:-90,0".parse().unwrap()), None);
        assert_eq!(Map::new(arctic, "orthographic:-90,0".parse().unwrap()), None);
    }

    #[test]
    fn nets_stay_within_round_pictures() {
        assert!(map(GLOBE, "mercator").net().is_empty());
        for kind in ["orthographic:20,20", "polar"] {
            let net = map(GLOBE, kind).net();
            let inside = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
            assert!(net.len() > 20 && net.iter().flatten().all(|(x, y)| inside(x) && inside(y)), "{kind}");
        }
    }
}
