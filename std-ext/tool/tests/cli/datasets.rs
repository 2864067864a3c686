//! Archives as datasets: `cube`, `extract --cube`, `cat --over`, `stats --over`.

use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::tool::tgm;

/// Temperatures at 2 m of three steps and two members on a grid of 3 × 4 points, without the last one, and a wind of one step.
/// A value is 100 times the member, the step, and a tenth of the number of its point.
pub(crate) fn steps() -> Vec<u8> {
    let field = |param: &str, number: i64, step: i64| {
        let values: Vec<f64> = (0..12_u8)
            .map(|point| f64::from(i32::try_from(100 * number + step).unwrap()) + f64::from(point) / 10.0)
            .collect();
        let area = Value::Array([60.0, 0.0, 40.0, 30.0].map(Value::from).to_vec());
        let mars = [
            ("param", Value::from(param)),
            ("date", Value::from(20_240_229)),
            ("time", Value::from(1200)),
            ("number", Value::from(number)),
            ("step", Value::from(step)),
            ("area", area),
        ];
        let mars = Value::Map(mars.into_iter().map(|(key, value)| (key.into(), value)).collect());
        let object = ObjectBuilder::new(&[3, 4], &values).unwrap().metadata("mars", mars);
        MessageBuilder::new().object(object).encode().unwrap()
    };
    let places = (0..2).flat_map(|number| [0, 6, 12].map(|step| (number, step)));
    let mut messages: Vec<_> =
        places.filter(|it| *it != (1, 12)).map(|(number, step)| field("2t", number, step)).collect();
    messages.push(field("10u", 0, 6));
    messages.concat()
}

fn folder() -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.file("steps.tgm", &steps());
    (folder, path)
}

/// The lines of a CSV file, as cells.
fn csv(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn a_cube_has_dimensions_coordinates_variables_and_holes() {
    let (_kept, path) = folder();
    let run = tgm(["cube", &path]).good();
    for line in [
        "  number = 2",
        "  step = 3",
        "  step(step): 0, 6, 12 hours",
        "  latitude(latitude): 60, 50, 40 degrees_north",
        "  time: 2024-02-29T12:00:00",
        "  float64 t2m(number, step, latitude, longitude): 5 objects, 1 place without one",
        "      units: K",
        "  t2m number=1 step=12",
    ] {
        assert!(run.text().lines().any(|found| found == line), "{line}\n{}", run.text());
    }
    let json = tgm(["cube", "--json", &path]).good().json();
    assert_eq!(json["schema"], "tgm.cube/1");
    let dataset = &json["datasets"][0];
    assert_eq!(dataset["variables"][0]["shape"], serde_json::json!([2, 3, 3, 4]));
    let step = dataset["coordinates"].as_array().unwrap().iter().find(|it| it["name"] == "step").unwrap();
    assert_eq!((&step["kind"], &step["values"]), (&"seconds".into(), &serde_json::json!([0, 21600, 43200])));
    // What does not fit is named, and shown if all is asked for.
    let folder = Folder::new();
    let path = folder.file("steps.tgm", &steps());
    let other = ObjectBuilder::new(&[5], &[1.0_f32; 5]).unwrap().metadata("mars.param", "sp");
    let other = folder.file("other.tgm", &MessageBuilder::new().object(other).encode().unwrap());
    let run = tgm(["cube", &path, &other]).good();
    assert!(run.text().contains("left out:\n  sp") && run.text().contains("dataset 0 of 2"), "{}", run.text());
    let run = tgm(["cube", "--all", &path, &other]).good();
    assert!(run.text().contains("dataset 1 of 2") && run.text().contains("float32 sp(values)"), "{}", run.text());
}

#[test]
fn a_box_is_written_as_values_and_as_a_dataset() {
    let (folder, path) = folder();
    let sel = "step=6..12,latitude=45:60,longitude=0/30,number=0";
    let raw = tgm(["extract", "--cube", "t2m", "--sel", sel, "--format", "raw", "-O", &folder.path("a.raw"), &path]);
    assert!(raw.good().text().is_empty());
    let expected = [6.0, 6.3, 6.4, 6.7, 12.0, 12.3, 12.4, 12.7_f64];
    let bytes = std::fs::read(folder.path("a.raw")).unwrap();
    assert_eq!(bytes, expected.map(f64::to_ne_bytes).concat());
    let npy = folder.path("a.npy");
    tgm(["extract", "--cube", "t2m", "--sel", sel, "--byte-order", "big", "-O", &npy, &path]).good();
    let bytes = std::fs::read(&npy).unwrap();
    assert!(bytes.ends_with(&expected.map(f64::to_be_bytes).concat()));
    assert!(String::from_utf8_lossy(&bytes).contains("'shape': (2, 2, 2)"));
    // A message is the same dataset, cut.
    let cut = folder.path("a.tgm");
    tgm(["extract", "--cube", "t2m", "--sel", sel, "-O", &cut, &path]).good();
    let run = tgm(["cube", &cut]).good();
    for line in [
        "  step(step): 6, 12 hours",
        "  latitude(latitude): 60, 50 degrees_north",
        "  float64 t2m(step, latitude, longitude): 1 object",
    ] {
        assert!(run.text().lines().any(|found| found == line), "{line}\n{}", run.text());
    }
    let again = tgm(["cat", "--over", "step,latitude,longitude", "--cube", "t2m", "--csv", &cut]).good();
    let values: Vec<f64> = csv(again.text())[1..].iter().map(|row| row.last().unwrap().parse().unwrap()).collect();
    assert_eq!(values, expected);
    // Several files are one dataset; the first one is not named twice.
    let both = tgm(["extract", "--cube", "u10", "--format", "raw", "-O", &folder.path("b.raw"), &path, &path]);
    assert!(both.code == Some(0), "{}", both.stderr);
}

#[cfg(feature = "netcdf")]
#[test]
fn a_box_is_written_as_netcdf() {
    let (folder, path) = folder();
    let nc = folder.path("a.nc");
    tgm(["extract", "--cube", "t2m", "--sel", "step=6..12,number=0", "-O", &nc, &path]).good();
    let back = folder.path("b.tgm");
    tgm(["convert", &nc, "-o", &back]).good();
    let run = tgm(["cat", "--over", "step", "--nearest", "50,10", "--csv", &back]).good();
    let rows = csv(run.text());
    assert_eq!(rows[1..].iter().map(|row| *row.last().unwrap()).collect::<Vec<_>>(), ["6.5", "12.5"], "{rows:?}");
}

#[cfg(feature = "zarr")]
#[test]
fn a_box_is_written_as_zarr() {
    let (folder, path) = folder();
    let store = folder.path("a.zarr");
    tgm(["extract", "--cube", "t2m", "--sel", "step=6,number=0", "-O", &store, &path]).good();
    let back = folder.path("b.tgm");
    tgm(["convert", &store, "-o", &back]).good();
    let run = tgm(["cat", "--over", "longitude", "--sel", "latitude=50", "--csv", &back]).good();
    let rows = csv(run.text());
    assert_eq!(
        rows[1..].iter().map(|row| *row.last().unwrap()).collect::<Vec<_>>(),
        ["6.4", "6.5", "6.6", "6.7"],
        "{rows:?}"
    );
    let run = tgm(["extract", "--cube", "t2m", "-O", &store, &path]);
    assert!(run.code == Some(1) && run.stderr.contains("not replaced"), "{}", run.stderr);
}

#[test]
fn a_series_has_a_line_for_each_label() {
    let (folder, path) = folder();
    let run = tgm(["cat", "--nearest", "51,359", "--over", "step", "--sel", "number=0", "--csv", &path]).good();
    let expected = [
        "step,valid_time,latitude,longitude,t2m,u10",
        "0,2024-02-29T12:00:00,50,0,0.4,nan",
        "6,2024-02-29T18:00:00,50,0,6.4,6.4",
        "12,2024-03-01T00:00:00,50,0,12.4,nan",
    ];
    assert_eq!(run.text().lines().collect::<Vec<_>>(), expected);
    // Dimensions in any order, and one that is not told apart.
    let run =
        tgm(["cat", "--nearest", "60,0", "--over", "step,number", "--cube", "t2m", "--format", "%.1f", "--csv", &path])
            .good();
    let rows = csv(run.text());
    let values: Vec<_> = rows[1..].iter().map(|row| (row[0], row[1], *row.last().unwrap())).collect();
    assert_eq!(values[..3], [("0", "0", "0.0"), ("0", "1", "100.0"), ("6", "0", "6.0")]);
    let run = tgm(["cat", "--over", "step", "--nearest", "60,0", "--cube", "t2m", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("--sel number=LABEL picks one"), "{}", run.stderr);
    let run = tgm(["cat", "--over", "level", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("latitude, longitude, number, step"), "{}", run.stderr);
    // To a file, whose name says how.
    let listing = folder.path("a.csv");
    tgm(["cat", "--nearest", "60,0", "--over", "step", "--sel", "number=0", "-O", &listing, &path]).good();
    assert!(std::fs::read_to_string(&listing).unwrap().starts_with("step,valid_time,"));
}

#[test]
fn statistics_have_a_line_for_each_place_that_is_left() {
    let (_folder, path) = folder();
    let run = tgm(["stats", "--over", "number,grid", "--cube", "t2m", "--csv", &path]).good();
    let rows = csv(run.text());
    assert_eq!(rows[0], ["name", "step", "values", "min", "mean", "max", "sd"]);
    assert_eq!(rows[1][..6], ["t2m", "0", "24", "0", "50.55", "101.1"]);
    assert_eq!(rows[3][..6], ["t2m", "12", "12", "12", "12.55", "13.1"]);
    let run = tgm(["stats", "--over", "number", "--sel", "step=0,latitude=60", "--cube", "t2m", "--csv", &path]).good();
    assert_eq!(csv(run.text())[2], ["t2m", "10", "2", "0.1", "50.1", "100.1", "50"]);
    let json = tgm(["stats", "--over", "number,step,grid", "--json", &path]).good().json();
    assert_eq!(json["places"][0]["values"], 60.0);
}

/// Statistics are fields in a file, by the end of its name.
#[test]
fn statistics_over_dimensions_are_written_as_fields() {
    let (folder, path) = folder();
    let stats = |over: &str, name: &str, more: &[&str]| {
        let out = folder.path(name);
        let run = tgm(["stats", "--over", over, "-O", &out, &path].iter().chain(more));
        (out, run)
    };
    let (mean, run) = stats("number", "mean.tgm", &[]);
    run.good();
    let listed = tgm(["cube", &mean]).good();
    for line in [
        "float64 t2m(step, latitude, longitude)",
        "float64 u10(step, latitude, longitude)",
        "cell_methods: number: mean",
        "units: K",
    ] {
        assert!(listed.text().contains(line), "{line}: {}", listed.text());
    }
    assert!(!listed.text().contains("number ="), "{}", listed.text());
    let point = |path: &str, cube: &str| {
        let run = tgm(["cat", "--cube", cube, "--over", "step", "--nearest", "60,10", "--csv", path]).good();
        csv(run.text()).iter().skip(1).map(|row| row.last().unwrap().parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    let is_near = |found: &[f64], expected: &[f64]| {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9)
    };
    assert!(is_near(&point(&mean, "t2m"), &[50.1, 56.1, 12.1]), "{:?}", point(&mean, "t2m"));
    // Several of one variable have names of their own.
    let (several, run) = stats(
        "number",
        "several.tgm",
        &["--cube", "t2m", "--statistic", "min,std,count,quantiles", "--quantiles", "0.25,0.5"],
    );
    run.good();
    let found = ["t2m_min", "t2m_std", "t2m_count", "t2m_q0.25", "t2m_median"].map(|name| point(&several, name)[0]);
    assert!(is_near(&found, &[0.1, 50.0, 2.0, 25.1, 50.1]), "{found:?}");
    // The mean of each step, by area.
    let (area, run) = stats("number,grid", "area.tgm", &["--cube", "t2m", "--weigh-latitudes"]);
    run.good();
    let weights = [65.0_f64, 55.0, 45.0, 35.0].map(|degrees| degrees.to_radians().sin());
    let bands: Vec<f64> = weights.windows(2).map(|pair| pair[0] - pair[1]).collect();
    let rows =
        [0.15, 0.55, 0.95].iter().zip(&bands).map(|(mean, band)| mean * band).sum::<f64>() / bands.iter().sum::<f64>();
    let series = tgm(["cat", "--cube", "t2m", "--over", "step", "--csv", &area]).good();
    let found: Vec<f64> = csv(series.text()).iter().skip(1).map(|row| row.last().unwrap().parse().unwrap()).collect();
    for (found, expected) in found.iter().zip([50.0 + rows, 56.0 + rows, 12.0 + rows]) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    let table = tgm(["stats", "--over", "number,grid", "--weigh-latitudes", "--cube", "t2m", "--csv", &path]).good();
    assert_eq!(csv(table.text())[1][2..4], ["24", "0"]);

    let (values, run) = stats("number,step", "mean.npy", &["--cube", "t2m", "--statistic", "max"]);
    run.good();
    let bytes = std::fs::read(values).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY") && bytes.ends_with(&107.1_f64.to_le_bytes()), "{bytes:?}");
    for (over, name, more, code) in [
        ("number", "a.npy", &[][..], 2),
        ("number", "a.npy", &["--cube", "t2m", "--statistic", "min,max"], 2),
        ("number", "a.txt", &["--statistic", "max"], 2),
        ("number", "a.tgm", &["--statistic", "most"], 2),
        ("number", "a.tgm", &["--cube", "t2m", "--weigh-latitudes"], 1),
        ("grid", "a.tgm", &["--cube", "t2m", "--weigh-latitudes", "--statistic", "sum"], 1),
        ("height", "a.tgm", &[], 1),
        ("number", "a.npz", &[], 1),
    ] {
        let (out, run) = stats(over, name, more);
        assert_eq!(
            (run.code, std::path::Path::new(&out).exists()),
            (Some(code), false),
            "{over} {name} {more:?}: {}",
            run.stderr
        );
    }
    // The text of a listing is not a file of data.
    for (command, name) in [("stats", "a.tgm"), ("ls", "a.nc"), ("stats", "a.zarr"), ("cat", "a.npy")] {
        let out = folder.path(name);
        let run = tgm([command, "-O", &out, "-m", "0", &path]);
        assert!(run.code == Some(1) && run.stderr.contains("a listing is text"), "{command} {name}: {}", run.stderr);
    }
}

#[cfg(feature = "netcdf")]
#[test]
fn statistics_over_dimensions_are_written_as_netcdf() {
    let (folder, path) = folder();
    let (out, back) = (folder.path("mean.nc"), folder.path("back.tgm"));
    tgm(["stats", "--over", "number", "--cube", "t2m", "-O", &out, &path]).good();
    tgm(["convert", &out, "-o", &back]).good();
    let run = tgm(["cat", "--cube", "t2m", "--over", "step", "--nearest", "60,10", "--csv", &back]).good();
    let found =
        csv(run.text()).iter().skip(1).map(|row| row.last().unwrap().parse::<f64>().unwrap()).collect::<Vec<_>>();
    assert!(found.iter().zip([50.1, 56.1, 12.1]).all(|(a, b)| (a - b).abs() < 1e-9) && found.len() == 3, "{found:?}");
}

#[test]
fn command_lines_that_make_no_sense_are_usage_errors() {
    let (folder, path) = folder();
    let out = folder.path("a.raw");
    for arguments in [
        vec!["extract", "--cube", "t2m", "-m", "0", "-O", &out, &path],
        vec!["extract", "--cube", "t2m", "--slice", "0", "-O", &out, &path],
        vec!["extract", "--sel", "step=0", "-O", &out, &path],
        vec!["extract", "-O", &out, &path, &path],
        vec!["extract", "--cube", "t2m", "--sel", "step", "-O", &out, &path],
        vec!["extract", "--cube", "t2m", "-O", "a.csv", &path],
        vec!["cat", "--sel", "step=0", &path],
        vec!["cat", &path, &path],
        vec!["cat", "--over", "step", "--slice", "0", &path],
        vec!["stats", "--cube", "t2m", &path],
        vec!["stats", "--over", "step", "--histogram", "5", &path],
    ] {
        assert_eq!(tgm(&arguments).code, Some(2), "{arguments:?}");
    }
    for (arguments, why) in [
        (vec!["extract", "--cube", "t", "-O", &out, &path], "there are t2m, u10"),
        (vec!["extract", "--cube", "t2m", "--sel", "step=7", "-O", &out, &path], "it has 0, 6, 12"),
        (vec!["cube", "-"], "name a file"),
        (vec!["cube", "nothing.tgm"], "nothing.tgm"),
    ] {
        let run = tgm(&arguments);
        assert!(run.code == Some(1) && run.stderr.contains(why), "{arguments:?}: {}", run.stderr);
    }
    assert!(!std::path::Path::new(&out).exists());
    let words = folder.file("words.txt", b"GRIB and others");
    assert!(tgm(["cube", &words]).code == Some(1));
}

/// Integers of 64 bits that differ where float64 has one number for all of them: numpy's `min` and `max` of this array.
#[test]
fn extremes_of_integers_of_64_bits_are_exact_in_every_form() {
    let folder = Folder::new();
    let numbers: [i64; 6] = [(1 << 53) + 1, (1 << 53) + 3, i64::MAX, i64::MIN, i64::MIN + 1, i64::MAX - 1];
    let dims = Value::Array(vec!["a".into(), "b".into()]);
    let object = ObjectBuilder::new(&[2, 3], &numbers).unwrap().metadata("name", "v").metadata("dimensions", dims);
    let path = folder.file("v.tgm", &MessageBuilder::new().object(object).encode().unwrap());
    let expected = [["9007199254740993", "9223372036854775807"], ["-9223372036854775808", "9223372036854775806"]];
    let run = tgm(["stats", "--over", "b", "--csv", &path]).good();
    for (row, [min, max]) in csv(run.text())[1..].iter().zip(expected) {
        assert!(row.contains(&min) && row.contains(&max), "{row:?}");
    }
    let json = tgm(["stats", "--over", "b", "--json", &path]).good().json();
    assert_eq!(json["places"][0]["min"], serde_json::json!((1_i64 << 53) + 1));
    assert_eq!(json["places"][1]["max"], serde_json::json!(i64::MAX - 1));
    for (statistic, expected) in [("min", [(1 << 53) + 1, i64::MIN]), ("max", [i64::MAX, i64::MAX - 1])] {
        let npy = folder.path("a.npy");
        tgm(["stats", "--over", "b", "--statistic", statistic, "-O", &npy, &path]).good();
        let bytes = std::fs::read(&npy).unwrap();
        assert!(
            String::from_utf8_lossy(&bytes).contains("'<i8'")
                && bytes.ends_with(&expected.map(i64::to_le_bytes).concat())
        );
        let message = folder.path("b.tgm");
        tgm(["stats", "--over", "b", "--statistic", statistic, "-O", &message, &path]).good();
        let text = tgm(["cat", &message]).good().text().to_string();
        assert!(expected.iter().all(|number| text.contains(&number.to_string())), "{text}");
    }
}
