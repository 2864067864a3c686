//! The properties of any bytes that the fuzz targets check: see [`checks`].
//!
//! Memory is bounded by libFuzzer's `-malloc_limit_mb`, time by `-timeout`: see `run`.

pub mod checks;
mod given;
mod push;
mod repeats;

use tgm_std::{DecodeLimits, DecodeOptions, Provenance};

/// The most bytes that the values of an object may take, so that time goes into many small inputs.
const MAX_DECODED: u64 = 1 << 20;

/// Options with limits that fit the inputs.
fn options() -> DecodeOptions {
    DecodeOptions { limits: limits(), ..DecodeOptions::default() }
}

/// Limits that fit the inputs.
fn limits() -> DecodeLimits {
    DecodeLimits { max_decoded_bytes: MAX_DECODED, free_bytes: MAX_DECODED, ..DecodeLimits::default() }
}

/// The same provenance in every run, so that finds can be repeated.
fn provenance() -> Provenance {
    Provenance {
        time: "2026-01-01T00:00:00Z".into(),
        uuid: "00000000-0000-4000-8000-000000000000".into(),
        encoder_name: "fuzz".into(),
        encoder_version: "0".into(),
    }
}
