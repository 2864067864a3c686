//! Strings of PROJ: each is said again in the words of CF.

use std::error::Error;
use std::fmt;

use super::{Kind, Mapping};
use crate::cf::CfMapping;

/// Why a string of PROJ is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjError(String);

impl fmt::Display for ProjError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ProjError {}

type Result<T> = std::result::Result<T, ProjError>;

/// The projections that are known.
const KNOWN: &str = "lcc, aea, laea, merc, stere, tmerc, utm, geos, ob_tran, longlat";
/// The words for longitude and latitude.
const DEGREES: [&str; 4] = ["longlat", "latlong", "latlon", "lonlat"];
/// Half of the major axis, and one over the flattening.
const ELLIPSOIDS: [(&str, f64, f64); 8] = [
    ("GRS80", 6_378_137.0, 298.257_222_101),
    ("WGS84", 6_378_137.0, 298.257_223_563),
    ("WGS72", 6_378_135.0, 298.26),
    ("intl", 6_378_388.0, 297.0),
    ("bessel", 6_377_397.155, 299.152_812_8),
    ("krass", 6_378_245.0, 298.3),
    ("clrk66", 6_378_206.4, 294.978_698_213_898),
    ("sphere", 6_370_997.0, 0.0),
];
/// Parameters that change no place.
const IDLE: [&str; 5] = ["no_defs", "type", "wktext", "over", "lon_wrap"];
/// Parameters of all projections.
const SHARED: [&str; 16] = [
    "proj", "lon_0", "lat_0", "x_0", "y_0", "R", "a", "b", "rf", "f", "ellps", "datum", "units", "to_meter", "k", "k_0",
];

/// The mapping of a string.
pub(super) fn mapping(text: &str) -> Result<Mapping> {
    let proj = Proj::parse(text);
    let name = proj.text("proj").ok_or_else(|| ProjError("a string of PROJ begins with +proj=".into()))?;
    if DEGREES.contains(&name) {
        proj.check(&["pm"])?;
        return Ok(Mapping { kind: Kind::Degrees, unit: 1.0 });
    }
    let cf = match name {
        "lcc" => proj.cone("lambert_conformal_conic", proj.or("lat_1", 0.0)?)?,
        // Without a second parallel it is the equator here, as in PROJ.
        "aea" => proj.cone("albers_conical_equal_area", 0.0)?,
        "laea" => proj.centred("lambert_azimuthal_equal_area")?,
        "merc" => proj.mercator()?,
        "stere" => proj.polar()?,
        "tmerc" => proj.transverse((proj.or("lat_0", 0.0)?, proj.or("lon_0", 0.0)?))?,
        "utm" => proj.utm()?,
        "geos" => proj.geostationary()?,
        "ob_tran" => proj.rotated()?,
        _ => return Err(ProjError(format!("the projection {name} is not known; those that are: {KNOWN}"))),
    };
    let found = Mapping::of_cf(cf.name, |name| cf.number(name), |name| cf.text(name));
    let found = found.ok_or_else(|| ProjError(format!("the numbers of {name} make no projection")))?;
    Ok(Mapping { unit: if cf.is_in_degrees() { 1.0 } else { proj.unit()? }, ..found })
}

/// The parameters of a string.
struct Proj<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Proj<'t> {
    fn parse(text: &'t str) -> Self {
        let words = text.split_whitespace().map(|word| word.strip_prefix('+').unwrap_or(word));
        let all: Vec<_> = words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
        Self(all)
    }

    fn text(&self, name: &str) -> Option<&'t str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| ProjError(format!("+{name}={text} is not a number")))
    }

    fn or(&self, name: &str, default: f64) -> Result<f64> {
        Ok(self.number(name)?.unwrap_or(default))
    }

    /// The scale at the origin.
    fn scale(&self) -> Result<f64> {
        Ok(self.number("k_0")?.or(self.number("k")?).unwrap_or(1.0))
    }

    /// Refuses parameters that are not known: they may change places.
    fn check(&self, own: &[&str]) -> Result<()> {
        let is_zero = |text: &str| text.split(',').all(|number| number.parse() == Ok(0.0));
        // Between other ellipsoids latitudes change even without a shift.
        let is_modern = matches!(self.text("ellps").or(self.text("datum")), Some("WGS84" | "GRS80"));
        let is_idle = |(name, text): &(&str, &str)| {
            let is_nothing = match *name {
                "pm" => matches!(*text, "0" | "greenwich" | "Greenwich"),
                "towgs84" => is_modern && is_zero(text),
                "nadgrids" => *text == "@null",
                "axis" => *text == "enu",
                _ => false,
            };
            is_nothing || IDLE.contains(name) || SHARED.contains(name) || (own.contains(name) && *name != "pm")
        };
        let unknown = self.0.iter().find(|it| !is_idle(it));
        unknown.map_or(Ok(()), |(name, text)| Err(ProjError(format!("the parameter +{name}={text} is not known"))))
    }

    /// Metres of a unit of x and y.
    fn unit(&self) -> Result<f64> {
        match (self.number("to_meter")?, self.text("units")) {
            (Some(metres), _) if metres > 0.0 => Ok(metres),
            (None, None | Some("m")) => Ok(1.0),
            (None, Some("km")) => Ok(1e3),
            (None, Some(units)) => Err(ProjError(format!("+units={units} is not known; m and km are"))),
            (Some(_), _) => Err(ProjError("+to_meter is not above 0".into())),
        }
    }

    /// The mapping with the shape of the Earth, and with what is added to x and y.
    fn finish(&self, mapping: CfMapping, own: &[&str]) -> Result<CfMapping> {
        self.check(own)?;
        let (x, y) = (self.or("x_0", 0.0)?, self.or("y_0", 0.0)?);
        let mapping = mapping.with("false_easting", &[x]).with("false_northing", &[y]);
        if let Some(radius) = self.number("R")? {
            return Ok(mapping.with("earth_radius", &[radius]));
        }
        let named = match (self.text("ellps"), self.text("datum")) {
            (Some(name), _) => name,
            (None, Some("WGS84")) => "WGS84",
            (None, None | Some("NAD83")) => "GRS80",
            (None, Some(datum)) => return Err(ProjError(format!("+datum={datum} is not known; WGS84 and NAD83 are"))),
        };
        let known = ELLIPSOIDS.iter().find(|(known, ..)| *known == named);
        let (_, major, inverse) =
            known.ok_or_else(|| ProjError(format!("+ellps={named} is not known; +a and +b say its axes")))?;
        let flattening = match (self.number("rf")?, self.number("f")?) {
            (Some(inverse), _) => Some(1.0 / inverse),
            (None, given) => given,
        };
        let major_given = self.number("a")?;
        let major = major_given.unwrap_or(*major);
        let minor = match (self.number("b")?, flattening, major_given) {
            (Some(minor), ..) => minor,
            (None, Some(flattening), _) => major * (1.0 - flattening),
            // An axis alone is the radius of a sphere.
            (None, None, Some(_)) if self.text("ellps").is_none() => major,
            _ => major * (1.0 - if *inverse == 0.0 { 0.0 } else { 1.0 / inverse }),
        };
        Ok(mapping.with("semi_major_axis", &[major]).with("semi_minor_axis", &[minor]))
    }

    fn cone(&self, name: &'static str, second: f64) -> Result<CfMapping> {
        let (first, second) = (self.or("lat_1", 0.0)?, self.or("lat_2", second)?);
        // PROJ begins a cone of one parallel there as an operation, and at the equator as a reference system.
        if name.starts_with("lambert") && self.text("lat_2").or(self.text("lat_0")).is_none() {
            return Err(ProjError("lcc of one parallel has a +lat_0: without it programs differ".into()));
        }
        let numbers = [
            ("latitude_of_projection_origin", self.or("lat_0", 0.0)?),
            ("longitude_of_central_meridian", self.or("lon_0", 0.0)?),
            ("scale_factor_at_projection_origin", self.scale()?),
        ];
        let mapping = CfMapping::new(name, numbers).with("standard_parallel", &[first, second]);
        self.finish(mapping, &["lat_1", "lat_2"])
    }

    fn centred(&self, name: &'static str) -> Result<CfMapping> {
        let numbers = [
            ("latitude_of_projection_origin", self.or("lat_0", 0.0)?),
            ("longitude_of_projection_origin", self.or("lon_0", 0.0)?),
        ];
        self.finish(CfMapping::new(name, numbers), &[])
    }

    fn mercator(&self) -> Result<CfMapping> {
        let scale = match self.number("lat_ts")? {
            Some(latitude) => ("standard_parallel", latitude),
            None => ("scale_factor_at_projection_origin", self.scale()?),
        };
        let numbers = [("longitude_of_projection_origin", self.or("lon_0", 0.0)?), scale];
        self.finish(CfMapping::new("mercator", numbers), &["lat_ts"])
    }

    fn polar(&self) -> Result<CfMapping> {
        let pole = self.or("lat_0", 0.0)?;
        if (pole.abs() - 90.0).abs() > 1e-9 {
            return Err(ProjError(format!("stere around a latitude of {pole} is not known; at a pole it is")));
        }
        let scale = match self.number("lat_ts")? {
            Some(latitude) if (latitude.abs() - 90.0).abs() > 1e-9 => ("standard_parallel", latitude),
            _ => ("scale_factor_at_projection_origin", self.scale()?),
        };
        let numbers = [
            ("latitude_of_projection_origin", pole),
            ("straight_vertical_longitude_from_pole", self.or("lon_0", 0.0)?),
            scale,
        ];
        self.finish(CfMapping::new("polar_stereographic", numbers), &["lat_ts"])
    }

    fn transverse(&self, (latitude, meridian): (f64, f64)) -> Result<CfMapping> {
        let numbers = [
            ("scale_factor_at_central_meridian", self.scale()?),
            ("latitude_of_projection_origin", latitude),
            ("longitude_of_central_meridian", meridian),
        ];
        self.finish(CfMapping::new("transverse_mercator", numbers), &["approx", "algo"])
    }

    fn utm(&self) -> Result<CfMapping> {
        let zone = self.number("zone")?.filter(|zone| (1.0..=60.0).contains(zone) && zone.fract() == 0.0);
        let zone = zone.ok_or_else(|| ProjError("utm has a +zone from 1 to 60".into()))?;
        let numbers = [
            ("scale_factor_at_central_meridian", 0.9996),
            ("latitude_of_projection_origin", 0.0),
            ("longitude_of_central_meridian", zone * 6.0 - 183.0),
            ("false_easting", 500_000.0),
            ("false_northing", if self.text("south").is_some() { 1e7 } else { 0.0 }),
        ];
        self.finish(CfMapping::new("transverse_mercator", numbers), &["zone", "south", "approx", "algo"])
    }

    fn geostationary(&self) -> Result<CfMapping> {
        let height = self.number("h")?.ok_or_else(|| ProjError("geos has the height +h".into()))?;
        let numbers = [
            ("perspective_point_height", height),
            ("latitude_of_projection_origin", self.or("lat_0", 0.0)?),
            ("longitude_of_projection_origin", self.or("lon_0", 0.0)?),
        ];
        let sweep = match self.text("sweep") {
            None | Some("y") => "y",
            Some("x") => "x",
            Some(axis) => return Err(ProjError(format!("+sweep={axis} is neither x nor y"))),
        };
        let mapping =
            CfMapping { texts: vec![("sweep_angle_axis", sweep)], ..CfMapping::new("geostationary", numbers) };
        self.finish(mapping, &["h", "sweep"])
    }

    fn rotated(&self) -> Result<CfMapping> {
        let inner = self.text("o_proj").unwrap_or_default();
        if !DEGREES.contains(&inner) {
            return Err(ProjError(format!("ob_tran of {inner} is not known; of longlat it is")));
        }
        let pole = self.number("o_lat_p")?.ok_or_else(|| ProjError("ob_tran has the pole +o_lat_p".into()))?;
        let numbers = [
            ("grid_north_pole_latitude", pole),
            ("grid_north_pole_longitude", self.or("lon_0", 0.0)? - 180.0),
            ("north_pole_grid_longitude", self.or("o_lon_p", 0.0)?),
        ];
        self.finish(CfMapping::new(CfMapping::ROTATED, numbers), &["o_proj", "o_lat_p", "o_lon_p"])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// Rows of a string, x, y, latitude and longitude, as PROJ 9 has them.
    const CASES: &str = include_str!("../../tests/proj.txt");

    #[test]
    fn strings_have_the_places_of_proj() {
        let mut count = 0;
        for line in CASES.lines().filter(|line| !line.starts_with('#')) {
            let (text, numbers) = line.split_once(';').unwrap();
            let numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
            let found = mapping(text).unwrap().place(numbers[0], numbers[1]);
            let far = (found.1 - numbers[3] + 180.0).rem_euclid(360.0) - 180.0;
            let near = (found.0 - numbers[2]).abs() < 1e-8 && (far * numbers[2].to_radians().cos()).abs() < 1e-8;
            assert!(near, "{line}: {found:?}");
            count += 1;
        }
        assert!(count > 40);
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (text, word) in [
            ("+proj=robin", "robin"),
            ("lcc", "+proj="),
            ("+proj=stere +lat_0=50", "50"),
            ("+proj=ob_tran +o_proj=moll +o_lat_p=3", "moll"),
            ("+proj=laea +ellps=mars", "mars"),
            ("+proj=laea +datum=potsdam", "potsdam"),
            ("+proj=laea +units=us-ft", "us-ft"),
            ("+proj=laea +lat_0=north", "north"),
            ("+proj=laea +gamma=3", "gamma"),
            ("+proj=longlat +pm=paris", "paris"),
            ("+proj=merc +ellps=WGS84 +towgs84=1,0,0", "towgs84"),
            ("+proj=merc +ellps=intl +towgs84=0,0,0", "towgs84"),
            ("+proj=lcc +lat_1=50", "lat_0"),
            ("+proj=lcc +lat_0=0", "lcc"),
            ("+proj=utm +zone=61", "zone"),
            ("+proj=geos", "+h"),
            ("+proj=geos +h=1e7 +sweep=z", "sweep"),
            ("+proj=merc +to_meter=0", "to_meter"),
        ] {
            let error = mapping(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
