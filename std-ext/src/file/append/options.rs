//! What a program says about an append.

/// Options of appending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendOptions {
    /// Whether to wait until the message is on disk. If the power fails meanwhile, the file has the whole message or
    /// nothing of it.
    pub sync: bool,
    /// What to do with bytes after the last message.
    pub torn_tail: TornTail,
}

/// What to do with bytes after the last message of a file. An interrupted writer leaves such bytes.
///
/// [`tgm_core::scan`] defines which message is the last one: messages inside the payload of an unfinished message
/// belong to it. Messages that a scan finds are never removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TornTail {
    /// Append nothing. The error says where the bytes are.
    #[default]
    Refuse,
    /// Remove the bytes.
    Remove,
}
