//! Ends of names that say what a file is.

use std::path::Path;

use tgm_std::file::SourceName;

/// Ends of the names of GRIB files, without the dot. The first one is that of new files; so it is below.
pub(crate) const GRIB: &[&str] = &["grib2", "grib", "grib1", "grb2", "grb1", "grb"];
/// The same of archives of numpy.
pub(crate) const NPZ: &[&str] = &["npz"];
/// The same of tensors with names.
pub(crate) const SAFETENSORS: &[&str] = &["safetensors"];
/// The same of NetCDF and HDF5.
pub(crate) const NETCDF: &[&str] = &["nc", "nc4", "cdf", "h5", "hdf5"];
/// The same of Zarr.
pub(crate) const ZARR: &[&str] = &["zarr"];
/// The same of tables of Arrow.
pub(crate) const ARROW: &[&str] = &["arrow"];
/// The same of tables of Parquet.
pub(crate) const PARQUET: &[&str] = &["parquet"];

/// The features that have formats, and the ends of names.
pub(crate) const FEATURES: [(&str, &[&str]); 7] = [
    ("grib", GRIB),
    ("npz", NPZ),
    ("safetensors", SAFETENSORS),
    ("netcdf", NETCDF),
    ("zarr", ZARR),
    ("arrow", ARROW),
    ("parquet", PARQUET),
];

/// Formats that every build converts.
const OF_ALL_BUILDS: [&str; 3] = ["npy", "csv", "raw"];

/// Kinds of files that Tensogram is not, and that `tgm convert` does not make of it.
const OTHERS: [&str; 16] =
    ["bz2", "gz", "html", "jpg", "json", "jsonl", "lz4", "pdf", "png", "svg", "tif", "tiff", "xz", "zio", "zip", "zst"];

/// Why messages are not written to a file of this name. `None` for a name that says nothing else than Tensogram.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let is = |ends: &[&str]| ends.contains(&ending.as_str());
    let is_converted = is(&OF_ALL_BUILDS) || FEATURES.iter().any(|(_, ends)| is(ends));
    if !is_converted && !is(&OTHERS) {
        return None;
    }
    let help = match ending.as_str() {
        "zio" => "`tgm zio from-tgm` writes ZIO",
        _ if is_converted => "`tgm convert` writes other formats",
        _ => "name it .tgm",
    };
    Some(format!(
        "{} has the ending of another format, and messages of Tensogram are written: {help}",
        SourceName::of(path)
    ))
}

/// Why the text of a listing is not written to a file of this name. `None` for a name that text can have.
pub(crate) fn refusal_of_text(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_of_data = ["tgm", "npy", "raw"].contains(&ending.as_str())
        || FEATURES.iter().any(|(_, ends)| ends.contains(&ending.as_str()));
    is_of_data.then(|| {
        format!("{} has the ending of a file of data, and a listing is text: nothing was written", SourceName::of(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_formats_are_refused_and_all_others_are_not() {
        for name in ["a.nc", "d/a.GRIB2", "a.npy", "a.tgm.gz", "a.zio", "[name].zarr"] {
            assert!(refusal(Path::new(name)).is_some_and(|text| text.contains(name)), "{name}");
        }
        for name in ["a", "a.tgm", "a.bin", "a.nc.tgm", "run.2024-01-01", "nc", ".nc", "a.bak"] {
            assert_eq!(refusal(Path::new(name)), None, "{name}");
        }
    }
}
