//! What formats share whose files are read piece by piece.

use tgm_core::descriptor::{Compression, Filter, Key};
use tgm_std::{DataObjectDescriptor, EncodeOptions, MaskMethod};

/// Options for encoding, with masks in the best form of this build.
pub(super) fn encode_options() -> EncodeOptions {
    EncodeOptions {
        nan_mask_method: MaskMethod::of_build(),
        pos_inf_mask_method: MaskMethod::of_build(),
        neg_inf_mask_method: MaskMethod::of_build(),
        ..EncodeOptions::default()
    }
}

/// Lets zstd compress the bytes, shuffled by elements of `size` bytes.
pub(super) fn compress(descriptor: &mut DataObjectDescriptor, level: i32, size: u64) {
    descriptor.compression = Compression::Zstd.name().to_string();
    descriptor.set_param(Key::ZstdLevel, level);
    if size > 1 {
        descriptor.filter = Filter::Shuffle.name().to_string();
        descriptor.set_param(Key::ShuffleElementSize, size);
    }
}
