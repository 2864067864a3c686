//! What this build can do.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tgm_std::doctor::{FeatureKind, FeatureState, Linkage, SelfTestOutcome, run_diagnostics};

use crate::work::detached;

/// The features that the report lists, in this order, which is that of `tensogram`.
const FEATURES: [&str; 12] =
    ["szip", "szip-pure", "zstd", "zstd-pure", "lz4", "blosc2", "zfp", "sz3", "threads", "remote", "mmap", "async"];

/// Reports the build and its features, and tests each feature.
///
/// Returns a dict: `build` is a dict with `version`, `wire_version`, `target` and `profile`; `features` is a list of
/// dicts with `name`, `kind` and `state`, and for those that are on `backend`, `linkage` and `version`; `self_test` is
/// a list of dicts with `label` and `outcome`.
///
/// >>> import tgmio as tgm
/// >>> {row["outcome"] for row in tgm.doctor()["self_test"]} <= {"ok", "skipped"}
/// True
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let report = detached(py, run_diagnostics)?;
    let build = PyDict::new(py);
    build.set_item("version", &report.build.version)?;
    build.set_item("wire_version", report.build.wire_version)?;
    build.set_item("target", &report.build.target)?;
    build.set_item("profile", &report.build.profile)?;

    let features = PyList::empty(py);
    let listed = FEATURES.iter().filter_map(|name| report.features.iter().find(|feature| feature.name == *name));
    for feature in listed {
        let row = PyDict::new(py);
        row.set_item("name", feature.name)?;
        row.set_item("kind", kind_name(&feature.kind))?;
        match &feature.state {
            FeatureState::Off => row.set_item("state", "off")?,
            FeatureState::On { backend, linkage, version } => {
                row.set_item("state", "on")?;
                row.set_item("backend", backend)?;
                row.set_item("linkage", if *linkage == Linkage::Ffi { "ffi" } else { "pure-rust" })?;
                if let Some(version) = version {
                    row.set_item("version", version)?;
                }
            }
        }
        features.append(row)?;
    }

    let tests = PyList::empty(py);
    for test in &report.self_test {
        let row = PyDict::new(py);
        row.set_item("label", label(&test.label))?;
        match &test.outcome {
            SelfTestOutcome::Ok => row.set_item("outcome", "ok")?,
            SelfTestOutcome::Failed { error } => {
                row.set_item("outcome", "failed")?;
                row.set_item("error", error)?;
            }
            SelfTestOutcome::Skipped { reason } => {
                row.set_item("outcome", "skipped")?;
                row.set_item("reason", reason)?;
            }
        }
        tests.append(row)?;
    }

    let dict = PyDict::new(py);
    dict.set_item("build", build)?;
    dict.set_item("features", features)?;
    dict.set_item("self_test", tests)?;
    Ok(dict)
}

/// The label of a test as programs for `tensogram` know it.
fn label(label: &str) -> &str {
    match label {
        "encode and decode none/none/none" => "encode/decode  none/none/none",
        "decode_metadata" => "decode_metadata round-trip",
        "scan of several messages" => "scan multi-message buffer",
        "digests xxh3" => "hash xxh3 verify",
        other => other,
    }
}

fn kind_name(kind: &FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Compression => "compression",
        FeatureKind::Threading => "threading",
        FeatureKind::Io => "io",
        FeatureKind::Converter => "converter",
    }
}
