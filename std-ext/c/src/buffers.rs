//! Memory blocks for decoded values, and for bytes that C callers own and free.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::slice;
use std::sync::Mutex;

use crate::call::run;
use crate::error::{ENCODING, Report, Result};
use crate::locks::lock;

/// The alignment of every buffer: enough for any type of numbers, and what `malloc` gives anyway.
const ALIGN: usize = 16;

/// Bytes whose address is a multiple of [`ALIGN`].
pub(crate) struct Block {
    data: NonNull<u8>,
    len: usize,
    /// The layout with which the memory was allocated. It must be freed with the same one.
    layout: Layout,
}

impl Block {
    /// Takes over the memory of `bytes`. Copies the bytes if their address is not aligned, or if the vector has not
    /// allocated any memory.
    ///
    /// # Errors
    /// ENCODING if there is no memory for a copy.
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self> {
        // Without capacity nothing is allocated, and the vector's pointer must not be freed.
        if bytes.capacity() == 0 || !bytes.as_ptr().addr().is_multiple_of(ALIGN) {
            return Self::copy(&bytes);
        }
        // From here on the block frees the memory. A vector allocates with the layout of an array of its capacity.
        let mut bytes = ManuallyDrop::new(bytes);
        let no_memory = |_| Report::new(ENCODING, "out of memory");
        let layout = Layout::array::<u8>(bytes.capacity()).map_err(no_memory)?;
        let data = NonNull::new(bytes.as_mut_ptr()).ok_or_else(Report::internal)?;
        Ok(Self { data, len: bytes.len(), layout })
    }

    /// A block with a copy of `bytes`. It has an address of its own even if there are no bytes.
    fn copy(bytes: &[u8]) -> Result<Self> {
        let no_memory = || Report::new(ENCODING, "out of memory");
        let layout = Layout::from_size_align(bytes.len().max(1), ALIGN).map_err(|_| no_memory())?;
        // SAFETY: the size of the layout is not 0, because of `max`.
        let data = NonNull::new(unsafe { alloc(layout) }).ok_or_else(no_memory)?;
        // SAFETY: the new memory has room for the bytes, and does not overlap them.
        unsafe { data.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(Self { data, len: bytes.len(), layout })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: the block owns these bytes, and all of them are written.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

// SAFETY: the block owns its memory, as a vector does. Nothing changes the bytes after the block is made.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout, and the block is its only owner.
        unsafe { dealloc(self.data.as_ptr(), self.layout) };
    }
}

/// A `tgm_bytes_t` of C: bytes that the caller frees with `tgm_bytes_free`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TgmBytes {
    data: *mut u8,
    len: usize,
}

/// The layouts of the buffers that callers own, by address. So the address alone frees a buffer, even if the caller has
/// changed its length.
///
/// The keys are addresses with all bits inverted. Leak checkers take a number that equals an address for a pointer;
/// with plain addresses here, they would not notice a buffer that the caller never frees.
static GIVEN: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

/// Gives bytes to the caller, who frees them.
///
/// # Errors
/// The errors of [`Block::new`].
pub(crate) fn give(bytes: Vec<u8>) -> Result<TgmBytes> {
    let block = ManuallyDrop::new(Block::new(bytes)?);
    let data = block.data.as_ptr();
    lock(&GIVEN).insert(!data.addr(), block.layout);
    Ok(TgmBytes { data, len: block.len })
}

/// Frees a buffer that [`give`] gave. Any other address is ignored, because [`GIVEN`] does not have it.
pub(crate) fn take_back(buf: TgmBytes) {
    let layout = lock(&GIVEN).remove(&!buf.data.addr());
    if let (Some(layout), Some(data)) = (layout, NonNull::new(buf.data)) {
        drop(Block { data, len: 0, layout });
    }
}

/// Gives an array of buffers to the caller, who frees it and them together.
///
/// # Errors
/// The errors of [`give`]. Nothing is given then.
#[cfg(feature = "async")]
pub(crate) fn give_array(parts: Vec<Vec<u8>>) -> Result<*mut TgmBytes> {
    let mut given = Vec::new();
    let give_all = || -> Result<TgmBytes> {
        // An array without entries has an address of its own too: room for one that is empty.
        let room = parts.len().max(1).saturating_mul(size_of::<TgmBytes>());
        given.try_reserve_exact(parts.len()).map_err(|_| Report::new(ENCODING, "out of memory"))?;
        for part in parts {
            given.push(give(part)?);
        }
        give(zeros(room)?)
    };
    let array = match give_all() {
        #[allow(clippy::cast_ptr_alignment, reason = "the address is a multiple of `ALIGN`")]
        Ok(array) => array.data.cast::<TgmBytes>(),
        Err(failure) => {
            given.into_iter().for_each(take_back);
            return Err(failure);
        }
    };
    for (index, bytes) in given.into_iter().enumerate() {
        // SAFETY: the block has room for all entries, and is aligned for them.
        unsafe { array.add(index).write(bytes) };
    }
    Ok(array)
}

/// Zeros that fill all memory of their vector.
#[cfg(feature = "async")]
fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| Report::new(ENCODING, "out of memory"))?;
    zeros.resize(len, 0);
    Ok(zeros.into_boxed_slice().into_vec())
}

/// Frees an array that [`give_array`] gave, and its buffers. An address that this library did not give is ignored.
///
/// # Safety
/// If the library gave the address, [`give_array`] did, and only this call uses the array.
#[cfg(feature = "async")]
pub(crate) unsafe fn take_back_array(array: *mut TgmBytes) {
    let room = lock(&GIVEN).get(&!array.addr()).map_or(0, |layout| layout.size() / size_of::<TgmBytes>());
    for index in 0..room {
        // SAFETY: the memory of the array has room for so many entries, each of which was written: with zeros at least.
        take_back(unsafe { array.add(index).read() });
    }
    take_back(TgmBytes { data: array.cast(), len: 0 });
}

/// Frees a buffer of this library. NULL, and an address that this library did not give, are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_bytes_free(buf: TgmBytes) {
    run(|| take_back(buf));
}
