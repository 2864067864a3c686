//! Flags that limit the cost of decoding: of each object, and of all objects of a message or a file.

use clap::Args;
use tgm_std::{DecodeBudget, DecodeLimits};

/// A limit on the decoded size of objects, for commands that decode one at a time.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Limits (bytes, or with K, M, G or T for powers of 1024)")]
pub(crate) struct ObjectLimit {
    /// Bytes that an object may decode to; values that need no decoding do not count [default: 16G, and 64K for each byte
    /// beyond 1G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_object_bytes: Option<u64>,
}

impl ObjectLimit {
    /// The limits of one object.
    pub(crate) fn of_object(&self) -> DecodeLimits {
        let usual = DecodeLimits::default();
        // A limit that the user gives counts alone, however small the payload is.
        self.max_object_bytes.map_or(usual, |max| DecodeLimits { max_decoded_bytes: max, free_bytes: max, ..usual })
    }
}

/// Limits on the decoded size of all objects of messages and files.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Limits (bytes, or with K, M, G or T for powers of 1024)")]
pub(crate) struct SumLimits {
    /// Bytes that all objects of a message may decode to [default: 16G, and 16K for each byte of the message]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_message_bytes: Option<u64>,
    /// Bytes that all objects of a file may decode to [default: 16G, and 16K for each byte of the file]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_file_bytes: Option<u64>,
}

impl SumLimits {
    /// The limits of a message and of a file.
    pub(crate) const fn budget(&self) -> DecodeBudget {
        DecodeBudget { max_message_bytes: self.max_message_bytes, max_file_bytes: self.max_file_bytes }
    }
}

/// Reads `4096`, `64K`, `16GiB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_uppercase().trim_end_matches("IB") {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("expected a number of bytes, with K, M, G or T after it or nothing".to_string()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number of bytes".to_string())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more than 64 bits can count".to_string())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_binary_units() {
        let sizes =
            [("0", 0), ("4096", 4096), ("64K", 64 << 10), ("2MiB", 2 << 20), ("16g", 16 << 30), ("1T", 1 << 40)];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "1.5G", "-1", "1X", "1 G", "99999999T"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
