//! The ends of messages, for scans of remote files that ask for 24 bytes at a time.

use ciborium::Value;
use tgm_std::compat::remote_scan_parse as parse;

use crate::answer::{Answer, run};
use crate::args::Args;
use crate::failure::wrong;

/// `end` ("forward", "backward", "preamble"), `bytes`, and the positions that the function of that end takes: its outcome.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_edge(args: u32) -> u32 {
    run(args, |mut args| {
        let bytes = args.bytes("bytes")?;
        match args.text("end")?.as_deref() {
            Some("forward") => forward(&bytes, &mut args),
            Some("backward") => {
                let (next, previous) = (args.integer("next")?, args.integer("previous")?);
                outcome(&parse::parse_backward_postamble(&bytes, next, previous))
            }
            Some("preamble") => {
                let (at, length) = (args.integer("at")?, args.integer("length")?);
                outcome(&parse::validate_backward_preamble(&bytes, at, length))
            }
            _ => Err(wrong("there is no such end")),
        }
    })
}

fn forward(bytes: &[u8], args: &mut Args) -> Answer {
    let (at, size, bound) = (args.integer("at")?, args.integer("size")?, args.integer("bound")?);
    outcome(&parse::parse_forward_preamble(bytes, at, size, bound))
}

fn outcome(found: &impl tgm_std::deps::serde::Serialize) -> Answer {
    Value::serialized(found).map_err(|error| wrong(error.to_string()))
}
