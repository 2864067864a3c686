//! One tensor of a message: its entry in the label, and its elements in the payload.

use serde_json::Value as Json;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::tensor::{Element, Elements, Shape, TensorView};

use super::dtype;
use super::label::{METADATA, Members};
use crate::wire::{Error, ErrorKind as K, Layout, OrderedView};

const SHAPE: &str = "shape";
const WORD: &str = "word";
const DTYPE: &str = "dtype";
const PART: &str = "part";
const ORDER: &str = "order";
const ASCEND: &str = "ascend";
const PACKING: &str = "packing";
const POINTER: &str = "pointer";
/// The only packing whose elements can be read.
const DENSE: &str = "dense";

/// The keys of a tensor with a fixed meaning.
pub(super) const KEYS: [&str; 9] = [SHAPE, WORD, DTYPE, PART, ORDER, ASCEND, METADATA, PACKING, POINTER];

/// A tensor of a TENS message. Its elements are borrowed from its payload part.
///
/// A tensor of a packing other than dense is opaque: [`bytes`](Self::bytes) is its whole part, and its elements cannot
/// be read. The other tensors of its message can.
///
/// ```
/// use tgm_std::ByteOrder;
/// use tgm_zio::{ErrorKind, Message, Tens};
///
/// let label = br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[9],"word":2,"dtype":"i","packing":"csr"},
///                                              {"shape":[2],"word":2,"dtype":"i"}]}}"#;
/// let parts = [&label[..], &[0; 24], b"packed", &[1, 0, 2, 0]];
/// let message = Message::from_parts(&parts, ByteOrder::Little)?;
/// let tens = Tens::parse(&message)?;
/// let [packed, plain] = tens.tensors() else { unreachable!() };
/// assert_eq!((packed.packing(), packed.bytes()), (Some("csr"), &b"packed"[..]));
/// assert_eq!(packed.view::<i16>().unwrap_err().kind(), ErrorKind::UnsupportedPacking);
/// assert!(plain.view::<i16>()?.iter().eq([1, 2]));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    pub(super) index: usize,
    pub(super) shape: Vec<u64>,
    pub(super) word: u32,
    pub(super) kind: String,
    pub(super) part: usize,
    pub(super) is_part_given: bool,
    pub(super) order: Option<Vec<usize>>,
    pub(super) ascend: Option<Vec<bool>>,
    pub(super) packing: Option<String>,
    pub(super) metadata: Option<Json>,
    pub(super) ext: Members,
    pub(super) bytes: &'a [u8],
    byte_order: ByteOrder,
    stored_shape: Vec<u64>,
    strides: Vec<i64>,
    offset: u64,
}

impl<'a> Tensor<'a> {
    /// Reads entry `index` of `tensors`.
    pub(super) fn parse(
        index: usize,
        entry: &Json,
        payloads: &[&'a [u8]],
        byte_order: ByteOrder,
    ) -> Result<Self, Error> {
        let Json::Object(members) = entry else {
            return Err(K::TensorNotObject.of_tensor(index));
        };
        let required = |key| members.get(key).ok_or(K::MissingAttribute.of(index, key));
        let given = |key| members.get(key).filter(|value| !value.is_null());
        let (shape, word, kind) = (required(SHAPE)?, required(WORD)?, required(DTYPE)?);

        let shape = uints(shape).ok_or(K::BadShape.of(index, SHAPE))?;
        let word = word.as_u64().and_then(|word| u32::try_from(word).ok()).filter(|word| *word > 0);
        let word = word.ok_or(K::BadWord.of(index, WORD))?;
        let kind = kind.as_str().filter(|kind| !kind.is_empty()).ok_or(K::BadDtype.of(index, DTYPE))?;
        if given(POINTER).is_some_and(|pointer| pointer.as_u64() != Some(0)) {
            return Err(K::PointerUnsupported.of(index, POINTER));
        }
        let packing = match given(PACKING) {
            None => None,
            Some(packing) => Some(packing.as_str().ok_or(K::UnsupportedPacking.of(index, PACKING))?.to_string()),
        };
        let part = given(PART).map(|part| part.as_u64().ok_or(K::BadPart.of(index, PART))).transpose()?;
        let number = part.map_or(Some(index), |part| usize::try_from(part).ok());
        let (number, bytes) = number
            .and_then(|number| Some((number, *payloads.get(number)?)))
            .ok_or(K::PartOutOfRange.of(index, PART))?;
        let order = given(ORDER).map(|order| permutation(order, shape.len()).ok_or(K::BadOrder.of(index, ORDER)));
        let order = order.transpose()?;
        let ascend = given(ASCEND).map(|ascend| bools(ascend, shape.len()).ok_or(K::BadAscend.of(index, ASCEND)));
        let ascend = ascend.transpose()?;
        let count = Shape::from(shape.as_slice()).element_count();
        let len = count.and_then(|count| count.checked_mul(u64::from(word)));
        let is_dense = packing.as_ref().is_none_or(|packing| packing == DENSE);
        if is_dense && len.ok_or(K::SizeOverflow.of(index, SHAPE))? != bytes.len() as u64 {
            return Err(K::SizeMismatch.of(index, SHAPE));
        }

        let layout = Layout::from_checked(&shape, order.as_deref(), ascend.as_deref());
        let stored_shape = stored_shape(&layout, &shape);
        let mut strides = vec![0; shape.len()];
        // Strides can overflow only in a tensor without elements, which needs none.
        let offset = layout.strides_into(&mut strides).unwrap_or_default();
        let is_ours = |key: &String| KEYS.contains(&key.as_str());
        let ext = members.iter().filter(|(key, _)| !is_ours(key)).map(|(key, value)| (key.clone(), value.clone()));
        Ok(Self {
            index,
            word,
            kind: kind.to_string(),
            part: number,
            is_part_given: part.is_some(),
            packing,
            metadata: given(METADATA).cloned(),
            ext: ext.collect(),
            bytes,
            byte_order,
            stored_shape,
            strides,
            offset,
            shape,
            order,
            ascend,
        })
    }

    /// This tensor's entry in canonical form: always with `part`, and with the other keys that were given.
    pub(super) fn to_json(&self) -> Json {
        let mut members = self.ext.clone();
        members.insert(SHAPE.into(), self.shape.clone().into());
        members.insert(WORD.into(), self.word.into());
        members.insert(DTYPE.into(), self.kind.clone().into());
        members.insert(PART.into(), self.part.into());
        let order = self.order.clone().map(Json::from);
        let ascend = self.ascend.clone().map(Json::from);
        let packing = self.packing.clone().map(Json::from);
        for (key, value) in [(ORDER, order), (ASCEND, ascend), (PACKING, packing), (METADATA, self.metadata.clone())] {
            members.extend(value.map(|value| (key.to_string(), value)));
        }
        Json::Object(members)
    }

    /// The extent of each dimension, in the order of coordinates.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape in storage order, slowest first. Differs from [`Self::shape`] if an `order` is given.
    pub fn stored_shape(&self) -> &[u64] {
        &self.stored_shape
    }

    /// Bytes of an element.
    pub const fn word(&self) -> u32 {
        self.word
    }

    /// The kind of the elements in the label, a numpy letter by convention.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The type of the elements, if Rust code can compute with it, and if they are dense. Booleans are bytes, 0 or 1.
    pub fn dtype(&self) -> Option<Dtype> {
        if self.is_dense() { dtype::from_tens(&self.kind, self.word) } else { None }
    }

    /// The packing that the label names.
    pub fn packing(&self) -> Option<&str> {
        self.packing.as_deref()
    }

    /// Whether the elements lie one after the other. Otherwise the part is opaque bytes.
    pub fn is_dense(&self) -> bool {
        self.packing().is_none_or(|packing| packing == DENSE)
    }

    /// The number of the payload part that holds the elements.
    pub const fn part(&self) -> usize {
        self.part
    }

    /// Whether the label names the part.
    pub const fn is_part_given(&self) -> bool {
        self.is_part_given
    }

    /// The storage order in the label: `order[k]` is the k-th fastest dimension.
    pub fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }

    /// For each dimension, whether it is stored from first to last index. `None` if the label does not say.
    pub fn ascend(&self) -> Option<&[bool]> {
        self.ascend.as_deref()
    }

    /// The application's metadata of the tensor.
    pub const fn metadata(&self) -> Option<&Json> {
        self.metadata.as_ref()
    }

    /// The application's keys in the tensor's entry.
    pub const fn ext(&self) -> &Members {
        &self.ext
    }

    /// The elements' bytes in stored order. For a tensor that is not dense, all bytes of its part.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The elements' byte order, as given by the caller.
    pub const fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// The positions of the elements.
    pub fn layout(&self) -> Layout<'_> {
        Layout::from_checked(&self.shape, self.order.as_deref(), self.ascend.as_deref())
    }

    /// The distance between neighbours along each dimension in elements, negative where it descends.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The position of the element with all coordinates 0, in elements.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The tensor in place, if it is in row-major order, as all known writers store it. O(rank), for any alignment.
    ///
    /// # Errors
    /// [`K::DtypeMismatch`] if the elements are not `T`s; [`K::NotRowMajor`], in which case
    /// [`ordered_view`](Self::ordered_view) works.
    pub fn view<T: Element>(&self) -> Result<TensorView<'_, T>, Error> {
        if !self.layout().is_row_major() {
            return Err(K::NotRowMajor.of(self.index, ORDER));
        }
        self.stored_view()
    }

    /// The elements as a tensor of [`stored_shape`](Self::stored_shape): dimensions from the slowest to the fastest in
    /// memory, descending ones from their last index to their first.
    ///
    /// # Errors
    /// [`K::DtypeMismatch`] if the elements are not `T`s.
    pub fn stored_view<T: Element>(&self) -> Result<TensorView<'_, T>, Error> {
        self.check_type::<T>()?;
        TensorView::new(self.bytes, self.byte_order, Shape::from(self.stored_shape.as_slice()))
            .map_err(|_| K::SizeOverflow.of(self.index, SHAPE))
    }

    /// The elements by coordinates, for any storage order. Nothing is copied.
    ///
    /// # Errors
    /// [`K::DtypeMismatch`] if the elements are not `T`s.
    pub fn ordered_view<T: Element>(&self) -> Result<OrderedView<'_, T>, Error> {
        self.check_type::<T>()?;
        Elements::new(self.bytes, self.byte_order)
            .and_then(|elements| OrderedView::new(elements, &self.shape, &self.strides, self.offset))
            .map_err(|_| K::SizeOverflow.of(self.index, SHAPE))
    }

    pub(super) fn check_type<T: Element>(&self) -> Result<(), Error> {
        if !self.is_dense() {
            return Err(K::UnsupportedPacking.of(self.index, PACKING));
        }
        if self.dtype() == Some(T::DTYPE) { Ok(()) } else { Err(K::DtypeMismatch.of(self.index, DTYPE)) }
    }
}

/// An array of non-negative integers.
fn uints(value: &Json) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Json::as_u64).collect()
}

/// An array of booleans of that length.
pub(super) fn bools(value: &Json, len: usize) -> Option<Vec<bool>> {
    let bools: Vec<bool> = value.as_array()?.iter().map(Json::as_bool).collect::<Option<_>>()?;
    (bools.len() == len).then_some(bools)
}

/// A permutation of the numbers below `rank`.
pub(super) fn permutation(value: &Json, rank: usize) -> Option<Vec<usize>> {
    let order = uints(value)?;
    if order.len() != rank {
        return None;
    }
    let mut is_seen = vec![false; rank];
    order
        .into_iter()
        .map(|d| {
            let d = usize::try_from(d).ok()?;
            let seen = is_seen.get_mut(d).filter(|seen| !**seen)?;
            *seen = true;
            Some(d)
        })
        .collect()
}

/// The lengths of the dimensions as they are stored, the slowest first.
pub(crate) fn stored_shape(layout: &Layout<'_>, shape: &[u64]) -> Vec<u64> {
    let mut stored: Vec<u64> = layout.fastest_first().filter_map(|d| shape.get(d).copied()).collect();
    stored.reverse();
    stored
}
