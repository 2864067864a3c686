//! Output that is larger than the caches, written past them.
//!
//! An ordinary store to memory that is in no cache first reads the line it goes to, and evicts another line, which may
//! still be needed. Output larger than the caches gains from neither. So it is made block by block in a small buffer,
//! and copied from there in whole lines by non-temporal stores, which bypass the caches. Memory bandwidth is then the
//! limit: the copy takes nine instructions for a line of 64 bytes.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid, __cpuid_count, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::simd::{Level, Simd};

/// The least bytes of output that are written past the caches: more than one thread's share of the last cache.
const WORTH_IT: usize = 16 << 20;

/// What takes the time when a block is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Moving bytes, as a copy does.
    Moving,
    /// Computing values from fewer bytes.
    Computing,
}

/// The least bytes of output for which writing past the caches is faster, on this processor. `None` if it never is.
///
/// Measured on both makers' processors of servers. Where one thread writes memory at 10 GB/s (Intel), both kinds of work
/// wait for it. Where it writes memory at 23 GB/s (AMD), only moving bytes does, and only for outputs well beyond the last
/// cache, which that thread can have for itself; the copy out of the small buffer costs computed values a fifth.
fn worth_it(work: Work) -> Option<usize> {
    match (last_cache_of_amd(), work) {
        (None, _) => Some(WORTH_IT),
        (Some(cache), Work::Moving) => Some(WORTH_IT.max(cache.saturating_mul(2))),
        (Some(_), Work::Computing) => None,
    }
}

/// Bytes of the last cache, if AMD made the processor. Asked once, as a virtual machine takes microseconds to answer.
#[cfg(target_arch = "x86_64")]
fn last_cache_of_amd() -> Option<usize> {
    /// Describes a cache, in processors that have it.
    const CACHES: u32 = 0x8000_001d;
    static CACHE: OnceLock<Option<usize>> = OnceLock::new();
    *CACHE.get_or_init(|| {
        let maker = __cpuid(0);
        let is_amd = [maker.ebx, maker.edx, maker.ecx].as_bytes() == b"AuthenticAMD";
        if !is_amd || __cpuid(0x8000_0000).eax < CACHES {
            return None;
        }
        let caches = (0..16).map(|number| __cpuid_count(CACHES, number));
        // A description without a type ends the list.
        let last = caches.take_while(|cache| cache.eax & 0x1f != 0).last()?;
        let ways = (last.ebx >> 22) + 1;
        let line = ((last.ebx >> 12 & 0x3ff) + 1) * ((last.ebx & 0xfff) + 1);
        let bytes = u64::from(ways) * u64::from(line) * (u64::from(last.ecx) + 1);
        usize::try_from(bytes).ok()
    })
}

#[cfg(not(target_arch = "x86_64"))]
const fn last_cache_of_amd() -> Option<usize> {
    None
}

/// Bytes that are made at a time. The buffer stays in the first cache, together with its input.
const BLOCK: usize = 8 << 10;

/// What [`Uncached::fill`] can fill. Its size is a power of two of bytes, up to eight.
pub trait Slot: Copy + FromBytes + IntoBytes + Immutable {}

impl<T: Copy + FromBytes + IntoBytes + Immutable> Slot for T {}

/// Permission to write past the caches: a value exists only where the processor has AVX2.
///
/// Non-temporal stores are not ordered with others. Dropping the value orders them, so that other threads see all of
/// them.
pub(super) struct Uncached(());

impl Uncached {
    /// Permission for an output of `len` bytes; `None` where that is too few, or where the processor cannot.
    pub(super) fn new(simd: Simd, len: usize, work: Work) -> Option<Self> {
        if len < WORTH_IT || worth_it(work).is_none_or(|least| len < least) {
            return None;
        }
        Self::where_possible(simd)
    }

    /// Permission for an output of any length; `None` where the processor cannot.
    fn where_possible(simd: Simd) -> Option<Self> {
        (cfg!(target_arch = "x86_64") && simd.level() >= Level::Avx2).then_some(Self(()))
    }

    /// Fills `out` block by block. Every block but the last is a multiple of `ALIKE` slots.
    ///
    /// `fill` gets the number of a block's first slot and a buffer for the block, and returns whether it has filled it.
    /// Filling stops after the first block for which it has not. Returns how many slots of `out` were filled.
    pub(super) fn fill<T: Slot, const ALIKE: usize>(
        &self,
        out: &mut [T],
        mut fill: impl FnMut(usize, &mut [T]) -> bool,
    ) -> usize {
        let mut buffer = [0_u64; BLOCK / size_of::<u64>()];
        let Ok(buffer) = <[T]>::mut_from_bytes(buffer.as_mut_bytes()) else { return 0 };
        let mut filled = 0;
        for block in out.chunks_mut(buffer.len() / ALIKE * ALIKE) {
            let Some(made) = buffer.get_mut(..block.len()) else { break };
            if !fill(filled, made) {
                break;
            }
            self.copy(made.as_bytes(), block.as_mut_bytes());
            filled += block.len();
        }
        filled
    }

    /// Copies as many bytes as both have.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    #[expect(clippy::unused_self, reason = "the permission")]
    fn copy(&self, src: &[u8], out: &mut [u8]) {
        // SAFETY: `self` exists only where the processor has AVX2.
        unsafe { copy_lines(src, out) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[expect(clippy::unused_self, reason = "as elsewhere")]
    fn copy(&self, src: &[u8], out: &mut [u8]) {
        out.iter_mut().zip(src).for_each(|(slot, byte)| *slot = *byte);
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for Uncached {
    #[allow(unsafe_code, reason = "an instruction")]
    fn drop(&mut self) {
        // SAFETY: SSE, which the instruction is part of, is part of the architecture.
        unsafe { _mm_sfence() }
    }
}

/// Copies whole lines past the caches, and the bytes before and after them by ordinary stores.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn copy_lines(src: &[u8], out: &mut [u8]) {
    const LINE: usize = 64;
    let len = out.len().min(src.len());
    let head = out.as_ptr().align_offset(LINE).min(len);
    let (src_head, src) = src.split_at(head);
    let (out_head, out) = out.split_at_mut(head);
    out_head.copy_from_slice(src_head);
    let ((sources, source_rest), (lines, line_rest)) = (src.as_chunks::<LINE>(), out.as_chunks_mut::<LINE>());
    for (source, line) in sources.iter().zip(lines) {
        let (from, to) = (source.as_ptr(), line.as_mut_ptr());
        #[allow(unsafe_code, reason = "loads and stores where references point")]
        // SAFETY: both references are to 64 bytes. The line begins at a multiple of 64, as these stores demand.
        unsafe {
            let (first, second) = (_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast()));
            _mm256_stream_si256(to.cast(), first);
            _mm256_stream_si256(to.add(32).cast(), second);
        }
    }
    line_rest.iter_mut().zip(source_rest).for_each(|(slot, byte)| *slot = *byte);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_outputs_go_through_the_caches() {
        for simd in Simd::all() {
            for work in [Work::Moving, Work::Computing] {
                assert!(Uncached::new(simd, WORTH_IT - 1, work).is_none());
            }
            let is_possible = Uncached::where_possible(simd).is_some();
            assert_eq!(Uncached::new(simd, usize::MAX, Work::Moving).is_some(), is_possible);
        }
    }

    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn the_last_cache_is_what_the_system_says() {
        let read = |name: &str| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index3/{name}"));
        let (Some(bytes), Ok(size)) = (last_cache_of_amd(), read("size")) else { return };
        let kib = size.trim().strip_suffix('K').and_then(|size| size.parse::<usize>().ok());
        assert_eq!(kib, Some(bytes >> 10));
    }

    proptest! {
        #[test]
        fn a_copy_is_a_copy_wherever_it_goes(bytes: Vec<u8>, before in 0..70_usize, behind in 0..70_usize) {
            for uncached in Simd::all().filter_map(Uncached::where_possible) {
                let mut out = vec![0xaa; before + bytes.len() + behind];
                uncached.copy(&bytes, &mut out[before..before + bytes.len()]);
                prop_assert_eq!(&out, &[vec![0xaa; before], bytes.clone(), vec![0xaa; behind]].concat());
            }
        }

        #[test]
        fn blocks_come_in_order_until_one_is_not_filled(len in 0..5000_usize, stop in 0..6000_usize) {
            for uncached in Simd::all().filter_map(Uncached::where_possible) {
                let mut out = vec![u32::MAX; len];
                let filled = uncached.fill::<_, 8>(&mut out, |first, block| {
                    for (slot, value) in block.iter_mut().zip(first..) {
                        *slot = u32::try_from(value).unwrap();
                    }
                    first + block.len() <= stop
                });
                prop_assert!(filled == len || filled % 8 == 0 && filled + BLOCK / 4 > stop.min(len));
                let expected = |i| if i < filled { u32::try_from(i).unwrap() } else { u32::MAX };
                prop_assert!(out.iter().enumerate().all(|(i, &value)| value == expected(i)));
            }
        }
    }
}
