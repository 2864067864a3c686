//! The label of a message with tensors (TENS), read in place.

use core::iter::FusedIterator;

use tgm_core::descriptor::Dtype;
use tgm_core::tensor::{Element, Shape, TensorView};

use super::dtype::dtype_of;
use super::error::{Error, ErrorKind as K, Result};
use super::json::{Json, JsonItems, JsonStr};
use super::layout::Layout;
use super::message::Message;

/// The most dimensions of a tensor with an `order`: a bit for each marks those that occurred.
const MAX_ORDERED: usize = 128;

/// A label that describes tensors, borrowed.
///
/// Holding one means: the label is JSON with a TENS object. Its tensors were not looked at.
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_zio::{Message, TensLabel};
///
/// let label = br#"ZIO4TENS{"TENS":{"tensors":[{"shape":[2],"word":2,"dtype":"i"}]}}"#;
/// let parts = [&label[..], &[0; 24], &[1, 0, 2, 0]];
/// let message = Message::from_parts(&parts, ByteOrder::Little)?;
/// let mut dims = [0; 4];
/// for tensor in TensLabel::of(&message)?.tensors() {
///     let view = tensor?.view::<i16, _>(&message, &mut dims)?;
///     assert!(view.iter().eq([1, 2]));
/// }
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TensLabel<'a> {
    label: Json<'a>,
    tens: Json<'a>,
    tensors: Option<Json<'a>>,
}

impl<'a> TensLabel<'a> {
    /// Reads a label. O(length), no recursion, no allocation.
    ///
    /// # Errors
    /// The errors of [`Json::parse`]; [`K::LabelNotObject`], [`K::NoTens`], [`K::TensNotObject`], [`K::TensorsNotArray`].
    pub fn parse(label: &'a [u8]) -> Result<Self> {
        let label = Json::parse(label)?;
        label.members().ok_or(K::LabelNotObject.in_label())?;
        let tens = label.get("TENS").ok_or(K::NoTens.in_label())?;
        tens.members().ok_or(K::TensNotObject.under("TENS"))?;
        let tensors = tens.given("tensors");
        if tensors.is_some_and(|tensors| tensors.items().is_none()) {
            return Err(K::TensorsNotArray.under("TENS"));
        }
        Ok(Self { label, tens, tensors })
    }

    /// Reads the label of a message.
    ///
    /// # Errors
    /// The errors of [`Self::parse`].
    pub fn of<P: AsRef<[u8]>>(message: &Message<'a, P>) -> Result<Self> {
        Self::parse(message.label())
    }

    /// The whole label.
    pub const fn label(&self) -> Json<'a> {
        self.label
    }

    /// The TENS object.
    pub const fn tens(&self) -> Json<'a> {
        self.tens
    }

    /// The application's metadata of the message.
    pub fn metadata(&self) -> Option<Json<'a>> {
        self.tens.get("metadata")
    }

    /// The tensors, in the order of the label. Lazy: each is checked when the iterator reaches it.
    pub fn tensors(&self) -> TensEntries<'a> {
        TensEntries { items: self.tensors.and_then(|tensors| tensors.items()), index: 0 }
    }
}

/// The tensors of a label. An error of one tensor does not end them. See [`TensLabel::tensors`].
///
/// ```
/// use tgm_zio::TensLabel;
///
/// let label = br#"{"TENS":{"tensors":[{"shape":"?"},{"shape":[2],"word":1,"dtype":"u"}]}}"#;
/// let mut tensors = TensLabel::parse(label)?.tensors();
/// assert!(tensors.next().unwrap().is_err() && tensors.next().unwrap().is_ok());
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensEntries<'a> {
    items: Option<JsonItems<'a>>,
    index: usize,
}

impl<'a> Iterator for TensEntries<'a> {
    type Item = Result<TensEntry<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let json = self.items.as_mut()?.next()?;
        let index = self.index;
        self.index = index.saturating_add(1);
        Some(TensEntry::parse(index, json))
    }
}

impl FusedIterator for TensEntries<'_> {}

/// One tensor of a label: where its elements are, and what they are.
///
/// Holding one means: its keys have the types that they must have. The payload was not looked at.
///
/// ```
/// use tgm_zio::TensLabel;
///
/// let label = br#"{"TENS":{"tensors":[{"shape":[3,4],"word":8,"dtype":"f","order":[0,1],"part":2}]}}"#;
/// let tensor = TensLabel::parse(label)?.tensors().next().unwrap()?;
/// assert_eq!((tensor.rank(), tensor.word(), tensor.part()), (2, 8, 2));
/// assert!(tensor.shape().eq([3, 4]) && tensor.order().is_some_and(|mut order| order.next() == Some(0)));
/// assert_eq!(tensor.byte_len(), Some(96));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TensEntry<'a> {
    index: usize,
    json: Json<'a>,
    shape: Json<'a>,
    rank: usize,
    word: u32,
    kind: JsonStr<'a>,
    part: Option<usize>,
    packing: Option<JsonStr<'a>>,
    order: Option<Json<'a>>,
    ascend: Option<Json<'a>>,
}

impl<'a> TensEntry<'a> {
    fn parse(index: usize, json: Json<'a>) -> Result<Self> {
        json.members().ok_or(K::TensorNotObject.of_tensor(index))?;
        let required = |key| json.get(key).ok_or(K::MissingAttribute.of(index, key));
        let (shape, word, kind) = (required("shape")?, required("word")?, required("dtype")?);
        let bad_shape = K::BadShape.of(index, "shape");
        let rank = shape
            .items()
            .ok_or(bad_shape)?
            .try_fold(0_usize, |rank, dim| dim.as_u64().map(|_| rank.saturating_add(1)).ok_or(bad_shape))?;
        let word = word.as_u64().and_then(|word| u32::try_from(word).ok()).filter(|word| *word > 0);
        let word = word.ok_or(K::BadWord.of(index, "word"))?;
        let kind = kind.as_str().filter(|kind| kind.chars().next().is_some());
        let kind = kind.ok_or(K::BadDtype.of(index, "dtype"))?;
        if json.given("pointer").is_some_and(|pointer| pointer.as_u64() != Some(0)) {
            return Err(K::PointerUnsupported.of(index, "pointer"));
        }
        let packing = match json.given("packing") {
            None => None,
            Some(packing) => Some(packing.as_str().ok_or(K::UnsupportedPacking.of(index, "packing"))?),
        };
        let part = match json.given("part") {
            None => None,
            Some(part) => Some(part.as_u64().ok_or(K::BadPart.of(index, "part"))?),
        };
        // A part beyond `usize` is beyond all parts that there are.
        let part = part.map(|part| usize::try_from(part).unwrap_or(usize::MAX));
        let order = json.given("order");
        if let Some(order) = order {
            if rank > MAX_ORDERED {
                return Err(K::RankTooLarge(rank).of(index, "order"));
            }
            is_permutation(order, rank).ok_or(K::BadOrder.of(index, "order"))?;
        }
        let ascend = json.given("ascend");
        if let Some(ascend) = ascend {
            let bad = K::BadAscend.of(index, "ascend");
            let count = ascend
                .items()
                .ok_or(bad)?
                .try_fold(0_usize, |count, flag| flag.as_bool().map(|_| count.saturating_add(1)).ok_or(bad))?;
            if count != rank {
                return Err(bad);
            }
        }
        Ok(Self { index, json, shape, rank, word, kind, part, packing, order, ascend })
    }

    /// Which tensor of the label this is.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The whole entry, with the application's keys.
    pub const fn json(&self) -> Json<'a> {
        self.json
    }

    /// The number of dimensions.
    pub const fn rank(&self) -> usize {
        self.rank
    }

    /// The dimensions, in the order of coordinates.
    pub fn shape(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.shape.items().into_iter().flatten().filter_map(|dim| dim.as_u64())
    }

    /// Writes the dimensions to the front of `dims`, and returns them.
    ///
    /// # Errors
    /// [`K::RankTooLarge`] if `dims` has fewer places.
    pub fn shape_into<'d>(&self, dims: &'d mut [u64]) -> Result<&'d [u64]> {
        fill(dims, self.rank, self.shape()).ok_or(self.rank_too_large())
    }

    /// Bytes of an element.
    pub const fn word(&self) -> u32 {
        self.word
    }

    /// The kind of the elements, a numpy letter by convention.
    pub const fn kind(&self) -> JsonStr<'a> {
        self.kind
    }

    /// The type of the elements, if Rust code can compute with it, and if they are dense. Booleans are bytes, 0 or 1.
    pub fn dtype(&self) -> Option<Dtype> {
        let mut letters = self.kind.chars();
        let kind = letters.next()?;
        if letters.next().is_some() || !self.is_dense() { None } else { dtype_of(kind, self.word) }
    }

    /// The number of the payload part that holds the elements.
    pub const fn part(&self) -> usize {
        match self.part {
            Some(part) => part,
            None => self.index,
        }
    }

    /// The packing that is named. See [`Self::is_dense`].
    pub const fn packing(&self) -> Option<JsonStr<'a>> {
        self.packing
    }

    /// Whether the elements lie one after the other. Otherwise the part is opaque bytes.
    pub fn is_dense(&self) -> bool {
        self.packing.is_none_or(|packing| packing == "dense")
    }

    /// The storage order that is given: dimensions from the fastest to the slowest.
    pub fn order(&self) -> Option<impl Iterator<Item = usize> + use<'a>> {
        let items = self.order?.items()?;
        Some(items.filter_map(|d| usize::try_from(d.as_u64()?).ok()))
    }

    /// For each dimension, whether it is stored from first to last index, if that is given.
    pub fn ascend(&self) -> Option<impl Iterator<Item = bool> + use<'a>> {
        Some(self.ascend?.items()?.filter_map(|flag| flag.as_bool()))
    }

    /// The layout, with its numbers in arrays of the caller, each of at least as many places as there are dimensions.
    ///
    /// # Errors
    /// [`K::RankTooLarge`] if an array has fewer places.
    pub fn layout_into<'d>(
        &self,
        dims: &'d mut [u64],
        order: &'d mut [usize],
        ascend: &'d mut [bool],
    ) -> Result<Layout<'d>> {
        let small = self.rank_too_large();
        let order = match self.order() {
            Some(found) => Some(fill(order, self.rank, found).ok_or(small)?),
            None => None,
        };
        let ascend = match self.ascend() {
            Some(found) => Some(fill(ascend, self.rank, found).ok_or(small)?),
            None => None,
        };
        Ok(Layout::from_checked(self.shape_into(dims)?, order, ascend))
    }

    /// The application's metadata of the tensor.
    pub fn metadata(&self) -> Option<Json<'a>> {
        self.json.given("metadata")
    }

    /// Bytes of all elements. `None` if that exceeds 64 bits.
    pub fn byte_len(&self) -> Option<u64> {
        let mut count = Some(1_u64);
        for dim in self.shape() {
            if dim == 0 {
                return Some(0);
            }
            count = count.and_then(|count| count.checked_mul(dim));
        }
        count?.checked_mul(u64::from(self.word))
    }

    /// The bytes of the tensor in a message. For a tensor that is not dense, all bytes of its part.
    ///
    /// # Errors
    /// [`K::PartOutOfRange`]; for a dense tensor [`K::SizeOverflow`] and [`K::SizeMismatch`].
    pub fn bytes<'m, P: AsRef<[u8]>>(&self, message: &Message<'m, P>) -> Result<&'m [u8]> {
        let bytes = message.payload(self.part()).ok_or(K::PartOutOfRange.of(self.index, "part"))?;
        if self.is_dense() {
            let len = self.byte_len().ok_or(K::SizeOverflow.of(self.index, "shape"))?;
            if len != bytes.len() as u64 {
                return Err(K::SizeMismatch.of(self.index, "shape"));
            }
        }
        Ok(bytes)
    }

    /// The tensor in place, if it is in row-major order, as all known writers store it. Its shape is written to `dims`.
    ///
    /// # Errors
    /// The errors of [`Self::bytes`] and [`Self::shape_into`]; [`K::UnsupportedPacking`], [`K::DtypeMismatch`];
    /// [`K::NotRowMajor`], in which case [`Self::layout_into`] helps.
    pub fn view<'v, T: Element, P: AsRef<[u8]>>(
        &self,
        message: &Message<'v, P>,
        dims: &'v mut [u64],
    ) -> Result<TensorView<'v, T>> {
        if !self.is_dense() {
            return Err(K::UnsupportedPacking.of(self.index, "packing"));
        }
        if self.dtype() != Some(T::DTYPE) {
            return Err(K::DtypeMismatch.of(self.index, "dtype"));
        }
        let is_in_rows = self.order().is_none_or(|order| order.eq((0..self.rank).rev()))
            && self.ascend().is_none_or(|mut ascend| ascend.all(|ascends| ascends));
        if !is_in_rows {
            return Err(K::NotRowMajor.of(self.index, "order"));
        }
        let bytes = self.bytes(message)?;
        TensorView::new(bytes, message.byte_order(), Shape::from(self.shape_into(dims)?))
            .map_err(|_| K::SizeOverflow.of(self.index, "shape"))
    }

    const fn rank_too_large(&self) -> Error {
        K::RankTooLarge(self.rank).of(self.index, "shape")
    }
}

/// Writes `count` items to the front of `out`. `None` if it has fewer places.
fn fill<T>(out: &mut [T], count: usize, items: impl Iterator<Item = T>) -> Option<&[T]> {
    let out = out.get_mut(..count)?;
    out.iter_mut().zip(items).for_each(|(out, item)| *out = item);
    Some(out)
}

/// Some if `order` has each number below `rank` once. `rank` is at most [`MAX_ORDERED`].
fn is_permutation(order: Json<'_>, rank: usize) -> Option<()> {
    let (mut seen, mut count) = (0_u128, 0_usize);
    for d in order.items()? {
        let d = d.as_u64().filter(|d| *d < rank as u64)?;
        let bit = 1_u128.wrapping_shl(u32::try_from(d).ok()?);
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
        count = count.saturating_add(1);
    }
    (count == rank).then_some(())
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::vec::Vec;

    use super::*;
    use tgm_core::descriptor::ByteOrder;

    fn entry(text: &str) -> Result<TensEntry<'_>> {
        TensEntry::parse(0, Json::parse(text.as_bytes())?)
    }

    #[test]
    fn every_wrong_key_has_its_error() {
        for (rest, kind) in [
            ("\"word\":1,\"dtype\":\"u\"", K::MissingAttribute),
            ("\"shape\":[2.0],\"word\":1,\"dtype\":\"u\"", K::BadShape),
            ("\"shape\":[2],\"word\":0,\"dtype\":\"u\"", K::BadWord),
            ("\"shape\":[2],\"word\":1,\"dtype\":\"\"", K::BadDtype),
            ("\"shape\":[2],\"word\":1,\"dtype\":\"u\",\"pointer\":7", K::PointerUnsupported),
            ("\"shape\":[2],\"word\":1,\"dtype\":\"u\",\"packing\":7", K::UnsupportedPacking),
            ("\"shape\":[2],\"word\":1,\"dtype\":\"u\",\"part\":-1", K::BadPart),
            ("\"shape\":[2,2],\"word\":1,\"dtype\":\"u\",\"order\":[0,0]", K::BadOrder),
            ("\"shape\":[2,2],\"word\":1,\"dtype\":\"u\",\"order\":[0]", K::BadOrder),
            ("\"shape\":[2,2],\"word\":1,\"dtype\":\"u\",\"ascend\":[true]", K::BadAscend),
        ] {
            assert_eq!(entry(&format!("{{{rest}}}")).unwrap_err().kind(), kind, "{rest}");
        }
        assert_eq!(entry("[]").unwrap_err(), K::TensorNotObject.of_tensor(0));
        for (label, kind) in [
            ("[]", K::LabelNotObject),
            ("{\"tens\":{}}", K::NoTens),
            ("{\"TENS\":[]}", K::TensNotObject),
            ("{\"TENS\":{\"tensors\":{}}}", K::TensorsNotArray),
        ] {
            assert_eq!(TensLabel::parse(label.as_bytes()).unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn a_broken_or_packed_tensor_leaves_its_siblings_readable() {
        let label = br#"ZIO0TENS{"TENS":{"tensors":[
            {"shape":[9],"word":4,"dtype":"f","packing":"csr"},
            {"shape":[2],"word":0,"dtype":"u"},
            {"shape":[2],"word":1,"dtype":"u"}]}}"#;
        let parts = [&label[..], &[0; 24], b"any", b"", &[5, 6]];
        let message = Message::from_parts(&parts, ByteOrder::Little).unwrap();
        let tensors: Vec<_> = TensLabel::of(&message).unwrap().tensors().collect();
        let packed = tensors[0].unwrap();
        assert_eq!((packed.bytes(&message), packed.dtype()), (Ok(&b"any"[..]), None));
        let mut dims = [0; 1];
        assert_eq!(packed.view::<f32, _>(&message, &mut dims).unwrap_err().kind(), K::UnsupportedPacking);
        assert_eq!(tensors[1].unwrap_err(), K::BadWord.of(1, "word"));
        let view = tensors[2].unwrap().view::<u8, _>(&message, &mut dims).unwrap();
        assert!(view.iter().eq([5, 6]));
    }

    #[test]
    fn layouts_need_room_for_each_dimension() {
        let text = r#"{"shape":[3,4,2],"word":1,"dtype":"u","order":[2,0,1],"ascend":[false,true,true]}"#;
        let tensor = entry(text).unwrap();
        let (mut dims, mut order, mut ascend) = ([0; 4], [0; 4], [true; 4]);
        let layout = tensor.layout_into(&mut dims, &mut order, &mut ascend).unwrap();
        assert_eq!(layout.flat_index(&[0, 0, 0]), Some(4));
        let error = tensor.layout_into(&mut [0; 2], &mut [0; 4], &mut [true; 4]).unwrap_err();
        assert_eq!(error.kind(), K::RankTooLarge(3));
    }
}
