//! `tgm convert` of fields to NetCDF and Zarr: one variable for all fields of a kind.

use serde_json::Value as Json;

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{Run, tgm};

/// The formats that this build has.
fn formats() -> impl Iterator<Item = &'static str> {
    [("nc", cfg!(feature = "netcdf")), ("zarr", cfg!(feature = "zarr"))]
        .into_iter()
        .filter_map(|(end, is_in)| is_in.then_some(end))
}

fn convert(input: &str, output: &str, more: &[&str]) -> Run {
    tgm(["convert", input, "-o", output].iter().chain(more))
}

/// Checks that all was written. What has no place in the format is listed.
fn written(run: &Run) {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

/// Name and shape of each object of a file, in order.
fn shapes(folder: &Folder, path: &str) -> Vec<(String, Json)> {
    let messages = folder.path("shapes.tgm");
    written(&convert(path, &messages, &[]));
    let listed = tgm(["ls", "--objects", "--json", &messages]).good().json();
    let list = |json: &Json, key: &str| json[key].as_array().cloned().unwrap_or_default();
    let objects = list(&listed, "messages").into_iter().flat_map(|message| list(&message, "objects"));
    let named = |object: Json| (object["name"].as_str().unwrap_or_default().to_string(), object["shape"].clone());
    let mut found: Vec<(String, Json)> = objects.map(named).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn shape_of(found: &[(String, Json)], name: &str) -> Vec<u64> {
    let (_, shape) =
        found.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name} is not in {found:?}"));
    shape.as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect()
}

/// A message with two numbers and no keys.
fn plain(folder: &Folder, value: f32) -> String {
    let raw = folder.file("sample.raw", &[value, 2.0].map(f32::to_le_bytes).concat());
    let path = folder.path(&format!("plain{value}.tgm"));
    convert(&raw, &path, &["--dtype", "f32", "--shape", "2", "--byte-order", "little"]).good();
    path
}

#[test]
fn fields_are_one_variable_and_each_object_is_one_if_asked() {
    let folder = Folder::new();
    // Two steps of one parameter, in two files: the inputs are one dataset.
    let one = data("metadata/mars.tgm");
    let other = folder.path("other.tgm");
    tgm(["set", "-s", "mars.step=999", &one, &other]).good();
    for end in formats() {
        let cube = folder.path(&format!("cube.{end}"));
        written(&tgm(["convert", &one, &other, "-o", &cube]));
        let found = shapes(&folder, &cube);
        assert_eq!(shape_of(&found, "step"), [2], "{found:?}");
        let each = folder.path(&format!("each.{end}"));
        written(&tgm(["convert", &one, &other, "-o", &each, "--variables", "object"]));
        let found = shapes(&folder, &each);
        assert!(!found.iter().any(|(name, _)| name == "step"), "{found:?}");
        // A key for names asks for objects too.
        let named = folder.path(&format!("named.{end}"));
        written(&tgm(["convert", &one, &other, "-o", &named, "--name-key", "mars.param"]));
        assert_eq!(shapes(&folder, &named), found);
    }
    let names = folder.names();
    assert!(!names.iter().any(|name| name.starts_with('.')), "temporary files are gone: {names:?}");
}

#[test]
fn two_fields_for_one_place_are_an_error_that_names_the_way_out_and_writes_nothing() {
    let folder = Folder::new();
    let [one, other] = [1.0, 2.0].map(|value| {
        let plain = plain(&folder, value);
        let field = folder.path(&format!("field{value}.tgm"));
        tgm(["set", "-s", "mars.param=t", &plain, &field]).good();
        field
    });
    for end in formats() {
        let output = folder.path(&format!("twice.{end}"));
        let run = tgm(["convert", &one, &other, "-o", &output]);
        let is_written = std::path::Path::new(&output).exists();
        assert!(run.code == Some(1) && !is_written, "{}", run.stderr);
        assert!(
            run.stderr.contains("--variables object") && run.stderr.contains("and 1 more message"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn what_is_not_a_field_is_written_beside_the_fields() {
    let folder = Folder::new();
    let plain = plain(&folder, 1.0);
    for end in formats() {
        let output = folder.path(&format!("mixed.{end}"));
        written(&tgm(["convert", &plain, &data("metadata/mars.tgm"), "-o", &output]));
        let found = shapes(&folder, &output);
        assert!(found.len() > 1 && shape_of(&found, "object_0_0") == [2], "{found:?}");
    }
}

/// Fields whose step, member and level all differ lie far apart: their box would be nearly all holes.
#[test]
fn a_variable_that_cannot_be_written_is_an_error_and_the_others_are_written() {
    use tgm_std::deps::ciborium::Value;
    use tgm_std::{MessageBuilder, ObjectBuilder};
    let folder = Folder::new();
    let field = |param: &str, entries: &[(&str, i32)]| {
        let mut mars = vec![(Value::from("param"), Value::from(param)), ("date".into(), 20_240_101.into())];
        mars.extend(entries.iter().map(|(key, number)| (Value::from(*key), Value::from(*number))));
        let object = ObjectBuilder::new(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap().metadata("mars", Value::Map(mars));
        MessageBuilder::new().object(object).encode().unwrap()
    };
    let sparse = (1..151).flat_map(|at| field("t", &[("levelist", at), ("step", at), ("number", at)]));
    let messages: Vec<u8> = sparse.chain(field("2t", &[("step", 0)])).collect();
    let path = folder.file("sparse.tgm", &messages);
    for end in formats() {
        let out = folder.path(&format!("out.{end}"));
        let run = convert(&path, &out, &[]);
        assert!(run.code == Some(1) && run.stderr.contains("nearly all are empty"), "{end}: {}", run.stderr);
        assert_eq!(shapes(&folder, &out).iter().filter(|(name, _)| name == "t2m").count(), 1);
        let strict = folder.path(&format!("strict.{end}"));
        let run = convert(&path, &strict, &["--strict"]);
        assert!(run.code == Some(1) && !std::path::Path::new(&strict).exists(), "{end}: {}", run.stderr);
    }
}

/// The form that saved datasets have: all chunks are there, and nothing says what stands for one that is missing.
#[cfg(feature = "zarr")]
#[test]
fn a_saved_array_without_a_fill_value_becomes_zarr_unless_a_chunk_is_missing() {
    use tgm_std::deps::ciborium::Value;
    use tgm_std::{MessageBuilder, ObjectBuilder};
    let folder = Folder::new();
    let map = |entries: Vec<(&str, Value)>| Value::Map(entries.into_iter().map(|(k, v)| (k.into(), v)).collect());
    let list = |numbers: &[i32]| Value::Array(numbers.iter().map(|number| (*number).into()).collect());
    let named = |name: &str| map(vec![("name", name.into())]);
    let of_chunks = |count: usize| {
        let grid = map(vec![("name", "regular".into()), ("configuration", map(vec![("chunk_shape", list(&[2]))]))]);
        let array = map(vec![
            ("zarr_format", 3.into()),
            ("node_type", "array".into()),
            ("shape", list(&[4])),
            ("data_type", "uint8".into()),
            ("chunk_grid", grid),
            ("chunk_key_encoding", named("default")),
            ("fill_value", Value::Null),
            ("codecs", Value::Array(vec![named("bytes")])),
        ]);
        let mut message = MessageBuilder::new().extra("zarr", map(vec![("path", "v".into()), ("array", array)]));
        for at in 0..count {
            let first = u8::try_from(2 * at).unwrap() + 1;
            let object =
                ObjectBuilder::new(&[2], &[first, first + 1]).unwrap().into_owned().unwrap().metadata("name", "v");
            let origin = list(&[i32::from(first) - 1]);
            message = message.object(object.metadata("zarr", map(vec![("origin", origin)])));
        }
        message.encode().unwrap()
    };
    let (whole, cut) = (folder.file("whole.tgm", &of_chunks(2)), folder.file("cut.tgm", &of_chunks(1)));
    let (store, back) = (folder.path("whole.zarr"), folder.path("back.tgm"));
    tgm(["convert", &whole, "-o", &store]).good();
    tgm(["convert", &store, "-o", &back]).good();
    assert_eq!(tgm(["cat", &back]).good().text().split_whitespace().collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    let run = tgm(["convert", &cut, "-o", &folder.path("cut.zarr")]);
    assert!(run.stderr.contains("does not say which value stands for them"), "{}", run.stderr);
    assert_ne!(tgm(["convert", "--strict", &cut, "-o", &folder.path("strict.zarr")]).code, Some(0));
}

#[test]
fn fields_on_a_plane_have_a_grid_mapping_with_x_and_y() {
    let folder = Folder::new();
    for end in formats() {
        for (name, mapping, dims) in [
            ("lambert", "lambert_conformal_conic", ["y", "x"]),
            ("ensemble-rotated", "rotated_latitude_longitude", ["rlat", "rlon"]),
        ] {
            let output = folder.path(&format!("{name}.{end}"));
            written(&convert(&data(&format!("../data-grib/{name}.grib2")), &output, &[]));
            let found = shapes(&folder, &output);
            assert_eq!(shape_of(&found, mapping), [0; 0], "{found:?}");
            let [rows, columns] = dims.map(|dim| shape_of(&found, dim));
            assert_eq!(shape_of(&found, "latitude"), [rows, columns].concat(), "{found:?}");
            // Latitudes and longitudes of points come before labels of all the field: cdo reads four names.
            let dump = tgm(["dump", "--json", &folder.path("shapes.tgm")]).good();
            let text = dump.text();
            assert!(text.contains(&format!("\"{mapping}\"")) && text.contains("\"latitude longitude "), "{text}");
        }
    }
}

#[test]
fn a_name_on_several_types_of_level_says_its_type() {
    let folder = Folder::new();
    let plain = plain(&folder, 1.0);
    let on = |level: &str, param: &str| {
        let path = folder.path(&format!("{level}{param}.tgm"));
        let [kind, number] =
            [format!("mars.levtype={level}"), "mars.levelist=100".into()].map(|key: String| ["-s".to_string(), key]);
        let keys = [&["set".into(), "-s".into(), format!("mars.param={param}")][..], &kind, &number].concat();
        tgm(keys.iter().map(String::as_str).chain([plain.as_str(), &path])).good();
        path
    };
    let paths = [on("pl", "t"), on("ml", "t"), on("hl", "t"), on("meanSea", "t"), on("pl", "u")];
    for end in formats() {
        let output = folder.path(&format!("levels.{end}"));
        let inputs = paths.iter().map(String::as_str);
        written(&tgm(["convert"].into_iter().chain(inputs).chain(["-o", output.as_str()])));
        let found = shapes(&folder, &output);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).filter(|name| name.len() < 10).collect();
        for name in ["t_hl", "t_meanSea", "t_ml", "t_pl", "u"] {
            assert!(names.contains(&name), "{name}: {found:?}");
        }
        assert!(!names.contains(&"t") && !names.contains(&"t_1"), "{found:?}");
        // A level without a dimension would be that of all variables for xarray.
        let dump = tgm(["dump", "--json", &folder.path("shapes.tgm")]).good();
        for level in ["isobaricInhPa", "heightAboveGround"] {
            assert!(!found.iter().any(|(name, _)| name == level), "{found:?}");
            assert!(dump.text().contains(&format!("\"{level}\":100.0")), "{}", dump.text());
        }
    }
}
