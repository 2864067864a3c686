//! How fast libaec and tgm-core decode the same streams: median of several runs, in processor time.
//!
//! `cargo run --profile speed --bin ratio`

use std::hint::black_box;

use tgm_core::szip::{Formula, RsiOffsets, Start, decode_into, decode_packed_with};
use tgm_szip_oracle::speed::{COUNT, RUNS, medians, smooth};
use tgm_szip_oracle::{Config, Rng, decode, encode};

fn compare(name: &str, config: Config, samples: &[u32]) {
    let data = config.bytes(samples);
    let coded = encode(config, &data);
    let params = config.params();
    let (mut theirs, mut ours, mut values) = (vec![0; data.len()], vec![0; data.len()], vec![0.0; samples.len()]);
    assert_eq!(decode(config, &coded, &mut theirs), (0, data.len()));
    decode_into(&coded, &params, &mut ours).unwrap();
    assert!(theirs == data && ours == data);

    let formula = Formula { reference: 250.0, scale: 0.001 };
    let packed = config.bits % 8 == 0;
    let [aec, bytes, floats, walk] = medians([
        &mut || {
            black_box(decode(config, &coded, &mut theirs));
        },
        &mut || decode_into(&coded, &params, &mut ours).unwrap(),
        &mut || {
            if packed {
                decode_packed_with(&coded, &params, Start::default(), formula, &mut values, |value| value).unwrap();
            }
        },
        &mut || {
            black_box(RsiOffsets::new(&coded, &params, samples.len() as u64).last());
        },
    ]);
    let size = 100.0 * coded.len() as f64 / data.len() as f64;
    let part = |time: f64| format!("{time:5.2} (x {:5.2})", aec / time);
    let floats = if packed { part(floats) } else { "-".to_owned() };
    println!(
        "{name:26} {size:5.1} % | libaec {aec:6.2} | bytes {} | f64 {floats:15} | walk {}",
        part(bytes),
        part(walk)
    );
}

fn main() {
    println!("nanoseconds of processor time a sample, median of {RUNS}; x: libaec's divided by ours");
    let usual = Config { bits: 16, block_size: 16, rsi: 128, flags: 12 };
    for noise in [0.0, 3.0, 30.0, 300.0] {
        compare(&format!("16 bits, noise {noise}"), usual, &smooth(16, noise));
    }
    let field = smooth(16, 10.0);
    for (block_size, rsi) in [(8, 16), (8, 128), (32, 128), (64, 128), (16, 1)] {
        compare(&format!("16 bits, block {block_size}, rsi {rsi}"), Config { block_size, rsi, ..usual }, &field);
    }
    compare("16 bits, little-endian", Config { flags: 8, ..usual }, &field);
    compare("16 bits, signed", Config { flags: 13, ..usual }, &field);
    compare("16 bits, no predictor", Config { flags: 4, ..usual }, &field);
    compare("8 bits, noise 1", Config { bits: 8, ..usual }, &smooth(8, 1.0));
    compare("12 bits, noise 3", Config { bits: 12, ..usual }, &smooth(12, 3.0));
    compare("24 bits, noise 1000", Config { bits: 24, ..usual }, &smooth(24, 1e3));
    compare("32 bits, noise 1e5", Config { bits: 32, ..usual }, &smooth(32, 1e5));
    let mut rng = Rng::new(1);
    let noise: Vec<u32> = (0..COUNT).map(|_| rng.next() as u32).collect();
    for bits in [8, 16, 32] {
        let noise: Vec<u32> = noise.iter().map(|value| value >> (32 - bits)).collect();
        compare(&format!("{bits} bits, random"), Config { bits, ..usual }, &noise);
    }
    compare("16 bits, zeros", usual, &vec![0; COUNT]);
    for (name, end) in [("small", 4), ("large", 60_000)] {
        let sparse: Vec<u32> = (0..COUNT).map(|_| if rng.below(20) == 0 { rng.below(end) as u32 } else { 0 }).collect();
        compare(&format!("16 bits, 1 in 20 {name}"), usual, &sparse);
    }
}
