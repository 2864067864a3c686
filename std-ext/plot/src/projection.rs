//! Maps: how places on the globe become places of a picture. The globe is a sphere.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::str::FromStr;

/// Kinds of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    PlateCarree,
    Mercator,
    Orthographic,
    Polar,
}

/// A kind of maps, and the latitude and longitude of its middle where one is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapKind {
    kind: Kind,
    centre: Option<(f64, f64)>,
}

impl FromStr for MapKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected plate-carree, mercator, orthographic, polar, orthographic:LAT,LON or polar:LAT,LON";
        let (name, centre) = text.split_once(':').map_or((text, None), |(name, centre)| (name, Some(centre)));
        let kind = match name {
            "plate-carree" | "platecarree" => Kind::PlateCarree,
            "mercator" => Kind::Mercator,
            "orthographic" => Kind::Orthographic,
            "polar" => Kind::Polar,
            _ => return Err(EXPECTED),
        };
        let number = |text: &str, most: f64| text.trim().parse().ok().filter(|it: &f64| it.abs() <= most);
        let centre = match centre {
            None => None,
            Some(_) if matches!(kind, Kind::PlateCarree | Kind::Mercator) => return Err(EXPECTED),
            Some(text) => {
                let (lat, lon) = text.split_once(',').ok_or(EXPECTED)?;
                Some((number(lat, 90.0).ok_or(EXPECTED)?, number(lon, 360.0).ok_or(EXPECTED)?))
            }
        };
        Ok(Self { kind, centre })
    }
}

impl MapKind {
    /// The projection of a field whose middle lies at a latitude and longitude.
    pub fn of_field(self, middle: (f64, f64)) -> Projection {
        let (latitude, longitude) = self.centre.unwrap_or(middle);
        match self.kind {
            Kind::PlateCarree => Projection::PlateCarree,
            Kind::Mercator => Projection::Mercator,
            Kind::Orthographic => Projection::Orthographic { latitude, longitude },
            Kind::Polar => Projection::Polar { is_south: latitude < 0.0, longitude },
        }
    }
}

/// A projection. Places on the plane are degrees, or parts of the radius of the globe; they count to the right and up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Projection {
    /// Degrees of one length in both directions.
    #[default]
    PlateCarree,
    /// Cylinder that keeps angles, in degrees of the equator.
    Mercator,
    /// The globe from far away, seen from above a place.
    Orthographic {
        /// Degrees north of the middle.
        latitude: f64,
        /// Degrees east of the middle.
        longitude: f64,
    },
    /// Half of the globe around a pole, which keeps angles (stereographic). The longitude points down in the north, and up in the south.
    Polar {
        /// Whether its middle is the South Pole.
        is_south: bool,
        /// Degrees east of the meridian that points downward.
        longitude: f64,
    },
}

/// The latitude where maps of Mercator end.
pub const MERCATOR_END: f64 = 85.0;

impl Projection {
    /// Whether it is round: it shows half of the globe at most.
    pub const fn is_round(&self) -> bool {
        self.radius().is_some()
    }

    /// The radius of its edge.
    pub const fn radius(&self) -> Option<f64> {
        match self {
            Self::PlateCarree | Self::Mercator => None,
            Self::Orthographic { .. } => Some(1.0),
            Self::Polar { .. } => Some(2.0),
        }
    }

    /// The place on the plane of a longitude and a latitude. `None` where the map does not show it.
    pub fn forward(&self, (longitude, latitude): (f64, f64)) -> Option<(f64, f64)> {
        let lat = latitude.to_radians();
        match *self {
            Self::PlateCarree => Some((longitude, latitude)),
            Self::Mercator => {
                let y = (FRAC_PI_4 + lat / 2.0).tan().ln().to_degrees();
                (latitude.abs() <= MERCATOR_END + 1e-9).then_some((longitude, y))
            }
            Self::Orthographic { latitude: middle, longitude: east } => {
                let ((sin, cos), (sin_lon, cos_lon)) = (lat.sin_cos(), (longitude - east).to_radians().sin_cos());
                let (sin_middle, cos_middle) = middle.to_radians().sin_cos();
                let is_seen = sin_middle * sin + cos_middle * cos * cos_lon >= -1e-9;
                is_seen.then_some((cos * sin_lon, cos_middle * sin - sin_middle * cos * cos_lon))
            }
            Self::Polar { is_south, longitude: east } => {
                let (lat, down) = if is_south { (-lat, -1.0) } else { (lat, 1.0) };
                let radius = 2.0 * (FRAC_PI_4 - lat / 2.0).tan();
                let (sin, cos) = (longitude - east).to_radians().sin_cos();
                (lat >= -1e-9).then_some((radius * sin, -radius * cos * down))
            }
        }
    }

    /// The longitude and latitude of a place on the plane. `None` beyond the edge of the map.
    pub fn inverse(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        match *self {
            Self::PlateCarree => Some((x, y)),
            Self::Mercator => Some((x, (2.0 * y.to_radians().exp().atan() - FRAC_PI_2).to_degrees())),
            Self::Orthographic { latitude, longitude } => {
                let square = x * x + y * y;
                if square > 1.0 + 1e-9 {
                    return None;
                }
                let near = (1.0 - square).max(0.0).sqrt();
                let (sin, cos) = latitude.to_radians().sin_cos();
                let east = x.atan2(near * cos - y * sin).to_degrees();
                Some((longitude + east, (near * sin + y * cos).clamp(-1.0, 1.0).asin().to_degrees()))
            }
            Self::Polar { is_south, longitude } => {
                let (y, sign) = if is_south { (-y, -1.0) } else { (y, 1.0) };
                let radius = x.hypot(y);
                let latitude = 90.0 - 2.0 * (radius / 2.0).atan().to_degrees();
                (radius <= 2.0 + 1e-9).then_some((longitude + x.atan2(-y).to_degrees(), sign * latitude))
            }
        }
    }

    /// Steps of one length on the globe, to the east and to the north of a place, as they lie on the plane. The longer one has the length 1.
    /// `None` where there are none: at poles, and beyond the map.
    pub fn directions(&self, (longitude, latitude): (f64, f64)) -> Option<[(f64, f64); 2]> {
        const STEP: f64 = 1e-3;
        if matches!(self, Self::PlateCarree) {
            return Some([(1.0, 0.0), (0.0, 1.0)]);
        }
        let wide = STEP / latitude.to_radians().cos();
        if latitude.abs() > 89.5 {
            return None;
        }
        let step = |east: f64, north: f64| {
            let [from, to] = [-1.0, 1.0].map(|sign| self.forward((longitude + sign * east, latitude + sign * north)));
            from.zip(to).map(|(from, to)| (to.0 - from.0, to.1 - from.1))
        };
        let (east, north) = (step(wide, 0.0)?, step(0.0, STEP)?);
        let length = east.0.hypot(east.1).max(north.0.hypot(north.1));
        (length > 0.0).then(|| [east, north].map(|(x, y)| (x / length, y / length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projection(text: &str) -> Projection {
        text.parse::<MapKind>().unwrap().of_field((0.0, 0.0))
    }

    /// Places as PROJ 9.5 has them: `+proj=merc`, `+proj=ortho +lat_0=50 +lon_0=10`, `+proj=stere +lat_0=90 +lon_0=-45` and
    /// `+proj=stere +lat_0=-90 +lon_0=20`, all with `+R=1`.
    #[test]
    fn places_are_those_of_proj() {
        for (text, place, (x, y)) in [
            ("mercator", (12.50, 48.25), (12.5, 55.233_338_9)),
            ("mercator", (-75.00, -33.00), (-75.0, -34.992_110_87)),
            ("orthographic:50,10", (12.50, 48.25), (0.029_045_35, -0.030_053_02)),
            ("orthographic:50,10", (-75.00, 33.00), (-0.835_479_17, 0.294_093_24)),
            ("orthographic:50,10", (60.00, 70.00), (0.262_002_63, 0.435_610_73)),
            ("polar:90,-45", (12.50, 48.25), (0.643_276_57, -0.409_812_37)),
            ("polar:90,-45", (-75.00, 33.00), (-0.542_955_70, -0.940_426_86)),
            ("polar:-90,20", (12.50, -48.25), (-0.099_555_72, 0.756_200_76)),
            ("polar:-90,20", (-75.00, -33.00), (-1.081_779_18, -0.094_643_41)),
        ] {
            let found = projection(text).forward(place).unwrap();
            assert!((found.0 - x).abs() < 1e-6 && (found.1 - y).abs() < 1e-6, "{text} {place:?}: {found:?}");
        }
    }

    #[test]
    fn places_return_to_where_they_came_from() {
        for text in
            ["plate-carree", "mercator", "orthographic:50,10", "orthographic:-90,0", "polar:90,-45", "polar:-90,20"]
        {
            let projection = projection(text);
            let mut seen = 0;
            for (lon, lat) in (-170..180).step_by(13).flat_map(|lon| (-84..85).step_by(7).map(move |lat| (lon, lat))) {
                let from = (f64::from(lon), f64::from(lat));
                let Some(place) = projection.forward(from) else { continue };
                let (longitude, latitude) = projection.inverse(place).unwrap();
                let turn = (longitude - from.0 + 180.0).rem_euclid(360.0) - 180.0;
                assert!(
                    turn.abs() < 1e-5 && (latitude - from.1).abs() < 1e-5,
                    "{text}: {from:?} {longitude} {latitude}"
                );
                seen += 1;
            }
            assert!(seen > 100, "{text}: {seen}");
        }
    }

    #[test]
    fn half_of_the_globe_is_seen() {
        let from_space = projection("orthographic:0,0");
        assert!(from_space.forward((89.0, 0.0)).is_some() && from_space.forward((91.0, 0.0)).is_none());
        assert_eq!((from_space.inverse((0.8, 0.8)), projection("polar").inverse((2.0, 0.1))), (None, None));
        assert!(projection("polar:-90,0").forward((0.0, 1.0)).is_none());
        assert!(projection("mercator").forward((0.0, 86.0)).is_none());
    }

    #[test]
    fn kinds_have_names_and_round_ones_a_middle() {
        assert_eq!(
            projection("orthographic:-10.5,200"),
            Projection::Orthographic { latitude: -10.5, longitude: 200.0 }
        );
        for wrong in
            ["", "lambert", "mercator:0,0", "polar:91,0", "polar:1", "orthographic:nan,0", "orthographic:0,361"]
        {
            assert!(wrong.parse::<MapKind>().is_err(), "{wrong}");
        }
    }

    /// East is right and north is up in the middle; near the edge of the globe, steps towards the edge are short.
    #[test]
    fn directions_turn_with_the_map() {
        let near = |found: Option<[(f64, f64); 2]>, expected: [(f64, f64); 2]| {
            let parts = |it: [(f64, f64); 2]| it.into_iter().flat_map(|(x, y)| [x, y]);
            let found = found.unwrap();
            assert!(parts(found).zip(parts(expected)).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        };
        near(projection("plate-carree").directions((10.0, 80.0)), [(1.0, 0.0), (0.0, 1.0)]);
        near(projection("mercator").directions((10.0, 60.0)), [(1.0, 0.0), (0.0, 1.0)]);
        near(projection("orthographic:0,0").directions((60.0, 0.0)), [(0.5, 0.0), (0.0, 1.0)]);
        // At 90 degrees east, right of the north pole: east is up, and north is left.
        near(projection("polar:90,0").directions((90.0, 60.0)), [(0.0, 1.0), (-1.0, 0.0)]);
        assert_eq!(projection("polar").directions((0.0, 90.0)), None);
    }
}
