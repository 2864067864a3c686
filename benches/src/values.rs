//! Values without encoding, filter and compression: borrowed, copied, swapped, verified; and the digest alone.

use std::borrow::Cow;
use std::hint::black_box;

use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict, digest};
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, agreed, decode_into, first, ours, reference};

pub fn run(bench: &mut Bench) {
    let count = bench.size(16 << 20, 1 << 20);
    let values = data::field_f32(count);
    let len = 4 * count;
    let swapped: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();

    let spec = Spec::new(Dtype::Float32, count);
    let (little, decoded) = agreed(&spec, values.as_bytes());
    assert!(decoded == values.as_bytes());
    let (big, decoded) = agreed(&Spec { big: true, ..spec }, &swapped);
    assert!(decoded == values.as_bytes());
    drop(decoded);
    hash(bench, &swapped);
    let options = ours::DecodeOptions::default();
    let verifying = reference::DecodeOptions { verify_hash: true, ..Default::default() };

    for (name, message, goal) in [("little-endian", &little, false), ("big-endian", &big, true)] {
        let object = first(message);
        let (mut a, mut b) = (vec![1; len], vec![2; len]);
        decode_into(&object, 1, &mut a);
        assert!(a == values.as_bytes());
        let mut case = Case::new(format!("float32 {name}, {} MiB, to this machine's order", len >> 20))
            .bytes(len)
            .row("us, into a warm buffer", || decode_into(black_box(&object), 1, &mut a))
            .row("us, values", || ours::read(black_box(&object)).options(&options).bytes().expect("values").len())
            .row("reference", || reference::object(black_box(message), 0))
            .row("limit: memcpy, warm", || b.copy_from_slice(black_box(object.payload())));
        if goal {
            case = case.goal("P7", "us, into a warm buffer", Bound::Faster("limit: memcpy, warm", 0.9));
        }
        bench.run(case);
    }

    let verified = || {
        let message = Message::parse(black_box(&little)).expect("a message");
        let good =
            message.verify(HashPresence::Flagged).all(|frame| matches!(frame, Ok(f) if f.verdict == Verdict::Good));
        assert!(good);
        message.object(0).and_then(|object| object.view::<f32>()).expect("values").len()
    };
    let checking = ours::DecodeOptions { verify_hash: true, ..Default::default() };
    let std_borrowed = || {
        let values = ours::read(&first(black_box(&little))).options(&checking).bytes().expect("values");
        assert!(matches!(values, Cow::Borrowed(_)));
        values.len()
    };
    let std_verified = || ours::decode_object(black_box(&little), 0, &checking).expect("decodes").2.len();
    let case = Case::new(format!("float32 little-endian, {} MiB, digest checked", len >> 20))
        .bytes(len)
        .row("us, core, borrowed", verified)
        .row("us, values, borrowed", std_borrowed)
        .row("us, decode_object", std_verified)
        .row("reference", || reference::decode_object(black_box(&little), 0, &verifying).expect("decodes").2.len())
        .row("limit: xxh3 alone", || XxHash3_64::oneshot(black_box(first(&little).payload())))
        .goal("P7", "us, core, borrowed", Bound::Within("limit: xxh3 alone", 1.1))
        .goal("P7", "us, values, borrowed", Bound::Within("limit: xxh3 alone", 1.1));
    bench.run(case);

    let case = Case::new("first value of a message, borrowed, digest not checked")
        .row("us", || first(black_box(&little)).view::<f32>().expect("values").get(0))
        .row("limit: a slice", || black_box(&values).first().copied());
    bench.run(case);
}

/// XXH3 of bytes in cache and out of it.
fn hash(bench: &mut Bench, bytes: &[u8]) {
    for len in [64, 1 << 10, 1 << 20, bytes.len()] {
        let bytes = &bytes[..len];
        assert_eq!(digest(bytes), XxHash3_64::oneshot(bytes));
        assert_eq!(format!("{:016x}", digest(bytes)), reference::compute_hash(bytes));
        let case = Case::new(format!("digest of {}", crate::harness::bytes(len as f64)))
            .bytes(len)
            .row("us, std", || ours::compute_hash(black_box(bytes)))
            .row("us, core", || digest(black_box(bytes)))
            .row("reference", || reference::compute_hash(black_box(bytes)))
            .row("twox-hash, by run-time choice", || XxHash3_64::oneshot(black_box(bytes)))
            .row("limit: read every byte", || {
                black_box(bytes).as_chunks::<8>().0.iter().fold(0, |x, y| x ^ u64::from_le_bytes(*y))
            });
        let case = if len >= 1 << 20 {
            case.goal("P8", "us, std", Bound::Within("twox-hash, by run-time choice", 1.05))
        } else {
            case
        };
        bench.run(case);
    }
}
