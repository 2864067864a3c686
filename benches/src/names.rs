//! What the names of the reference cost, which give owned descriptors and metadata, beside routes that borrow.

use std::hint::black_box;

use tgm_core::Message;
use zerocopy::IntoBytes as _;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, ours, reference};

/// Elements of a range.
const WANTED: u64 = 10;
/// Objects of the message of small ones.
const OBJECTS: usize = 10;
/// Times of our borrowed route that an owned answer may take.
const WITHIN: f64 = 1.5;

pub fn run(bench: &mut Bench) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let values = data::field(bench.size(16 << 20, 1 << 18));
    for (name, spec) in [
        ("szip, 16 bits", Spec::packed(values.len(), 16).szip()),
        ("16 bits", Spec::packed(values.len(), 16)),
        ("float64", Spec::new(Dtype::Float64, values.len())),
    ] {
        let message = ours::encode_one(&spec, values.as_bytes());
        let path = folder.path().join("one.tgm");
        std::fs::write(&path, &message).expect("writes");
        ranges(bench, name, &message, &path);
    }
    objects(bench);
}

/// A few values out of many: most of the time is that of what comes with them.
fn ranges(bench: &mut Bench, name: &str, message: &[u8], path: &std::path::Path) {
    let (options, theirs) = (ours::DecodeOptions::default(), reference::DecodeOptions::default());
    let mapped = ours::TensogramFile::open_mmap(path).expect("maps");
    let positioned = ours::TensogramFile::open(path).expect("opens");
    let of_reference = reference::TensogramFile::open_mmap(path).expect("maps");
    let count = crate::libraries::first(message).descriptor().element_count();
    let wanted = [(count / 2 + 77, WANTED)];
    let borrowed = || {
        let object = Message::parse(black_box(message)).and_then(|message| message.object(0)).expect("an object");
        vec![ours::read(&object).ranges(&wanted).options(&options).bytes().expect("decodes").into_owned()]
    };
    let expected = borrowed();
    assert_eq!(ours::decode_range(message, 0, &wanted, &options).expect("decodes").1, expected);
    assert_eq!(mapped.decode_range(0, 0, &wanted, &options).expect("decodes").1, expected);
    assert_eq!(positioned.decode_range(0, 0, &wanted, &options).expect("decodes").1, expected);
    assert_eq!(reference::decode_range(message, 0, &wanted, &theirs).expect("decodes").1, expected);
    let case = Case::new(format!("{name}, {WANTED} elements of {count}"))
        .row("us, borrowed", borrowed)
        .row("us, decode_range", || ours::decode_range(black_box(message), 0, &wanted, &options))
        .row("us, TensogramFile, mapped", || mapped.decode_range(0, 0, black_box(&wanted), &options))
        .row("us, TensogramFile, positioned", || positioned.decode_range(0, 0, black_box(&wanted), &options))
        .row("reference, decode_range", || reference::decode_range(black_box(message), 0, &wanted, &theirs))
        .row("reference, TensogramFile", || of_reference.decode_range(0, 0, black_box(&wanted), &theirs))
        .goal("P25", "us, decode_range", Bound::Within("us, borrowed", WITHIN))
        .goal("P25", "us, TensogramFile, mapped", Bound::Within("us, borrowed", WITHIN));
    bench.run(case);
}

/// All values of an object of 1 MiB, and how often a message of ten small objects allocates.
fn objects(bench: &mut Bench) {
    let (options, theirs) = (ours::DecodeOptions::default(), reference::DecodeOptions::default());
    let values = data::field_f32(1 << 18);
    let message = ours::encode_one(&Spec::new(Dtype::Float32, values.len()), values.as_bytes());
    let case = Case::new("float32, all values of 1 MiB")
        .bytes(values.as_bytes().len())
        .row("us, borrowed and copied", || {
            let object = Message::parse(black_box(&message)).and_then(|message| message.object(0)).expect("an object");
            ours::read(&object).options(&options).bytes().expect("decodes").into_owned()
        })
        .row("us, decode_object", || ours::decode_object(black_box(&message), 0, &options))
        .row("us, decode", || ours::decode(black_box(&message), &options))
        .row("reference, decode_object", || reference::decode_object(black_box(&message), 0, &theirs))
        .goal("P25", "us, decode_object", Bound::Within("us, borrowed and copied", WITHIN))
        .goal("P25", "us, decode", Bound::Within("us, borrowed and copied", WITHIN));
    bench.run(case);

    let descriptor = ours::descriptor(&Spec::new(Dtype::Float32, 64));
    let data = [0; 4 * 64];
    let list = [(&descriptor, data.as_slice()); OBJECTS];
    let message =
        ours::encode(&ours::GlobalMetadata::default(), &list, &ours::EncodeOptions::default()).expect("encodes");
    let case = Case::new(format!("a message of {OBJECTS} small objects"))
        .row("us, borrowed", || {
            let message = Message::parse(black_box(&message)).expect("a message");
            let decode = |object: tgm_core::Result<_>| ours::read(&object?).options(&options).bytes().map(|values| values.len());
            message.objects().map(decode).sum::<ours::Result<usize>>()
        })
        .row("us, decode", || ours::decode(black_box(&message), &options))
        .row("reference, decode", || reference::decode(black_box(&message), &theirs))
        .goal("P24", "us, borrowed", Bound::Allocations(0))
        .goal("P24", "us, decode", Bound::Allocations(4 + 3 * OBJECTS as u64));
    bench.run(case);
}
