//! What encoding allocates: the message and little else. A stream of plain or packed values takes no memory of their
//! size.

use tgm_std::{EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, StreamingEncoder, encode_into};
use tgm_tests::alloc::measure;

/// Bytes for descriptors, metadata and the states of codecs.
const SMALL: u64 = 64 << 10;
const COUNT: usize = 1 << 18;

fn values() -> Vec<f64> {
    (0..1 << 18).map(|i| f64::from(i).sqrt()).collect()
}

#[test]
fn a_message_of_known_size_takes_little_more_memory_than_itself() {
    let values = values();
    let object = || ObjectBuilder::new(&[COUNT as u64], &values).unwrap();
    for (name, object) in [
        ("none", object()),
        ("shuffle", object().shuffle()),
        ("packed in 16 bits", object().simple_packing(16)),
        ("packed in 13 bits", object().simple_packing(13)),
    ] {
        let builder = MessageBuilder::new().object(object);
        let (message, usage) = measure(|| builder.encode().unwrap());
        assert!(usage.peak < message.len() as u64 + SMALL, "{name}: {} for {}", usage.peak, message.len());
    }
}

/// Zeros take the place of NaN while the values are copied into the message.
#[test]
fn masked_values_are_not_copied_before_they_are_written() {
    let mut values = values();
    values[1000] = f64::NAN;
    let object = ObjectBuilder::new(&[COUNT as u64], &values).unwrap();
    let builder = MessageBuilder::new().object(object).allow_nan();
    let (message, usage) = measure(|| builder.encode().unwrap());
    // The mask has a bit for each value, before it is stored.
    let mask = COUNT as u64 / 8;
    assert!(usage.peak < message.len() as u64 + 2 * mask + SMALL, "{} for {}", usage.peak, message.len());
}

#[test]
fn packed_values_are_not_all_in_memory_before_szip() {
    let values = values();
    let object = ObjectBuilder::new(&[COUNT as u64], &values).unwrap().simple_packing(24).szip();
    let builder = MessageBuilder::new().object(object);
    let (message, usage) = measure(|| builder.encode().unwrap());
    // Samples are coded straight into the message, which grows to the length that the first samples lead to expect.
    let most = 3 * message.len() as u64 / 2;
    assert!(usage.peak < most + SMALL, "{} for {}", usage.peak, message.len());
}

#[test]
fn encoding_into_a_kept_buffer_takes_little_other_memory() {
    let values = values();
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for object in [
        ObjectBuilder::new(&[COUNT as u64], &values).unwrap(),
        ObjectBuilder::new(&[COUNT as u64], &values).unwrap().simple_packing(16),
        ObjectBuilder::new(&[COUNT as u64], &values).unwrap().simple_packing(24).szip(),
        ObjectBuilder::new(&[COUNT as u64], &values).unwrap().shuffle(),
    ] {
        let (descriptor, mut message) = (object.descriptor(), Vec::new());
        let mut encode = || {
            let objects: [(_, &[u8]); 1] = [(descriptor, &data)];
            encode_into(&GlobalMetadata::default(), &objects, &EncodeOptions::default(), &mut message).unwrap();
        };
        encode();
        let ((), usage) = measure(encode);
        assert!(usage.peak < SMALL, "{descriptor:?}: {}", usage.peak);
    }
}

#[test]
fn a_stream_of_plain_and_packed_values_takes_no_memory_of_their_size() {
    let values = values();
    let object = || ObjectBuilder::new(&[COUNT as u64], &values).unwrap();
    for (name, object) in [("none", object()), ("packed in 16 bits", object().simple_packing(16))] {
        let builder = MessageBuilder::new().object(object);
        let (_, usage) = measure(|| builder.stream_to(std::io::sink()).unwrap());
        assert!(usage.peak < SMALL, "{name}: {}", usage.peak);
    }
}

#[test]
fn small_messages_take_few_allocations() {
    let values = [1.0_f32; 4];
    let object = ObjectBuilder::new(&[4], &values).unwrap();
    let builder = MessageBuilder::new().object(object);
    let (_, usage) = measure(|| builder.encode().unwrap());
    assert!(usage.count <= 10, "{} allocations", usage.count);
    let (_, usage) = measure(|| {
        StreamingEncoder::new(std::io::sink(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap().finish()
    });
    assert!(usage.count < 32, "{} allocations", usage.count);
}
