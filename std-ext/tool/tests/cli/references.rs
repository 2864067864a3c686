//! `tgm convert --to kerchunk`: references to objects where they lie.

use std::fs;

use serde_json::{Value as Json, from_str, json};
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::datasets::steps;
use crate::edits::Folder;
use crate::tool::{Run, tgm};

fn convert(input: &str, output: &str, more: &[&str]) -> Run {
    tgm(["convert", input, "--to", "kerchunk", "-o", output].iter().chain(more))
}

/// The references of a file.
fn references(path: &str) -> Json {
    let found: Json = from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(found["version"], 1);
    found["refs"].clone()
}

/// What a reference describes.
fn described(refs: &Json, key: &str) -> Json {
    from_str(refs[key].as_str().unwrap()).unwrap()
}

#[test]
fn references_lead_to_the_bytes_of_objects() {
    let folder = Folder::in_memory();
    let bytes = steps();
    let (input, output) = (folder.file("steps.tgm", &bytes), folder.path("refs.json"));
    convert(&input, &output, &[]).good();
    let refs = references(&output);
    let about = described(&refs, "t2m/.zarray");
    assert_eq!((&about["shape"], &about["chunks"]), (&json!([2, 3, 3, 4]), &json!([1, 1, 3, 4])));
    assert_eq!((&about["dtype"], &about["fill_value"], &about["filters"]), (&json!("<f8"), &json!("NaN"), &Json::Null));
    let attributes = described(&refs, "t2m/.zattrs");
    assert_eq!(attributes["_ARRAY_DIMENSIONS"], json!(["number", "step", "latitude", "longitude"]));
    assert_eq!((&attributes["units"], &attributes["coordinates"]), (&json!("K"), &json!("time valid_time")));
    for (number, step) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)] {
        let place = &refs[format!("t2m/{number}.{step}.0.0")];
        assert_eq!(place[0], format!("file://{input}"));
        let [from, len] = [1, 2].map(|at| usize::try_from(place[at].as_u64().unwrap()).unwrap());
        let expected: Vec<u8> = (0..12_u8)
            .flat_map(|point| (f64::from(100 * number + 6 * step) + f64::from(point) / 10.0).to_le_bytes())
            .collect();
        assert_eq!(bytes[from..from + len], expected, "{number} {step}");
    }
    assert_eq!(refs["t2m/1.2.0.0"], Json::Null, "a hole has no chunk");
    assert_eq!(described(&refs, "step/.zattrs")["units"], "hours");
    // Hours as floats: 0, 6 and 12.
    assert_eq!(refs["step/0"], "base64:AAAAAAAAAAAAAAAAAAAYQAAAAAAAAChA");
    // The same goes to standard output.
    let shown = convert(&input, "-", &[]).good();
    assert_eq!(shown.stdout, fs::read(&output).unwrap());
}

#[test]
fn what_cannot_be_referenced_is_told_and_the_rest_is_written() {
    let folder = Folder::in_memory();
    let packed = ObjectBuilder::new(&[3, 4], &[1.5_f64; 12]).unwrap().simple_packing(8);
    let packed = packed.metadata("mars.param", "sp").metadata("mars.step", 6);
    let packed = MessageBuilder::new().object(packed).encode().unwrap();
    let half = ObjectBuilder::new(&[3, 4], &[half::bf16::ONE; 12]).unwrap().metadata("mars.param", "x");
    let half = MessageBuilder::new().object(half.metadata("mars.step", 6)).encode().unwrap();
    let alone = folder.file("alone.tgm", &packed);
    let input = folder.file("all.tgm", &[steps(), packed, half].concat());
    let output = folder.path("refs.json");
    let run = convert(&input, &output, &["--strict"]);
    assert!(run.code == Some(1) && folder.names() == ["all.tgm", "alone.tgm"], "{}", run.stderr);
    let run = convert(&input, &output, &[]);
    assert_eq!(run.code, Some(1));
    let refs = references(&output);
    for name in ["sp", "x"] {
        assert!(
            run.stderr.contains(&format!("not referenced: {name}"))
                || run.stderr.contains(&format!("{name} is not referenced")),
            "{}",
            run.stderr
        );
        assert_eq!(refs[format!("{name}/.zarray")], Json::Null);
    }
    assert!(refs["t2m/0.0.0.0"].is_array());
    // References that lead to nothing are not written.
    let run = convert(&alone, &folder.path("none.json"), &[]);
    let is_told = run.stderr.contains("packed by simple_packing") && run.stderr.contains("no object is a chunk");
    assert!(run.code == Some(1) && is_told && !folder.names().contains(&"none.json".into()), "{}", run.stderr);
}

/// A name that ends as Parquet, and a folder.
#[test]
fn references_as_parquet_are_a_folder() {
    let folder = Folder::in_memory();
    let input = folder.file("steps.tgm", &steps());
    for name in ["refs.parq", "refs/"] {
        let output = folder.path(name);
        let run = convert(&input, &output, &[]);
        if !cfg!(feature = "parquet") {
            assert!(run.code == Some(1) && run.stderr.contains("`parquet`"), "{}", run.stderr);
            continue;
        }
        run.good();
        let metadata: Json = from_str(&fs::read_to_string(format!("{output}/.zmetadata")).unwrap()).unwrap();
        assert_eq!(metadata["record_size"], 100_000);
        assert_eq!(metadata["metadata"]["t2m/.zarray"]["shape"], json!([2, 3, 3, 4]));
        assert!(fs::read(format!("{output}/t2m/refs.0.parq")).unwrap().starts_with(b"PAR1"));
        assert!(convert(&input, &output, &[]).stderr.contains("it exists already"));
    }
}
