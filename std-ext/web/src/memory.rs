//! Buffers and other values that JavaScript names by numbers.

use std::cell::RefCell;
use std::ptr;

/// Values with numbers from 1 on. 0 stands for none.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(crate) const EMPTY: Self = Self { slots: Vec::new(), free: Vec::new() };

    /// Keeps a value. Returns its number; 0 if there are 2^32 of them.
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(place(number))
        {
            *slot = Some(value);
            return number;
        }
        self.slots.push(Some(value));
        u32::try_from(self.slots.len()).unwrap_or(0)
    }

    /// Gives a value back. Its number may be used again.
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let taken = self.slots.get_mut(place(number))?.take()?;
        self.free.push(number);
        Some(taken)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slots.get_mut(place(number))?.as_mut()
    }
}

/// The place of a number. That of 0 is beyond every table.
const fn place(number: u32) -> usize {
    (number as usize).wrapping_sub(1)
}

thread_local! {
    static BUFFERS: RefCell<Table<Vec<u8>>> = const { RefCell::new(Table::EMPTY) };
}

/// Keeps bytes as a buffer.
pub(crate) fn keep(bytes: Vec<u8>) -> u32 {
    BUFFERS.with_borrow_mut(|buffers| buffers.put(bytes))
}

/// The bytes of a buffer, which is gone after this.
pub(crate) fn take(buffer: u32) -> Option<Vec<u8>> {
    BUFFERS.with_borrow_mut(|buffers| buffers.take(buffer))
}

/// Calls `work` with the bytes of a buffer, which stays. `work` makes no buffers.
#[cfg(feature = "core")]
pub(crate) fn with<R>(buffer: u32, work: impl FnOnce(&[u8]) -> R) -> Option<R> {
    BUFFERS.with_borrow_mut(|buffers| Some(work(buffers.get_mut(buffer)?)))
}

/// Makes a buffer of `len` zeros. 0 if there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_buffer_new(len: u32) -> u32 {
    let mut bytes = Vec::new();
    let len = len as usize;
    if bytes.try_reserve_exact(len).is_err() {
        return 0;
    }
    bytes.resize(len, 0);
    keep(bytes)
}

/// The address of a buffer's first byte. It holds until the buffer is freed or given to a function.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_buffer_at(buffer: u32) -> *mut u8 {
    BUFFERS.with_borrow_mut(|buffers| buffers.get_mut(buffer).map_or(ptr::null_mut(), Vec::as_mut_ptr))
}

/// How many bytes a buffer has.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_buffer_len(buffer: u32) -> u32 {
    let len = BUFFERS.with_borrow_mut(|buffers| buffers.get_mut(buffer).map_or(0, |bytes| bytes.len()));
    u32::try_from(len).unwrap_or(0)
}

/// Frees a buffer.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_buffer_free(buffer: u32) {
    drop(take(buffer));
}
