//! Features of this build, and a test of each. For users whose file does not open.

mod abilities;
mod self_test;

use std::borrow::Cow;

use serde::Serialize;

pub use self::abilities::{CodecAbility, Encodes, VectorPaths, codec_abilities, vector_paths};
pub use self::self_test::run_self_test;
use tgm_core::wire::WIRE_VERSION;

/// The result of [`run_diagnostics`].
#[derive(Clone, Debug, Serialize)]
pub struct DoctorReport {
    /// What was built, and how.
    pub build: BuildInfo,
    /// Each feature, on or off.
    pub features: Vec<FeatureStatus>,
    /// The tests.
    pub self_test: Vec<SelfTestResult>,
}

/// What was built, and how.
#[derive(Clone, Debug, Serialize)]
pub struct BuildInfo {
    /// The release of this crate.
    pub version: String,
    /// The version of the format that this crate writes.
    pub wire_version: u16,
    /// The target triple of the build.
    pub target: String,
    /// "release" or "debug".
    pub profile: String,
}

/// One feature, on or off.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureStatus {
    /// Its name.
    pub name: &'static str,
    /// The subject of the feature.
    pub kind: FeatureKind,
    /// Whether it is on.
    #[serde(flatten)]
    pub state: FeatureState,
}

impl FeatureStatus {
    /// A feature that is on, provided by `backend`.
    pub fn on(name: &'static str, kind: FeatureKind, backend: BackendVersion) -> Self {
        let BackendVersion { name: backend, linkage, version } = backend;
        Self { name, kind, state: FeatureState::On { backend, linkage, version } }
    }

    /// A feature that is off.
    pub const fn off(name: &'static str, kind: FeatureKind) -> Self {
        Self { name, kind, state: FeatureState::Off }
    }
}

/// The subject of a feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureKind {
    /// A codec.
    Compression,
    /// Several threads.
    Threading,
    /// Sources of bytes.
    Io,
    /// Another format.
    Converter,
}

/// The state of a feature.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum FeatureState {
    /// It is.
    On {
        /// The code that provides it.
        backend: &'static str,
        /// The kind of that code.
        linkage: Linkage,
        /// Its release, if that can be known.
        version: Option<String>,
    },
    /// It is not.
    Off,
}

/// The kind of code that provides a feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linkage {
    /// A library in C or C++.
    Ffi,
    /// Rust.
    PureRust,
}

/// The code that provides a feature.
#[derive(Clone, Debug, Serialize)]
pub struct BackendVersion {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub linkage: Linkage,
    /// Its release, if that can be known.
    pub version: Option<String>,
}

impl BackendVersion {
    /// A library in C or C++.
    pub const fn ffi(name: &'static str, version: Option<String>) -> Self {
        Self { name, linkage: Linkage::Ffi, version }
    }

    /// Rust.
    pub const fn pure_rust(name: &'static str, version: Option<String>) -> Self {
        Self { name, linkage: Linkage::PureRust, version }
    }

    /// This crate.
    fn own() -> Self {
        Self::pure_rust(env!("CARGO_PKG_NAME"), Some(env!("CARGO_PKG_VERSION").to_string()))
    }
}

/// The result of one test.
#[derive(Clone, Debug, Serialize)]
pub struct SelfTestResult {
    /// The test.
    pub label: Cow<'static, str>,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: SelfTestOutcome,
}

impl SelfTestResult {
    /// It works.
    pub fn ok(label: impl Into<Cow<'static, str>>) -> Self {
        Self { label: label.into(), outcome: SelfTestOutcome::Ok }
    }

    /// It does not.
    pub fn failed(label: impl Into<Cow<'static, str>>, error: impl Into<String>) -> Self {
        Self { label: label.into(), outcome: SelfTestOutcome::Failed { error: error.into() } }
    }

    /// It was not tried.
    pub fn skipped(label: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self { label: label.into(), outcome: SelfTestOutcome::Skipped { reason: reason.into() } }
    }

    /// Whether it does not work.
    pub const fn is_failed(&self) -> bool {
        matches!(self.outcome, SelfTestOutcome::Failed { .. })
    }
}

/// The outcome of a test.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum SelfTestOutcome {
    /// It works.
    Ok,
    /// It does not.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// It was not tried.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// Reports the build and its features, and tests each feature.
///
/// ```
/// let report = tgm_std::doctor::run_diagnostics();
/// assert!(!report.self_test.iter().any(tgm_std::doctor::SelfTestResult::is_failed));
/// ```
pub fn run_diagnostics() -> DoctorReport {
    DoctorReport { build: build(), features: features(), self_test: run_self_test() }
}

fn build() -> BuildInfo {
    BuildInfo {
        version: env!("CARGO_PKG_VERSION").to_string(),
        wire_version: WIRE_VERSION,
        target: env!("TGM_TARGET").to_string(),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_string(),
    }
}

/// The features under the names of the reference crate. A feature that every build has is on.
fn features() -> Vec<FeatureStatus> {
    let status = |name, kind, backend: Option<BackendVersion>| match backend {
        Some(backend) => FeatureStatus::on(name, kind, backend),
        None => FeatureStatus::off(name, kind),
    };
    let codec = |name, backend| status(name, FeatureKind::Compression, backend);
    let rust = |on, name| if on { Some(BackendVersion::pure_rust(name, None)) } else { None };
    vec![
        codec("szip", cfg!(feature = "libaec").then(|| BackendVersion::ffi("libaec", None))),
        codec("szip-pure", Some(BackendVersion::own())),
        codec("zstd", libzstd()),
        codec("zstd-pure", None),
        codec("lz4", rust(cfg!(feature = "lz4"), "lz4_flex")),
        codec("blosc2", blosc2()),
        codec("zfp", Some(BackendVersion::own())),
        codec("sz3", sz3()),
        codec("roaring", rust(cfg!(feature = "roaring"), "roaring")),
        status("threads", FeatureKind::Threading, rust(cfg!(feature = "parallel"), "rayon")),
        status("remote", FeatureKind::Io, rust(cfg!(feature = "remote"), "object_store")),
        status("mmap", FeatureKind::Io, rust(cfg!(feature = "mmap"), "memmap2")),
        status("async", FeatureKind::Io, rust(cfg!(feature = "async"), "tokio")),
    ]
}

#[cfg(feature = "zstd")]
#[expect(clippy::unnecessary_wraps, reason = "None without the feature")]
fn libzstd() -> Option<BackendVersion> {
    Some(BackendVersion::ffi("libzstd", Some(tgm_codec::zstd::version().to_string())))
}

#[cfg(not(feature = "zstd"))]
const fn libzstd() -> Option<BackendVersion> {
    None
}

fn blosc2() -> Option<BackendVersion> {
    if cfg!(feature = "blosc2") {
        return Some(BackendVersion::ffi("c-blosc2", None));
    }
    let decoder = BackendVersion { name: "tgm-std (decoding)", ..BackendVersion::own() };
    cfg!(feature = "blosc2-decode").then_some(decoder)
}

#[cfg(feature = "sz3")]
#[expect(clippy::unnecessary_wraps, reason = "None without the feature")]
fn sz3() -> Option<BackendVersion> {
    Some(BackendVersion::ffi("SZ3", Some(tgm_codec::sz3::VERSION.to_string())))
}

#[cfg(not(feature = "sz3"))]
fn sz3() -> Option<BackendVersion> {
    let decoder = BackendVersion { name: "tgm-std (decoding, and encoding without loss)", ..BackendVersion::own() };
    cfg!(feature = "sz3-decode").then_some(decoder)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

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
        assert_eq!(row("async")["state"], if cfg!(feature = "async") { "on" } else { "off" });
        assert_eq!(row("remote")["state"], if cfg!(feature = "remote") { "on" } else { "off" });
        let off = serde_json::to_value(FeatureStatus::off("a", FeatureKind::Io)).unwrap();
        assert_eq!(off, json!({"name": "a", "kind": "io", "state": "off"}));
        assert_eq!(row("zstd")["state"], if cfg!(feature = "zstd") { "on" } else { "off" });
        assert_eq!(json["self_test"][0]["outcome"], Json::from("ok"));
        let row = serde_json::to_value(SelfTestResult::skipped("a", "b")).unwrap();
        assert_eq!(row, json!({"label": "a", "outcome": "skipped", "reason": "b"}));
        let row = serde_json::to_value(SelfTestResult::failed("a", "b")).unwrap();
        assert_eq!(row, json!({"label": "a", "outcome": "failed", "error": "b"}));
    }
}
