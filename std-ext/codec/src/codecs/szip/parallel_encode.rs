//! Encodes a stream on several threads.
//!
//! Each thread codes pieces of several intervals as streams of their own, and these are joined bit by bit.
//!
//! One thing reaches from an interval to the next: the search for the best k of a block begins with the k of the block before
//! it, and among equally short codes that decides ([`select`](super::select)). So a thread codes the interval before a piece
//! first, only for the k that it ends with. When the pieces are joined, this k is compared with the one that the stream
//! came to. If it is another one, the piece is coded again. That happens if the interval before is all zeros, and hardly
//! ever otherwise.

use std::ops::Range;

use tgm_core::szip::Params;

use super::coder::{Coder, interval_len};
use crate::codecs::CodecError;
use crate::threads::Threads;

/// Bytes of containers in a piece.
const PIECE: usize = 256 << 10;
/// The fewest intervals of a piece. Before a piece, one interval is coded for its k: at most an eighth of the work.
const INTERVALS: usize = 8;
/// Pieces for each thread before they are joined. They take memory until then.
const ROUND: usize = 4;

/// Appends the stream of `len` bytes of containers to `out`. `code` puts the intervals of a range of these bytes into a
/// stream.
pub(super) fn append(
    threads: Threads,
    len: usize,
    params: &Params,
    code: impl Fn(Range<usize>, &mut Coder<'_>) -> Result<(), CodecError> + Sync,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    append_pieces(threads, (PIECE / interval_len(params)).max(INTERVALS), len, params, code, out)
}

/// [`append`] in pieces of this number of intervals.
fn append_pieces(
    threads: Threads,
    intervals: usize,
    len: usize,
    params: &Params,
    code: impl Fn(Range<usize>, &mut Coder<'_>) -> Result<(), CodecError> + Sync,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    let interval = interval_len(params);
    let piece = interval * intervals;
    let mut stream = Coder::new(len, params, std::mem::take(out), 0)?;
    if threads.is_one() || len <= piece {
        code(0..len, &mut stream)?;
    } else {
        let coded = |range: Range<usize>, k: u32| {
            let mut coder = Coder::new(range.len(), params, Vec::new(), k)?;
            code(range, &mut coder).map(|()| coder)
        };
        let piece_of = |start: usize| start..start + piece.min(len - start);
        let coded_alone = |&start: &usize| {
            let before = start.checked_sub(interval).map(|before| coded(before..start, 0)).transpose()?;
            let k = before.map_or(0, |before| before.k().0);
            coded(piece_of(start), k).map(|coder| (k, coder))
        };
        let starts: Vec<usize> = (0..len).step_by(piece).collect();
        for round in starts.chunks((threads.count() as usize).saturating_mul(ROUND)) {
            for (&start, (k, coder)) in round.iter().zip(threads.map(round, coded_alone)?) {
                let (actual, (_, depends_on_k)) = (stream.k().0, coder.k());
                if k == actual || !depends_on_k {
                    stream.append(&coder)?;
                } else {
                    stream.append(&coded(piece_of(start), actual)?)?;
                }
            }
        }
    }
    let offsets;
    (*out, offsets) = stream.finish();
    Ok(offsets)
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use proptest::prelude::*;
    use tgm_core::szip::flags;

    use super::*;

    /// The stream and the offsets of samples of a byte, on these threads, in pieces of one interval.
    fn coded(threads: u32, samples: &[u8], params: &Params) -> (Vec<u8>, Vec<u64>) {
        let threads = Threads::resolve(threads, u64::MAX, None).unwrap();
        let mut out = vec![7; 3];
        let interval = interval_len(params);
        let code = |range: Range<usize>, coder: &mut Coder<'_>| {
            samples[range].chunks(interval).try_for_each(|interval| coder.put_interval(interval))
        };
        let offsets = append_pieces(threads, 1, samples.len(), params, code, &mut out).unwrap();
        (out, offsets)
    }

    fn params(flags: u32) -> Params {
        Params::new(8, 8, 2, flags).unwrap()
    }

    proptest! {
        #[test]
        fn several_threads_write_what_one_writes(
            runs in prop::collection::vec(
                (prop::sample::select(vec![0_u8, 3, 15, 63, 255]), prop::collection::vec(any::<u8>(), 1..40)),
                0..60,
            ),
            pads in any::<bool>(),
            predicts in any::<bool>(),
            threads in 2..5_u32,
        ) {
            // Runs of small and great values, and of zeros: blocks with a different k, and intervals without any.
            let run = |(mask, run): (u8, Vec<u8>)| run.into_iter().map(move |byte| byte & mask);
            let samples: Vec<u8> = runs.into_iter().flat_map(run).collect();
            let flags = if pads { flags::PAD_RSI } else { 0 } | if predicts { flags::PREPROCESS } else { 0 };
            prop_assert_eq!(coded(threads, &samples, &params(flags)), coded(1, &samples, &params(flags)));
        }
    }

    #[test]
    fn a_piece_behind_zeros_is_coded_again_with_the_k_of_the_stream() {
        // Ones are as short with k = 0 as with k = 1, so the k before them decides. The interval of zeros has none.
        let (great, zeros, ones) = ([200_u8; 16], [0; 16], [1; 16]);
        let params = params(0);
        let code_of_ones = |before: &[u8]| {
            let (stream, offsets) = coded(1, &[before, &ones].concat(), &params);
            let start = 24 + offsets.last().unwrap();
            (start..start + 3)
                .map(|bit| stream[usize::try_from(bit / 8).unwrap()] >> (7 - bit % 8) & 1)
                .collect::<Vec<_>>()
        };
        assert_eq!((code_of_ones(&zeros), code_of_ones(&great)), (vec![0, 0, 1], vec![0, 1, 0]));
        let samples = [great, zeros, ones].concat();
        assert_eq!(coded(2, &samples, &params), coded(1, &samples, &params));
    }
}
