//! Compares how fast libaec and tgm-std encode the same samples: median of several runs, in processor time.
//!
//! `cargo run --profile speed --bin encode_ratio`

use std::hint::black_box;

use tgm_codec::szip::compress;
use tgm_szip_oracle::speed::{RUNS, for_each_case, medians};
use tgm_szip_oracle::{Config, encode, encode_with_offsets};

fn compare(name: &str, config: Config, samples: &[u32]) {
    let data = config.bytes(samples);
    let params = config.params();
    let coded = encode(config, &data);
    assert!(compress(&data, &params).unwrap().0 == coded);
    let [plain, with_offsets, ours] = medians([
        &mut || {
            black_box(encode(config, &data));
        },
        &mut || {
            black_box(encode_with_offsets(config, &data));
        },
        &mut || {
            black_box(compress(&data, &params).unwrap());
        },
    ]);
    let size = 100.0 * coded.len() as f64 / data.len() as f64;
    println!(
        "{name:26} {size:5.1} % | libaec {plain:6.2}, with offsets {with_offsets:6.2} | ours {ours:6.2} (x {:5.2})",
        plain / ours
    );
}

fn main() {
    println!("nanoseconds of processor time per sample, median of {RUNS}; x: libaec's divided by ours");
    for_each_case(compare);
}
