//! Construction of messages with tensors from values.

mod tensor;
mod warning;

use std::borrow::Cow;

use serde_json::Value as Json;
use tgm_core::descriptor::ByteOrder;
use tgm_core::zio::{Coords, Form, Level, Message};

pub use tensor::TensorBuilder;
pub use warning::Warning;

use super::error::{TensError, TensErrorKind as K};
use super::label::{METADATA, Members, TENS, TENSORS};
use super::parts::Parts;
use super::tens::{Tens, rebuild};
use warning::warnings;

/// A builder of a TENS message.
///
/// The label is written byte for byte as ZIO's C++ writes it: keys sorted, no spaces, `part` always present. By default
/// the form is TENS, the level is undefined and coordinates are 0. Tensor i lies in payload part i, and the
/// application's parts follow all tensors. Every known reader accepts that.
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
    Part(Cow<'a, [u8]>),
}

/// Which payload parts things get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Tensors first, then the application's parts.
    #[default]
    TensorsFirst,
    /// In the order they were added.
    AsAdded,
}

/// A finished message, and warnings about other readers.
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

    /// Adds a payload part that is no tensor.
    #[must_use]
    pub fn part(mut self, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        self.items.push(Item::Part(bytes.into()));
        self
    }

    /// Builds the message. Payload given as slices stays borrowed.
    ///
    /// # Errors
    /// The errors that a reader of the message would find, see [`Tens::parse`]; [`K::ReservedKey`].
    pub fn build(mut self) -> Result<Built<'a>, TensError> {
        if let Some(key) = [TENS].into_iter().find(|key| self.label.contains_key(*key)) {
            return Err(K::ReservedKey.under(key));
        }
        if self.tens.contains_key(TENSORS) {
            return Err(K::ReservedKey.under(TENSORS));
        }
        if self.placement == Placement::TensorsFirst {
            self.items.sort_by_key(|item| matches!(item, Item::Part(_)));
        }
        let (mut entries, mut payloads) = (Vec::new(), Vec::new());
        for item in self.items {
            payloads.push(match item {
                Item::Part(bytes) => bytes,
                Item::Tensor(tensor) => {
                    entries.push(tensor.to_json(entries.len(), payloads.len())?);
                    tensor.into_bytes(self.order)
                }
            });
        }
        let label = rebuild(entries, self.tens, self.label);
        let parts = Parts::new(self.level, self.form, label.as_bytes(), self.coords, self.order, payloads);
        let slices = parts.as_slices();
        let warnings = match Message::from_parts(&slices, self.order) {
            Ok(message) => warnings(&message, &Tens::parse(&message)?),
            // Cannot happen: the header was just written.
            Err(_) => Vec::new(),
        };
        Ok(Built { parts, warnings })
    }
}
