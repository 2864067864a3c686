//! Names of flags, as the format spells them.

use tgm_std::MessageFlags;
use tgm_std::core::wire::FrameFlags;

const MESSAGE: [(u16, &str); 8] = [
    (MessageFlags::HEADER_METADATA, "HEADER_METADATA"),
    (MessageFlags::FOOTER_METADATA, "FOOTER_METADATA"),
    (MessageFlags::HEADER_INDEX, "HEADER_INDEX"),
    (MessageFlags::FOOTER_INDEX, "FOOTER_INDEX"),
    (MessageFlags::HEADER_HASHES, "HEADER_HASHES"),
    (MessageFlags::FOOTER_HASHES, "FOOTER_HASHES"),
    (MessageFlags::PRECEDER_METADATA, "PRECEDER_METADATA"),
    (MessageFlags::HASHES_PRESENT, "HASHES_PRESENT"),
];

const FRAME: [(u16, &str); 2] =
    [(FrameFlags::CBOR_AFTER_PAYLOAD, "CBOR_AFTER_PAYLOAD"), (FrameFlags::HASH_PRESENT, "HASH_PRESENT")];

/// The names of a message's flags. Undefined bits come as one number.
pub(crate) fn message_flags(flags: MessageFlags) -> Vec<String> {
    names(flags.bits(), &MESSAGE)
}

/// The names of a frame's flags. Undefined bits come as one number.
pub(crate) fn frame_flags(flags: FrameFlags) -> Vec<String> {
    names(flags.bits(), &FRAME)
}

fn names(bits: u16, known: &[(u16, &str)]) -> Vec<String> {
    let mut names: Vec<_> =
        known.iter().filter(|(mask, _)| bits & mask != 0).map(|(_, name)| (*name).to_string()).collect();
    let unknown = known.iter().fold(bits, |rest, (mask, _)| rest & !mask);
    if unknown != 0 {
        names.push(format!("0x{unknown:04x}"));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bits_are_kept() {
        assert_eq!(frame_flags(FrameFlags::new(0x8003)), ["CBOR_AFTER_PAYLOAD", "HASH_PRESENT", "0x8000"]);
        assert!(message_flags(MessageFlags::new(0)).is_empty());
    }
}
