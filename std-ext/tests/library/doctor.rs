//! What the library says of itself.

use serde_json::json;
use tgm_std::doctor::run_diagnostics;

#[test]
fn a_report_in_json_is_flat_and_in_small_letters() {
    let json = serde_json::to_value(run_diagnostics()).unwrap();
    assert_eq!(json["build"]["wire_version"], 3);
    assert!(json["build"]["target"].as_str().unwrap().contains('-'));
    let rows = json["features"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({"name": "zfp", "kind": "compression", "state": "on", "backend": "tgm-std",
        "linkage": "pure-rust", "version": version});
    assert_eq!(*row("zfp"), expected);
    for (name, is_on) in [
        ("async", cfg!(feature = "async")),
        ("remote", cfg!(feature = "remote")),
        ("zstd", cfg!(feature = "zstd")),
        // Every build reads and writes it.
        ("szip", true),
    ] {
        assert_eq!(row(name)["state"], if is_on { "on" } else { "off" }, "{name}");
    }
    assert_eq!(json["self_test"][0]["outcome"], json!("ok"));
}
