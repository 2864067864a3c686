//! One message through the borrowed views: what the walk accepts, the index must not contradict unseen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tgm_core::{ErrorKind, Message};

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::parse(bytes) else { return };
    let frames = message.frames().filter_map(Result::ok).filter(|frame| frame.frame_type().is_data_object());
    let frames: Vec<_> = frames.collect();
    for (index, frame) in frames.iter().enumerate().take(16) {
        match message.object_frame(index) {
            Ok(found) => assert!(found.frame_type().is_data_object() && found.offset() < bytes.len() as u64),
            Err(error) => assert!(
                error.kind() == ErrorKind::IndexEntry || message.find_index().is_err() || message.outline().is_err(),
                "object {index} at {} was walked to but not found: {error}",
                frame.offset()
            ),
        }
    }
    for object in message.objects().filter_map(Result::ok) {
        let _ = object.view_any().map(|view| assert_eq!(view.as_bytes().len(), object.payload().len()));
        let _ = object.stored();
    }
    if let Ok(metadata) = message.metadata() {
        assert_eq!(metadata.objects().filter(Result::is_ok).count(), metadata.object_count());
        let _ = metadata.get("mars.param");
    }
    if let Ok(presence) = message.hash_presence() {
        let _ = message.verify(presence).count();
    }
});
