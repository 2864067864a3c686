//! The same bytes to both libraries, as `tests/interop/src/damage` says.

#[path = "../../../tests/interop/src/damage/mod.rs"]
mod damage;
#[path = "../../../tests/interop/src/library.rs"]
#[allow(unused_imports, unused_macros, reason = "what writes is not needed here")]
mod library;
#[path = "../../../tests/interop/src/plain.rs"]
mod plain;

/// What `plain` takes from the package that it stands in.
mod case {
    pub type Entries = std::collections::BTreeMap<String, ciborium::Value>;
}

#[allow(dead_code, reason = "more than is compared here")]
mod ours {
    crate::library::readers!(tgm_std);
}

#[allow(dead_code, reason = "more than is compared here")]
mod reference {
    crate::library::readers!(tensogram);
}

use damage::mutate::{Chance, mutated};
use libfuzzer_sys::fuzzer_mutate;

/// Gives `bytes` to both.
///
/// # Panics
/// If they disagree and no known reason says why.
pub fn check(bytes: &[u8]) {
    if let Err(disagreement) = damage::compare(bytes) {
        panic!("{disagreement}");
    }
}

/// Room that a part of a message has to grow.
const GROWTH: usize = 64;

/// Changes a part of the message that `data[..size]` begin with; other bytes as libFuzzer does, and one in four of all.
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
