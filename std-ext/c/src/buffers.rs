//! Memory that this library gives to the caller, and memory of decoded values.

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

/// Bytes of known alignment. A vector becomes one without a copy, unless it lies on an odd address.
pub(crate) struct Block {
    data: NonNull<u8>,
    len: usize,
    /// The layout with which the memory was taken.
    layout: Layout,
}

impl Block {
    /// # Errors
    /// ENCODING if there is no memory for a copy.
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self> {
        // An empty vector has no memory, and so no address of its own.
        if bytes.capacity() == 0 || !bytes.as_ptr().addr().is_multiple_of(ALIGN) {
            return Self::copy(&bytes);
        }
        let mut bytes = ManuallyDrop::new(bytes);
        let no_memory = |_| Report::new(ENCODING, "out of memory");
        let layout = Layout::array::<u8>(bytes.capacity()).map_err(no_memory)?;
        let data = NonNull::new(bytes.as_mut_ptr()).ok_or_else(Report::internal)?;
        Ok(Self { data, len: bytes.len(), layout })
    }

    fn copy(bytes: &[u8]) -> Result<Self> {
        let no_memory = || Report::new(ENCODING, "out of memory");
        let layout = Layout::from_size_align(bytes.len().max(1), ALIGN).map_err(|_| no_memory())?;
        // SAFETY: the layout has one byte at least.
        let data = NonNull::new(unsafe { alloc(layout) }).ok_or_else(no_memory)?;
        // SAFETY: the new memory has room for the bytes, and they do not lie in it.
        unsafe { data.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(Self { data, len: bytes.len(), layout })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: the block owns these bytes, and all of them are written.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the memory was taken with this layout, and the block is its only owner.
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

/// The layouts of the buffers that callers have, by address. So a buffer is freed by its address alone, whatever the
/// caller did to its length. The bits of addresses are turned around: tools that search for lost memory take a number
/// that equals an address for a pointer.
static GIVEN: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

/// Gives bytes to the caller, who frees them.
///
/// # Errors
/// Those of [`Block::new`].
pub(crate) fn give(bytes: Vec<u8>) -> Result<TgmBytes> {
    let block = ManuallyDrop::new(Block::new(bytes)?);
    let data = block.data.as_ptr();
    lock(&GIVEN).insert(!data.addr(), block.layout);
    Ok(TgmBytes { data, len: block.len })
}

/// Frees a buffer that [`give`] gave. Any other address is ignored, because it has no layout.
pub(crate) fn take_back(buf: TgmBytes) {
    let layout = lock(&GIVEN).remove(&!buf.data.addr());
    if let (Some(layout), Some(data)) = (layout, NonNull::new(buf.data)) {
        drop(Block { data, len: 0, layout });
    }
}

/// Frees a buffer of this library. NULL, and an address that this library did not give, are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_bytes_free(buf: TgmBytes) {
    run(|| take_back(buf));
}
