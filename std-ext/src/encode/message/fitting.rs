//! Messages without the capacity that they do not use.

/// Bytes of unused capacity that a message may keep.
const SLACK: usize = 64 << 10;

/// The message without most of its unused capacity. Compressors reserve more than they fill.
pub(crate) fn fitting(mut message: Vec<u8>) -> Vec<u8> {
    if message.capacity() - message.len() > SLACK {
        message.shrink_to_fit();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_little_unused_memory_and_is_not_moved_for_less() {
        for len in [100, 10 * SLACK] {
            for (unused, is_kept) in [(0, true), (SLACK, true), (SLACK + 1, false), (3 * SLACK, false)] {
                let mut message = Vec::with_capacity(len + unused);
                message.resize(len, 7);
                let before = message.capacity();
                assert_eq!(before, len + unused, "vectors of bytes are as large as they are asked to be");
                let message = fitting(message);
                assert_eq!(message.capacity(), if is_kept { before } else { len }, "{len} {unused}");
                assert_eq!(message, vec![7; len]);
            }
        }
    }
}
