//! If the index agrees with the walk, every way to an object leads to the same object.

use tgm_core::Message;
use tgm_std::ObjectTable;

/// Checks the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let Ok(message) = Message::parse(bytes) else { return };
    let agrees = message.verify_index();
    assert_eq!(ObjectTable::checked(&message).is_ok(), agrees.is_ok());
    if agrees.is_err() {
        return;
    }
    let walked = ObjectTable::by_walk(&message).expect("walked before");
    let checked = ObjectTable::checked(&message).expect("asserted");
    assert_eq!(walked, checked);
    if let Ok(table) = ObjectTable::new(&message) {
        assert_eq!(walked, table);
    }
    for (index, entry) in walked.entries().iter().enumerate().take(32) {
        let frame = message.object_frame(index).expect("listed, or walked to");
        assert_eq!((frame.offset(), frame.total_length()), (entry.offset, entry.length));
        let ways = [
            message.object(index),
            message.object_by_walk(index),
            message.object_at(*entry),
            message.objects().nth(index).expect("walked before"),
        ];
        let places = ways.map(|object| object.map(|object| object.frame().offset()).ok());
        assert!(places.iter().all(|place| *place == places[0]), "object {index}: {places:?}");
        let of_table = checked.object(&message, index).map(|object| object.frame().offset()).ok();
        assert_eq!(of_table, places[0]);
    }
    assert!(message.object(walked.len()).is_err() && checked.object(&message, walked.len()).is_err());
}
