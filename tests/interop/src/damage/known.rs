//! Where the two may disagree, and why. README, "Where it differs from the reference", has the same in words.

use tgm_std::core::Message;

use crate::plain::Refusal;

/// A reason why we refuse what the reference reads.
pub(crate) fn refused_by_us(bytes: &[u8], refusal: &Refusal) -> Option<&'static str> {
    const REASONS: &[(&str, &str)] = &[
        ("not compiled in", "of a codec that neither has, the reference says so only if there is something to decode"),
        ("length prefix says", "the length before an lz4 block is compared with the shape"),
        ("ndim", "`ndim` must agree with `shape`"),
        ("strides", "`strides` must agree with `shape`"),
        ("limit max_", "the reference has no limits"),
        ("end magic", "a streamed message without a postamble is an error"),
    ];
    if fails_in_padding(bytes) {
        return Some("frames are looked for where the one before ends, not behind its padding");
    }
    REASONS.iter().find(|(text, _)| refusal.text.contains(text)).map(|(_, reason)| *reason)
}

/// A reason why the reference refuses what we read.
pub(crate) fn refused_by_the_reference(bytes: &[u8], refusal: &Refusal) -> Option<&'static str> {
    const REASONS: &[(&str, &str)] = &[
        ("feature", "a codec that is not compiled in there"),
        ("unknown compression", "zfp, blosc2, sz3: not compiled in there"),
        ("sp_", "parameters of simple_packing are also read under the names they had before 0.19"),
    ];
    if has_frames_in_padding(bytes) {
        return Some("frames that follow each other without padding are found");
    }
    REASONS.iter().find(|(text, _)| refusal.text.contains(text)).map(|(_, reason)| *reason)
}

/// Whether the walk fails at what stands in the padding of a frame.
fn fails_in_padding(bytes: &[u8]) -> bool {
    let Ok(message) = Message::parse(bytes) else { return false };
    let mut frames = message.frames();
    let mut padded_end = 0;
    while let Some(frame) = frames.next() {
        match frame {
            Ok(frame) => padded_end = frame.offset() + frame.total_length().next_multiple_of(8),
            Err(_) => return frames.position() < padded_end,
        }
    }
    false
}

/// Whether a frame begins in the padding of the one before it.
fn has_frames_in_padding(bytes: &[u8]) -> bool {
    let Ok(message) = Message::parse(bytes) else { return false };
    let mut padded_end = 0;
    message.frames().map_while(Result::ok).any(|frame| {
        let is_inside = frame.offset() < padded_end;
        padded_end = frame.offset() + frame.total_length().next_multiple_of(8);
        is_inside
    })
}
