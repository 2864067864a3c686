//! Files of arrays: what is read can be written, and reads the same again; a message keeps it but for the bits of NaN.

use std::borrow::Cow;

use tgm_convert::arrays::{Array, Arrays, Bools};
use tgm_convert::csv::{self, Layout};
use tgm_convert::npz::{self, Method};
use tgm_convert::{npy, safetensors};
use tgm_std::{ByteOrder, DecodeLimits, DecodeOptions, EncodeOptions};

/// Memory that damaged lengths may take.
const LIMITS: DecodeLimits =
    DecodeLimits { max_decoded_bytes: 1 << 24, free_bytes: 1 << 20, max_expansion: 1 << 10, ..DecodeLimits::UNLIMITED };
/// Longer texts show nothing new.
const LONGEST: usize = 64 << 10;

/// Checks `bytes` as a file of each format. After its first bytes a file may also have the magic of one.
pub fn check(bytes: &[u8]) {
    let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
    for bools in [Bools::Bitmask, Bools::Uint8] {
        if let Ok(array) = npy::read(bytes, bools) {
            assert!(npy::check_len(bytes, bytes.len() as u64).is_ok());
            let mut file = Vec::new();
            npy::write(&array, &mut file).expect("just read from such a file");
            same(&[array.clone()], &[npy::read(&file, bools).expect("just written")]);
            message(vec![array]);
        }
        if let Ok(arrays) = npz::read(bytes, bools, &options()) {
            archives(&arrays, bools);
            message(arrays.arrays);
        }
        if let Ok(arrays) = safetensors::read(bytes, bools) {
            assert!(safetensors::is_start(bytes) || bytes.get(8) != Some(&b'{'));
            let mut file = Vec::new();
            if safetensors::write(&arrays, &mut file).is_ok() {
                same(&arrays.arrays, &safetensors::read(&file, bools).expect("just written").arrays);
            }
            message(arrays.arrays);
        }
    }
    for layout in [Layout::Columns, Layout::Matrix] {
        let Ok(arrays) = csv::read(bytes, layout) else { continue };
        let mut file = Vec::new();
        csv::write(&arrays, layout, &mut file).expect("just read from such a file");
        // A table without a line of numbers has no type, and one whose names are numbers or missing has no header.
        if let Ok(again) = csv::read(&file, layout)
            && again.arrays.first().map(|array| &array.descriptor.shape)
                == arrays.arrays.first().map(|array| &array.descriptor.shape)
        {
            values(&arrays.arrays, &again.arrays);
        }
    }
}

fn options() -> DecodeOptions {
    DecodeOptions { limits: LIMITS, native_byte_order: false, ..DecodeOptions::default() }
}

/// Names may get other numbers, if several are the same.
fn archives(arrays: &Arrays<'_>, bools: Bools) {
    for method in [Method::Stored, Method::Deflated] {
        let mut file = Vec::new();
        if npz::write(arrays, method, &mut file).is_ok() {
            values(&arrays.arrays, &npz::read(&file, bools, &options()).expect("just written").arrays);
        }
    }
}

/// The same arrays, with the same metadata, unless names had to change.
fn same(a: &[Array<'_>], b: &[Array<'_>]) {
    values(a, b);
    let name = |array: &Array<'_>| array.name().map(str::to_string);
    let mut names: Vec<_> = a.iter().map(name).collect();
    names.sort();
    names.dedup();
    if names.len() == a.len() && !names.contains(&Some(String::new())) {
        assert!(a.iter().zip(b).all(|(a, b)| a.metadata == b.metadata));
    }
}

/// The same types, shapes and values.
fn values(a: &[Array<'_>], b: &[Array<'_>]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert_eq!((a.descriptor.dtype, &a.descriptor.shape), (b.descriptor.dtype, &b.descriptor.shape));
        let little = |array| -> Cow<'_, [u8]> { Array::values_in(array, ByteOrder::Little) };
        assert!(little(a) == little(b));
    }
}

/// The arrays in a message, and out of it.
fn message(arrays: Vec<Array<'_>>) {
    let arrays = Arrays { arrays, ..Arrays::default() };
    let encode = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let Ok(message) = arrays.encode(&encode) else { return };
    let decoded = Arrays::decode(&message, &options()).expect("just encoded");
    let changed = arrays.not_kept_by_masks();
    for (index, (a, b)) in arrays.arrays.iter().zip(&decoded.arrays).enumerate() {
        if changed.iter().all(|note| note.object != Some(index)) {
            values(std::slice::from_ref(a), std::slice::from_ref(b));
        }
    }
}
