//! FLOW: a transmission of data in one direction, paced by credit. The protocol without a socket.

use core::fmt;

use super::coords::Coords;
use super::error::{ErrorKind as K, Result};
use super::json::Json;
use super::message::Message;
use super::prefix::{Form, Level, Prefix};
use super::write::Text;

/// Where data goes, as the one sees it who sends the BOT.
///
/// ```
/// use tgm_zio::Direction;
///
/// assert_eq!(Direction::Extract.reversed(), Direction::Inject);
/// assert_eq!(Direction::from_name("inject"), Some(Direction::Inject));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// I send data.
    Extract,
    /// I expect data.
    Inject,
}

impl Direction {
    /// The name in a label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Inject => "inject",
        }
    }

    /// The direction of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Extract, Self::Inject].into_iter().find(|direction| direction.name() == name)
    }

    /// The same, as the other side sees it.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Extract => Self::Inject,
            Self::Inject => Self::Extract,
        }
    }
}

/// What a message of FLOW says in its label.
///
/// ```
/// use tgm_zio::{Direction, FlowLabel};
///
/// let label = br#"{"flow": "BOT", "direction": "extract", "credit": 4}"#;
/// let found = FlowLabel::parse(label)?;
/// assert_eq!(found, FlowLabel::Bot { direction: Direction::Extract, credit: 4 });
/// assert_eq!(found.name(), "BOT");
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowLabel {
    /// Begin of transmission.
    Bot {
        /// Where data goes, as the sender of this message sees it.
        direction: Direction,
        /// The most messages with data that are on their way.
        credit: u64,
    },
    /// Data, in the payload.
    Dat,
    /// Allows the other side to send more messages with data.
    Pay {
        /// The number of messages.
        credit: u64,
    },
    /// End of transmission.
    Eot,
}

impl FlowLabel {
    /// Reads a label.
    ///
    /// # Errors
    /// The errors of [`Json::parse`]; [`K::NoFlow`], [`K::BadFlow`], [`K::BadDirection`], [`K::BadCredit`].
    pub fn parse(label: &[u8]) -> Result<Self> {
        let label = Json::parse(label)?;
        let flow = label.get("flow").ok_or(K::NoFlow.in_label())?;
        let flow = flow.as_str().ok_or(K::BadFlow.under("flow"))?;
        let credit = || {
            let credit = label.given("credit").and_then(|credit| credit.as_u64());
            credit.filter(|credit| *credit > 0).ok_or(K::BadCredit.under("credit"))
        };
        Ok(if flow == "BOT" {
            let direction = label.get("direction").and_then(|direction| direction.as_str());
            let is = |one: &Direction| direction.is_some_and(|direction| direction == one.name());
            let direction = [Direction::Extract, Direction::Inject].into_iter().find(is);
            let direction = direction.ok_or(K::BadDirection.under("direction"))?;
            let documented = || label.given("credits").and_then(|credit| credit.as_u64()).filter(|credit| *credit > 0);
            let credit = match credit() {
                Ok(credit) => credit,
                Err(error) if label.given("credit").is_none() => documented().ok_or(error)?,
                Err(error) => return Err(error),
            };
            Self::Bot { direction, credit }
        } else if flow == "DAT" {
            Self::Dat
        } else if flow == "PAY" {
            Self::Pay { credit: credit()? }
        } else if flow == "EOT" {
            Self::Eot
        } else {
            return Err(K::BadFlow.under("flow"));
        })
    }

    /// The value of `flow`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bot { .. } => "BOT",
            Self::Dat => "DAT",
            Self::Pay { .. } => "PAY",
            Self::Eot => "EOT",
        }
    }
}

/// Bytes of the longest prefix of a message of the protocol.
const MAX_PREFIX: usize = 80;

/// A message to be sent: what it says, and its number.
///
/// One of the protocol has no payload; its parts are [`Self::prefix`] and [`Self::coords`]. One with data is the
/// caller's, with this `flow` in its label and these coordinates.
///
/// ```
/// use tgm_zio::{Direction, Flow};
///
/// let mut flow = Flow::client(Direction::Extract, 4)?;
/// let bot = flow.poll().unwrap();
/// assert_eq!(bot.prefix().as_bytes(), br#"ZIO0FLOW{"credit":4,"direction":"extract","flow":"BOT"}"#);
/// assert_eq!((bot.coords().seqno, flow.poll()), (0, None));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    label: FlowLabel,
    seqno: u64,
}

impl Outgoing {
    /// What it says.
    pub const fn label(&self) -> FlowLabel {
        self.label
    }

    /// The coordinates: the number of the message. The others are 0 here, and free.
    pub const fn coords(&self) -> Coords {
        Coords { origin: 0, granule: 0, seqno: self.seqno }
    }

    /// Part 0 of a message of the protocol, complete.
    pub fn prefix(&self) -> FlowPrefix {
        let mut bytes = [0; MAX_PREFIX];
        let mut text = Text::new(&mut bytes);
        // The longest has 76 bytes, so all of them fit.
        let len = match self.write(&mut text) {
            Some(()) => text.len(),
            None => 0,
        };
        FlowPrefix { bytes, len }
    }

    fn write(&self, text: &mut Text<'_>) -> Option<()> {
        text.put(&Prefix::head(Level::Undefined, Form::FLOW))?;
        text.put(b"{")?;
        if let FlowLabel::Bot { credit, .. } | FlowLabel::Pay { credit } = self.label {
            text.put(b"\"credit\":")?;
            text.number(credit)?;
            text.put(b",")?;
        }
        if let FlowLabel::Bot { direction, .. } = self.label {
            text.put(b"\"direction\":\"")?;
            text.put(direction.name().as_bytes())?;
            text.put(b"\",")?;
        }
        text.put(b"\"flow\":\"")?;
        text.put(self.label.name().as_bytes())?;
        text.put(b"\"}")
    }
}

/// Part 0 of a message of the protocol, in memory of its own. See [`Outgoing::prefix`].
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_zio::{Direction, Flow, Message};
///
/// let bot = Flow::client(Direction::Inject, 1)?.poll().unwrap();
/// let (prefix, coords) = (bot.prefix(), bot.coords().to_bytes(ByteOrder::Little));
/// let parts = [prefix.as_bytes(), &coords]; // to be sent
/// assert!(Message::from_parts(&parts, ByteOrder::Little).is_ok());
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FlowPrefix {
    bytes: [u8; MAX_PREFIX],
    len: usize,
}

impl FlowPrefix {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl AsRef<[u8]> for FlowPrefix {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Shows the text.
impl fmt::Debug for FlowPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}

/// What a received message did to a transmission.
///
/// ```
/// use tgm_zio::{Direction, Flow, FlowEvent, FlowLabel};
///
/// let mut server = Flow::server(2);
/// let asked = server.receive_label(FlowLabel::Bot { direction: Direction::Extract, credit: 10 })?;
/// assert_eq!(asked, FlowEvent::Asked { direction: Direction::Extract, credit: 10 });
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowEvent {
    /// To a server: a client asks. [`Flow::poll`] accepts; [`Flow::end`] before that refuses.
    Asked {
        /// Where data goes, as the client sees it.
        direction: Direction,
        /// The credit that the client asks for.
        credit: u64,
    },
    /// To a client: the server accepts.
    Accepted {
        /// The credit that both use.
        credit: u64,
    },
    /// To a client: the server refuses.
    Refused,
    /// To a receiver: the payload holds data. Some senders end by data without payload.
    Data,
    /// To a sender: the receiver pays.
    Paid {
        /// What the sender has now.
        credit: u64,
    },
    /// The transmission is over. An answer may be left for [`Flow::poll`].
    Ended,
    /// The message came too late to matter.
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A server, before a client asks.
    Waiting,
    /// A client, before the server answers.
    Asking,
    /// Data may flow.
    Open,
    /// We ended, and wait for the answer.
    Ending,
    /// Over.
    Ended,
}

/// One end of a transmission: client or server, sender or receiver. A few integers, `Copy`.
///
/// ```text
/// client                          server
///   BOT direction, credit    ─►              begin of transmission: the client asks
///                           ◄─   BOT         the direction reversed, the credit the same or less
/// sender                          receiver   "extract" in the client's BOT: the client is the sender
///                           ◄─   PAY credit  the receiver pays what it holds
///   DAT                      ─►              each costs the sender one; the receiver holds it then, and pays again
///   EOT                      ─►              end of transmission, from either side
///                           ◄─   EOT         the answer. Until it comes, data that is on its way is received
/// ```
///
/// All credit begins at the receiver, so a sender waits for the first PAY. At most `credit` messages with data are on
/// their way at any time. The key is `credit`; a BOT with `credits`, as a part of ZIO's documentation spells it, is
/// read too.
///
/// It takes messages that came ([`Self::receive`]), and says what to send: [`Self::poll`] for messages of the protocol,
/// [`Self::data`] for one with data. Sockets, threads and time are the caller's. A message that the protocol does not
/// allow is an error and changes nothing.
///
/// ```
/// use tgm_zio::{Direction, Flow, FlowEvent};
///
/// let (mut client, mut server) = (Flow::client(Direction::Extract, 8)?, Flow::server(2));
/// server.receive_label(client.poll().unwrap().label())?; // BOT: asks for 8
/// client.receive_label(server.poll().unwrap().label())?; // BOT: gets 2
/// assert!(client.is_sender() && !client.can_send());
/// client.receive_label(server.poll().unwrap().label())?; // PAY
/// assert_eq!(client.credit(), 2);
///
/// let data = client.data()?; // goes out with the caller's payload
/// assert_eq!(server.receive_label(data.label())?, FlowEvent::Data);
/// client.end();
/// assert_eq!(server.receive_label(client.poll().unwrap().label())?, FlowEvent::Ended);
/// assert_eq!(client.receive_label(server.poll().unwrap().label())?, FlowEvent::Ended); // EOT answers EOT
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    state: State,
    /// As this end says it in its own BOT.
    direction: Direction,
    /// The credit of the whole transmission.
    limit: u64,
    /// What this end has: a sender to send, a receiver to pay.
    credit: u64,
    /// A receiver's: what it paid for and did not receive.
    owed: u64,
    /// Both sides know of each other.
    is_answered: bool,
    /// A BOT is to be sent.
    begins: bool,
    /// An EOT is to be sent.
    ends: bool,
    seqno: u64,
    next_seqno: Option<u64>,
    gaps: u64,
}

impl Flow {
    const fn new(state: State, direction: Direction, limit: u64, begins: bool) -> Self {
        Self {
            state,
            direction,
            limit,
            credit: 0,
            owed: 0,
            is_answered: false,
            begins,
            ends: false,
            seqno: 0,
            next_seqno: None,
            gaps: 0,
        }
    }

    /// The end that asks, for `credit` messages on their way at a time. [`Self::poll`] has the BOT.
    ///
    /// # Errors
    /// [`K::BadCredit`] if the credit is 0, by which nothing could flow.
    pub const fn client(direction: Direction, credit: u64) -> Result<Self> {
        if credit == 0 {
            return Err(K::BadCredit.under("credit"));
        }
        Ok(Self::new(State::Asking, direction, credit, true))
    }

    /// The end that is asked, for one client. It accepts either direction, and no more credit than `limit`. A limit of
    /// 0 refuses every client.
    pub const fn server(limit: u64) -> Self {
        Self::new(State::Waiting, Direction::Inject, limit, false)
    }

    /// Whether this end sends data. Known once a client asked.
    pub const fn is_sender(&self) -> bool {
        matches!(self.direction, Direction::Extract)
    }

    /// Whether both sides began and none ended.
    pub fn is_open(&self) -> bool {
        self.state == State::Open && !self.begins
    }

    /// Whether the transmission is over, and nothing is left to be sent.
    pub fn is_over(&self) -> bool {
        self.state == State::Ended && !self.ends
    }

    /// Whether [`Self::data`] succeeds now.
    pub fn can_send(&self) -> bool {
        self.is_open() && self.is_sender() && self.credit > 0
    }

    /// What this end has: a sender to send, a receiver to pay.
    pub const fn credit(&self) -> u64 {
        self.credit
    }

    /// The credit of the whole transmission: what was asked for, and once accepted, what both sides agreed on.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of gaps in what was received. Messages are numbered in steps of one, so any other step is a gap.
    pub const fn gaps(&self) -> u64 {
        self.gaps
    }

    /// Takes a message that came. Its payload is the caller's.
    ///
    /// # Errors
    /// The errors of [`FlowLabel::parse`] and [`Self::receive_label`]. ZIO's documentation lets a message with the error
    /// [`K::NoFlow`] be dropped.
    pub fn receive<P: AsRef<[u8]>>(&mut self, message: &Message<'_, P>) -> Result<FlowEvent> {
        let event = self.receive_label(FlowLabel::parse(message.label())?)?;
        let seqno = message.coords().seqno;
        if self.next_seqno.is_some_and(|expected| expected != seqno) {
            self.gaps = self.gaps.saturating_add(1);
        }
        self.next_seqno = Some(seqno.wrapping_add(1));
        Ok(event)
    }

    /// Takes what the label of a message said that came.
    ///
    /// # Errors
    /// [`K::OutOfTurn`] for a message that has no place in this state or goes the wrong way; [`K::CreditExceeded`] for
    /// data that was not paid for, and for more credit than agreed on; [`K::BadDirection`] for an answer whose
    /// direction is not the reverse of the question's. The transmission is then as it was before.
    pub fn receive_label(&mut self, label: FlowLabel) -> Result<FlowEvent> {
        match (self.state, label) {
            (State::Waiting, FlowLabel::Bot { direction, credit }) => {
                self.direction = direction.reversed();
                self.open(credit.min(self.limit), true);
                if self.limit == 0 {
                    self.end();
                }
                Ok(FlowEvent::Asked { direction, credit })
            }
            // An answer to a question that was not sent yet answers another one.
            (State::Asking, _) if self.begins => Err(K::OutOfTurn.under("flow")),
            (State::Asking, FlowLabel::Bot { direction, credit }) => {
                if direction != self.direction.reversed() {
                    return Err(K::BadDirection.under("direction"));
                }
                if credit > self.limit {
                    return Err(K::CreditExceeded.under("credit"));
                }
                self.open(credit, false);
                Ok(FlowEvent::Accepted { credit })
            }
            (State::Asking, FlowLabel::Eot) => {
                self.answer_end();
                Ok(FlowEvent::Refused)
            }
            (State::Open, FlowLabel::Eot) => {
                self.answer_end();
                Ok(FlowEvent::Ended)
            }
            (State::Ending, FlowLabel::Eot) => {
                self.state = State::Ended;
                Ok(FlowEvent::Ended)
            }
            (State::Open | State::Ending, FlowLabel::Dat) if !self.is_sender() => self.receive_data(),
            (State::Open, FlowLabel::Pay { credit }) if self.is_sender() && !self.begins => {
                let sum = self.credit.checked_add(credit).filter(|sum| *sum <= self.limit);
                self.credit = sum.ok_or(K::CreditExceeded.under("credit"))?;
                Ok(FlowEvent::Paid { credit: self.credit })
            }
            (State::Ending, FlowLabel::Pay { .. }) if self.is_sender() => Ok(FlowEvent::Late),
            // The answer to a client that ended before it came.
            (State::Ending, FlowLabel::Bot { .. }) if !self.is_answered => {
                self.is_answered = true;
                Ok(FlowEvent::Late)
            }
            (State::Ended, FlowLabel::Eot) => Ok(FlowEvent::Late),
            _ => Err(K::OutOfTurn.under("flow")),
        }
    }

    fn open(&mut self, limit: u64, begins: bool) {
        self.state = State::Open;
        self.is_answered = true;
        self.limit = limit;
        self.begins = begins;
        self.credit = if self.is_sender() { 0 } else { limit };
    }

    fn answer_end(&mut self) {
        self.state = State::Ended;
        self.begins = false;
        self.ends = true;
    }

    fn receive_data(&mut self) -> Result<FlowEvent> {
        self.owed = self.owed.checked_sub(1).ok_or(K::CreditExceeded.under("flow"))?;
        self.credit = self.credit.saturating_add(1);
        Ok(FlowEvent::Data)
    }

    /// The next message of the protocol to be sent, if there is one: BOT, PAY or EOT.
    ///
    /// A receiver pays all that it has. So a receiver that has no room for more data waits with this call.
    pub fn poll(&mut self) -> Option<Outgoing> {
        let label = if self.ends {
            self.ends = false;
            FlowLabel::Eot
        } else if self.begins {
            self.begins = false;
            FlowLabel::Bot { direction: self.direction, credit: self.limit }
        } else if self.state == State::Open && !self.is_sender() && self.credit > 0 {
            let credit = core::mem::take(&mut self.credit);
            self.owed = self.owed.saturating_add(credit);
            FlowLabel::Pay { credit }
        } else {
            return None;
        };
        Some(self.outgoing(label))
    }

    /// Spends one of the sender's credits for a message with data, which the caller sends.
    ///
    /// # Errors
    /// [`K::NoCredit`] if the receiver must pay first; [`K::OutOfTurn`] if this end is not a sender, or if the
    /// transmission is not open.
    pub fn data(&mut self) -> Result<Outgoing> {
        if !self.is_open() || !self.is_sender() {
            return Err(K::OutOfTurn.under("flow"));
        }
        self.credit = self.credit.checked_sub(1).ok_or(K::NoCredit.under("credit"))?;
        Ok(self.outgoing(FlowLabel::Dat))
    }

    /// Ends the transmission. [`Self::poll`] has the EOT. What came before the answer is still received.
    ///
    /// A server that does this before it answered a client refuses it. A client that did not ask yet, and a server
    /// without a client, send nothing.
    pub fn end(&mut self) {
        match self.state {
            State::Waiting => self.state = State::Ended,
            State::Asking if self.begins => {
                self.state = State::Ended;
                self.begins = false;
            }
            State::Asking | State::Open => {
                self.state = State::Ending;
                self.begins = false;
                self.ends = true;
            }
            State::Ending | State::Ended => {}
        }
    }

    const fn outgoing(&mut self, label: FlowLabel) -> Outgoing {
        let seqno = self.seqno;
        self.seqno = seqno.wrapping_add(1);
        Outgoing { label, seqno }
    }
}

#[cfg(test)]
mod tests;
