//! One message through the borrowed views: lookups find what the walk finds, and an index that contradicts the walk
//! gives an error.

use tgm_core::hash::Verdict;
use tgm_core::{ErrorKind, Message};

/// Checks the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let Ok(message) = Message::parse(bytes) else { return };
    let whole = message.as_bytes();
    assert!(whole.len() <= bytes.len() && message.total_length().is_none_or(|length| length == whole.len() as u64));
    if message.total_length().is_some() {
        assert!(Message::parse(&whole[..whole.len() - 1]).is_err(), "a message without its last byte");
    }
    objects(&message);
    metadata(&message);
    digests(&message);
}

fn objects(message: &Message<'_>) {
    let walked: Vec<_> = message.frames().filter_map(Result::ok).filter(|f| f.frame_type().is_data_object()).collect();
    for (index, frame) in walked.iter().enumerate().take(16) {
        match message.object_frame(index) {
            Ok(found) => {
                assert!(found.frame_type().is_data_object());
                assert!(found.end_offset() <= message.as_bytes().len() as u64);
            }
            Err(error) => assert!(
                error.kind() == ErrorKind::IndexEntry || message.find_index().is_err() || message.outline().is_err(),
                "object {index} at {} was walked to but not found: {error}",
                frame.offset()
            ),
        }
    }
    if let Ok(outline) = message.outline() {
        assert_eq!(outline.object_count, walked.len());
    }
    for object in message.objects().filter_map(Result::ok) {
        let (region, start) = (object.region(), usize::try_from(object.region_offset()).expect("in memory"));
        assert_eq!(message.as_bytes()[start..][..region.len()], *region);
        assert!(region.starts_with(object.payload()));
        let masks = object.descriptor().masks();
        for (_, mask) in masks.iter() {
            assert_eq!(object.mask_blob(&mask).map(|blob| blob.len() as u64), Ok(mask.length()));
        }
        let _ = object.stored();
    }
}

fn metadata(message: &Message<'_>) {
    let Ok(metadata) = message.metadata() else { return };
    assert_eq!(metadata.objects().filter(Result::is_ok).count(), metadata.object_count());
    for (index, object) in metadata.objects().flatten().enumerate().take(4) {
        for (key, value) in object.entries().flatten() {
            let Ok(key) = key.as_str() else { continue };
            // A key with a dot is read as a path, and of repeated keys the last one counts.
            if key.contains('.') || object.entries().flatten().filter(|(k, _)| k.as_str() == Ok(key)).count() > 1 {
                continue;
            }
            let found = object.get(key).expect("walked before");
            assert!(found.is_none_or(|found| found.as_encoded() == value.as_encoded()), "{key} of object {index}");
        }
    }
    let _ = metadata.get("mars.param");
}

fn digests(message: &Message<'_>) {
    let Ok(presence) = message.hash_presence() else { return };
    for verified in message.verify(presence) {
        // `hash_presence` walks to the first flagged frame only, so a later one may still be damaged.
        let Ok(verified) = verified else { return };
        let good = verified.frame.verify_slot().is_ok();
        assert!(matches!(verified.verdict, Verdict::Missing) || good == matches!(verified.verdict, Verdict::Good));
    }
}
