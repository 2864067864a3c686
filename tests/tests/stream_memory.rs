//! Reading messages of a stream takes memory once, for any number of messages.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use tgm_std::file::{MessageReader, StreamOptions};
use tgm_std::{MessageBuilder, ObjectBuilder};
use tgm_tests::alloc::{Counting, measure};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn many_small_messages_are_read_in_one_buffer() {
    let message = MessageBuilder::new().object(ObjectBuilder::new(&[3], &[1_u8, 2, 3]).unwrap()).encode().unwrap();
    let stream = message.repeat(20_000);
    let mut reader = MessageReader::new(&stream[..]);
    reader.next_message().unwrap();
    let (count, usage) = measure(|| {
        let mut count = 0;
        while let Some(found) = reader.next_message().unwrap() {
            assert!(found.as_bytes() == message);
            count += 1;
        }
        count
    });
    assert_eq!((count, usage.count), (19_999, 0));
}

#[test]
fn a_large_message_takes_at_most_twice_its_length() {
    let values = vec![1_u8; 20 << 20];
    let message = MessageBuilder::new().object(ObjectBuilder::new(&[20 << 20], &values).unwrap()).encode().unwrap();
    let stream = message.repeat(3);
    let (count, usage) = measure(|| {
        let mut reader = MessageReader::with_options(&stream[..], &StreamOptions::default());
        let mut count = 0;
        while reader.next_message().unwrap().is_some() {
            count += 1;
        }
        count
    });
    assert_eq!(count, 3);
    // The buffer, and while it grows, the one before it.
    assert!(usage.peak < 2 * message.len() as u64 + (1 << 20), "{}", usage.peak);
}
