//! szip streams: a range is a slice of the whole, with offsets and without, and samples are no wider than stated.
//! Pieces give what the whole stream gives, errors included.

use tgm_core::szip::{
    MAX_BLOCK_SIZE, MAX_RSI, Params, PieceDecoder, RsiOffsets, Start, decode_into, decode_range_into, decode_with,
    find_rsi,
};
use tgm_core::{Error, ErrorKind};

use crate::given::Given;

/// Decodes `bytes`. The last bytes give the parameters.
pub fn check(bytes: &[u8]) {
    let mut given = Given(bytes);
    let bits = given.up_to(33);
    let block_size = given.choice(&[8, 16, 32, 64, 10, 256]);
    let rsi = given.choice(&[1, 2, 3, 16, 128, MAX_RSI]);
    let flags = u32::from(given.byte());
    let samples = usize::try_from(given.up_to(3000)).expect("small");
    let Ok(params) = Params::new(u32::try_from(bits).expect("small"), block_size, rsi, flags) else { return };
    let stream = given.0;
    same_in_pieces(stream, &params, samples, &Given(bytes).pieces(stream));
    let width = params.container_size();
    let mut whole = vec![0; samples * width];
    if decode_into(stream, &params, &mut whole).is_err() {
        return;
    }
    let limit = if params.bits_per_sample() == 32 { u64::from(u32::MAX) } else { (1 << params.bits_per_sample()) - 1 };
    for sample in whole.chunks_exact(width).take(64) {
        if params.flags() & tgm_core::szip::flags::SIGNED == 0 {
            assert!(number(sample, &params) <= limit, "a value wider than a sample");
        }
    }
    let (first, count) = given.range(samples as u64);
    let wanted = usize::try_from(first).expect("small") * width..usize::try_from(first + count).expect("small") * width;
    let mut part = vec![0; wanted.len()];
    // Without offsets the stream is read from its start; with offsets it is read where the range lies.
    decode_range_into(stream, &params, [], first, &mut part).expect("a part of what could be decoded");
    assert_eq!(part, whole[wanted.clone()]);
    let offsets: Vec<u64> = RsiOffsets::new(stream, &params, samples as u64).map_while(Result::ok).collect();
    assert_eq!(offsets.len() as u64, params.rsi_count(samples as u64), "intervals of what could be decoded");
    assert!(offsets.is_sorted() && offsets.last().is_none_or(|last| *last <= 8 * stream.len() as u64));
    decode_range_into(stream, &params, offsets.iter().copied(), first, &mut part).expect("as before");
    assert_eq!(part, whole[wanted]);
    for (index, offset) in offsets.iter().enumerate().take(8) {
        assert_eq!(find_rsi(stream, &params, index as u64), Ok(*offset));
    }
}

/// Asserts that `pieces` give the samples and errors of `stream`, up to a block that is too long for the memory.
fn same_in_pieces(stream: &[u8], params: &Params, samples: usize, pieces: &[&[u8]]) {
    let in_one = in_pieces(params, samples, &[stream]);
    assert_eq!(in_pieces(params, samples, pieces), in_one);
    let (found, error) = in_one;
    let mut whole = vec![None; samples];
    let result = decode_with(stream, params, Start::default(), &mut whole, Some);
    let whole: Vec<u32> = whole.into_iter().map_while(|sample| sample).collect();
    match error.map(|error| error.kind()) {
        Some(ErrorKind::SzipBlockMemory) => assert!(whole.starts_with(&found)),
        _ => assert_eq!((found, error), (whole, result.err())),
    }
}

fn in_pieces(params: &Params, samples: usize, pieces: &[&[u8]]) -> (Vec<u32>, Option<Error>) {
    let mut decoder = PieceDecoder::<{ MAX_BLOCK_SIZE as usize }>::new(params).expect("no larger blocks than these");
    let (mut found, mut out) = (Vec::new(), [0; 37]);
    for piece in pieces {
        let mut rest = *piece;
        while found.len() < samples {
            let wanted = out.len().min(samples - found.len());
            match decoder.decode_with(&mut rest, &mut out[..wanted], |sample| sample) {
                Ok(0) => break,
                Ok(count) => found.extend_from_slice(&out[..count]),
                Err(error) => return (found, Some(error)),
            }
        }
    }
    let truncated = ErrorKind::Truncated.at(decoder.position());
    let error = (found.len() < samples).then_some(truncated);
    (found, error)
}

fn number(sample: &[u8], params: &Params) -> u64 {
    let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match params.byte_order() {
        tgm_core::descriptor::ByteOrder::Big => sample.iter().fold(0, fold),
        tgm_core::descriptor::ByteOrder::Little => sample.iter().rev().fold(0, fold),
    }
}
