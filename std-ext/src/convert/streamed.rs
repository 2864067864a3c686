//! What formats share whose files are read piece by piece.

use tgm_core::descriptor::{Compression, Filter, Key};

use crate::base::options::{EncodeOptions, MaskMethod};
use crate::model::types::DataObjectDescriptor;

/// Options for encoding, with masks in the best form of this build.
pub(super) fn encode_options() -> EncodeOptions {
    let method = || if cfg!(feature = "roaring") { MaskMethod::Roaring } else { MaskMethod::Rle };
    EncodeOptions {
        nan_mask_method: method(),
        pos_inf_mask_method: method(),
        neg_inf_mask_method: method(),
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
