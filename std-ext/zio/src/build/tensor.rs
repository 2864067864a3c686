//! A builder of one tensor of a message.

use std::borrow::Cow;

use serde_json::Value as Json;
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Element;
use tgm_core::zerocopy::IntoBytes as _;

use crate::dtype;
use crate::label::{METADATA, Members};
use crate::payload::Payload;
use crate::tensor::{KEYS, Tensor};
use crate::wire::{Error, ErrorKind as K, Layout};

/// A builder of a tensor.
///
/// ```
/// use tgm_std::ByteOrder;
/// use tgm_zio::{TensBuilder, TensorBuilder};
///
/// let adc = [1_i16, 2, 3, 4, 5, 6];
/// let built = TensBuilder::new()
///     .tensor(TensorBuilder::new(&[2, 3], &adc).metadata("plane U"))
///     .tensor(TensorBuilder::in_part(&[6], "i", 2, 0)) // the same bytes, as a vector
///     .build()?;
/// assert_eq!(built.parts.payloads().len(), 1);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensorBuilder<'a> {
    shape: Vec<u64>,
    kind: Cow<'a, str>,
    word: u32,
    /// `None` if something else fills the part.
    bytes: Option<Payload<'a>>,
    /// Size of a scalar, if the bytes are in native byte order. `None` if they are in the message's byte order.
    native_unit: Option<usize>,
    pub(super) part: Option<usize>,
    order: Option<Vec<usize>>,
    ascend: Option<Vec<bool>>,
    packing: Option<String>,
    metadata: Option<Json>,
    ext: Members,
}

impl<'a> TensorBuilder<'a> {
    /// A tensor of `shape` with `values`. They are copied only if the message has another byte order than this machine.
    pub fn new<T: Element>(shape: &[u64], values: &'a [T]) -> Self {
        let (kind, word) = dtype::to_tens(T::DTYPE);
        let native_unit = Some(T::DTYPE.swap_unit_size());
        Self { native_unit, ..Self::from_bytes(shape, kind.to_string(), word, values.as_bytes()) }
    }

    /// A tensor of any kind and width, with its elements' bytes in the message's byte order.
    pub fn from_bytes(shape: &[u64], kind: impl Into<Cow<'a, str>>, word: u32, bytes: impl Into<Payload<'a>>) -> Self {
        Self { bytes: Some(bytes.into()), ..Self::somewhere(shape, kind.into(), word) }
    }

    /// A tensor whose elements are in payload part `part`, which another tensor or [`TensBuilder::part`] fills.
    ///
    /// [`TensBuilder::part`]: super::TensBuilder::part
    pub fn in_part(shape: &[u64], kind: impl Into<Cow<'a, str>>, word: u32, part: usize) -> Self {
        Self { part: Some(part), ..Self::somewhere(shape, kind.into(), word) }
    }

    /// The same with other bytes, which are in native byte order as the values are.
    #[cfg(feature = "ndarray")]
    pub(crate) fn with_native(mut self, bytes: Vec<u8>) -> Self {
        self.bytes = Some(bytes.into());
        self
    }

    fn somewhere(shape: &[u64], kind: Cow<'a, str>, word: u32) -> Self {
        Self {
            shape: shape.to_vec(),
            kind,
            word,
            bytes: None,
            native_unit: None,
            part: None,
            order: None,
            ascend: None,
            packing: None,
            metadata: None,
            ext: Members::new(),
        }
    }

    /// A tensor like one that was received, in the same part.
    pub(super) fn of_received(tensor: &Tensor<'_>) -> Self {
        Self {
            part: Some(tensor.part()),
            order: tensor.order().map(<[usize]>::to_vec),
            ascend: tensor.ascend().map(<[bool]>::to_vec),
            packing: tensor.packing().map(str::to_string),
            metadata: tensor.metadata().cloned(),
            ext: tensor.ext().clone(),
            ..Self::somewhere(tensor.shape(), tensor.kind().to_string().into(), tensor.word())
        }
    }

    /// Puts the elements into payload part `part`. Other things go where there is room.
    #[must_use]
    pub const fn part(mut self, part: usize) -> Self {
        self.part = Some(part);
        self
    }

    /// Says that the bytes are packed in a way that readers must know: they are opaque to this crate.
    #[must_use]
    pub fn packing(mut self, packing: impl Into<String>) -> Self {
        self.packing = Some(packing.into());
        self
    }

    /// Sets the storage order: dimensions from the fastest to the slowest. Row-major order is not written.
    #[must_use]
    pub fn order(mut self, order: &[usize]) -> Self {
        self.order = Some(order.to_vec());
        self
    }

    /// Sets for each dimension whether values are stored from first to last index. Not written if all are.
    #[must_use]
    pub fn ascend(mut self, ascend: &[bool]) -> Self {
        self.ascend = Some(ascend.to_vec());
        self
    }

    /// Sets the application's metadata of the tensor.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Into<Json>) -> Self {
        self.metadata = Some(metadata.into());
        self
    }

    /// Sets a key of the application in the tensor's entry.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.ext.insert(key.into(), value.into());
        self
    }

    /// The entry of the label.
    pub(super) fn to_json(&self, index: usize) -> Result<Json, Error> {
        if let Some(key) = KEYS.into_iter().find(|key| self.ext.contains_key(*key)) {
            return Err(K::ReservedKey.of(index, key));
        }
        let part = self.part.ok_or(K::BadPart.of(index, "part"))?;
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
            ("packing", self.packing.clone().map(Json::from)),
            (METADATA, self.metadata.clone()),
        ] {
            members.extend(value.map(|value: Json| (key.to_string(), value)));
        }
        Ok(members.into())
    }

    /// Takes the bytes out, in that byte order. `None` if something else fills the part.
    pub(super) fn take_bytes(&mut self, order: ByteOrder) -> Option<Payload<'a>> {
        let bytes = self.bytes.take()?;
        let unit = self.native_unit.filter(|unit| *unit > 1 && order != ByteOrder::NATIVE);
        let Some(unit) = unit else { return Some(bytes) };
        let mut bytes = bytes.into_vec();
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        Some(bytes.into())
    }
}
