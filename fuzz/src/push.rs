//! What is stated about any stream, by the facts of `tgm_push_oracle`.

use tgm_core::push::{Event, Link, PushDecoder, SzipUnpacker};
use tgm_core::{Error, ErrorKind, Message};
use tgm_push_oracle::{Fact, facts_of, first_message, is_cut_short, oracle, without_last_begin};

/// Bytes for CBOR that are enough for all inputs.
const LARGE: usize = 1 << 16;
/// Bytes for CBOR that are too few for most descriptors.
const SMALL: usize = 128;

/// Asserts that facts, errors and their offsets are the same for any pieces.
pub(crate) fn same_on_any_cut(bytes: &[u8], pieces: &[&[u8]]) {
    for link in [Link::Reliable, Link::Lossy] {
        let (mut whole, mut cut) = (facts_of::<LARGE>(link, [bytes]), facts_of::<LARGE>(link, pieces.iter().copied()));
        // Every byte begins at most one message or error, and ends one.
        assert!(whole.len() <= 4 * bytes.len() + 4);
        if link == Link::Reliable {
            // The pieces decide how much of a descriptor before its payload is consumed until an error in it is found. On this
            // link, a message that begins in the consumed part is missed.
            up_to_the_first_error(&mut whole);
            up_to_the_first_error(&mut cut);
        }
        let is_same = cut == whole || differ_in_descriptors(&cut, &whole);
        assert!(is_same, "{link:?}:\n cut {cut:?}\nwhole {whole:?}");
    }
}

fn up_to_the_first_error(facts: &mut Vec<Fact>) {
    let errors = facts.iter().position(|fact| matches!(fact, Fact::Error(_)));
    facts.truncate(errors.map_or(facts.len(), |at| at + 1));
}

/// Whether the facts differ only in errors of an object's frame, before its descriptor is reported. In pieces, an error in a
/// descriptor before its payload may be found, or the message may end in the middle of the descriptor first.
fn differ_in_descriptors(a: &[Fact], b: &[Fact]) -> bool {
    let is_object = |fact: Option<&Fact>| matches!(fact, Some(Fact::Frame { object_index: Some(_), .. }));
    let same = |(at, (a_fact, b_fact)): (usize, (&Fact, &Fact))| {
        a_fact == b_fact
            || matches!((a_fact, b_fact), (Fact::Error(_), Fact::Error(_)))
                && is_object(at.checked_sub(1).and_then(|before| a.get(before)))
    };
    a.len() == b.len() && a.iter().zip(b).enumerate().all(same)
}

/// Asserts that with little memory, too, every byte is consumed, and that a valid message at the start is found on any cut.
///
/// CBOR that is too large is not checked, so that more messages may seem valid.
pub(crate) fn small_memory(bytes: &[u8], pieces: &[&[u8]]) {
    let first = ends::<LARGE>(&[bytes]).into_iter().next().filter(|(begins, _)| *begins == 0);
    assert!(first.is_none() || ends::<SMALL>(pieces).first() == first.as_ref());
}

/// Asserts that szip payloads give the same packed values and errors for any pieces.
pub(crate) fn same_szip_values(bytes: &[u8], pieces: &[&[u8]]) {
    let Ok(message) = Message::parse(bytes) else { return };
    for object in message.objects().map_while(Result::ok).take(4) {
        let Ok(unpacker) = SzipUnpacker::<64>::new(object.descriptor()) else { continue };
        let (mut cut, mut rest) = (Vec::new(), object.payload());
        for length in pieces.iter().map(|piece| piece.len()).cycle().take(10_000) {
            let (piece, after) = rest.split_at(length.min(rest.len()));
            cut.push(piece);
            rest = after;
        }
        cut.push(rest);
        assert_eq!(szip_values(unpacker.clone(), &cut), szip_values(unpacker, &[object.payload()]));
    }
}

/// The bits of the first values, and the error after them.
fn szip_values(mut unpacker: SzipUnpacker<64>, pieces: &[&[u8]]) -> (Vec<u64>, Option<Error>) {
    const ENOUGH: usize = 20_000;
    let (mut values, mut out) = (Vec::new(), [0.0_f64; 50]);
    for piece in pieces {
        let mut chunk = *piece;
        while values.len() < ENOUGH {
            match unpacker.unpack_into(&mut chunk, &mut out) {
                Ok(0) => break,
                Ok(count) => values.extend(out[..count].iter().map(|value| value.to_bits())),
                Err(error) => return (values, Some(error)),
            }
        }
    }
    let error = if values.len() < ENOUGH { unpacker.finish().err() } else { None };
    (values, error)
}

/// Offset and length of each message that ends well.
fn ends<const N: usize>(pieces: &[&[u8]]) -> Vec<(u64, u64)> {
    let mut decoder = PushDecoder::<N>::new(Link::Reliable);
    let mut ends = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let begins = decoder.message_offset();
            match decoder.next_event(&mut rest) {
                Ok(None) => break,
                Ok(Some(Event::MessageEnd(end))) => ends.push((begins, end.length)),
                Ok(Some(_)) | Err(_) => {}
            }
        }
        assert!(rest.is_empty());
    }
    assert_eq!(decoder.position(), pieces.iter().map(|piece| piece.len() as u64).sum::<u64>());
    ends
}

/// Asserts that the push decoder finds in the first message what the slice parser finds, except where the order of arrival
/// demands a difference.
pub(crate) fn same_as_the_slice_parser(bytes: &[u8]) {
    let first = first_message(facts_of::<LARGE>(Link::Reliable, [bytes]));
    match oracle::facts(bytes) {
        Some(expected) if is_cut_short(bytes, &first) => {
            let (_, before) = first.split_last().expect("an error at least");
            assert!(expected.starts_with(before));
        }
        Some(expected) => {
            let expected = without_last_begin(expected);
            assert!(first == expected || comes_before_the_frame_ends(&first, &expected), "{first:?}\n{expected:?}");
        }
        None => {
            // The slice parser refuses the stated length at once. The push decoder may meet another error before.
            let last = first.last().expect("an error at least");
            let stated = Message::parse(bytes).expect_err("longer than the bytes are");
            assert!(matches!(last, Fact::Error(e) if *e == stated || e.kind() != stated.kind()), "{last:?}");
        }
    }
}

/// Whether the last error is in a descriptor before its payload, in a frame that the slice parser finds to exceed the message.
fn comes_before_the_frame_ends(first: &[Fact], expected: &[Fact]) -> bool {
    let ([before @ .., Fact::Error(found)], [all_before @ .., Fact::Error(stated)]) = (first, expected) else {
        return false;
    };
    before == all_before && stated.kind() == ErrorKind::FrameExceedsMessage && found.offset() > stated.offset()
}
