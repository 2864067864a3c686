//! Both libraries decode streams of libaec's encoder to the same bytes: whole, in parts, and from any interval.

use tgm_core::szip::{
    Formula, RsiOffsets, Start, decode_from, decode_into, decode_packed_with, decode_range_into, decode_with, find_rsi,
    find_rsi_near,
};
use tgm_szip_oracle::configs::{FLAGS, count, every_config, rounds};
use tgm_szip_oracle::data::{KINDS, samples};
use tgm_szip_oracle::{Config, Rng, decode, decode_offsets, decode_range, encode, encode_with_offsets};

/// A stream that libaec encoded, and the bytes that libaec decodes it to.
fn case(config: Config, rng: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let kind = rng.pick(&KINDS);
    let count = count(rng, config);
    let samples = samples(rng, kind, config.bits, count);
    let data = config.bytes(&samples);
    let coded = encode(config, &data);
    let mut decoded = vec![0; data.len()];
    assert_eq!(decode(config, &coded, &mut decoded), (0, data.len()), "{config:?}");
    // libaec takes signed samples without copies of the sign beyond the sample, and returns them with these copies.
    if config.flags & 1 == 0 || config.bits % 8 == 0 {
        assert!(decoded == data, "{config:?}");
    }
    (coded, decoded)
}

#[test]
fn whole_streams_decode_to_the_same_bytes() {
    let mut cases = 0;
    every_config(0, |config, rng| {
        for _ in 0..3 {
            let (coded, decoded) = case(config, rng);
            let mut out = vec![0xaa; decoded.len()];
            assert_eq!(decode_into(&coded, &config.params(), &mut out), Ok(()), "{config:?}");
            assert!(out == decoded, "{config:?} {} samples", out.len() / config.container());
            cases += 1;
        }
    });
    println!("{cases} streams");
}

/// Above 64 samples libaec's encoder makes pairs of the second extension that its decoder refuses; ours refuses them
/// too.
#[test]
fn any_even_block_size_decodes_to_the_same_bytes_with_the_flag_for_it() {
    let (mut cases, mut refused) = (0, 0);
    for round in 0..rounds() {
        for block_size in (2..=256).step_by(2) {
            let mut rng = Rng::new(round << 32 | u64::from(block_size));
            for bits in 1..=32 {
                let rsi = rng.pick(&[1, 2, 5, 64, 70]);
                let flags = 64 | rng.pick(&FLAGS);
                let config = Config { bits, block_size, rsi, flags };
                let (kind, count) = (rng.pick(&KINDS), count(&mut rng, config));
                let data = config.bytes(&samples(&mut rng, kind, bits, count));
                let coded = encode(config, &data);
                let mut decoded = vec![0; data.len()];
                let (code, _) = decode(config, &coded, &mut decoded);
                let mut out = vec![0xaa; decoded.len()];
                let result = decode_into(&coded, &config.params(), &mut out);
                cases += 1;
                if code == 0 {
                    assert_eq!(result, Ok(()), "{config:?}");
                    assert!(out == decoded, "{config:?}");
                } else {
                    assert!(block_size > 64 && result.is_err(), "{config:?}");
                    refused += 1;
                }
            }
        }
    }
    println!("{cases} streams, {refused} refused by both");
}

#[test]
fn every_small_length_decodes_to_the_same_bytes() {
    for bits in 1..=32 {
        for flags in [0, 8, 9, 12] {
            let config = Config { bits, block_size: 8, rsi: 2, flags };
            let mut rng = Rng::new(u64::from(bits * 100 + flags));
            for count in 1..60 {
                for kind in KINDS {
                    let data = config.bytes(&samples(&mut rng, kind, bits, count));
                    let coded = encode(config, &data);
                    let mut decoded = vec![0; data.len()];
                    decode(config, &coded, &mut decoded);
                    let mut out = vec![0xaa; data.len()];
                    assert_eq!(decode_into(&coded, &config.params(), &mut out), Ok(()), "{config:?}");
                    assert!(out == decoded, "{config:?} {count} {kind:?}");
                }
            }
        }
    }
}

#[test]
fn ranges_are_parts_of_the_whole() {
    let (mut same_as_libaec, mut libaec_wrong) = (0, 0);
    every_config(0, |config, rng| {
        let (coded, decoded) = case(config, rng);
        let (params, size) = (config.params(), config.container());
        let total = decoded.len() / size;
        let offsets: Vec<u64> = RsiOffsets::new(&coded, &params, total as u64).collect::<Result<_, _>>().unwrap();
        for _ in 0..4 {
            let first = rng.below(total as u64) as usize;
            let count = rng.below((total - first) as u64 + 1).min(rng.pick(&[1, 20, 5000])) as usize;
            let expected = &decoded[first * size..(first + count) * size];
            for offsets in [&offsets[..], &[]] {
                let mut out = vec![0xaa; expected.len()];
                let result = decode_range_into(&coded, &params, offsets.iter().copied(), first as u64, &mut out);
                assert_eq!(result, Ok(()), "{config:?} {first} {count}");
                assert!(out == expected, "{config:?} {first} {count}");
            }
            if count > 0 {
                let mut out = vec![0xaa; expected.len()];
                if decode_range(config, &coded, &offsets, first * size, &mut out) == 0 && out == expected {
                    same_as_libaec += 1;
                } else {
                    libaec_wrong += 1;
                }
            }
        }
    });
    println!("ranges by true offsets: libaec the same {same_as_libaec}, different {libaec_wrong}");
}

#[test]
fn intervals_end_where_the_next_one_starts() {
    let (mut intervals, mut encoder_wrong, mut decoder_wrong) = (0, 0, 0);
    every_config(0, |config, rng| {
        let kind = rng.pick(&KINDS);
        let count = count(rng, config);
        let data = config.bytes(&samples(rng, kind, config.bits, count));
        let (coded, stored) = encode_with_offsets(config, &data);
        let mut decoded = vec![0; data.len()];
        decode(config, &coded, &mut decoded);
        let params = config.params();
        let offsets: Vec<u64> = RsiOffsets::new(&coded, &params, count as u64).collect::<Result<_, _>>().unwrap();
        assert_eq!(offsets.len() as u64, params.rsi_count(count as u64));
        // libaec adds the end of the last interval if that interval is complete.
        let is_whole = count % config.samples_per_rsi() == 0;
        assert!((offsets.len()..=offsets.len() + usize::from(is_whole)).contains(&stored.len()), "{config:?} {count}");

        for (index, part) in decoded.chunks(config.samples_per_rsi() * config.container()).enumerate() {
            let mut out = vec![0xaa; part.len()];
            let start = Start { bit_offset: offsets[index], skip: 0 };
            let end = decode_from(&coded, &params, start, &mut out).unwrap();
            assert!(out == part, "{config:?} {index}");
            match offsets.get(index + 1) {
                Some(&next) => assert_eq!(end, next, "{config:?} {index}"),
                None => assert_eq!(end.div_ceil(8), coded.len() as u64, "{config:?} {index}"),
            }
            if index % 7 == 0 {
                assert_eq!(find_rsi(&coded, &params, index as u64), Ok(offsets[index]));
            }
        }

        intervals += offsets.len();
        for (ours, theirs) in offsets.iter().zip(&stored) {
            assert!(theirs <= ours, "{config:?}: libaec's offsets are only ever too small");
            encoder_wrong += usize::from(theirs != ours);
        }
        if let Some(theirs) = decode_offsets(config, &coded, data.len()) {
            decoder_wrong += offsets.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count();
        }
    });
    println!(
        "{intervals} intervals: {encoder_wrong} offsets of libaec's encoder wrong, {decoder_wrong} of its decoder"
    );
}

/// Fields with large parts of zeros, for which libaec counts offsets wrong: single ones, neighbours, or all of them.
#[test]
fn every_interval_is_found_whatever_offsets_libaec_counted() {
    let (mut wrong, mut neighbours, mut sought) = (0_u64, 0_u64, 0_u64);
    every_config(0, |config, rng| {
        if config.rsi > 65 {
            return;
        }
        let (block, per_rsi) = (config.block_size as usize, config.samples_per_rsi());
        let blocks = 40 * per_rsi / block;
        // How likely a run of zero blocks begins, and how likely it ends. In one case of four all intervals are alike.
        let (to_zero, to_noise, period) =
            (rng.below(100), 1 + rng.below(60), if rng.below(4) == 0 { per_rsi / block } else { blocks });
        let mut is_zero = false;
        let kinds: Vec<bool> = (0..period.max(1))
            .map(|_| {
                is_zero = if is_zero { rng.below(100) >= to_noise } else { rng.below(100) < to_zero };
                is_zero
            })
            .collect();
        let height = 1 + rng.below(u64::from(u32::MAX >> (32 - config.bits)));
        let samples: Vec<u32> = (0..blocks * block)
            .map(|i| if kinds[i / block % kinds.len()] { 0 } else { rng.below(height) as u32 })
            .collect();
        let (stream, counted) = encode_with_offsets(config, &config.bytes(&samples));
        let truth: Vec<u64> =
            RsiOffsets::new(&stream, &config.params(), samples.len() as u64).map(Result::unwrap).collect();
        wrong += counted.iter().zip(&truth).filter(|(counted, truth)| counted != truth).count() as u64;
        neighbours += (1..truth.len().min(counted.len()))
            .filter(|&i| counted[i] != truth[i] && counted[i - 1] != truth[i - 1])
            .count() as u64;
        for (index, &true_offset) in truth.iter().enumerate() {
            let stored = |index: u64| counted.get(index as usize).copied();
            assert_eq!(
                find_rsi_near(&stream, &config.params(), stored, index as u64),
                Ok(true_offset),
                "{config:?}, interval {index}"
            );
            sought += 1;
        }
    });
    println!("{wrong} wrong offsets, {neighbours} next to another, among {sought}");
    assert!(wrong > 100 && neighbours > 10, "libaec counted {wrong} offsets wrong, {neighbours} next to another");
}

#[test]
fn padded_intervals_start_at_bytes() {
    let mut rng = Rng::new(5);
    for bits in 1..=32 {
        for rsi in [1, 2, 5, 64] {
            for flags in [0, 8, 9] {
                let config = Config { bits, block_size: 16, rsi, flags };
                let (mut coded, mut decoded, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
                for _ in 0..4 {
                    let kind = rng.pick(&KINDS);
                    let data = config.bytes(&samples(&mut rng, kind, bits, config.samples_per_rsi()));
                    offsets.push(coded.len() as u64 * 8);
                    let one = encode(config, &data);
                    let mut part = vec![0; data.len()];
                    decode(config, &one, &mut part);
                    coded.extend(one);
                    decoded.extend(part);
                }
                let config = Config { flags: flags | 32, ..config };
                let (mut ours, mut theirs) = (vec![0xaa; decoded.len()], vec![0xaa; decoded.len()]);
                assert_eq!(decode(config, &coded, &mut theirs), (0, decoded.len()));
                assert_eq!(decode_into(&coded, &config.params(), &mut ours), Ok(()), "{config:?}");
                assert!(ours == decoded && theirs == decoded, "{config:?}");
                let total = (decoded.len() / config.container()) as u64;
                let found: Vec<u64> = RsiOffsets::new(&coded, &config.params(), total).map(Result::unwrap).collect();
                assert_eq!(found, offsets);
            }
        }
    }
}

#[test]
fn samples_and_packed_values_come_from_the_same_integers() {
    for bits in [8, 16, 24, 32] {
        for flags in [4, 8, 12, 13] {
            let config = Config { bits, block_size: 16, rsi: 5, flags };
            let mut rng = Rng::new(u64::from(bits + flags));
            for kind in KINDS {
                let data = config.bytes(&samples(&mut rng, kind, bits, 700));
                let coded = encode(config, &data);
                let params = config.params();
                let integers: Vec<u32> = data.chunks(config.container()).map(|bytes| integer(config, bytes)).collect();
                let formula = Formula { reference: -3.7, scale: 1e-3 };

                let start = Start { bit_offset: 0, skip: 30 };
                let mut values = vec![0.0; 600];
                decode_packed_with(&coded, &params, start, formula, &mut values, |value| value).unwrap();
                let expected: Vec<f64> = integers.iter().map(|&q| -3.7 + 1e-3 * f64::from(q)).collect();
                assert_eq!(values, expected[30..630]);

                let mut out = vec![0; 600];
                decode_with(&coded, &params, start, &mut out, |sample| sample).unwrap();
                let sign = if flags & 9 == 9 { 32 - bits } else { 0 };
                let extended: Vec<u32> = integers.iter().map(|&q| ((q << sign) as i32 >> sign) as u32).collect();
                let extended = if sign == 0 { integers } else { extended };
                assert_eq!(out, extended[30..630], "{config:?}");
            }
        }
    }
}

/// The integer in a container.
fn integer(config: Config, bytes: &[u8]) -> u32 {
    let fold = |all: u32, byte: &u8| all << 8 | u32::from(*byte);
    if config.flags & 4 == 0 { bytes.iter().rev().fold(0, fold) } else { bytes.iter().fold(0, fold) }
}
