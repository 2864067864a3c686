//! Construction of messages with tensors from values.

mod tensor;
mod warning;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value as Json;
use tgm_core::descriptor::ByteOrder;

pub use tensor::TensorBuilder;
pub use warning::Warning;

use super::label::{METADATA, Members, TENS, TENSORS};
use super::parts::Parts;
use super::payload::Payload;
use super::tens::{Tens, rebuild};
use crate::wire::{Coords, Error, ErrorKind as K, Form, Level, Message, Outgoing};
use warning::warnings;

/// A builder of a TENS message.
///
/// The label is written byte for byte as ZIO's C++ writes it: keys sorted, no spaces, `part` always present. By default
/// the form is TENS, the level is undefined and coordinates are 0. Tensor i lies in payload part i, and the
/// application's parts follow all tensors. Every known reader accepts that.
///
/// ```
/// use tgm_zio::{Coords, Level, TensBuilder, TensorBuilder};
///
/// let adc = [1_u16, 2, 3];
/// let built = TensBuilder::new()
///     .level(Level::Info)
///     .coords(Coords { seqno: 7, ..Coords::default() })
///     .tensor(TensorBuilder::new(&[3], &adc))
///     .part(b"more of mine")
///     .build()?;
/// let label = br#"{"TENS":{"tensors":[{"dtype":"u","part":0,"shape":[3],"word":2}]}}"#;
/// assert_eq!(built.parts.label(), label);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensBuilder<'a> {
    level: Level,
    form: Form,
    coords: Coords,
    order: ByteOrder,
    placement: Placement,
    tens: Members,
    label: Members,
    items: Vec<Item<'a>>,
}

#[derive(Clone, Debug)]
enum Item<'a> {
    Tensor(Box<TensorBuilder<'a>>),
    Part(Payload<'a>, Option<usize>),
}

/// Which payload parts things get that are not put into one.
///
/// ```
/// use tgm_zio::{Placement, TensBuilder, TensorBuilder, Warning};
///
/// let builder = TensBuilder::new().part(b"first").tensor(TensorBuilder::new(&[1], &[7_u8]));
/// assert_eq!(&*builder.clone().build()?.parts.payloads()[0], [7]);
/// let built = builder.placement(Placement::AsAdded).build()?;
/// assert_eq!(&*built.parts.payloads()[0], b"first");
/// assert_eq!(built.warnings, [Warning::TensorElsewhere { tensor: 0, part: 1 }]);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Tensors first, then the application's parts.
    #[default]
    TensorsFirst,
    /// In the order they were added.
    AsAdded,
}

/// A finished message, and warnings about other readers.
///
/// ```
/// use tgm_zio::{TensBuilder, Warning};
///
/// let built = TensBuilder::new().part(b"").build()?;
/// assert_eq!(built.warnings, [Warning::EmptyLastPart]);
/// assert_eq!(built.parts.payloads().len(), 1);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built<'a> {
    /// The message.
    pub parts: Parts<'a>,
    /// Problems that other readers have with the message.
    pub warnings: Vec<Warning>,
}

impl Default for TensBuilder<'_> {
    fn default() -> Self {
        Self {
            level: Level::default(),
            form: Form::TENS,
            coords: Coords::default(),
            order: ByteOrder::NATIVE,
            placement: Placement::default(),
            tens: Members::new(),
            label: Members::new(),
            items: Vec::new(),
        }
    }
}

impl<'a> Tens<'a> {
    /// A builder that has the message's header, tensors and parts: to be added to, annotated, and sent on. No value is
    /// decoded; payload stays where it is.
    ///
    /// ```
    /// use tgm_std::ByteOrder;
    /// use tgm_zio::{Message, Tens, TensorBuilder};
    ///
    /// let label = br#"ZIO4TENS{"TENS":{"tensors":[{"shape":[2],"word":4,"dtype":"f"}]}}"#;
    /// let parts = [&label[..], &[0; 24], &[0, 0, 128, 63, 0, 0, 0, 64]];
    /// let message = Message::from_parts(&parts, ByteOrder::NATIVE)?;
    ///
    /// let sum = [3.0_f32];
    /// let builder = Tens::parse(&message)?.to_builder().tensor(TensorBuilder::new(&[], &sum));
    /// let sent = builder.edit(0, |tensor| tensor.metadata("raw")).build()?.parts;
    /// assert_eq!(sent.payloads()[0].as_ptr(), parts[2].as_ptr());
    /// assert_eq!(sent.payloads().len(), 2);
    /// # Ok::<(), tgm_zio::Error>(())
    /// ```
    pub fn to_builder(&self) -> TensBuilder<'a> {
        TensBuilder::of_tens(self, self.payloads().iter().copied())
    }
}

impl<'a> TensBuilder<'a> {
    /// A message without tensors, in this machine's byte order.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the message's severity level.
    #[must_use]
    pub const fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the form, if it is not TENS.
    #[must_use]
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Sets origin, time and sequence number.
    #[must_use]
    pub const fn coords(mut self, coords: Coords) -> Self {
        self.coords = coords;
        self
    }

    /// Sets the byte order of the coordinates and of the bytes given to [`TensorBuilder::from_bytes`]. Values of a Rust
    /// type are native, and are converted to that order when the message is built.
    #[must_use]
    pub const fn byte_order(mut self, order: ByteOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets the payload parts that tensors and the application's parts get.
    #[must_use]
    pub const fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Sets the application's metadata of the message.
    #[must_use]
    pub fn metadata(self, metadata: impl Into<Json>) -> Self {
        self.tens_key(METADATA, metadata)
    }

    /// Sets a key of the application in the TENS object.
    #[must_use]
    pub fn tens_key(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.tens.insert(key.into(), value.into());
        self
    }

    /// Sets a key of the application, or of another protocol, in the label.
    #[must_use]
    pub fn label_key(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.label.insert(key.into(), value.into());
        self
    }

    /// Adds a tensor.
    #[must_use]
    pub fn tensor(mut self, tensor: TensorBuilder<'a>) -> Self {
        self.items.push(Item::Tensor(Box::new(tensor)));
        self
    }

    /// Adds a payload part without a tensor. [`TensorBuilder::in_part`] puts one into it.
    #[must_use]
    pub fn part(mut self, bytes: impl Into<Payload<'a>>) -> Self {
        self.items.push(Item::Part(bytes.into(), None));
        self
    }

    /// Fills payload part `part`. Other things go where there is room.
    #[must_use]
    pub fn part_at(mut self, part: usize, bytes: impl Into<Payload<'a>>) -> Self {
        self.items.push(Item::Part(bytes.into(), Some(part)));
        self
    }

    /// Changes tensor `index`, if there is one: its metadata, its keys.
    #[must_use]
    pub fn edit(mut self, index: usize, change: impl FnOnce(TensorBuilder<'a>) -> TensorBuilder<'a>) -> Self {
        let tensors = self.items.iter_mut().filter_map(|item| match item {
            Item::Tensor(tensor) => Some(tensor),
            Item::Part(..) => None,
        });
        if let Some(tensor) = tensors.into_iter().nth(index) {
            let changed = change((**tensor).clone());
            **tensor = changed;
        }
        self
    }

    /// Makes the message one of FLOW, with data: what [`Flow::data`](super::Flow::data) says is to be sent.
    ///
    /// Sets the form, the level, the sequence number and the key `flow`. Origin and granule stay.
    ///
    /// ```
    /// use tgm_zio::{Direction, Flow, FlowLabel, TensBuilder, TensorBuilder};
    ///
    /// # let (mut flow, mut peer) = (Flow::client(Direction::Extract, 1)?, Flow::server(1));
    /// # peer.receive_label(flow.poll().unwrap().label())?;
    /// # flow.receive_label(peer.poll().unwrap().label())?;
    /// # flow.receive_label(peer.poll().unwrap().label())?;
    /// let values = [1.0_f64, 2.0];
    /// let built = TensBuilder::new().tensor(TensorBuilder::new(&[2], &values)).flow(flow.data()?).build()?;
    /// assert_eq!(FlowLabel::parse(built.parts.label())?, FlowLabel::Dat);
    /// # Ok::<(), tgm_zio::Error>(())
    /// ```
    #[must_use]
    pub fn flow(mut self, sent: Outgoing) -> Self {
        self.coords.seqno = sent.coords().seqno;
        self.level(Level::Undefined).form(Form::FLOW).label_key("flow", sent.label().name())
    }

    /// A builder that has everything of a received message, with these payload parts.
    pub(super) fn of_tens<B: Into<Payload<'a>>>(tens: &Tens<'_>, payloads: impl IntoIterator<Item = B>) -> Self {
        let parts = payloads.into_iter().enumerate();
        let parts = parts.map(|(part, bytes)| Item::Part(bytes.into(), Some(part)));
        let tensors = tens.tensors().iter().map(|tensor| Item::Tensor(Box::new(TensorBuilder::of_received(tensor))));
        Self {
            level: tens.level,
            form: tens.form,
            coords: tens.coords,
            order: tens.order,
            placement: Placement::default(),
            tens: tens.tens_keys().clone(),
            label: tens.label_keys().clone(),
            items: parts.chain(tensors).collect(),
        }
    }

    /// Builds the message. Payload given as slices stays borrowed.
    ///
    /// # Errors
    /// The errors that a reader of the message would find, see [`Tens::parse`]; [`K::ReservedKey`]; [`K::PartTaken`]
    /// for two things of different bytes in one part, and [`K::PartOutOfRange`] if a part before the last stays empty.
    pub fn build(self) -> Result<Built<'a>, Error> {
        if self.label.contains_key(TENS) {
            return Err(K::ReservedKey.under(TENS));
        }
        if self.tens.contains_key(TENSORS) {
            return Err(K::ReservedKey.under(TENSORS));
        }
        let (tensors, payloads) = place(self.items, self.placement, self.order)?;
        let entries = tensors.iter().enumerate().map(|(index, tensor)| tensor.to_json(index));
        let label = rebuild(entries.collect::<Result<_, _>>()?, self.tens, self.label);
        let parts = Parts::new(self.level, self.form, label.as_bytes(), self.coords, self.order, payloads);
        let slices = parts.as_slices();
        let message = Message::from_parts(&slices, self.order)?;
        let warnings = warnings(&message, &Tens::parse(&message)?);
        Ok(Built { parts, warnings })
    }
}

/// The tensors with their parts, and the parts.
type Placed<'a> = (Vec<TensorBuilder<'a>>, Vec<Payload<'a>>);

/// Gives each thing its part: first those that say which, then the others, from the first part that is free.
fn place(items: Vec<Item<'_>>, placement: Placement, order: ByteOrder) -> Result<Placed<'_>, Error> {
    let (mut tensors, mut waiting, mut parts) = (Vec::new(), Vec::new(), BTreeMap::new());
    for item in items {
        let (tensor, bytes, part) = match item {
            Item::Part(bytes, part) => (None, Some(bytes), part),
            Item::Tensor(mut tensor) => {
                let (bytes, part) = (tensor.take_bytes(order), tensor.part);
                tensors.push(*tensor);
                (Some(tensors.len().saturating_sub(1)), bytes, part)
            }
        };
        let Some(bytes) = bytes else { continue };
        match part {
            None => waiting.push((tensor, bytes)),
            Some(part) => match parts.entry(part) {
                Entry::Vacant(slot) => _ = slot.insert(bytes),
                Entry::Occupied(slot) if *slot.get() == bytes => {}
                Entry::Occupied(_) => {
                    return Err(tensor.map_or(K::PartTaken.under("part"), |index| K::PartTaken.of(index, "part")));
                }
            },
        }
    }
    if placement == Placement::TensorsFirst {
        waiting.sort_by_key(|(tensor, _)| tensor.is_none());
    }
    let mut free = 0_usize;
    for (tensor, bytes) in waiting {
        while parts.contains_key(&free) {
            free = free.saturating_add(1);
        }
        parts.insert(free, bytes);
        if let Some(tensor) = tensor.and_then(|index| tensors.get_mut(index)) {
            tensor.part = Some(free);
        }
    }
    if parts.keys().next_back().is_some_and(|last| *last >= parts.len()) {
        return Err(K::PartOutOfRange.under("part"));
    }
    Ok((tensors, parts.into_values().collect()))
}
