//! Metadata of fields, and where their points are: as ecCodes has both.

use std::fs;

use ciborium::Value;
use serde_json::Value as Json;
use tgm_convert::grib2::coordinates;
use tgm_std::deps::ciborium;
use tgm_std::{DecodeLimits, decode_metadata};

use super::{converted, expected, folder, framed, has_codec, messages, sample, section_at};

#[test]
fn sections_are_metadata_under_the_words_of_the_manual_and_of_archives() {
    let metadata = decode_metadata(&converted(&sample("ensemble-rotated"))).unwrap();
    let number = |key: &str| metadata.get(key).and_then(|value| value.as_i64());
    for (key, expected) in [
        ("grib.discipline", 0),
        ("grib.centre", 98),
        ("grib.parameterCategory", 0),
        ("grib.parameterNumber", 0),
        ("grib.forecastTime", 36),
        ("grib.typeOfFirstFixedSurface", 100),
        ("grib.scaledValueOfFirstFixedSurface", 85_000),
        ("grib.perturbationNumber", 7),
        ("grib.numberOfForecastsInEnsemble", 50),
        ("grib.date", 20_070_323),
        ("grib.time", 120_000),
        ("grib.Ni", 16),
        ("mars.date", 20_070_323),
        ("mars.time", 1200),
        ("mars.step", 36),
        ("mars.levelist", 850),
        ("mars.number", 7),
    ] {
        assert_eq!(number(key), Some(expected), "{key}");
    }
    let plain = decode_metadata(&converted(&sample("simple-8"))).unwrap();
    let area: Vec<_> =
        plain.base[0]["mars"].as_map().unwrap().iter().filter(|(key, _)| key.as_text() == Some("area")).collect();
    assert_eq!(area[0].1, Value::Array([60.0, 0.0, 0.0, 30.0].map(Value::from).into()));
    assert!(metadata.get("mars.area").is_none(), "a rotated grid");
    let text = |key: &str| metadata.get(key).and_then(|value| value.as_str().map(str::to_string));
    assert_eq!(text("grib.parameterName").as_deref(), Some("Temperature"));
    assert_eq!(text("grib.parameterUnits").as_deref(), Some("K"));
    assert_eq!(text("mars.levtype").as_deref(), Some("pl"));
    assert_eq!(text("mars.param").as_deref(), Some("t"));
    // Analysis and forecast products: archives know only one or the other.
    assert_eq!((number("grib.typeOfProcessedData"), text("mars.type")), (Some(2), None));
}

/// What the metadata of a message of GRIB have for a key.
fn of(message: &[u8], key: &str) -> Option<Value> {
    let (map, key) = key.split_once('.').unwrap();
    let metadata = decode_metadata(&converted(message)).unwrap();
    let entries = metadata.base[0][map].as_map().unwrap();
    entries.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value.clone())
}

/// As ecCodes has them: `30m` for two quarters of an hour.
#[test]
fn steps_have_all_units_of_the_manual() {
    let original = sample("simple-8");
    let at = section_at(&original, 4);
    for (unit, time, step) in [
        (13, 90_u32, Value::from("90s")),
        (14, 2, "30m".into()),
        (15, 1, "30m".into()),
        (15, 6, 3.into()),
        (0, 90, "90m".into()),
        (11, 2, 12.into()),
    ] {
        let mut message = original.clone();
        message[at + 17] = unit;
        message[at + 18..at + 22].copy_from_slice(&time.to_be_bytes());
        assert_eq!(of(&message, "mars.step"), Some(step), "{time} of unit {unit}");
    }
}

/// Layers and their bounds, as ICON and COSMO have them: six values after the template name their grid of heights.
#[test]
fn levels_of_general_height_have_their_kind() {
    let original = sample("simple-8");
    let at = section_at(&original, 4);
    for (second, coordinates, kind) in
        [(150, 6, Some("generalVerticalLayer")), (255, 6, Some("generalVertical")), (150, 0, None)]
    {
        let mut message = original.clone();
        message[at + 6] = coordinates;
        (message[at + 22], message[at + 28]) = (150, second);
        let end = at + 34;
        message.splice(end..end, vec![0; usize::from(coordinates) * 4]);
        message[at + 3] = 34 + coordinates * 4;
        assert_eq!(of(&framed(message), "grib.typeOfLevel"), kind.map(Value::from), "{second}");
    }
}

/// A statistic over an area (template 4.15) says which one, and how.
#[test]
fn statistics_over_an_area_have_their_kind() {
    let mut message = sample("simple-8");
    let at = section_at(&message, 4);
    message[at + 8] = 15;
    message.splice(at + 34..at + 34, [2, 3, 1]);
    message[at + 3] = 37;
    let message = framed(message);
    let keys = ["grib.statisticalProcess", "grib.spatialProcessing"];
    assert_eq!(keys.map(|key| of(&message, key)), [2, 3].map(|number| Some(number.into())));
}

/// Latitudes and longitudes of the first, a middle and the last point, as ecCodes has them.
#[test]
fn coordinates_are_those_of_eccodes() {
    for (name, expected) in expected() {
        let Some(known) = expected["coordinates"].as_array().filter(|_| has_codec(&name)) else { continue };
        let made = converted(&messages(&sample(&name))[0]);
        let metadata = tgm_std::core::Message::parse(&made).unwrap().metadata().unwrap();
        let found = coordinates(&metadata, 0, &DecodeLimits::default()).unwrap().unwrap();
        assert_eq!(found.latitudes.len() as u64, expected["fields"][0]["points"], "{name}");
        for point in known {
            let at = usize::try_from(point["at"].as_u64().unwrap()).unwrap();
            let (latitude, longitude) = (found.latitudes[at], found.longitudes[at]);
            let around = (longitude - point["longitude"].as_f64().unwrap() + 180.0).rem_euclid(360.0) - 180.0;
            let difference = (latitude - point["latitude"].as_f64().unwrap()).abs().max(around.abs());
            // ecCodes rounds on the way from rotated points.
            let bound = if name == "ensemble-rotated" { 2e-5 } else { 1e-6 };
            assert!(difference < bound, "{name} {at}: {latitude} {longitude} {point}");
        }
    }
}

/// A field takes the grid of the field before it, if it has none of its own.
#[test]
fn later_fields_have_coordinates_too() {
    let made = converted(&sample("fields"));
    let metadata = tgm_std::core::Message::parse(&made).unwrap().metadata().unwrap();
    let of = |index: usize| coordinates(&metadata, index, &DecodeLimits::default()).unwrap();
    assert!(of(0).is_some() && of(1) == of(0) && of(2) == of(0) && of(3).is_none());
}

/// Whatever section 3 says, its coordinates are as many as its points, or an error, or unknown.
#[test]
fn every_changed_byte_of_a_grid_gives_all_points_or_none() {
    let mut found = 0;
    for name in ["reduced_gg_pl_32", "polar_stereographic", "lambert", "ensemble-rotated", "simple-1", "columns"] {
        let message = sample(name);
        let grid = 16 + 21;
        let length = u32::from_be_bytes(*message[grid..].first_chunk().unwrap()) as usize;
        for at in grid + 5..grid + length {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = message.clone();
                damaged[at] ^= flip;
                let (parsed, _) = tgm_convert::grib2::Message::parse(&damaged).unwrap();
                let field = parsed.fields().next().unwrap().unwrap();
                let limits = DecodeLimits { free_bytes: 1 << 20, max_expansion: 1 << 10, ..DecodeLimits::default() };
                let Ok(Some(coordinates)) = field.coordinates(&limits) else { continue };
                assert_eq!(coordinates.latitudes.len() as u64, field.point_count().unwrap());
                assert_eq!(coordinates.longitudes.len(), coordinates.latitudes.len());
                found += 1;
            }
        }
    }
    assert!(found > 500, "{found}");
}

#[test]
fn archives_find_the_keys_of_eccodes() {
    let expected = fs::read_to_string(folder().join("keys.json")).unwrap();
    let Json::Array(expected) = serde_json::from_str(&expected).unwrap() else { panic!("keys.json is not a list") };
    let messages = messages(&sample("keys"));
    assert_eq!(messages.len(), expected.len());
    for (index, (message, expected)) in messages.iter().zip(expected).enumerate() {
        let metadata = decode_metadata(&converted(message)).unwrap();
        let expected = expected.as_object().unwrap();
        // What the archive does not have is not there either.
        if expected.contains_key("stream") {
            let mars = metadata.base[0]["mars"].as_map().unwrap();
            let more = mars
                .iter()
                .filter_map(|(key, _)| key.as_text())
                .find(|key| *key != "area" && !expected.contains_key(*key));
            assert_eq!(more, None, "message {index}");
        }
        for (key, value) in expected {
            let map = if matches!(key.as_str(), "paramId" | "typeOfLevel") { "grib" } else { "mars" };
            let found = metadata.get(&format!("{map}.{key}"));
            let is_equal = found.is_some_and(|found| match (found.as_str(), found.as_f64()) {
                (Some(text), _) => value.as_str() == Some(text),
                (None, Some(number)) => {
                    let expected = value.as_f64().or_else(|| value.as_str()?.parse().ok());
                    expected == Some(number)
                }
                _ => false,
            });
            assert!(is_equal, "message {index}: {key} is {found:?}, and ecCodes says {value}");
        }
    }
}
