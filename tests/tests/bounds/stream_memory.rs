//! Memory of reading: messages of a stream take it once, and parts of a distant file take no more than they need.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use tgm_std::core::selection::Pick;
use tgm_std::file::{MessageReader, StreamOptions};
use tgm_std::read::{ReadOptions, Reader};
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};
use tgm_tests::alloc::measure;

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

/// Peaks of reads through requests of a file of ten objects of 4 MiB, in bytes. The file's own bytes are not counted.
#[test]
fn parts_of_a_distant_file_take_memory_for_the_part_alone() {
    const MIB: u64 = 1 << 20;
    let values = vec![1.5_f32; 1 << 20];
    let mut builder = MessageBuilder::new();
    for _ in 0..10 {
        builder = builder.object(ObjectBuilder::new(&[1024, 1024], &values).unwrap());
    }
    let file = builder.encode().unwrap();
    let options = DecodeOptions::default();
    let peak = |work: &dyn Fn(&Reader<&[u8]>)| measure(|| work(&Reader::new(&file[..], ReadOptions::remote()))).1.peak;

    let metadata = peak(&|reader| drop(reader.decode_metadata(0).unwrap()));
    assert!(metadata < MIB, "{metadata}");
    let descriptors = peak(&|reader| drop(reader.decode_descriptors(0).unwrap()));
    assert!(descriptors < MIB, "{descriptors}");
    let range = peak(&|reader| drop(reader.decode_range(0, 7, &[(500_000, 10)], &options).unwrap()));
    assert!(range < MIB, "{range}");
    let select = peak(&|reader| {
        drop(reader.select(0, 7, &[Pick::from(500..510), Pick::from(0..10)], &options).unwrap());
    });
    assert!(select < MIB, "{select}");
    // The answer, what is kept of it while others come, and the values.
    let object = peak(&|reader| drop(reader.decode_object(0, 7, &options).unwrap()));
    assert!(object < 3 * 4 * MIB + MIB, "{object}");
    let message = peak(&|reader| drop(reader.read_message(0).unwrap()));
    assert!(message < 2 * file.len() as u64 + MIB, "{message}");
}
