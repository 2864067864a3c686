//! Validation of messages.

use std::hint::black_box;

use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::Case;
use crate::libraries::{Dtype, Spec, ours, reference};

pub fn run(bench: &mut Bench) {
    let field = data::field(bench.size(8 << 20, 1 << 18));
    let plain = ours::encode_one(&Spec::new(Dtype::Float64, field.len()), field.as_bytes());
    let szip = ours::encode_one(&Spec::packed(field.len(), 16).szip(), field.as_bytes());
    for (name, message) in [("float64", &plain), ("16 bits, szip", &szip)] {
        for (level, checksum_only, full) in
            [("checksum", true, false), ("default", false, false), ("full", false, true)]
        {
            let mine = ours::ValidateOptions { checksum_only, ..Default::default() };
            let theirs = reference::ValidateOptions { checksum_only, ..Default::default() };
            let mine = if full {
                ours::ValidateOptions { max_level: ours::ValidationLevel::Fidelity, check_canonical: true, ..mine }
            } else {
                mine
            };
            let theirs = if full {
                reference::ValidateOptions {
                    max_level: reference::ValidationLevel::Fidelity,
                    check_canonical: true,
                    ..theirs
                }
            } else {
                theirs
            };
            assert!(ours::validate_message(message, &mine).is_ok());
            assert!(reference::validate_message(message, &theirs).is_ok());
            let case = Case::new(format!("{name}, {} MiB, {level}", message.len() >> 20))
                .bytes(message.len())
                .row("us", || ours::validate_message(black_box(message), &mine))
                .row("reference", || reference::validate_message(black_box(message), &theirs))
                .row("limit: xxh3", || XxHash3_64::oneshot(black_box(message)));
            bench.run(case);
        }
    }
}
