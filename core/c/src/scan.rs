//! Messages among other bytes.

use tgm_core::scan::{Segment, scan};

use crate::abi::{Fault, Slice, Status};
use crate::kinds::AT_END;
use crate::pointers::{answer, bytes, copy};

/// The next message.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_scan"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_scan(
    data: *const u8,
    len: usize,
    position: *mut usize,
    message: *mut Slice,
    error: *mut Fault,
) -> Status {
    let mut after = None;
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        let status = answer(message, error, || {
            let (all, start) = (bytes(data, len)?, copy(position)?);
            let rest = all.get(start..).ok_or(AT_END)?;
            let found =
                scan(rest).find(Segment::is_message).and_then(|segment| Some((segment, segment.bytes_of(rest)?)));
            let Some((segment, found)) = found else {
                after = Some(len);
                return Err(AT_END);
            };
            let end = segment.offset().saturating_add(segment.length());
            after = Some(usize::try_from(end).unwrap_or(usize::MAX).saturating_add(start));
            Ok(found.into())
        });
        if let Some(after) = after {
            // It was read from there, so it is neither NULL nor unaligned.
            position.write(after);
        }
        status
    }
}
