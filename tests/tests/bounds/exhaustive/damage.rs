//! Every small damage to a message: a cut, a flipped bit, a piece of a magic.

use std::collections::BTreeSet;

/// Every prefix, from the empty one to all but the last byte.
pub(crate) fn cuts(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len()).map(|len| bytes[..len].to_vec())
}

/// The message with one bit flipped, and the position of its byte; for every bit.
pub(crate) fn flips(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..8 * bytes.len()).map(|bit| {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        (bit / 8, damaged)
    })
}

/// The message with two bytes of a magic written over it; for every pair of bytes and every place.
pub(crate) fn splices(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let magics: [&[u8]; 4] = [b"TENSOGRM", b"39277777", b"FR", b"ENDF"];
    let pieces: BTreeSet<&[u8]> = magics.iter().flat_map(|magic| magic.windows(2)).collect();
    pieces.into_iter().flat_map(move |piece| {
        (0..bytes.len() - 1).map(move |at| {
            let mut damaged = bytes.to_vec();
            damaged[at..at + 2].copy_from_slice(piece);
            damaged
        })
    })
}
