//! Reading and writing with tgm-std.

use ciborium::Value;
use tgm_std::Provenance;

use crate::library::{readers, writers};

readers!(tgm_std);
writers!(tgm_std);

fn blosc2_method(codec: &str, level: i32) -> tgm_std::MaskMethod {
    let codec = tgm_std::Blosc2Codec::from_name(codec).expect("one of the format");
    tgm_std::MaskMethod::Blosc2 { codec, level }
}

/// The provenance that a message states.
///
/// # Panics
/// If it states none.
pub fn provenance(bytes: &[u8]) -> Provenance {
    let (metadata, _) = tgm_std::decode_descriptors(bytes).expect("a message of the reference");
    let text = |value: Option<&Value>| value.and_then(Value::as_text).expect("text").to_owned();
    let encoder = metadata.reserved["encoder"].as_map().expect("a map");
    let of_encoder =
        |name: &str| text(encoder.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value));
    Provenance {
        time: text(metadata.reserved.get("time")),
        uuid: text(metadata.reserved.get("uuid")),
        encoder_name: of_encoder("name"),
        encoder_version: of_encoder("version"),
    }
}

/// The options of a case, with the provenance of another writer.
pub fn options_as(case: &Case, provenance: Provenance) -> tgm_std::EncodeOptions {
    tgm_std::EncodeOptions { provenance: Some(provenance), ..options(&case.options) }
}
