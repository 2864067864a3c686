//! `tgm doctor`: the features of the build.

use crate::tool::tgm;

#[test]
fn this_build_is_healthy() {
    let run = tgm(["doctor"]);
    assert_eq!(run.code, Some(0), "{}", run.text());
    let text = run.text();
    assert!(text.starts_with("Build\n") && text.ends_with("\nStatus: HEALTHY\n"), "{text}");
    assert!(text.contains(" wire version  3\n") && text.contains(" zfp           on   tgm-std "), "{text}");
    assert!(text.contains("\nFormats       read    write\n  tgm         yes     yes\n"), "{text}");
    assert!(text.contains("\n  szip        yes     yes\n") && text.contains("  vector code   "), "{text}");
}

#[test]
fn the_report_in_json_is_the_librarys() {
    let json = tgm(["doctor", "--json"]).json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["build", "features", "self_test", "codecs", "formats", "vector_paths"]);
    let format = |name: &str| json["formats"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(format("npy"), &serde_json::json!({"name": "npy", "read": true, "write": true}));
    assert_eq!(format("kerchunk"), &serde_json::json!({"name": "kerchunk", "read": false, "write": true}));
    // Formats of features that the build lacks are listed too.
    assert!(["netcdf", "zarr", "parquet"].iter().all(|name| format(name)["write"].is_boolean()));
    assert!(json["self_test"].as_array().unwrap().iter().all(|row| row["outcome"] != "failed"), "{json}");
}
