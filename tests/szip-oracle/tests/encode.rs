//! tgm-std encodes to the same bytes as libaec, and its offsets equal those that a full parse finds.

use tgm_codec::szip::{compress, libaec};
use tgm_core::szip::{RsiOffsets, decode_into};
use tgm_szip_oracle::configs::{FLAGS, count as count_of, every_config, rounds};
use tgm_szip_oracle::data::{KINDS, Kind, samples};
use tgm_szip_oracle::{Config, Rng, decode, encode};

/// Other data than the tests of the decoder have.
const SEED: u64 = 1 << 60;

/// Samples for which the choice between codes is close: each block has a scale, differences within it are about
/// geometric, and some blocks are zeros.
fn close_calls(rng: &mut Rng, config: Config, count: usize) -> Vec<u32> {
    let max = u32::MAX >> (32 - config.bits);
    let mut now = rng.next() as u32 & max;
    let (mut scale, mut left, mut weight) = (0, 0, 1);
    (0..count)
        .map(|_| {
            if left == 0 {
                left = rng.pick(&[config.block_size, config.block_size, 3, 5 * config.block_size]);
                scale = rng.below(u64::from(config.bits) + 2);
                weight = rng.below(6) + 1;
            }
            left -= 1;
            // About 2^scale / weight, or 0.
            let size = (0..weight).fold(rng.next(), |all, _| all & rng.next()) & ((1 << scale) - 1);
            let step = if rng.below(2) == 0 { size as u32 } else { (size as u32).wrapping_neg() };
            let value = now.wrapping_add(step) & max;
            // With the predictor these are differences; without it they are the samples.
            if config.flags & 8 == 0 {
                return size as u32 & max;
            }
            now = value;
            value
        })
        .collect()
}

/// Encodes with both libraries, and compares the streams and the offsets.
fn check(config: Config, samples: &[u32], note: &str) {
    let (data, params) = (config.bytes(samples), config.params());
    let expected = encode(config, &data);
    let (coded, offsets) = compress(&data, &params).unwrap();
    let same = coded == expected;
    assert!(same, "{note} {config:?} {} samples: {:?}", samples.len(), first_difference(&coded, &expected));
    let parsed: Result<Vec<u64>, _> = RsiOffsets::new(&coded, &params, samples.len() as u64).collect();
    assert_eq!(Ok(offsets), parsed, "{note} {config:?}");
}

fn first_difference(a: &[u8], b: &[u8]) -> (Option<usize>, usize, usize) {
    (a.iter().zip(b).position(|(a, b)| a != b), a.len(), b.len())
}

#[test]
fn streams_are_the_same_as_libaecs() {
    let mut cases = 0;
    every_config(SEED, |config, rng| {
        for _ in 0..3 {
            let (kind, count) = (rng.pick(&KINDS), count_of(rng, config));
            check(config, &samples(rng, kind, config.bits, count), &format!("{kind:?}"));
            let count = count_of(rng, config);
            check(config, &close_calls(rng, config, count), "close calls");
            cases += 2;
        }
    });
    println!("{cases} streams");
}

#[test]
fn every_small_length_encodes_to_the_same_bytes() {
    for bits in 1..=32 {
        for flags in [0, 8, 9, 12] {
            let config = Config { bits, block_size: 8, rsi: 2, flags };
            let mut rng = Rng::new(u64::from(bits * 100 + flags));
            for count in 1..60 {
                for kind in KINDS {
                    check(config, &samples(&mut rng, kind, bits, count), &format!("{kind:?}"));
                }
            }
        }
    }
}

/// Blocks of zeros in runs of all lengths, over the ends of segments and intervals.
#[test]
fn runs_of_zeros_encode_to_the_same_bytes() {
    for flags in [0, 8] {
        for rsi in [1, 4, 5, 6, 63, 64, 65, 68, 69, 70, 127, 128, 129, 134, 300] {
            let config = Config { bits: 8, block_size: 8, rsi, flags };
            let mut rng = Rng::new(u64::from(rsi));
            for start in [0, 1, 2, 58, 59, 60, 62, 63, 64, 120, 127] {
                for run in [1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 128, 200] {
                    let noise = |rng: &mut Rng, blocks: usize| -> Vec<u32> {
                        (0..8 * blocks).map(|_| rng.next() as u32 & 0xff).collect()
                    };
                    let mut samples = noise(&mut rng, start);
                    let constant = samples.last().copied().unwrap_or(7) * (flags >> 3);
                    samples.resize(samples.len() + 8 * run, constant);
                    check(config, &samples, "zeros at the end");
                    let behind = rng.below(3) as usize + 1;
                    samples.extend(noise(&mut rng, behind));
                    check(config, &samples, "zeros inside");
                }
            }
        }
    }
}

/// Every block of two and four values of a few bits.
#[test]
fn all_small_blocks_encode_to_the_same_bytes() {
    for (bits, block_size) in [(1, 8), (2, 4), (3, 2), (4, 2), (5, 2)] {
        for flags in [64, 64 + 8, 64 + 9, 64 + 16, 64 + 24].into_iter().filter(|flags| bits <= 4 || flags & 16 == 0) {
            let config = Config { bits, block_size, rsi: 3, flags };
            let max = u32::MAX >> (32 - bits);
            for all in 0..1_u32 << (bits * block_size) {
                let block: Vec<u32> = (0..block_size).map(|i| all >> (i * bits) & max).collect();
                check(config, &block, "one");
                check(
                    config,
                    &[&[0, max].repeat(4 * block_size as usize)[..block_size as usize], &block].concat(),
                    "second",
                );
            }
        }
    }
}

/// Above 64 samples libaec's encoder makes pairs that its decoder refuses. Ours splits such blocks; all else is equal.
#[test]
fn any_even_block_size_encodes_to_the_same_bytes_if_libaec_can_decode_them() {
    let (mut cases, mut different) = (0, 0);
    for round in 0..rounds() {
        for block_size in (2..=256).step_by(2) {
            let mut rng = Rng::new(2 << 60 | round << 32 | u64::from(block_size));
            for bits in 1..=32 {
                let rsi = rng.pick(&[1, 2, 5, 64, 70]);
                let config = Config { bits, block_size, rsi, flags: 64 | rng.pick(&FLAGS) };
                let (kind, count) = (rng.pick(&KINDS), count_of(&mut rng, config));
                let samples = if rng.below(2) == 0 {
                    close_calls(&mut rng, config, count)
                } else {
                    samples(&mut rng, kind, bits, count)
                };
                let (data, params) = (config.bytes(&samples), config.params());
                let expected = encode(config, &data);
                let mut decoded = vec![0; data.len()];
                let (code, _) = decode(config, &expected, &mut decoded);
                cases += 1;
                if code == 0 {
                    check(config, &samples, "any block size");
                    continue;
                }
                different += 1;
                let (coded, offsets) = compress(&data, &params).unwrap();
                assert!(block_size > 64 && coded != expected, "{config:?}");
                let mut ours = vec![0; data.len()];
                assert_eq!(decode(config, &coded, &mut decoded), (0, data.len()), "{config:?}");
                assert_eq!(decode_into(&coded, &params, &mut ours), Ok(()));
                assert!(ours == decoded, "{config:?}");
                if config.flags & 1 == 0 || bits % 8 == 0 {
                    assert!(ours == data, "{config:?}");
                }
                let parsed: Result<Vec<u64>, _> = RsiOffsets::new(&coded, &params, count as u64).collect();
                assert_eq!(Ok(offsets), parsed);
            }
        }
    }
    println!("{cases} streams, {different} that libaec encodes but cannot decode");
}

/// libaec's encoder does not pad, but its decoder skips padding: it cannot decode its own streams with that flag.
#[test]
fn padded_intervals_are_read_by_libaec() {
    let mut rng = Rng::new(5);
    for bits in 1..=32 {
        for rsi in [1, 2, 5, 64] {
            for flags in [32, 32 + 8, 32 + 12] {
                let config = Config { bits, block_size: 16, rsi, flags };
                let (kind, count) = (rng.pick(&KINDS), rng.below(5000) as usize + 1);
                let (data, params) = (config.bytes(&samples(&mut rng, kind, bits, count)), config.params());
                let (coded, offsets) = compress(&data, &params).unwrap();
                let (mut ours, mut theirs) = (vec![0; data.len()], vec![0; data.len()]);
                assert_eq!(decode_into(&coded, &params, &mut ours), Ok(()), "{config:?}");
                assert_eq!(decode(config, &coded, &mut theirs), (0, data.len()), "{config:?}");
                assert!(ours == data && theirs == data, "{config:?} {kind:?}");
                let parsed: Result<Vec<u64>, _> = RsiOffsets::new(&coded, &params, count as u64).collect();
                assert_eq!(Ok(offsets), parsed);
            }
        }
    }
}

#[test]
fn libaec_behind_safe_functions_gives_the_same_streams_and_samples() {
    every_config(SEED, |config, rng| {
        let count = count_of(rng, config);
        let kind = rng.pick(&[Kind::Mixed, Kind::Plateaus, Kind::Walk, Kind::Noise]);
        let data = config.bytes(&samples(rng, kind, config.bits, count));
        let params = config.params();
        // Both ignore bits above the bits of a sample, such as copies of the sign bit.
        let mut excess = data.clone();
        excess.iter_mut().for_each(|byte| *byte |= (rng.next() as u8) << 5);
        for data in [&data, &excess] {
            let coded = compress(data, &params).unwrap();
            assert!(libaec::compress(data, &params).unwrap() == coded, "{config:?}");
            let (mut ours, mut theirs) = (vec![0; data.len()], vec![1; data.len()]);
            decode_into(&coded.0, &params, &mut ours).unwrap();
            libaec::decompress_into(&coded.0, &params, &mut theirs).unwrap();
            assert!(ours == theirs, "{config:?}");
            // The decoded samples equal the input.
            assert!(compress(&ours, &params).unwrap() == coded, "{config:?}");
        }
    });
}

#[test]
fn libaec_behind_safe_functions_gives_error_texts() {
    let params = Config { bits: 16, block_size: 8, rsi: 2, flags: 8 }.params();
    let text = |result: Result<_, tgm_codec::CodecError>| result.map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        text(libaec::compress(&[0; 3], &params).map(drop)),
        "data length 3 is not a multiple of sample byte width 2"
    );
    assert_eq!(libaec::compress(&[], &params), Ok((vec![], vec![])));
    assert_eq!(libaec::decompress_into(&[], &params, &mut []), Ok(()));
    let cut = text(libaec::decompress_into(&[], &params, &mut [0; 4]));
    assert_eq!(cut, "the stream ends 4 bytes before the last sample");
    let damaged = text(libaec::decompress_into(&[0; 100], &params, &mut [0; 400]));
    assert!(damaged.starts_with("libaec's decoder finds the stream damaged") || damaged.contains("ends"), "{damaged}");
    for (block_size, flags) in [(16, 32), (66, 64)] {
        let params = Config { bits: 16, block_size, rsi: 2, flags }.params();
        assert!(text(libaec::compress(&[0; 4], &params).map(drop)).contains("cannot read back"));
    }
}
