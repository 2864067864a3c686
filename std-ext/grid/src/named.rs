//! Grids by their names, for arrays that were not made from GRIB.
//!
//! | name | grid | points |
//! |---|---|---|
//! | `H128` | HEALPix with Nside 128 | in the order of rings, or in the nested one |
//! | `O640` | octahedral reduced Gaussian: 20 points in the row next to a pole, and 4 more in each following row | by row from the north |
//! | `N320` | classical reduced Gaussian | by row from the north |
//! | `F320` | regular Gaussian: 4 N columns | by row from the north, or rows and columns |
//! | `+proj=laea +lat_0=52` | a plane, by a string of PROJ | rows and columns between bounds in its units |
//! | `1/1`, `0.25/0.5` | latitude and longitude: degrees between columns, and between rows | rows from 90° north, columns from 0°, or between bounds |

use tgm_core::cbor::Value;

use crate::area::Area;
use crate::coordinates::Coordinates;
use crate::grids::healpix::Healpix;
use crate::grids::rows::Rows;
use crate::grids::{Grid, classical};
use crate::mapping::Mapping;
use crate::places::Places;
use crate::regular::RegularGrid;

/// A grid that metadata name, as MARS and earthkit do.
///
/// ```
/// use tgm_grid::NamedGrid;
///
/// let grid = NamedGrid::parse("O32", None).unwrap();
/// let places = grid.places(&[5248], None, 5248).unwrap();
/// let (latitude, longitude) = places.place(&[20]).unwrap();
/// assert!((latitude - 85.096_526_988_1).abs() < 1e-9 && longitude == 0.0);
///
/// let nested = NamedGrid::parse("H2", Some("nested")).unwrap().places(&[48], None, 48).unwrap();
/// assert_eq!(nested.nearest(19.0, 45.0), Some(vec![0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedGrid {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Healpix(Healpix),
    Octahedral(u32),
    Classical(u32),
    Gaussian(u32),
    /// Degrees between columns, and between rows.
    Steps(f64, f64),
    /// A plane. `None` if the projection is not known.
    Plane(Option<Mapping>),
}

impl NamedGrid {
    /// The keys of metadata under which a grid has its name, the best first.
    pub const KEYS: [&str; 2] = ["mars.grid", "grid"];
    /// The keys under which the order of pixels stands: `ring`, which is meant without it, or `nested`.
    pub const ORDER_KEYS: [&str; 4] = ["mars.order", "order", "mars.ordering", "ordering"];

    /// The grid with a name. `None` for an unknown one, and for a grid of no points.
    pub fn parse(name: &str, order: Option<&str>) -> Option<Self> {
        let name = name.trim();
        if name.contains("proj=") {
            return Some(Self { kind: Kind::Plane(Mapping::of_proj(name).ok()) });
        }
        let mut letters = name.chars();
        let letter = letters.next()?.to_ascii_uppercase();
        let number = || letters.as_str().parse::<u32>().ok().filter(|number| *number > 0);
        let kind = match letter {
            'H' => Kind::Healpix(Healpix::new(number()?, is_nested(order)?)?),
            'O' => Kind::Octahedral(number()?),
            'N' => Kind::Classical(number()?),
            'F' => Kind::Gaussian(number()?),
            _ => {
                let (columns, rows) = name.split_once(['/', ',', 'x'])?;
                let degrees = |text: &str| text.trim().parse::<f64>().ok().filter(|step| (1e-6..=180.0).contains(step));
                Kind::Steps(degrees(columns)?, degrees(rows)?)
            }
        };
        Some(Self { kind })
    }

    /// Whether it is a string of PROJ, so that bounds are ones of a plane.
    pub const fn is_plane(self) -> bool {
        matches!(self.kind, Kind::Plane(_))
    }

    /// The grid that a value of metadata names: a text, or a list of two numbers.
    pub fn of_value(value: &Value<'_>, order: Option<&str>) -> Option<Self> {
        if let Ok(text) = value.as_str() {
            return Self::parse(text, order);
        }
        let numbers = value.as_array().ok()?.iter().map(|number| number.ok()?.as_f64().ok());
        match *numbers.collect::<Option<Vec<f64>>>()? {
            [columns, rows] => Self::parse(&format!("{columns}/{rows}"), order),
            _ => None,
        }
    }

    /// Where the values of an object with this shape are. `None` if the grid has another number of points or other rows and columns, and for more
    /// than `most` points that are not computed one by one.
    ///
    /// Takes 16 bytes for each point of a reduced grid.
    pub fn places(self, shape: &[u64], area: Option<Area>, most: u32) -> Option<Places> {
        let count = shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len))?;
        match self.kind {
            Kind::Healpix(pixels) => {
                (shape.len() == 1 && pixels.point_count() == count).then_some(Places::Healpix(pixels))
            }
            Kind::Octahedral(n) if n > Rows::MOST_PARALLELS => None,
            Kind::Octahedral(n) => reduced(n, (0..n).map(|row| 20 + 4 * row).collect(), shape, most),
            Kind::Classical(n) => {
                let (_, runs) = classical::TABLES.iter().find(|(known, _)| *known == n)?;
                let lengths = runs.iter().flat_map(|(length, rows)| (0..*rows).map(|_| u32::from(*length)));
                reduced(n, lengths.collect(), shape, most)
            }
            Kind::Gaussian(n) => gaussian(n, shape, most),
            Kind::Steps(across, down) => evenly((across, down), shape, area),
            Kind::Plane(mapping) => plane(mapping?, shape, area?, most),
        }
    }
}

/// Whether an order is the nested one. `None` for an unknown one.
fn is_nested(order: Option<&str>) -> Option<bool> {
    match order.map(str::to_ascii_lowercase).as_deref() {
        None | Some("ring") => Some(false),
        Some("nested" | "nest") => Some(true),
        Some(_) => None,
    }
}

/// A reduced grid with these lengths of the rows from a pole to the equator.
fn reduced(n: u32, north: Vec<u32>, shape: &[u64], most: u32) -> Option<Places> {
    let sum: u64 = north.iter().copied().map(u64::from).sum();
    let points = u32::try_from(2 * sum).ok().filter(|points| *points <= most)?;
    if shape != [u64::from(points)] {
        return None;
    }
    let south: Vec<u32> = north.iter().rev().copied().collect();
    let rows = Rows::whole(n, [north, south].concat())?;
    Places::of_points(rows.coordinates(points)?, shape)
}

/// A regular Gaussian grid, as rows and columns or as a list.
fn gaussian(n: u32, shape: &[u64], most: u32) -> Option<Places> {
    let (rows, columns) = (2 * u64::from(n), 4 * u64::from(n));
    let points = u32::try_from(rows * columns).ok().filter(|points| *points <= most && n <= Rows::MOST_PARALLELS)?;
    let grid = Rows::regular(n)?;
    if shape == [rows, columns] {
        return Some(Places::Regular(RegularGrid::of_axes(grid.axes(points)?, false)));
    }
    (shape == [u64::from(points)])
        .then(|| grid.coordinates(points))
        .flatten()
        .and_then(|all| Places::of_points(all, shape))
}

/// Rows and columns between bounds of x and y, the first row at the top.
fn plane(mapping: Mapping, shape: &[u64], area: Area, most: u32) -> Option<Places> {
    let [rows, columns] = *shape else { return None };
    let grid = RegularGrid::between(rows, columns, area);
    let points = u32::try_from(rows.checked_mul(columns)?).ok().filter(|points| *points <= most)?;
    let mut found = Coordinates::with_capacity(points)?;
    for row in 0..rows {
        for column in 0..columns {
            let (latitude, longitude) = mapping.place(grid.longitude(column), grid.latitude(row));
            found.push(latitude, longitude);
        }
    }
    Places::of_points(found, shape)
}

/// Rows and columns between bounds, or of the whole globe. The last column lies on its bound where there are as many columns as that needs, also
/// where it is the first one again.
#[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
fn evenly((across, down): (f64, f64), shape: &[u64], area: Option<Area>) -> Option<Places> {
    let [.., rows, columns] = *shape else { return None };
    let area = area.unwrap_or(Area::GLOBE);
    let (width, height) = (area.east() - area.west(), area.north() - area.south());
    let is_step = |span: f64, count: u64, step: f64| (span / step - count as f64).abs() < 0.01;
    let is_circle = (width - 360.0).abs() < 1e-9;
    if rows < 2 || columns < 2 || !is_step(height, rows - 1, down) {
        return None;
    }
    if is_circle && is_step(width, columns, across) {
        return RegularGrid::new(shape, area).map(Places::Regular);
    }
    let is_closed = is_step(width, columns - 1, across);
    is_closed.then(|| Places::Regular(RegularGrid::between(rows, columns, area)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn places(name: &str, shape: &[u64]) -> Option<Places> {
        NamedGrid::parse(name, None)?.places(shape, None, 10_000_000)
    }

    #[test]
    fn names_have_the_points_of_their_grids() {
        let at = |name: &str, shape: &[u64], indices: &[u64]| places(name, shape).unwrap().place(indices).unwrap();
        let near = |(latitude, longitude): (f64, f64), known: (f64, f64)| {
            assert!((latitude - known.0).abs() < 1e-9 && (longitude - known.1).abs() < 1e-9, "{latitude} {longitude}");
        };
        near(at("H4", &[192], &[0]), (78.284_147_605_1, 45.0));
        near(at("N32", &[6114], &[21]), (85.096_526_988_1, 360.0 / 27.0));
        near(at("o32", &[5248], &[5247]), (-87.863_798_839_2, 342.0));
        near(at("F32", &[64, 128], &[1, 127]), (85.096_526_988_1, 357.1875));
        near(at("F32", &[8192], &[255]), (85.096_526_988_1, 357.1875));
        near(at("0.5/1", &[181, 720], &[1, 719]), (89.0, 359.5));
        for (name, _) in classical::TABLES {
            let (_, runs) = classical::TABLES.iter().find(|(known, _)| *known == name).unwrap();
            assert_eq!(runs.iter().map(|(_, rows)| u32::from(*rows)).sum::<u32>(), name);
        }
    }

    #[test]
    fn a_plane_lies_between_bounds_of_its_units() {
        let area: Area = "3210000/4321000/2210000/5321000".parse().unwrap();
        let name = "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80";
        let grid = NamedGrid::parse(name, None).unwrap();
        let places = grid.places(&[11, 21], Some(area), 231).unwrap();
        let (latitude, longitude) = places.place(&[0, 0]).unwrap();
        assert!((latitude - 52.0).abs() < 1e-9 && (longitude - 10.0).abs() < 1e-9);
        assert_eq!(places.nearest(52.1, 9.9), Some(vec![0, 0]));
        assert_eq!((grid.places(&[231], Some(area), 231), grid.places(&[11, 21], Some(area), 230)), (None, None));
        let unknown = NamedGrid::parse("+proj=robin", None).unwrap();
        assert_eq!((unknown.is_plane(), unknown.places(&[11, 21], Some(area), 231)), (true, None));
    }

    #[test]
    fn other_names_and_shapes_are_not_grids() {
        for name in ["", "H", "H0", "H-1", "Q32", "1", "1/", "0/1", "1e9/1", "N33", "F99999999", "O4294967295", "nan/1"]
        {
            assert_eq!(places(name, &[6114]), None, "{name}");
        }
        assert_eq!((places("H4", &[191]), places("H4", &[12, 16]), places("F32", &[128, 64])), (None, None, None));
        assert_eq!((places("1/1", &[180, 360]), places("1/1", &[181, 359])), (None, None));
        assert_eq!((NamedGrid::parse("H3", Some("nested")), NamedGrid::parse("H4", Some("spiral"))), (None, None));
        assert!(NamedGrid::parse("O8", None).unwrap().places(&[544], None, 543).is_none());
    }

    #[test]
    fn a_grid_tells_whether_the_last_column_is_the_first_again() {
        let area: Area = "90/0/-90/360".parse().unwrap();
        let grid = NamedGrid::parse("10/10", None).unwrap();
        let east = |columns: u64| {
            grid.places(&[19, columns], Some(area), 1000)
                .and_then(|places| places.place(&[0, columns - 1]))
                .map(|it| it.1)
        };
        assert_eq!((east(36), east(37), east(38)), (Some(350.0), Some(360.0), None));
    }
}
