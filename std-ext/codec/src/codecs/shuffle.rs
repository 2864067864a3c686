//! The shuffle filter: the first bytes of all elements, then the second bytes, and so on (PIPELINE §4).

use std::mem::MaybeUninit;
use std::num::NonZeroUsize;

use crate::error::{CodecError, Result};
use crate::fresh::cleared;
use crate::kernels::shuffle::shuffle_blocks;
use crate::threads::Threads;

/// Elements that are moved at a time. They stay in the nearest cache until all of their bytes are moved.
const BLOCK: usize = 1024;
/// Elements that a thread moves before it takes the next ones: a whole number of blocks.
const PART: usize = 128 * BLOCK;

/// Checks the size of elements.
///
/// # Errors
/// [`CodecError`] for 0.
#[inline]
pub fn element_size(size: usize) -> Result<NonZeroUsize> {
    NonZeroUsize::new(size).ok_or_else(|| CodecError::new("shuffle: element_size must not be 0"))
}

/// Checks that `len` bytes are a whole number of elements.
///
/// # Errors
/// [`CodecError`] with both numbers.
#[inline]
pub fn check_len(len: usize, element_size: NonZeroUsize) -> Result<()> {
    if len.is_multiple_of(element_size.get()) {
        return Ok(());
    }
    let text = format!("shuffle: data length {len} is not divisible by element_size {element_size}");
    Err(CodecError::new(text))
}

/// Shuffles elements of `size` bytes into fresh memory. `data` and `memory` have the same length, which is a whole number of
/// elements.
#[allow(unsafe_code, reason = "all of the memory is written")]
pub fn shuffle_into<'o>(data: &[u8], size: usize, threads: Threads, memory: &'o mut [MaybeUninit<u8>]) -> &'o mut [u8] {
    if memory.len() != data.len() || !data.len().is_multiple_of(size.max(1)) {
        return cleared(memory);
    }
    if let Some(shuffle) = quick_way(size) {
        shuffle(data, threads, memory);
    } else {
        for (k, plane) in memory.chunks_mut((data.len() / size).max(1)).enumerate() {
            let bytes = data.iter().skip(k).step_by(size);
            plane.iter_mut().zip(bytes).for_each(|(out, byte)| *out = MaybeUninit::new(*byte));
        }
    }
    // SAFETY: the memory is as long as `size` planes, each with one byte of every element. All elements are whole, and each of them
    // wrote its bytes to all planes.
    unsafe { memory.assume_init_mut() }
}

/// A function that shuffles elements of one size, as long as the memory is, and writes all of the memory.
type Shuffle = fn(&[u8], Threads, &mut [MaybeUninit<u8>]);

/// The function for elements of `size` bytes, if there is one.
fn quick_way(size: usize) -> Option<Shuffle> {
    Some(match size {
        0 | 1 => |data, _, memory| {
            let _ = memory.write_copy_of_slice(data);
        },
        2 => shuffle_chunks::<2>,
        3 => shuffle_chunks::<3>,
        4 => shuffle_chunks::<4>,
        8 => shuffle_chunks::<8>,
        16 => shuffle_chunks::<16>,
        _ => return None,
    })
}

fn shuffle_chunks<const SIZE: usize>(data: &[u8], threads: Threads, memory: &mut [MaybeUninit<u8>]) {
    let (elements, _) = data.as_chunks::<SIZE>();
    let count = elements.len().max(1);
    let part = if threads.is_one() { count } else { PART };
    let mut planes = memory.chunks_mut(count);
    // Each part has a piece of every plane.
    let mut pieces = [(); SIZE].map(|()| planes.next().unwrap_or_default().chunks_mut(part));
    let parts = elements
        .chunks(part)
        .map(|elements| (elements, pieces.each_mut().map(|plane| plane.next().unwrap_or_default())));
    threads.for_each(parts, |(elements, planes)| shuffle_planes(elements, planes));
}

/// Moves the bytes of `elements` to `planes`, which are as long as there are elements.
fn shuffle_planes<const SIZE: usize>(elements: &[[u8; SIZE]], mut planes: [&mut [MaybeUninit<u8>]; SIZE]) {
    let done =
        if SIZE.is_power_of_two() { shuffle_blocks(elements, planes.each_mut().map(|plane| &mut **plane)) } else { 0 };
    for (b, block) in elements.get(done..).unwrap_or_default().chunks(BLOCK).enumerate() {
        for (k, plane) in planes.iter_mut().enumerate() {
            let plane = plane.get_mut(done + b * BLOCK..).unwrap_or_default();
            plane.iter_mut().zip(block).for_each(|(out, element)| *out = MaybeUninit::new(element[k]));
        }
    }
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::Dtype;

    use super::*;
    use crate::fresh;

    fn shuffled(data: &[u8], size: usize, threads: Threads) -> Vec<u8> {
        let mut shuffled = Vec::new();
        fresh::append(&mut shuffled, data.len(), &mut |memory| shuffle_into(data, size, threads, memory)).unwrap();
        shuffled
    }

    #[test]
    fn elements_that_are_not_whole_become_zeros() {
        assert_eq!(shuffled(&[1, 2, 3], 2, Threads::NONE), [0; 3]);
    }

    #[test]
    fn elements_of_every_type_and_packed_values_of_24_bits_take_a_quick_way() {
        for size in Dtype::ALL.iter().map(Dtype::byte_width).chain([3]) {
            assert!(quick_way(size).is_some(), "{size}");
        }
    }

    #[test]
    fn unshuffling_gives_the_bytes_back() {
        for size in [1, 2, 3, 4, 5, 7, 8, 16, 32] {
            for count in [0_usize, 1, 2, 3, 1023, 1024, 1025, 2050] {
                let data: Vec<u8> = (0..=250).cycle().take(size * count).collect();
                let (shuffled, mut back) = (shuffled(&data, size, Threads::NONE), vec![0; data.len()]);
                tgm_core::shuffle::unshuffle_into(&shuffled, size as u64, &mut back).unwrap();
                assert!(back == data, "{count} elements of {size}");
            }
        }
    }

    #[test]
    fn several_threads_write_what_one_writes() {
        let threads = Threads::resolve(3, u64::MAX, None).unwrap();
        for size in [2, 3, 4, 8, 16, 5] {
            for count in [PART - 1, PART, PART + 1, 3 * PART + 77] {
                let data: Vec<u8> = (0..=250).cycle().take(size * count).collect();
                assert!(
                    shuffled(&data, size, Threads::NONE) == shuffled(&data, size, threads),
                    "{count} elements of {size}"
                );
            }
        }
    }
}
