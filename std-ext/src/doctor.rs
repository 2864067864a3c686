//! Features of this build, and a test of each. For users whose file does not open.

mod abilities;
mod self_test;

use std::borrow::Cow;

use serde::Serialize;
use tgm_codec::about::{About, Implementation};
use tgm_codec::{Codec, CompressionBackend};

pub use self::abilities::{CodecAbility, Encodes, VectorPaths, codec_abilities, vector_paths};
pub use self::self_test::run_self_test;
use tgm_core::descriptor::Compression;
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
    let mut features = Vec::new();
    for about in tgm_codec::all().map(Codec::about) {
        match about.compression {
            // The reference has two of each.
            Compression::Szip => {
                let other =
                    tgm_codec::find(about.compression).and_then(|szip| szip.other(CompressionBackend::Ffi).ok()?);
                // Our own reads and writes szip where libaec is not in.
                let szip = other.map(|_| BackendVersion::ffi("libaec", None)).or_else(|| backend(about));
                features.push(codec("szip", szip));
                features.push(codec("szip-pure", backend(about)));
            }
            Compression::Zstd => features.extend([codec("zstd", backend(about)), codec("zstd-pure", None)]),
            // The reference has no feature of this name.
            Compression::Rle => {}
            _ => features.push(codec(about.name(), backend(about))),
        }
    }
    features.extend([
        status("threads", FeatureKind::Threading, rust(cfg!(feature = "parallel"), "rayon")),
        status("remote", FeatureKind::Io, rust(cfg!(feature = "remote"), "object_store")),
        status("mmap", FeatureKind::Io, rust(cfg!(feature = "mmap"), "memmap2")),
        status("async", FeatureKind::Io, rust(cfg!(feature = "async"), "tokio")),
    ]);
    features
}

/// The code behind a codec. `None` if the codec needs a feature that is off, for what it is there for.
fn backend(about: &About) -> Option<BackendVersion> {
    let (is_on, backend) = match about.implementation {
        Implementation::Own => (about.encoding.is_any(), BackendVersion::own()),
        Implementation::OwnFor(name) => (about.decoding.is_any(), BackendVersion { name, ..BackendVersion::own() }),
        Implementation::Rust(name) => (about.encoding.is_any(), BackendVersion::pure_rust(name, None)),
        Implementation::Library(name, version) => {
            (about.encoding.is_any(), BackendVersion::ffi(name, version.map(|version| version().to_string())))
        }
    };
    is_on.then_some(backend)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_off_or_went_wrong_is_said_in_json() {
        let off = serde_json::to_value(FeatureStatus::off("a", FeatureKind::Io)).unwrap();
        assert_eq!(off, json!({"name": "a", "kind": "io", "state": "off"}));
        let row = serde_json::to_value(SelfTestResult::skipped("a", "b")).unwrap();
        assert_eq!(row, json!({"label": "a", "outcome": "skipped", "reason": "b"}));
        let row = serde_json::to_value(SelfTestResult::failed("a", "b")).unwrap();
        assert_eq!(row, json!({"label": "a", "outcome": "failed", "error": "b"}));
    }
}
