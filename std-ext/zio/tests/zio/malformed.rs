//! Every malformed vector gives the recorded error.

use tgm_std::ByteOrder;
use tgm_zio::{ErrorKind, Message, Tens};

use crate::vectors::{self, id, list, unhex};

/// The stage that failed, and the error's name.
fn answer(message: Result<Message<'_, Vec<u8>>, tgm_zio::Error>) -> (&'static str, String) {
    let message = match message {
        Ok(message) => message,
        Err(error) => {
            let stage = match error.kind() {
                ErrorKind::TruncatedSize | ErrorKind::TruncatedPart => "codec",
                _ => "message",
            };
            return (stage, format!("{:?}", error.kind()));
        }
    };
    match Tens::parse(&message) {
        // Such a tensor is opaque, and its siblings can be read: see `labels.rs`.
        Ok(tens) if tens.tensors().iter().any(|tensor| !tensor.is_dense()) => ("tens", "UnsupportedPacking".into()),
        Ok(_) => ("none", "accepted".into()),
        Err(error) => {
            let has_place = error.offset().is_some() || error.tensor().is_some() || error.key().is_some();
            let is_whole = matches!(format!("{:?}", error.kind()).as_str(), "LabelNotObject" | "NoTens");
            assert!(has_place || is_whole, "{error} does not say where");
            ("tens", format!("{:?}", error.kind()))
        }
    }
}

#[test]
fn malformed_messages_are_answered_as_recorded() {
    for vector in list("malformed.json", "vectors", 68) {
        let (parts, buffer);
        let message = if vector.get("parts").is_some() {
            parts = vectors::parts(&vector);
            Message::from_parts(&parts, ByteOrder::Little)
        } else {
            buffer = [unhex(&vector["encoded"])];
            Message::from_frames(&buffer, tgm_zio::Envelope::Plain, ByteOrder::Little)
        };
        let (stage, name) = answer(message);
        let name = name.split('(').next().unwrap_or_default();
        assert_eq!(
            (stage, name),
            (vector["stage"].as_str().unwrap(), vector["expect_error"].as_str().unwrap()),
            "{}",
            id(&vector)
        );
    }
}
