//! Messages with tensors, out of values.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Element;
use tgm_core::zio::{Coords, Form, Layout, Level, Message};
use zerocopy::IntoBytes as _;

use super::dtype;
use super::error::{TensError, TensErrorKind as K};
use super::label::{METADATA, Members, TENS, TENSORS};
use super::parts::Parts;
use super::tens::{Tens, rebuild};
use super::tensor::KEYS;

/// A TENS message in the making.
///
/// Written as ZIO's C++ writes it, to the byte: keys sorted, no spaces, `part` always there. By default the form is TENS, the
/// level undefined, coordinates are 0, and tensor i lies in payload part i with the application's parts behind all tensors,
/// which is what every known reader copes with.
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

/// A message that was built, and what other readers will not cope with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built<'a> {
    /// The message.
    pub parts: Parts<'a>,
    /// What to know before it is sent.
    pub warnings: Vec<Warning>,
}

/// What other readers do not cope with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The last payload part is empty: ZIO's Python cannot read such a message from a single buffer.
    EmptyLastPart,
    /// The tensor is not in the payload part of its own number, where Wire-Cell looks for it.
    TensorElsewhere {
        /// Which tensor.
        tensor: usize,
        /// The payload part it is in.
        part: usize,
    },
    /// numpy makes no type of that kind and width, or one of another width.
    NotForNumpy {
        /// Which tensor.
        tensor: usize,
    },
    /// The tensor has an order or descends: no known reader looks at that.
    StorageOrder {
        /// Which tensor.
        tensor: usize,
    },
    /// The tensor's metadata is other than one level of scalars, which ZIO's documentation asks for.
    NestedMetadata {
        /// Which tensor.
        tensor: usize,
    },
    /// The form is not printable ASCII.
    FormNotAscii,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyLastPart => f.write_str("the last part is empty: ZIO's Python cannot read that from one buffer"),
            Self::TensorElsewhere { tensor, part } => {
                write!(f, "tensor {tensor} is in payload part {part}: Wire-Cell looks for it in part {tensor}")
            }
            Self::NotForNumpy { tensor } => write!(f, "tensor {tensor}: numpy has no type of that dtype and word"),
            Self::StorageOrder { tensor } => {
                write!(f, "tensor {tensor} is not stored in rows, which no other reader looks at")
            }
            Self::NestedMetadata { tensor } => write!(f, "tensor {tensor}: metadata is not one level of scalars"),
            Self::FormNotAscii => f.write_str("the form is not printable ASCII"),
        }
    }
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

    /// How important the message is.
    #[must_use]
    pub const fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// What kind of message it is, if not TENS.
    #[must_use]
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Who sends it, when, as which of a sequence.
    #[must_use]
    pub const fn coords(mut self, coords: Coords) -> Self {
        self.coords = coords;
        self
    }

    /// The byte order of the coordinates and of what [`TensorBuilder::from_bytes`] is given. Values of a Rust type are in the
    /// machine's, and become that order when the message is built.
    #[must_use]
    pub const fn byte_order(mut self, order: ByteOrder) -> Self {
        self.order = order;
        self
    }

    /// Which payload parts tensors and the application's parts get.
    #[must_use]
    pub const fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// What the application says about the message.
    #[must_use]
    pub fn metadata(self, metadata: impl Into<Json>) -> Self {
        self.tens_key(METADATA, metadata)
    }

    /// A key of the application's in the TENS object.
    #[must_use]
    pub fn tens_key(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.tens.insert(key.into(), value.into());
        self
    }

    /// A key of the application's, or of another protocol, in the label.
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

    /// Makes the message; payload given as slices stays borrowed.
    ///
    /// # Errors
    /// Those that a reader of the message would find, see [`Tens::parse`]; [`K::ReservedKey`].
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
            // There is a header: it was just written.
            Err(_) => Vec::new(),
        };
        Ok(Built { parts, warnings })
    }
}

/// What other readers of a message will not cope with.
fn warnings(message: &Message<'_, &[u8]>, tens: &Tens<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, tensor) in tens.tensors().iter().enumerate() {
        let is_nested = |json: &Json| json.is_object() || json.is_array();
        let is_flat = |metadata: &Json| metadata.as_object().is_some_and(|members| !members.values().any(is_nested));
        let found = [
            (tensor.part() != index, Warning::TensorElsewhere { tensor: index, part: tensor.part() }),
            (!dtype::is_known_to_numpy(tensor.kind(), tensor.word()), Warning::NotForNumpy { tensor: index }),
            (!tensor.layout().is_row_major(), Warning::StorageOrder { tensor: index }),
            (tensor.metadata().is_some_and(|json| !is_flat(json)), Warning::NestedMetadata { tensor: index }),
        ];
        warnings.extend(found.into_iter().filter(|(is, _)| *is).map(|(_, warning)| warning));
    }
    if message.payloads().last().is_some_and(<[u8]>::is_empty) {
        warnings.push(Warning::EmptyLastPart);
    }
    if message.form().as_str().is_none() {
        warnings.push(Warning::FormNotAscii);
    }
    warnings
}

/// A tensor in the making.
#[derive(Clone, Debug)]
pub struct TensorBuilder<'a> {
    shape: Vec<u64>,
    kind: Cow<'a, str>,
    word: u32,
    bytes: Cow<'a, [u8]>,
    /// Bytes that belong to one scalar of the machine's byte order; `None` if they are in the message's already.
    native_unit: Option<usize>,
    order: Option<Vec<usize>>,
    ascend: Option<Vec<bool>>,
    metadata: Option<Json>,
    ext: Members,
}

impl<'a> TensorBuilder<'a> {
    /// A tensor of `shape` with `values`, which are not copied unless the message has another byte order than this machine.
    pub fn new<T: Element>(shape: &[u64], values: &'a [T]) -> Self {
        let (kind, word) = dtype::to_tens(T::DTYPE);
        let native_unit = Some(T::DTYPE.swap_unit_size());
        Self { native_unit, ..Self::from_bytes(shape, kind, word, values.as_bytes()) }
    }

    /// A tensor of any kind and width, with its elements' bytes in the message's byte order.
    pub fn from_bytes(
        shape: &[u64],
        kind: impl Into<Cow<'a, str>>,
        word: u32,
        bytes: impl Into<Cow<'a, [u8]>>,
    ) -> Self {
        Self {
            shape: shape.to_vec(),
            kind: kind.into(),
            word,
            bytes: bytes.into(),
            native_unit: None,
            order: None,
            ascend: None,
            metadata: None,
            ext: Members::new(),
        }
    }

    /// In which order the values are stored: dimensions from the fastest to the slowest. Not written if it is that of rows.
    #[must_use]
    pub fn order(mut self, order: &[usize]) -> Self {
        self.order = Some(order.to_vec());
        self
    }

    /// Whether the values are stored from first to last index, for each dimension. Not written if all are.
    #[must_use]
    pub fn ascend(mut self, ascend: &[bool]) -> Self {
        self.ascend = Some(ascend.to_vec());
        self
    }

    /// What the application says about the tensor.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Into<Json>) -> Self {
        self.metadata = Some(metadata.into());
        self
    }

    /// A key of the application's in the tensor's entry.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.ext.insert(key.into(), value.into());
        self
    }

    fn to_json(&self, index: usize, part: usize) -> Result<Json, TensError> {
        if let Some(key) = KEYS.into_iter().find(|key| self.ext.contains_key(*key)) {
            return Err(K::ReservedKey.of(index, key));
        }
        let is_default =
            |order: Option<&[usize]>, ascend| Layout::new(&self.shape, order, ascend).is_some_and(|l| l.is_row_major());
        let order = self.order.as_deref().filter(|order| !is_default(Some(order), None));
        let ascend = self.ascend.as_deref().filter(|ascend| !is_default(None, Some(ascend)));
        let mut members = self.ext.clone();
        for (key, value) in [
            ("shape", Some(self.shape.clone().into())),
            ("word", Some(self.word.into())),
            ("dtype", Some(self.kind.clone().into())),
            ("part", Some(part.into())),
            ("order", order.map(Json::from)),
            ("ascend", ascend.map(Json::from)),
            (METADATA, self.metadata.clone()),
        ] {
            members.extend(value.map(|value: Json| (key.to_string(), value)));
        }
        Ok(members.into())
    }

    fn into_bytes(self, order: ByteOrder) -> Cow<'a, [u8]> {
        let unit = self.native_unit.filter(|unit| *unit > 1 && order != ByteOrder::NATIVE);
        let Some(unit) = unit else { return self.bytes };
        let mut bytes = self.bytes.into_owned();
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        bytes.into()
    }
}
