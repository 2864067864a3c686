//! Projections in the words of CF: what a `grid_mapping` of NetCDF says.
//!
//! | `grid_mapping_name` | |
//! |---|---|
//! | `albers_conical_equal_area`, `lambert_conformal_conic` | one or two `standard_parallel` |
//! | `lambert_azimuthal_equal_area` | |
//! | `mercator`, `polar_stereographic` | `standard_parallel`, or a scale at the origin |
//! | `rotated_latitude_longitude` | x and y are degrees |
//! | `transverse_mercator` | |
//!
//! CF conventions 1.11, appendix F. A mapping without the size of the Earth is not taken: numbers of metres need it.

use crate::grids::albers::Albers;
use crate::grids::azimuthal::Azimuthal;
use crate::grids::cone::{Cone, Parallels};
use crate::grids::earth::Earth;
use crate::grids::mercator::Mercator;
use crate::grids::plane::Projection;
use crate::grids::scan::turn;
use crate::grids::transverse::Transverse;
use crate::grids::turned::{Rotation, Turned};

/// A way from x and y of a plane to latitudes and longitudes.
///
/// ```
/// use tgm_grid::Mapping;
///
/// // Europe, as ETRS89-LAEA has it.
/// let number = |name: &str| match name {
///     "semi_major_axis" => Some(vec![6_378_137.0]),
///     "inverse_flattening" => Some(vec![298.257_222_101]),
///     "latitude_of_projection_origin" => Some(vec![52.0]),
///     "longitude_of_projection_origin" => Some(vec![10.0]),
///     "false_easting" => Some(vec![4_321_000.0]),
///     "false_northing" => Some(vec![3_210_000.0]),
///     _ => None,
/// };
/// let europe = Mapping::of_cf("lambert_azimuthal_equal_area", number).unwrap();
/// let (latitude, longitude) = europe.place(4_321_000.0, 3_210_000.0);
/// assert!((latitude - 52.0).abs() < 1e-9 && (longitude - 10.0).abs() < 1e-9);
/// ```
pub struct Mapping {
    kind: Kind,
}

enum Kind {
    /// What is subtracted from x and y, and the projection.
    Plane((f64, f64), Box<dyn Projection>),
    Rotated(Turned),
}

impl std::fmt::Debug for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mapping").field("is_in_degrees", &self.is_in_degrees()).finish_non_exhaustive()
    }
}

impl Mapping {
    /// The mapping with this `grid_mapping_name`. `number` gives the numbers of an attribute. `None` for other mappings, and where a number is
    /// missing.
    pub fn of_cf(name: &str, number: impl Fn(&str) -> Option<Vec<f64>>) -> Option<Self> {
        let one = |name: &str| match *number(name)?.as_slice() {
            [only] if only.is_finite() => Some(only),
            _ => None,
        };
        if name == "rotated_latitude_longitude" {
            let (latitude, longitude) = (-one("grid_north_pole_latitude")?, one("grid_north_pole_longitude")? + 180.0);
            let angle = -one("north_pole_grid_longitude").unwrap_or(0.0);
            let rotation = Some(Rotation { latitude, longitude, angle });
            return Some(Self { kind: Kind::Rotated(Turned { rotation, stretching: None }) });
        }
        let earth = earth(&one)?;
        let shift = (one("false_easting").unwrap_or(0.0), one("false_northing").unwrap_or(0.0));
        let meridian = || one("longitude_of_central_meridian");
        let origin = || Some((one("latitude_of_projection_origin")?, one("longitude_of_projection_origin")?));
        let parallels = || match *number("standard_parallel")?.as_slice() {
            [both] => Some((both, both)),
            [first, second] => Some((first, second)),
            _ => None,
        };
        // Where x and y begin, if the projection of this crate begins elsewhere.
        let mut begin = None;
        let projection: Box<dyn Projection> = match name {
            "albers_conical_equal_area" => {
                begin = Some((one("latitude_of_projection_origin")?, meridian()?));
                Box::new(Albers::new(earth, parallels()?, meridian()?)?)
            }
            "lambert_conformal_conic" => {
                begin = Some((one("latitude_of_projection_origin")?, meridian()?));
                let (first, second) = parallels()?;
                Box::new(Cone::new(earth, Parallels::Two(first, second), meridian()?)?)
            }
            "lambert_azimuthal_equal_area" => Box::new(Azimuthal::new(earth, origin()?)),
            "polar_stereographic" => {
                let upward = one("straight_vertical_longitude_from_pole").or_else(|| Some(origin()?.1))?;
                let pole = one("latitude_of_projection_origin")?;
                // A scale at the pole that is not 1 belongs to a parallel, which this does not look for.
                let is_true_there =
                    || one("scale_factor_at_projection_origin").is_some_and(|scale| (scale - 1.0).abs() < 1e-12);
                let latitude = one("standard_parallel").or_else(|| is_true_there().then_some(pole))?;
                Box::new(Cone::new(earth, Parallels::Polar(latitude.abs() * pole.signum()), upward)?)
            }
            "mercator" => {
                let scale = one("scale_factor_at_projection_origin");
                let latitude = one("standard_parallel")
                    .or_else(|| scale.is_none_or(|scale| (scale - 1.0).abs() < 1e-12).then_some(0.0))?;
                Box::new(Mercator::new(earth, latitude, one("longitude_of_projection_origin")?)?)
            }
            "transverse_mercator" => {
                let reference = (one("latitude_of_projection_origin")?, meridian()?);
                let scale = one("scale_factor_at_central_meridian").unwrap_or(1.0);
                Box::new(Transverse::new(earth, reference, scale, (0.0, 0.0))?)
            }
            _ => return None,
        };
        let (x, y) = begin.map_or((0.0, 0.0), |place| projection.project(place));
        let kind = Kind::Plane((shift.0 - x, shift.1 - y), projection);
        (x.is_finite() && y.is_finite()).then_some(Self { kind })
    }

    /// Whether x and y are degrees. Otherwise they are metres.
    pub const fn is_in_degrees(&self) -> bool {
        matches!(self.kind, Kind::Rotated(_))
    }

    /// Latitude and longitude of a point, in degrees. Not a number where the plane has no place.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (latitude, longitude) = match &self.kind {
            Kind::Plane((left, below), projection) => projection.unproject((x - left, y - below)),
            Kind::Rotated(turned) => turned.place((y, x)),
        };
        (latitude, turn(longitude))
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
        Mapping::of_cf(name, |wanted| Some(numbers.iter().find(|(name, _)| *name == wanted)?.1.to_vec()))
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
