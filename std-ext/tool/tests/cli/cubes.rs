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

/// Name and shape of each object of a file, in order.
fn shapes(folder: &Folder, path: &str) -> Vec<(String, Json)> {
    let messages = folder.path("shapes.tgm");
    convert(path, &messages, &[]).good();
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
        tgm(["convert", &one, &other, "-o", &cube]).good();
        let found = shapes(&folder, &cube);
        assert_eq!(shape_of(&found, "step"), [2], "{found:?}");
        let each = folder.path(&format!("each.{end}"));
        tgm(["convert", &one, &other, "-o", &each, "--variables", "object"]).good();
        let found = shapes(&folder, &each);
        assert!(!found.iter().any(|(name, _)| name == "step"), "{found:?}");
        // A key for names asks for objects too.
        let named = folder.path(&format!("named.{end}"));
        tgm(["convert", &one, &other, "-o", &named, "--name-key", "mars.param"]).good();
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
        tgm(["convert", &plain, &data("metadata/mars.tgm"), "-o", &output]).good();
        let found = shapes(&folder, &output);
        assert!(found.len() > 1 && shape_of(&found, "object_0_0") == [2], "{found:?}");
    }
}
