//! Reading and writing with the reference.

use crate::library::{readers, writers};

readers!(tensogram);
writers!(tensogram);

#[cfg(feature = "reference-blosc2")]
fn blosc2_method(codec: &str, level: i32) -> tensogram::MaskMethod {
    use tensogram_encodings::pipeline::Blosc2Codec;
    let codec = match codec {
        "blosclz" => Blosc2Codec::Blosclz,
        "lz4" => Blosc2Codec::Lz4,
        "lz4hc" => Blosc2Codec::Lz4hc,
        "zlib" => Blosc2Codec::Zlib,
        _ => Blosc2Codec::Zstd,
    };
    tensogram::MaskMethod::Blosc2 { codec, level }
}

/// Never called: the reference has no blosc2 in this build.
#[cfg(not(feature = "reference-blosc2"))]
fn blosc2_method(_: &str, _: i32) -> tensogram::MaskMethod {
    tensogram::MaskMethod::Roaring
}

/// The issues that the reference's validation reports at its highest level.
///
/// Two are left out, because it reports them of its own messages too: streamed messages flag frames that they do not
/// have, and messages without hashing have no digests.
pub fn complaints(bytes: &[u8], hashing: bool) -> Vec<String> {
    use tensogram::IssueCode;

    let options = tensogram::ValidateOptions {
        max_level: tensogram::ValidationLevel::Fidelity,
        check_canonical: true,
        ..Default::default()
    };
    let report = tensogram::validate_message(bytes, &options);
    let issues = report.issues.iter().filter(|issue| match issue.code {
        IssueCode::FlagMismatch => false,
        IssueCode::NoHashAvailable => hashing,
        _ => true,
    });
    issues.map(|issue| format!("{:?} {:?}: {}", issue.code, issue.object_index, issue.description)).collect()
}
