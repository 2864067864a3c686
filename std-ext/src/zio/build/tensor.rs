//! A builder of one tensor of a message.

use std::borrow::Cow;

use serde_json::Value as Json;
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Element;
use tgm_core::zio::Layout;
use zerocopy::IntoBytes as _;

use crate::zio::dtype;
use crate::zio::error::{TensError, TensErrorKind as K};
use crate::zio::label::{METADATA, Members};
use crate::zio::tensor::KEYS;

/// A builder of a tensor.
#[derive(Clone, Debug)]
pub struct TensorBuilder<'a> {
    shape: Vec<u64>,
    kind: Cow<'a, str>,
    word: u32,
    bytes: Cow<'a, [u8]>,
    /// Size of a scalar, if the bytes are in native byte order. `None` if they are in the message's byte order.
    native_unit: Option<usize>,
    order: Option<Vec<usize>>,
    ascend: Option<Vec<bool>>,
    metadata: Option<Json>,
    ext: Members,
}

impl<'a> TensorBuilder<'a> {
    /// A tensor of `shape` with `values`. They are copied only if the message has another byte order than this machine.
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

    pub(super) fn to_json(&self, index: usize, part: usize) -> Result<Json, TensError> {
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

    pub(super) fn into_bytes(self, order: ByteOrder) -> Cow<'a, [u8]> {
        let unit = self.native_unit.filter(|unit| *unit > 1 && order != ByteOrder::NATIVE);
        let Some(unit) = unit else { return self.bytes };
        let mut bytes = self.bytes.into_owned();
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        bytes.into()
    }
}
