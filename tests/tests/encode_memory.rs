//! What encoding allocates: the message and little else, and nothing of a payload's size where it goes to a stream as it is.

use tgm_std::{EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, StreamingEncoder};
use tgm_tests::alloc::{Counting, measure};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Descriptors, metadata, states.
const SMALL: u64 = 64 << 10;
const COUNT: usize = 1 << 18;

fn values() -> Vec<f64> {
    (0..1 << 18).map(|i| f64::from(i).sqrt()).collect()
}

#[test]
fn a_message_of_known_size_is_one_allocation() {
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

#[test]
fn packed_values_are_never_all_there_before_szip() {
    let values = values();
    let object = ObjectBuilder::new(&[COUNT as u64], &values).unwrap().simple_packing(24).szip();
    let builder = MessageBuilder::new().object(object);
    let (message, usage) = measure(|| builder.encode().unwrap());
    // The coded samples, in a vector that grows, and the message.
    let most = 9 * message.len() as u64 / 4;
    assert!(usage.peak < most + 2 * SMALL, "{} for {}", usage.peak, message.len());
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
    assert!(usage.count < 32, "{} allocations", usage.count);
    let (_, usage) = measure(|| {
        StreamingEncoder::new(std::io::sink(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap().finish()
    });
    assert!(usage.count < 32, "{} allocations", usage.count);
}
