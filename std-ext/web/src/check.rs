//! What is wrong with messages, and what this build can do.

use ciborium::Value;
use tgm_std::doctor::run_diagnostics;
use tgm_std::validate::{ValidateOptions, ValidationLevel, validate_buffer, validate_message};

use crate::answer::{Answer, run};
use crate::failure::wrong;

/// `bytes`, `mode`, `canonical`, `all` (all messages of the bytes): a report.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_validate(args: u32) -> u32 {
    run(args, |mut args| {
        let bytes = args.bytes("bytes")?;
        let (max_level, checksum_only) = match args.text("mode")?.as_deref() {
            None | Some("default") => (ValidationLevel::Integrity, false),
            Some("quick") => (ValidationLevel::Structure, false),
            Some("checksum") => (ValidationLevel::Integrity, true),
            Some("full") => (ValidationLevel::Fidelity, false),
            Some(other) => return Err(wrong(format!("there is no mode {other:?}"))),
        };
        let check_canonical = args.flag("canonical");
        let options = ValidateOptions { max_level, checksum_only, check_canonical, ..ValidateOptions::default() };
        if args.flag("all") {
            report(&validate_buffer(&bytes, &options))
        } else {
            report(&validate_message(&bytes, &options))
        }
    })
}

fn report(found: &impl tgm_std::deps::serde::Serialize) -> Answer {
    Value::serialized(found).map_err(|error| wrong(error.to_string()))
}

/// What this build can do, each ability tested.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_doctor(args: u32) -> u32 {
    run(args, |_| report(&run_diagnostics()))
}
