//! What the decoder may assume about the connection.

/// Whether bytes can be lost on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// All bytes arrive, as through a socket or from a file. Lengths are trusted, and a payload may contain a message.
    Reliable,
    /// Bytes can be lost, as on a UART or a radio link.
    ///
    /// A preamble inside a frame then begins the next message, and the one before counts as cut short. So damage to one
    /// message never costs the next one. On such a link, messages whose payload contains a message cannot be received.
    Lossy,
}
