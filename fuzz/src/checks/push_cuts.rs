//! The push decoder finds the same in any pieces, with errors at the same offsets, on both kinds of links. Unpacking
//! szip payloads gives the same values in any pieces.

use crate::given::Given;
use crate::push::{same_on_any_cut, same_szip_values, small_memory};

/// Checks `bytes` in one piece and in many; the last bytes say where the cuts are.
pub fn check(bytes: &[u8]) {
    let pieces = Given(bytes).pieces(bytes);
    same_on_any_cut(bytes, &pieces);
    small_memory(bytes, &pieces);
    same_szip_values(bytes, &pieces);
}
