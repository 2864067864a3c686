//! Compares how fast libaec and tgm-core decode the same streams: median of several runs, in processor time.
//!
//! `cargo run --profile speed --bin ratio`

use std::hint::black_box;

use tgm_core::szip::{Formula, RsiOffsets, Start, decode_into, decode_packed_with};
use tgm_szip_oracle::speed::{RUNS, for_each_case, medians};
use tgm_szip_oracle::{Config, decode, encode};

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
    println!("nanoseconds of processor time per sample, median of {RUNS}; x: libaec's divided by ours");
    for_each_case(compare);
}
