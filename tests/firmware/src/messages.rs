//! The messages in flash, in a section apart from code and constants.

use core::hint::black_box;

/// A message with the name of its file in `tests/data`.
#[derive(Clone, Copy)]
pub struct Named {
    /// The path in `tests/data`, without extension.
    pub name: &'static str,
    /// The file's bytes.
    pub bytes: &'static [u8],
}

macro_rules! message {
    ($name:literal) => {{
        const BYTES: &[u8] = include_bytes!(concat!("../../data/", $name, ".tgm"));
        #[unsafe(link_section = ".messages")]
        static MESSAGE: [u8; BYTES.len()] = *BYTES.as_array().unwrap();
        Named { name: $name, bytes: &MESSAGE }
    }};
}

/// Messages with plain, packed, compressed and masked values. Their bytes are hidden from the compiler.
pub fn all() -> [Named; 4] {
    black_box([
        message!("dtypes/float32-big"),
        message!("simple_packing/bits16"),
        message!("simple_packing/b16-none-szip"),
        message!("masks/threshold-16"),
    ])
}
