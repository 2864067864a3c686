//! Where the two may disagree, and why.

use crate::plain::Refusal;

/// A reason for other values.
pub(crate) fn other_values(_bytes: &[u8]) -> Option<&'static str> {
    None
}

/// A reason why we refuse what the reference reads.
pub(crate) fn refused_by_us(_bytes: &[u8], refusal: &Refusal) -> Option<&'static str> {
    const REASONS: &[(&str, &str)] = &[("not compiled in", "blosc2, zfp and sz3 are in neither, and found out later by us")];
    REASONS.iter().find(|(text, _)| refusal.text.contains(text)).map(|(_, reason)| *reason)
}

/// A reason why the reference refuses what we read.
pub(crate) fn refused_by_the_reference(_bytes: &[u8], refusal: &Refusal) -> Option<&'static str> {
    const REASONS: &[(&str, &str)] = &[
        ("feature", "a codec that is not compiled in there"),
        ("sp_", "parameters of simple_packing before 0.19 are read by us"),
    ];
    REASONS.iter().find(|(text, _)| refusal.text.contains(text)).map(|(_, reason)| *reason)
}
