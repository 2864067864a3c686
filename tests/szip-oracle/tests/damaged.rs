//! Damaged streams: no panic, no write beyond the output, and a stream that libaec decodes in full gives the same bytes
//! or an error.

use tgm_core::szip::{RsiOffsets, Start, decode_from, decode_into};
use tgm_szip_oracle::configs::rounds;
use tgm_szip_oracle::data::{KINDS, samples};
use tgm_szip_oracle::{Config, Rng, decode, encode};

#[derive(Debug, Default)]
struct Tally {
    both_same: u64,
    both_refuse: u64,
    only_libaec_refuses: u64,
    only_ours_refuses: u64,
    different: u64,
}

impl Tally {
    fn add(&mut self, config: Config, coded: &[u8], len: usize, note: &str) {
        let (mut ours, mut theirs) = (vec![0x55; len], vec![0xaa; len]);
        let result = decode_into(coded, &config.params(), &mut ours);
        let (code, written) = decode(config, coded, &mut theirs);
        match (result.is_ok(), code == 0 && written == len) {
            (true, true) if ours == theirs => self.both_same += 1,
            (true, true) => {
                if self.different < 5 {
                    let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap();
                    println!(
                        "{note} {config:?}: byte {at} of {len}: {:x?} {:x?}",
                        &ours[at..len.min(at + 8)],
                        &theirs[at..len.min(at + 8)]
                    );
                    println!("   {:02x?}", &coded[..coded.len().min(60)]);
                }
                self.different += 1;
            }
            (false, false) => self.both_refuse += 1,
            (true, false) => {
                if self.only_libaec_refuses < 5 {
                    println!("{note} {config:?}: ours decodes {len} bytes, libaec {code} {written}");
                }
                self.only_libaec_refuses += 1;
            }
            (false, true) => {
                if self.only_ours_refuses < 8 {
                    println!("{note} {config:?}: {result:?} of {} bytes, libaec decodes", coded.len());
                }
                self.only_ours_refuses += 1;
            }
        }
    }
}

fn config(rng: &mut Rng) -> Config {
    let bits = rng.below(32) as u32 + 1;
    let restricted = if bits <= 4 { rng.pick(&[0, 16]) } else { 0 };
    Config {
        bits,
        block_size: rng.pick(&[8, 16, 32, 64]),
        rsi: rng.pick(&[1, 2, 3, 16, 64, 65, 128, 200, 4096]),
        flags: rng.pick(&[0, 1, 4, 8, 9, 12, 13]) | restricted,
    }
}

fn coded(rng: &mut Rng, config: Config) -> (Vec<u8>, usize) {
    let kind = rng.pick(&KINDS);
    let count = rng.below(2000) as usize + 1;
    let data = config.bytes(&samples(rng, kind, config.bits, count));
    (encode(config, &data), data.len())
}

#[test]
fn streams_with_flipped_bits_decode_as_in_libaec_or_are_refused() {
    let (mut rng, mut tally) = (Rng::new(1), Tally::default());
    for _ in 0..40_000 * rounds() {
        let config = config(&mut rng);
        let (mut coded, len) = coded(&mut rng, config);
        for _ in 0..rng.below(3) + 1 {
            let bit = rng.below(coded.len() as u64 * 8);
            coded[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
        tally.add(config, &coded, len, "flipped");
    }
    println!("flipped bits: {tally:?}");
    assert_eq!(tally.different, 0);
}

#[test]
fn cut_streams_decode_as_in_libaec_or_are_refused() {
    let (mut rng, mut tally) = (Rng::new(2), Tally::default());
    for _ in 0..20_000 * rounds() {
        let config = config(&mut rng);
        let (mut coded, len) = coded(&mut rng, config);
        coded.truncate(rng.below(coded.len() as u64) as usize);
        tally.add(config, &coded, len, "cut");
    }
    println!("cut streams: {tally:?}");
    assert_eq!(tally.different, 0);
    assert_eq!(tally.only_libaec_refuses, 0, "a stream that was cut must not decode");
}

#[test]
fn noise_decodes_as_in_libaec_or_is_refused() {
    let (mut rng, mut tally) = (Rng::new(3), Tally::default());
    for _ in 0..40_000 * rounds() {
        let config = config(&mut rng);
        let density = rng.below(5);
        let byte = |rng: &mut Rng| (0..density).fold(rng.next(), |all, _| all & rng.next()) as u8;
        let coded: Vec<u8> = (0..rng.below(300)).map(|_| byte(&mut rng)).collect();
        let len = (rng.below(2000) as usize + 1) * config.container();
        tally.add(config, &coded, len, "noise");
    }
    println!("noise: {tally:?}");
    assert_eq!(tally.different, 0);
}

#[test]
fn decoding_from_any_start_ends_inside_the_stream() {
    let mut rng = Rng::new(4);
    for _ in 0..20_000 * rounds() {
        let config = config(&mut rng);
        let (coded, len) = coded(&mut rng, config);
        let bits = coded.len() as u64 * 8;
        let (offset, skip) = (rng.below(bits + 20), rng.below(3000));
        let start = Start { bit_offset: rng.pick(&[offset, offset, u64::MAX]), skip: rng.pick(&[0, skip, u64::MAX]) };
        let mut out = vec![0; len];
        if let Ok(end) = decode_from(&coded, &config.params(), start, &mut out) {
            assert!((start.bit_offset..=bits).contains(&end), "{config:?}");
        }
        let walked = RsiOffsets::new(&coded, &config.params(), rng.pick(&[5000, u64::MAX])).filter_map(Result::ok);
        assert!(walked.last() <= Some(bits));
    }
}
