//! `.npy` files, written by hand.

use std::fs;
use std::path::Path;

/// A file of this version with elements of `descr`.
pub(crate) fn npy(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let len = u32::try_from(header.len()).unwrap().to_le_bytes();
    let len = if version == 1 { &len[..2] } else { &len[..] };
    [b"\x93NUMPY", &[version, 0][..], len, header.as_bytes(), data].concat()
}

/// A file of `f64` values in a folder; its path.
pub(crate) fn doubles(folder: &Path, name: &str, values: &[f64]) -> String {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    write(folder, name, &npy(1, "'<f8'", false, &format!("({},)", values.len()), &data))
}

/// A file of any bytes in a folder; its path.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

/// A smooth field.
pub(crate) fn field(count: u32) -> Vec<f64> {
    (0..count).map(|i| 280.0 + 15.0 * (f64::from(i) / 40.0).sin() + f64::from(i % 7) / 100.0).collect()
}
