//! Gives the same bytes to both libraries and compares the results, with the code of `tests/interop/src/damage`.

#[path = "../../../tests/interop/src/damage/mod.rs"]
mod damage;
#[path = "../../../tests/interop/src/library.rs"]
#[allow(unused_imports, unused_macros, reason = "the writing half is not needed here")]
mod library;
#[path = "../../../tests/interop/src/plain.rs"]
mod plain;

/// The type that `plain` takes from its own package.
mod case {
    pub type Entries = std::collections::BTreeMap<String, ciborium::Value>;
}

#[allow(dead_code, reason = "not all of it is compared here")]
mod ours {
    crate::library::readers!(tgm_std);
}

#[allow(dead_code, reason = "not all of it is compared here")]
mod reference {
    crate::library::readers!(tensogram);
}

use damage::mutate::{Chance, mutated};
use libfuzzer_sys::fuzzer_mutate;

/// Gives `bytes` to both libraries.
///
/// # Panics
/// If they disagree without a known reason.
pub fn check(bytes: &[u8]) {
    if let Err(disagreement) = damage::compare(bytes) {
        panic!("{disagreement}");
    }
}

/// Bytes by which a part of a message may grow.
const GROWTH: usize = 64;

/// Changes a part of the message at the start of `data[..size]`. It mutates other bytes, and one input in four, as
/// libFuzzer does.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut chance = Chance::new(seed.into());
    let changed = if chance.below(4) > 0 { mutated(&data[..size], &mut chance, change_bytes) } else { None };
    match changed {
        Some(changed) if changed.len() <= max_size => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

fn change_bytes(bytes: &mut Vec<u8>, _: &mut Chance) {
    let len = bytes.len();
    bytes.resize(len + GROWTH, 0);
    let len = fuzzer_mutate(bytes, len, len + GROWTH);
    bytes.truncate(len);
}
