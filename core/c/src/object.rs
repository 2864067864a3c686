//! Data objects: what they are, and their digests.

use tgm_core::ErrorKind;
#[cfg(feature = "masks")]
use tgm_core::descriptor::MaskKind;
use tgm_core::descriptor::{ByteOrder, Descriptor};
use tgm_core::frame::Frame;
#[cfg(feature = "hash")]
use tgm_core::hash::HashPresence;
use tgm_core::object::DataObject;

use crate::abi::{Fault, INFO_DIMS, NO_OBJECT, ObjectInfo, Slice, Status};
use crate::kinds::{self, AT_END, choice, dtype_number};
use crate::pointers::{Outcome, answer, bytes, copy, status, text};
use crate::value::Value;
use crate::words::Words;

/// `tgmc_object_t`: the bytes of the object's frame, its place in the message, the object's number, and how to tell
/// whether the frame holds a digest.
pub type Object = Words<0x4f42_4a01, 6>;

impl Object {
    /// The struct of the object in `frame`, after a check of its descriptor.
    pub(crate) fn of(message: &tgm_core::Message<'_>, frame: &Frame<'_>, index: u64, flagged: bool) -> Outcome<Self> {
        let end = frame.end_offset();
        let place = usize::try_from(frame.offset()).ok().zip(usize::try_from(end).ok());
        let bytes = place.and_then(|(start, end)| message.as_bytes().get(start..end));
        let bytes = bytes.ok_or(ErrorKind::Truncated.at(end))?;
        #[cfg(feature = "hash")]
        let flagged = flagged || frame.hash_presence() == HashPresence::Flagged;
        let object = Self::new(bytes, &[frame.offset(), index, u64::from(flagged)]);
        opened(&object, bytes)?;
        Ok(object)
    }
}

/// An object, the bytes of its frame, and its numbers.
pub(crate) struct Opened<'a> {
    pub(crate) object: DataObject<'a>,
    bytes: &'a [u8],
    index: u64,
    #[cfg(feature = "hash")]
    flagged: bool,
}

/// The object of an opaque struct: O(bytes of the descriptor).
///
/// # Safety
/// As for [`Words::bytes`]; `object` is NULL or can be read.
unsafe fn object_of<'a>(object: *const Object) -> Outcome<Opened<'a>> {
    // SAFETY: the caller's promise.
    let (object, bytes) = unsafe {
        let object = copy(object)?;
        (object, object.bytes()?)
    };
    opened(&object, bytes)
}

/// Writes what `ask` finds in an object. Returns the status.
///
/// # Safety
/// As for [`object_of`] and [`answer`].
pub(crate) unsafe fn ask_object<T: Default>(
    object: *const Object,
    out: *mut T,
    error: *mut Fault,
    ask: impl FnOnce(&Opened<'_>) -> Outcome<T>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { answer(out, error, || ask(&object_of(object)?)) }
}

/// Calls `work` with an object and the bytes of its frame, on which no output may lie. Returns the status.
///
/// # Safety
/// As for [`object_of`] and [`status`].
pub(crate) unsafe fn with_object(
    object: *const Object,
    error: *mut Fault,
    work: impl FnOnce(&DataObject<'_>, &[u8]) -> Outcome<()>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { status(error, object_of(object).and_then(|opened| work(&opened.object, opened.bytes))) }
}

/// The object of an opaque struct and of its frame's bytes.
// Never inlined: it checks new objects, too.
#[inline(never)]
fn opened<'a>(object: &Object, bytes: &'a [u8]) -> Outcome<Opened<'a>> {
    let [offset, index, _flagged] = object.numbers()? else { return Err(kinds::HANDLE.fault()) };
    Ok(Opened {
        object: DataObject::parse(Frame::parse_at(bytes, *offset)?.0)?,
        bytes,
        index: *index,
        #[cfg(feature = "hash")]
        flagged: *_flagged != 0,
    })
}

/// What an object is.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_info"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_info(object: *const Object, info: *mut ObjectInfo, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        ask_object(object, info, error, |opened| {
            let mut info = describe(opened.object.descriptor());
            (info.index, info.payload) = (opened.index, opened.object.payload().into());
            Ok(info)
        })
    }
}

/// What a descriptor says.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_descriptor_info"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_descriptor_info(
    cbor: *const u8,
    len: usize,
    info: *mut ObjectInfo,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { answer(info, error, || Ok(describe(&Descriptor::parse(bytes(cbor, len)?, 0)?))) }
}

/// The part of an object's description that its descriptor has.
// Never inlined: two functions use it.
#[inline(never)]
fn describe(descriptor: &Descriptor<'_>) -> ObjectInfo {
    let dims = descriptor.shape();
    let mut shape = [0; INFO_DIMS];
    for (slot, dim) in shape.iter_mut().zip(dims.iter()) {
        *slot = dim;
    }
    let masks = descriptor.masks().iter().fold(0_u8, |bits, (kind, _)| bits | 1_u8.wrapping_shl(kind as u32));
    let encoding = choice!(descriptor.encoding().known());
    let filter = choice!(descriptor.filter().known());
    let compression = choice!(descriptor.compression().known());
    // Stages are undone in this order; choice 1 is "none" in each.
    let stages = [(compression != 1, 3), (filter != 1, 2), (encoding != 1, 1), (masks != 0, 4)];
    ObjectInfo {
        dtype: dtype_number(descriptor.dtype()),
        byte_order: order_number(descriptor.byte_order()),
        encoding,
        filter,
        compression,
        pending: stages.iter().find(|(is_pending, _)| *is_pending).map_or(0, |(_, stage)| *stage),
        ndim_overflow: u8::from(dims.len() > INFO_DIMS),
        masks,
        ndim: dims.len() as u32,
        element_size: descriptor.dtype().byte_width() as u32,
        element_count: descriptor.element_count(),
        decoded_len: descriptor.decoded_len().unwrap_or(u64::MAX),
        index: NO_OBJECT,
        shape,
        object_type: descriptor.object_type().as_str().map_or(Slice::default(), |name| name.as_bytes().into()),
        payload: Slice::default(),
        descriptor: descriptor.as_encoded().into(),
    }
}

const fn order_number(order: ByteOrder) -> u8 {
    match order {
        ByteOrder::Big => 1,
        ByteOrder::Little => 2,
    }
}

/// One dimension.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_dim"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_dim(object: *const Object, axis: u32, dim: *mut u64, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        ask_object(object, dim, error, |opened| opened.object.descriptor().shape().get(axis as usize).ok_or(AT_END))
    }
}

/// One stored stride.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_stride"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_stride(
    object: *const Object,
    axis: u32,
    stride: *mut u64,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        ask_object(object, stride, error, |opened| {
            opened.object.descriptor().strides().get(axis as usize).ok_or(AT_END)
        })
    }
}

/// A parameter of the descriptor.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_parameter"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_parameter(
    object: *const Object,
    key: *const u8,
    key_len: usize,
    value: *mut Value,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        ask_object(object, value, error, |opened| {
            Value::found(opened.object.descriptor().parameter(text(key, key_len)?)?)
        })
    }
}

/// Checks the digest of one object's frame.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "hash")]
#[cfg_attr(any(not(chosen), only = "tgmc_object_verify"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_verify(object: *const Object, error: *mut Fault) -> Status {
    use tgm_core::hash::Verdict;

    // SAFETY: the header asks the caller for what this function needs.
    let result = unsafe { object_of(object) }.and_then(|opened| {
        let presence = if opened.flagged { HashPresence::Flagged } else { HashPresence::All };
        match presence.check(opened.object.frame()) {
            Verdict::Good => Ok(()),
            Verdict::Missing => Err(AT_END),
            Verdict::Mismatch(_) => Err(ErrorKind::DigestMismatch.at(opened.object.frame().offset()).into()),
        }
    });
    // SAFETY: as above.
    unsafe { status(error, result) }
}

/// The mask kind of a bit.
#[cfg(feature = "masks")]
pub(crate) fn mask_kind(bit: u8) -> Outcome<MaskKind> {
    MaskKind::ALL.into_iter().find(|kind| bit == 1_u8.wrapping_shl(*kind as u32)).ok_or(kinds::ARGUMENT.fault())
}

/// The byte order of a number; 0 is this machine's.
pub(crate) fn order_of(order: u8) -> Outcome<ByteOrder> {
    match order {
        0 => Ok(ByteOrder::NATIVE),
        1 => Ok(ByteOrder::Big),
        2 => Ok(ByteOrder::Little),
        _ => Err(kinds::ARGUMENT.fault()),
    }
}
