//! The shuffle filter by itself, under the names of the crate `tensogram-encodings`.

use tgm_codec::fresh;
use tgm_codec::kernels::shuffle::unshuffle_into;
use tgm_codec::memory;
use tgm_codec::shuffle::{check_len, element_size, shuffle_into};
use tgm_codec::threads::Threads;

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::limits::reserve;

/// Moves the first bytes of all elements to the front, then their second bytes, and so on.
///
/// `data` holds whole elements of `element_size` bytes.
///
/// # Errors
/// [`TensogramError::Encoding`] if `element_size` is 0, if `data` does not hold whole elements, or without memory.
///
/// Format: PIPELINE §4.
///
/// ```
/// use tgm_std::shuffle::{shuffle, unshuffle};
///
/// let shuffled = shuffle(&[1, 2, 3, 4, 5, 6], 2)?;
/// assert_eq!(shuffled, [1, 3, 5, 2, 4, 6]);
/// assert_eq!(unshuffle(&shuffled, 2)?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn shuffle(data: &[u8], element_size: usize) -> Result<Vec<u8>> {
    check_len(data.len(), self::element_size(element_size)?)?;
    let mut out = Vec::new();
    memory::reserve(&mut out, data.len())?;
    fresh::append(&mut out, data.len(), &mut |memory| shuffle_into(data, element_size, Threads::NONE, memory))?;
    Ok(out)
}

/// The reverse of [`shuffle`].
///
/// # Errors
/// As [`shuffle`].
pub fn unshuffle(data: &[u8], element_size: usize) -> Result<Vec<u8>> {
    check_len(data.len(), self::element_size(element_size)?)?;
    let mut out = reserve(data.len())?;
    unshuffle_into(data, element_size as u64, &mut out)?;
    Ok(out)
}
