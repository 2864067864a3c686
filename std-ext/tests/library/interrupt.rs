//! Work on one long object can be stopped between its blocks, in both directions, and gives the same result if it is not.

use std::cell::Cell;
use std::io::ErrorKind;

use tgm_std::core::descriptor::ZfpMode;
use tgm_std::{DecodeOptions, EncodeOptions, GlobalMetadata, ObjectBuilder, TensogramError, decode, encode, interrupt};

thread_local! {
    /// Questions that are still answered with no.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

fn stop() -> bool {
    LEFT.with(|left| {
        let now = left.get();
        left.set(now.saturating_sub(1));
        now == 0
    })
}

/// The result of `work`, which is stopped at its question number `at`, and how many questions there were.
fn stopped<R>(at: u32, work: impl FnOnce() -> R) -> (R, u32) {
    LEFT.set(at);
    let result = interrupt::with(stop, work);
    (result, at - LEFT.get())
}

fn is_interrupted<T>(result: Result<T, TensogramError>) -> bool {
    matches!(result, Err(TensogramError::Io(error)) if error.kind() == ErrorKind::Interrupted)
}

type Stages = for<'a> fn(ObjectBuilder<'a>) -> ObjectBuilder<'a>;

/// Codecs that work block by block. lz4 is one call, of a second for some gigabytes; sz3 and blosc2 are written by their own
/// libraries.
const STAGES: [(&str, Stages); 4] = [
    ("szip", |object| object.shuffle().szip()),
    ("packed szip", |object| object.simple_packing(16).szip()),
    ("zfp", |object| object.zfp(ZfpMode::FixedRate(8.0))),
    ("zstd", |object| object.zstd(1)),
];

#[test]
fn one_long_object_is_stopped_within() {
    // Long enough for zstd, which decodes shorter objects at once.
    let values: Vec<f64> = (0..1_100_000_u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 12)).collect();
    for (name, stages) in STAGES {
        let object = stages(ObjectBuilder::new(&[values.len() as u64], &values).unwrap());
        // Packing widens nothing here: the values of the object are the bytes of the vector.
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        for threads in [0, 2] {
            let options = EncodeOptions { threads, ..EncodeOptions::default() };
            let made = || encode(&GlobalMetadata::default(), &[(object.descriptor(), &bytes)], &options);
            let (message, questions) = stopped(u32::MAX, made);
            // How many blocks are left to this thread, and so how often it asks, changes from run to run if others help.
            assert!(questions > 4 * u32::from(threads == 0), "{name}: encoding asks {questions} times");
            let within = |questions: u32| if threads == 0 { questions / 2 } else { 0 };
            assert!(is_interrupted(stopped(within(questions), made).0), "{name}");
            let message = message.unwrap();

            let options = DecodeOptions { threads, ..DecodeOptions::default() };
            let decoded = || decode(&message, &options);
            let (found, questions) = stopped(u32::MAX, decoded);
            assert!(questions > 4 * u32::from(threads == 0), "{name}: decoding asks {questions} times");
            assert!(is_interrupted(stopped(within(questions), decoded).0), "{name}");
            assert!(found.unwrap().1 == decoded().unwrap().1, "{name}: blocks change nothing");
        }
    }
}

#[test]
fn blocks_change_no_byte_of_what_is_written() {
    let values: Vec<u16> = (0..1_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 18) as u16).collect();
    let compressed = || {
        let mut out = Vec::new();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        tgm_std::codec::zstd::append(&bytes, 3, tgm_std::codec::threads::Threads::NONE, &mut out).map(|()| out)
    };
    assert!(stopped(u32::MAX, compressed).0.unwrap() == compressed().unwrap());
}
