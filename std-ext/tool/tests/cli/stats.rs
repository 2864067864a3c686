//! `tgm stats` gives the statistics of the values that were written.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small counts"
)]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use tgm_std::deps::ciborium::Value;
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::corpus::{data, of_class};
use crate::tool::tgm;

const SURFACE: &str = "realistic/surface-181x360.tgm";

fn close(found: &Json, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is not a number, {expected} was expected"));
    assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{found}, {expected}");
}

/// Objects that `tgm stats --json` lists.
fn objects(document: &Json) -> Vec<&Json> {
    let messages = document["messages"].as_array().unwrap().iter();
    messages.filter_map(|message| message["objects"].as_array()).flatten().collect()
}

#[test]
fn statistics_are_those_of_the_decoded_values() {
    let path = data(SURFACE);
    let document = tgm(["stats", "--json", "--quantiles", "0.25,1", "--histogram", "4", &path]).good().json();
    let bytes = fs::read(&path).unwrap();
    let message = tgm_std::core::Message::parse(&bytes).unwrap();
    let mut all = Vec::new();
    for (object, found) in message.objects().zip(objects(&document)) {
        let values = tgm_std::read(&object.unwrap()).values::<f64>().unwrap();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(found["count"], values.len());
        assert_eq!((&found["min"], &found["max"]), (&json!(sorted[0]), &json!(sorted[sorted.len() - 1])));
        close(&found["mean"], mean);
        close(&found["sd"], (squares / count).sqrt());
        let place = 0.25 * (count - 1.0);
        let (below, share) = (place.floor() as usize, place.fract());
        close(&found["quantiles"][0]["value"], sorted[below] + (sorted[below + 1] - sorted[below]) * share);
        assert_eq!(found["quantiles"][1]["value"], found["max"]);
        let counted = found["histogram"].as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap());
        assert_eq!(counted.sum::<u64>(), values.len() as u64);
        all.extend(values);
    }
    let total = &document["all"];
    assert_eq!(
        (&total["objects"], &total["units"], &total["count"]),
        (&json!(3), &json!("not the same"), &json!(null))
    );
    assert!(!all.is_empty());
    // An object of complex numbers has two lines, and counts once.
    let document = tgm(["stats", "--json", &data("dtypes/complex64-little.tgm")]).good().json();
    assert_eq!((objects(&document).len(), &document["all"]["objects"]), (2, &json!(1)));
}

#[test]
fn every_valid_file_has_statistics() {
    let paths: Vec<_> = of_class("valid").map(|(path, _)| path).collect();
    let run = tgm([PathBuf::from("stats"), "--json".into()].iter().chain(&paths));
    let counted = objects(&run.json()).iter().filter(|object| object.get("count").is_some()).count();
    for line in run.stderr.lines() {
        let is_known = ["not compiled in", "belong to no message", "caused by"].iter().any(|text| line.contains(text));
        assert!(is_known, "{line}");
    }
    assert!(counted > 700, "{counted}");
}

#[test]
fn nan_and_large_integers_and_latitudes_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.tgm").display().to_string();
    let holes = [1.0, f64::NAN, 3.0, f64::INFINITY, f64::NEG_INFINITY];
    let large = [i64::MAX, i64::MIN, i64::MAX - 1];
    // Three rows: the poles, and the equator. Bands end at 45 degrees.
    let grid = [5.0_f32, 5.0, 1.0, 2.0, 7.0, 7.0];
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let bytes = MessageBuilder::new()
        .object(ObjectBuilder::new(&[5], &holes).unwrap())
        .object(ObjectBuilder::new(&[3], &large).unwrap())
        .object(ObjectBuilder::new(&[3, 2], &grid).unwrap().metadata("name", "t"))
        .options(options)
        .encode()
        .unwrap();
    fs::write(&path, bytes).unwrap();
    let document = tgm(["stats", "--json", &path]).good().json();
    let found = objects(&document);
    assert_eq!([&found[0]["count"], &found[0]["nan"], &found[0]["pos_inf"], &found[0]["neg_inf"]], [2, 1, 1, 1]);
    assert_eq!((&found[1]["min"], &found[1]["max"]), (&json!(i64::MIN), &json!(i64::MAX)));
    let document = tgm(["stats", "--json", "--object", "2", "--weigh-latitudes", &path]).good().json();
    let edge = 45.0_f64.to_radians().sin();
    let mean = 6.0 * (1.0 - edge) + 1.5 * edge;
    close(&objects(&document)[0]["mean"], mean);
    // A dataset with these latitudes has the same mean.
    let axis = |name: &str, values: &[f64], units: &str| {
        let units = Value::Map(vec![("units".into(), units.into())]);
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap().metadata("name", name).into_owned();
        object.unwrap().metadata("dimensions", Value::Array(vec![name.into()])).metadata("attributes", units)
    };
    let t = ObjectBuilder::new(&[3, 2], &grid).unwrap().metadata("name", "t");
    let t = t.metadata("dimensions", Value::Array(vec!["lat".into(), "lon".into()]));
    let (lat, lon) = (axis("lat", &[90.0, 0.0, -90.0], "degrees_north"), axis("lon", &[0.0, 180.0], "degrees_east"));
    let bytes = MessageBuilder::new().object(t).object(lat).object(lon).encode().unwrap();
    let set = folder.path().join("set.tgm").display().to_string();
    fs::write(&set, bytes).unwrap();
    let run = tgm(["stats", "--json", "--over", "grid", "--weigh-latitudes", "--cube", "t", &set]).good();
    close(&run.json()["places"][0]["mean"], mean);
    assert_eq!(objects(&document)[0]["name"], "t");
    let text = tgm(["stats", &path]).good();
    assert!(text.text().contains("-9223372036854775808") && text.text().contains('█'), "{}", text.text());
    let run = tgm(["stats", "--weigh-latitudes", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("latitudes need two dimensions"), "{}", run.stderr);
    let run = tgm(["stats", "--object", "9", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("no such object (3 objects)"), "{}", run.stderr);
}

#[test]
fn filters_choose_messages_and_objects() {
    let path = data(SURFACE);
    let document = tgm(["stats", "--json", "-w", "mars.param=2t", "--objects", &path]).good().json();
    assert_eq!(objects(&document).len(), 1);
    let keys = ["stats", "-p", "mars.param,extra.source,ratio", "-B", "mars.param:desc"];
    let run = tgm(keys.iter().chain(&["--csv", &path])).good();
    let params: Vec<_> = run.text().lines().skip(1).map(|row| row.split(',').nth_back(2).unwrap()).collect();
    assert_eq!(params, ["tp", "lsm", "2t"], "{}", run.text());
    let document = tgm(keys.iter().chain(&["--json", &path])).good().json();
    assert_eq!(
        objects(&document)[0]["values"],
        json!({"mars.param": "2t", "extra.source": "synthetic", "ratio": 5.59})
    );
    let document = tgm(["stats", "--json", "-w", "mars.param=none", &path]).good().json();
    assert_eq!(objects(&document).len(), 0);
}
