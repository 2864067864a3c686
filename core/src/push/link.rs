//! What the decoder may assume about the connection.

/// What may happen to bytes on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// All arrive: a socket, a file. Lengths are believed, and a payload may hold a message.
    Reliable,
    /// Some may be lost: a UART, a radio. A preamble inside of a frame is that of the next message, the one before was cut
    /// short. So no message is lost for damage to those before it, and none that holds another message can be received.
    Lossy,
}
