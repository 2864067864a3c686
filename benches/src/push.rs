//! Messages that arrive in pieces.

use std::hint::black_box;

use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::push::{Event, Link, PushDecoder};
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, ours};

pub fn run(bench: &mut Bench) {
    let values = data::field_f32(bench.size(16 << 20, 1 << 18));
    let message = ours::encode_one(&Spec::new(Dtype::Float32, values.len()), values.as_bytes());
    for piece in [64, 1_500, 64 << 10] {
        for link in [Link::Reliable, Link::Lossy] {
            assert_eq!(pushed(&message, piece, link), sliced(&message));
        }
        let case = Case::new(format!("{} MiB in pieces of {piece} bytes", message.len() >> 20))
            .bytes(message.len())
            .row("us, push", || pushed(black_box(&message), piece, Link::Reliable))
            .row("us, push, lossy link", || pushed(black_box(&message), piece, Link::Lossy))
            .row("us, slice and digest", || sliced(black_box(&message)))
            .row("limit: xxh3", || XxHash3_64::oneshot(black_box(&message)));
        let case = if piece == 1_500 {
            case.goal("P16", "us, push", Bound::Faster("us, slice and digest", 0.9)).goal(
                "P16",
                "us, push",
                Bound::Allocations(0),
            )
        } else {
            case
        };
        bench.run(case);
    }
}

/// The number of bytes in payloads, and of frames whose digest is right.
fn pushed(message: &[u8], piece: usize, link: Link) -> (u64, usize) {
    let mut decoder = PushDecoder::<4096>::new(link);
    let (mut payload, mut good) = (0, 0);
    for mut piece in message.chunks(piece) {
        while let Some(event) = decoder.next_event(&mut piece).expect("a valid message") {
            match event {
                Event::Chunk(chunk) => payload += chunk.bytes.len() as u64,
                Event::FrameEnd(end) => good += usize::from(end.verdict == Verdict::Good),
                _ => {}
            }
        }
    }
    decoder.finish().expect("the end");
    (payload, good)
}

fn sliced(message: &[u8]) -> (u64, usize) {
    let message = Message::parse(message).expect("a message");
    let payload = message.objects().map(|object| object.expect("an object").payload().len() as u64).sum();
    let verify = message.verify(HashPresence::Flagged);
    (payload, verify.filter(|frame| matches!(frame, Ok(frame) if frame.verdict == Verdict::Good)).count())
}
