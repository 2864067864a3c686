//! Projections in the words of CF, which a `grid_mapping` of NetCDF says, and in the words of PROJ.
//!
//! | `grid_mapping_name` | `+proj` | |
//! |---|---|---|
//! | `albers_conical_equal_area`, `lambert_conformal_conic` | `aea`, `lcc` | one or two `standard_parallel` |
//! | `lambert_azimuthal_equal_area` | `laea` | |
//! | `mercator` | `merc` | `standard_parallel`, or a scale at the origin |
//! | `polar_stereographic` | `stere` at a pole | likewise |
//! | `transverse_mercator` | `tmerc`, `utm` | |
//! | `geostationary` | `geos` | x and y are metres: radians times the height |
//! | `rotated_latitude_longitude` | `ob_tran` of `longlat` | x and y are degrees |
//! | `latitude_longitude` | `longlat` | likewise |
//!
//! CF conventions 1.11, appendix F. A mapping of CF without the size of the Earth is not taken: numbers of metres need it. PROJ has GRS80 for
//! that.

mod proj;

pub use self::proj::ProjError;

use crate::cf::CfMapping;
use crate::grids::albers::Albers;
use crate::grids::azimuthal::Azimuthal;
use crate::grids::cone::{Cone, Parallels};
use crate::grids::earth::Earth;
use crate::grids::mercator::Mercator;
use crate::grids::projection::Any;
use crate::grids::scan::turn;
use crate::grids::space_view::View;
use crate::grids::transverse::Transverse;
use crate::grids::turned::{Rotation, Turned};

/// A way from x and y of a plane to latitudes and longitudes.
///
/// ```
/// use tgm_grid::Mapping;
///
/// // Europe, as ETRS89-LAEA has it.
/// let europe = Mapping::of_proj("+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80").unwrap();
/// let (latitude, longitude) = europe.place(4_321_000.0, 3_210_000.0);
/// assert!((latitude - 52.0).abs() < 1e-9 && (longitude - 10.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapping {
    kind: Kind,
    /// Metres of a unit of x and y.
    unit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plane(Placed),
    View(View, (f64, f64)),
    Rotated(Turned),
    Degrees,
}

/// A projection whose x and y begin elsewhere: `(x - shift) / scale + origin` is x of the projection.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Placed {
    projection: Any,
    shift: (f64, f64),
    scale: f64,
    origin: (f64, f64),
}

impl Mapping {
    /// The mapping with this `grid_mapping_name`. `number` gives the numbers of an attribute, and `text` its text. `None` for other mappings,
    /// and where a number is missing.
    pub fn of_cf<'t>(
        name: &str,
        number: impl Fn(&str) -> Option<Vec<f64>>,
        text: impl Fn(&str) -> Option<&'t str>,
    ) -> Option<Self> {
        let one = |name: &str| match *number(name)?.as_slice() {
            [only] if only.is_finite() => Some(only),
            _ => None,
        };
        let kind = match name {
            CfMapping::ROTATED => Kind::Rotated(rotated(&one)?),
            "latitude_longitude" => Kind::Degrees,
            "geostationary" => {
                let earth = earth(&one)?;
                let sweep = text("sweep_angle_axis").map(|axis| axis == "x");
                let fixed = text("fixed_angle_axis").map(|axis| axis == "y");
                let view = View {
                    earth,
                    longitude: one("longitude_of_projection_origin")?,
                    distance: one("perspective_point_height")? / earth.major + 1.0,
                    sweeps_x: sweep.or(fixed).unwrap_or(false),
                };
                let is_above = one("latitude_of_projection_origin").unwrap_or(0.0) == 0.0 && view.distance > 1.0;
                is_above.then(|| Kind::View(view, shift(&one)))?
            }
            _ => Kind::Plane(Placed::of_cf(name, &number, &one)?),
        };
        Some(Self { kind, unit: 1.0 })
    }

    /// The mapping that a string of PROJ says: `+proj=lcc +lat_1=50 +lon_0=8`.
    ///
    /// # Errors
    /// [`ProjError`] for projections that are not in the table of this module's head, and for parameters that are not known or
    /// whose numbers make no projection.
    pub fn of_proj(text: &str) -> Result<Self, ProjError> {
        proj::mapping(text)
    }

    /// Whether x and y are degrees. Otherwise they are metres.
    pub const fn is_in_degrees(&self) -> bool {
        matches!(self.kind, Kind::Rotated(_) | Kind::Degrees)
    }

    /// The height of a satellite, with which x and y in radians are multiplied. `None` for all other mappings.
    pub fn height(&self) -> Option<f64> {
        match self.kind {
            Kind::View(view, _) => Some(view.height()),
            _ => None,
        }
    }

    /// Latitude and longitude of a point, in degrees. Not a number where the plane has no place.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (right, up) = (x * self.unit, y * self.unit);
        let (latitude, longitude) = match &self.kind {
            Kind::Plane(placed) => placed.place((right, up)),
            Kind::View(view, shift) => {
                let height = view.height();
                view.meet(((right - shift.0) / height, (up - shift.1) / height))
            }
            Kind::Rotated(turned) => turned.place((y, x)),
            Kind::Degrees => (y, x),
        };
        (latitude, turn(longitude))
    }
}

/// The turned globe of a mapping.
fn rotated(one: &impl Fn(&str) -> Option<f64>) -> Option<Turned> {
    let rotation = Rotation {
        latitude: -one("grid_north_pole_latitude")?,
        longitude: one("grid_north_pole_longitude")? + 180.0,
        angle: -one("north_pole_grid_longitude").unwrap_or(0.0),
    };
    Some(Turned { rotation: Some(rotation), stretching: None })
}

/// x and y of the place where the projection begins.
fn shift(one: &impl Fn(&str) -> Option<f64>) -> (f64, f64) {
    (one("false_easting").unwrap_or(0.0), one("false_northing").unwrap_or(0.0))
}

impl Placed {
    fn of_cf(
        name: &str,
        number: &impl Fn(&str) -> Option<Vec<f64>>,
        one: &impl Fn(&str) -> Option<f64>,
    ) -> Option<Self> {
        let earth = earth(one)?;
        let meridian = || one("longitude_of_central_meridian");
        let latitude = || one("latitude_of_projection_origin");
        let longitude = || one("longitude_of_projection_origin");
        let parallels = || match *number("standard_parallel")?.as_slice() {
            [both] => Some((both, both)),
            [first, second] => Some((first, second)),
            _ => None,
        };
        let scale = one("scale_factor_at_projection_origin");
        // The place where x and y are 0, if the projection of this crate begins elsewhere.
        let (projection, begin, scale) = match name {
            "albers_conical_equal_area" => {
                let albers = Albers::new(earth, parallels()?, meridian()?)?;
                (Any::Albers(albers), Some((latitude()?, meridian()?)), 1.0)
            }
            "lambert_conformal_conic" => {
                let (first, second) = parallels()?;
                let cone = Cone::new(earth, Parallels::Two(first, second), meridian()?)?;
                (Any::Cone(cone), Some((latitude()?, meridian()?)), scale.unwrap_or(1.0))
            }
            "lambert_azimuthal_equal_area" => {
                (Any::Azimuthal(Azimuthal::new(earth, (latitude()?, longitude()?))), None, 1.0)
            }
            "polar_stereographic" => {
                let upward = one("straight_vertical_longitude_from_pole").or_else(longitude)?;
                let pole = latitude()?;
                let (parallel, scale) = match one("standard_parallel") {
                    Some(parallel) => (parallel, 1.0),
                    None => (pole, scale?),
                };
                let cone = Cone::new(earth, Parallels::Polar(parallel.abs().copysign(pole)), upward)?;
                (Any::Cone(cone), None, scale)
            }
            "mercator" => {
                let (parallel, scale) = match one("standard_parallel") {
                    Some(parallel) => (parallel, 1.0),
                    None => (0.0, scale.unwrap_or(1.0)),
                };
                (Any::Mercator(Mercator::new(earth, parallel, longitude()?)?), None, scale)
            }
            "transverse_mercator" => {
                let scale = one("scale_factor_at_central_meridian").unwrap_or(1.0);
                (Any::Transverse(Transverse::new(earth, (latitude()?, meridian()?), scale, (0.0, 0.0))?), None, 1.0)
            }
            _ => return None,
        };
        let origin = begin.map_or((0.0, 0.0), |place| projection.get().project(place));
        let is_there = [origin.0, origin.1, 1.0 / scale].iter().all(|number| number.is_finite());
        is_there.then(|| Self { projection, shift: shift(one), scale, origin })
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (x, y) = ((x - self.shift.0) / self.scale, (y - self.shift.1) / self.scale);
        self.projection.get().unproject((x + self.origin.0, y + self.origin.1))
    }
}

/// The size of the Earth.
fn earth(one: &impl Fn(&str) -> Option<f64>) -> Option<Earth> {
    if let Some(major) = one("semi_major_axis") {
        let flat =
            one("inverse_flattening").map(|inverse| if inverse == 0.0 { major } else { major * (1.0 - 1.0 / inverse) });
        return Earth::new(major, one("semi_minor_axis").or(flat)?);
    }
    let radius = one("earth_radius")?;
    Earth::new(radius, radius)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn of(name: &str, numbers: &[(&str, &[f64])]) -> Option<Mapping> {
        let number = |wanted: &str| Some(numbers.iter().find(|(name, _)| *name == wanted)?.1.to_vec());
        Mapping::of_cf(name, number, |_| None)
    }

    /// The ellipsoid WGS84.
    const WGS: [(&str, &[f64]); 2] = [("semi_major_axis", &[6_378_137.0]), ("inverse_flattening", &[298.257_223_563])];

    fn near(mapping: Option<Mapping>, (x, y): (f64, f64), (latitude, longitude): (f64, f64)) {
        let found = mapping.unwrap().place(x, y);
        assert!((found.0 - latitude).abs() < 1e-8 && (found.1 - longitude).abs() < 1e-8, "{found:?}");
    }

    /// As PROJ 9 has them.
    #[test]
    fn cones_are_the_ones_of_proj() {
        near(
            of(
                "lambert_conformal_conic",
                &[
                    &WGS[..],
                    &[
                        ("standard_parallel", &[33.0, 45.0]),
                        ("latitude_of_projection_origin", &[39.0]),
                        ("longitude_of_central_meridian", &[-96.0]),
                        ("false_easting", &[1000.0]),
                        ("false_northing", &[-2000.0]),
                    ],
                ]
                .concat(),
            ),
            (500_000.0, -300_000.0),
            (36.162_898_874_1, 269.572_615_596_9),
        );
        near(
            of(
                "albers_conical_equal_area",
                &[
                    &WGS[..],
                    &[
                        ("standard_parallel", &[29.5, 45.5]),
                        ("latitude_of_projection_origin", &[23.0]),
                        ("longitude_of_central_meridian", &[-96.0]),
                    ],
                ]
                .concat(),
            ),
            (500_000.0, 1_300_000.0),
            (34.631_027_294_4, 269.500_506_815_1),
        );
    }

    #[test]
    fn other_planes_are_the_ones_of_proj() {
        near(
            of(
                "polar_stereographic",
                &[
                    &WGS[..],
                    &[
                        ("standard_parallel", &[-71.0]),
                        ("latitude_of_projection_origin", &[-90.0]),
                        ("straight_vertical_longitude_from_pole", &[0.0]),
                    ],
                ]
                .concat(),
            ),
            (500_000.0, 1_300_000.0),
            (-77.231_754_806_8, 21.037_511_025_4),
        );
        near(
            of(
                "mercator",
                &[&WGS[..], &[("standard_parallel", &[20.0]), ("longitude_of_projection_origin", &[150.0])]].concat(),
            ),
            (500_000.0, -1_300_000.0),
            (-12.407_009_159_8, 154.777_963_894),
        );
        near(
            of(
                "transverse_mercator",
                &[
                    &WGS[..],
                    &[
                        ("scale_factor_at_central_meridian", &[0.9996]),
                        ("latitude_of_projection_origin", &[0.0]),
                        ("longitude_of_central_meridian", &[9.0]),
                        ("false_easting", &[500_000.0]),
                        ("false_northing", &[0.0]),
                    ],
                ]
                .concat(),
            ),
            (700_000.0, 5_300_000.0),
            (47.822_235_62, 11.672_054_778_2),
        );
        near(
            of(
                "lambert_azimuthal_equal_area",
                &[
                    &WGS[..],
                    &[
                        ("latitude_of_projection_origin", &[52.0]),
                        ("longitude_of_projection_origin", &[10.0]),
                        ("false_easting", &[4_321_000.0]),
                        ("false_northing", &[3_210_000.0]),
                    ],
                ]
                .concat(),
            ),
            (3_000_000.0, 2_500_000.0),
            (44.277_750_723_9, 353.330_910_359_8),
        );
        // COSMO: the southern pole of the grid is at 50 degrees south and 10 degrees east.
        let rotated: [(&str, &[f64]); 2] =
            [("grid_north_pole_latitude", &[50.0]), ("grid_north_pole_longitude", &[-170.0])];
        near(of("rotated_latitude_longitude", &rotated), (0.0, 0.0), (40.0, 10.0));
        near(of("rotated_latitude_longitude", &rotated), (0.0, -90.0), (-50.0, 10.0));
    }

    #[test]
    fn other_words_are_not_mappings() {
        assert!(of("sinusoidal", &[("earth_radius", &[6e6])]).is_none());
        let pole: [(&str, &[f64]); 2] =
            [("straight_vertical_longitude_from_pole", &[0.0]), ("latitude_of_projection_origin", &[90.0])];
        assert!(of("polar_stereographic", &[&pole[..], &[("earth_radius", &[6.4e6])]].concat()).is_none());
        assert!(of("polar_stereographic", &[&pole[..], &[("standard_parallel", &[60.0])]].concat()).is_none());
        assert!(
            of("mercator", &[("earth_radius", &[6.4e6]), ("longitude_of_projection_origin", &[f64::NAN])]).is_none()
        );
    }
}
