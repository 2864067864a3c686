//! Pieces give the same samples and errors as the whole stream.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::super::*;
use super::{any_params, any_stream, bits, hex, params};

/// Up to `wanted` samples from pieces, at most `longest` at a time, and the error after them.
fn samples<'a, const B: usize>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    params: &Params,
    wanted: usize,
    longest: usize,
) -> (Vec<u32>, Result<()>) {
    let mut decoder = PieceDecoder::<B>::new(params).unwrap();
    let (mut samples, mut taken) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = piece;
        while samples.len() < wanted {
            let mut out = vec![0; longest.min(wanted - samples.len())];
            match decoder.decode_with(&mut rest, &mut out, |sample| sample) {
                Ok(0) => break,
                Ok(count) => samples.extend_from_slice(&out[..count]),
                Err(error) => {
                    assert_eq!(decoder.decode_with(&mut rest, &mut out, |sample| sample), Err(error));
                    return (samples, Err(error));
                }
            }
        }
        if samples.len() == wanted {
            return (samples, Ok(()));
        }
        assert!(rest.is_empty());
        taken += piece.len() as u64;
        assert_eq!(decoder.position(), taken);
    }
    let truncated = Err(ErrorKind::Truncated.at(taken));
    (samples, truncated)
}

/// The same from the whole stream.
fn whole(stream: &[u8], params: &Params, wanted: usize) -> (Vec<u32>, Result<()>) {
    let mut out = vec![None; wanted];
    let result = decode_with(stream, params, Start::default(), &mut out, Some);
    (out.into_iter().map_while(|sample| sample).collect(), result.map(|_| ()))
}

/// `stream` in pieces of these lengths, used again and again.
fn cut<'a>(stream: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let (mut pieces, mut rest) = (Vec::new(), stream);
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*length).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[test]
fn a_stream_cut_into_two_anywhere_and_cut_short_gives_what_the_whole_one_does() {
    let streams = [
        ("0009f007b00fcb556ff36aad605e7aad9f9f55b4c133f5b53cfeb6a8", 8, 8),
        ("007401d00780", 8, 8),
        ("dfbf8088860847d0", 8, 9),
        ("f91f92d230fffff000", 8, 8),
        ("ee803fc044004003002001400c00dfd8", 16, 8),
        ("08001f41249240", 24, 12),
    ];
    for (digits, bits_per_sample, flags) in streams {
        let (stream, params) = (hex(digits), params(bits_per_sample, 8, 2, flags));
        for len in 0..=stream.len() {
            let stream = &stream[..len];
            for wanted in [1, 5, 8, 16, 64] {
                let expected = whole(stream, &params, wanted);
                for at in 0..=len {
                    let (a, b) = stream.split_at(at);
                    assert_eq!(samples::<8>([a, b], &params, wanted, 3), expected, "{digits} {len} {wanted} {at}");
                }
                assert_eq!(samples::<8>(stream.chunks(1), &params, wanted, 100), expected);
            }
        }
    }
}

#[test]
fn a_block_longer_than_the_memory_is_refused_where_it_starts_on_any_cut() {
    let params = params(16, 8, 2, 0);
    for (zeros, fits) in [(100, true), (303, true), (304, true), (305, false), (312, false), (400, false)] {
        // Two blocks of k = 0. The second starts in the middle of byte 1: 16 bits and the zeros must fit 40 bytes.
        let stream = bits(&["0001 11111111 0001 1111111", &"0".repeat(zeros), "1"].concat());
        let expected = whole(&stream, &params, 16);
        assert_eq!(expected.0[15], u32::try_from(zeros).unwrap());
        for longest in [1, 2, 3, 39, 40, 41, 42, 80, 1000] {
            let found = samples::<8>(stream.chunks(longest), &params, 16, 7);
            if fits {
                assert_eq!(found, expected, "{zeros} {longest}");
            } else {
                let refused = Err(ErrorKind::SzipBlockMemory.at(1));
                assert_eq!(found, (expected.0[..8].to_vec(), refused), "{zeros} {longest}");
            }
        }
    }
}

#[test]
fn blocks_larger_than_the_memory_are_refused_at_once() {
    assert_eq!(PieceDecoder::<16>::new(&params(8, 32, 2, 8)).unwrap_err(), ErrorKind::SzipBlockMemory);
    assert!(PieceDecoder::<16>::new(&params(8, 16, 2, 8)).is_ok());
}

proptest! {
    #[test]
    fn any_stream_in_any_pieces_gives_samples_and_errors_of_the_whole(
        stream in any_stream(),
        params in any_params(),
        lengths in prop::collection::vec(prop_oneof![1..4_usize, 0..60_usize, 0..600_usize], 1..9),
        wanted in prop_oneof![1..40_usize, 1..3000_usize],
        longest in prop_oneof![1..9_usize, 1..700_usize],
    ) {
        prop_assume!(lengths.iter().any(|length| *length > 0));
        // No stream is longer than this memory.
        prop_assert!(stream.len() <= 5 * 256);
        let found = samples::<256>(cut(&stream, &lengths), &params, wanted, longest);
        prop_assert_eq!(found, whole(&stream, &params, wanted));
    }

    #[test]
    fn little_memory_gives_the_same_on_any_cut(
        stream in any_stream(),
        params in any_params(),
        lengths in prop::collection::vec(1..60_usize, 1..9),
        wanted in 1..3000_usize,
    ) {
        prop_assume!(params.block_size() <= 16);
        let found = samples::<16>(cut(&stream, &lengths), &params, wanted, 100);
        prop_assert_eq!(&found, &samples::<16>([stream.as_slice()], &params, wanted, 1000));
        let expected = whole(&stream, &params, wanted);
        let is_refused = matches!(found.1, Err(error) if error.kind() == ErrorKind::SzipBlockMemory);
        prop_assert!(expected.0.starts_with(&found.0));
        prop_assert!(is_refused || found == expected);
    }
}
