//! Grids with poles of their own: rotated, stretched, and both.
//!
//! ```text
//! stretched by C:  sin φ = ((C² - 1) + (C² + 1) s) / ((C² + 1) + (C² - 1) s)      s: the sine of the grid's latitude
//! rotated:         x' = x cos t - z sin t      z' = x sin t + z cos t      t = 90° + φ of the southern pole
//! ```
//!
//! A place is turned about the new axis by the angle of rotation, stretched, turned so that the pole of stretching comes where it is, and then
//! turned so that the southern pole does.
//!
//! | octets of 3.1, 3.41 | of 3.3, 3.43 | of 3.2, 3.42 | |
//! |---|---|---|---|
//! | 73 to 76, 77 to 80 | 73 to 76, 77 to 80 | | latitude and longitude of the southern pole, in the unit of the section |
//! | 81 to 84 | 81 to 84 | | the angle of rotation, IEEE |
//! | | 85 to 88, 89 to 92 | 73 to 76, 77 to 80 | latitude and longitude of the pole of stretching |
//! | | 93 to 96 | 81 to 84 | the factor C, in millionths |

use super::plane::around;
use crate::cf::CfMapping;

/// How the places of a grid are turned into places of the Earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turned {
    pub(crate) rotation: Option<Rotation>,
    pub(crate) stretching: Option<Stretching>,
}

/// Where the southern pole of the grid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rotation {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    /// Degrees about the new axis.
    pub(crate) angle: f64,
}

impl Rotation {
    /// The rotation in the words of CF, which have the northern pole.
    pub(crate) fn cf(self) -> CfMapping {
        let numbers = [
            ("grid_north_pole_latitude", -self.latitude),
            ("grid_north_pole_longitude", around(self.longitude - 180.0)),
            // Not -0, which reads like a turn.
            ("north_pole_grid_longitude", 0.0 - self.angle),
        ];
        CfMapping::new(CfMapping::ROTATED, numbers)
    }
}

/// Where the grid is dense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretching {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) factor: f64,
}

impl Turned {
    /// The place on the Earth of a place in the grid.
    pub(crate) fn place(self, (mut latitude, mut longitude): (f64, f64)) -> (f64, f64) {
        if let Some(Stretching { latitude: north, longitude: east, factor }) = self.stretching {
            // The same with the tangent of half the way to the pole, which has all its digits near it.
            let half = ((90.0 - latitude) / 2.0).to_radians().tan() / factor;
            latitude = 90.0 - 2.0 * half.atan().to_degrees();
            if (north - 90.0).abs() < 1e-9 {
                longitude += east;
            } else {
                (latitude, longitude) = tilted((latitude, longitude), north - 90.0, east);
            }
        }
        match self.rotation {
            Some(Rotation { latitude: south, longitude: east, angle }) => {
                tilted((latitude, longitude + angle), 90.0 + south, east)
            }
            None => (latitude, longitude),
        }
    }
}

/// A place after a turn by `tilt` degrees towards the meridian of 0, and one by `east` degrees about the axis.
fn tilted((latitude, longitude): (f64, f64), tilt: f64, east: f64) -> (f64, f64) {
    let (lat_sin, lat_cos) = latitude.to_radians().sin_cos();
    let (lon_sin, lon_cos) = longitude.to_radians().sin_cos();
    let (tilt_sin, tilt_cos) = tilt.to_radians().sin_cos();
    let (x, y, z) = (lat_cos * lon_cos, lat_cos * lon_sin, lat_sin);
    let (ahead, up) = (tilt_cos * x - tilt_sin * z, tilt_sin * x + tilt_cos * z);
    (up.atan2(ahead.hypot(y)).to_degrees(), y.atan2(ahead).to_degrees() + east)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: (f64, f64), (latitude, longitude): (f64, f64)) {
        assert!((found.0 - latitude).abs() < 1e-12 && (found.1 - longitude).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn stretched_places_are_nearer_to_the_pole() {
        let stretching = Some(Stretching { latitude: 90.0, longitude: 0.0, factor: 2.0 });
        let turned = Turned { rotation: None, stretching };
        near(turned.place((0.0, 30.0)), (0.6_f64.asin().to_degrees(), 30.0));
        near(turned.place((30.0, 30.0)), ((5.5_f64 / 6.5).asin().to_degrees(), 30.0));
        near(turned.place((90.0, 30.0)), (90.0, 30.0));
        near(turned.place((-90.0, 30.0)), (-90.0, 30.0));
    }

    #[test]
    fn the_poles_come_where_they_are() {
        let rotation = Some(Rotation { latitude: -40.0, longitude: 10.0, angle: 0.0 });
        near(Turned { rotation, stretching: None }.place((-90.0, 77.0)), (-40.0, 10.0));
        near(Turned { rotation, stretching: None }.place((0.0, 0.0)), (50.0, 10.0));
        let stretching = Some(Stretching { latitude: 50.0, longitude: 10.0, factor: 3.0 });
        near(Turned { rotation: None, stretching }.place((90.0, 77.0)), (50.0, 10.0));
        let rotation = Some(Rotation { latitude: -40.0, longitude: 10.0, angle: 20.0 });
        near(Turned { rotation, stretching: None }.place((0.0, -20.0)), (50.0, 10.0));
    }
}
