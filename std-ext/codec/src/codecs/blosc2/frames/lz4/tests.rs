//! Every block decodes as the crate `lz4_flex` decodes it, or to an error as there.

use lz4_flex::block::{compress, decompress_into};
use proptest::prelude::*;

use super::*;

/// What a block decodes to by the crate that knows how, which says so only if it is `len` bytes.
fn expected(block: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; len];
    (decompress_into(block, &mut out).ok()? == len).then_some(out)
}

fn check(block: &[u8], len: usize, fronts: &[usize]) {
    let expected = expected(block, len);
    let mut out = vec![0xaa; len];
    assert_eq!(decompress(block, len, &mut out).is_ok(), expected.is_some());
    let Some(expected) = expected else { return };
    assert!(out == expected);
    for front in fronts.iter().map(|front| front % (len + 1)) {
        let mut out = vec![0xaa; front];
        decompress(block, len, &mut out).unwrap();
        assert!(out == expected[..front], "{front} of {len}");
    }
}

/// Bytes that repeat what is some bytes before them for a while, or do not.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = (1_usize..40, 0_usize..80, any::<[u8; 8]>(), 0_usize..9);
    prop::collection::vec(part, 0..60).prop_map(|parts| {
        let mut bytes: Vec<u8> = Vec::new();
        for (distance, len, new, count) in parts {
            bytes.extend(new.iter().take(count));
            for _ in 0..len {
                let at = bytes.len().checked_sub(distance);
                bytes.push(at.map_or(7, |at| bytes[at]));
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn blocks_and_their_fronts_decode(bytes in bytes(), fronts in prop::collection::vec(any::<usize>(), 8)) {
        check(&compress(&bytes), bytes.len(), &fronts);
    }

    #[test]
    fn damaged_blocks_are_what_they_are_to_others(
        bytes in bytes(),
        damage in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        cut in 0_usize..4,
        fronts in prop::collection::vec(any::<usize>(), 8),
    ) {
        let mut block = compress(&bytes);
        let len = block.len();
        for (at, byte) in damage {
            block[at % len] = byte;
        }
        block.truncate((len - cut.min(len)).max(1));
        check(&block, bytes.len(), &fronts);
        for front in fronts {
            let _ = decompress(&block, bytes.len(), &mut vec![0; front % (bytes.len() + 1)]);
        }
    }

    #[test]
    fn blocks_of_any_bytes_do_no_harm(block in prop::collection::vec(any::<u8>(), 1..600), len in 0_usize..2000) {
        check(&block, len, &[]);
    }
}

#[test]
fn all_distances_and_lengths_are_copied() {
    for distance in 1..50_usize {
        for len in 4..90_u8 {
            // Literals that differ, a match, and literals.
            let first: Vec<u8> = (0..distance.try_into().unwrap()).collect();
            let lengths = |len: u8| (len.min(15), if len < 15 { vec![] } else { vec![len - 15] });
            let ((literals, more), (matched, rest)) = (lengths(first.len().try_into().unwrap()), lengths(len - 4));
            let mut block = [&[literals << 4 | matched], &more[..], &first].concat();
            block.extend(u16::try_from(distance).unwrap().to_le_bytes());
            block.extend(rest);
            block.extend([0xf0, 45]);
            block.extend([0xbb; 60]);
            check(&block, distance + usize::from(len) + 60, &[distance, distance + 1, distance + usize::from(len)]);
        }
    }
}
