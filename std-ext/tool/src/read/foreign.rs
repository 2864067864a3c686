//! Files of other programs that are given by mistake, told by how they begin.

/// Bytes that are looked at.
pub(crate) const LOOKED_AT: usize = 16;

/// Formats with their first bytes, the command that reads them, and whether it is compiled in.
const FORMATS: [(&[u8], &str, &str, bool); 6] = [
    (b"GRIB", "GRIB", CONVERT, cfg!(feature = "grib")),
    (b"\x93NUMPY", "an array of numpy", CONVERT, true),
    (b"PK\x03\x04", "an archive, such as numpy's", CONVERT, cfg!(feature = "npz")),
    (b"\x89HDF\r\n", "HDF5 or NetCDF", CONVERT, cfg!(feature = "netcdf")),
    (b"CDF\x01", "NetCDF", CONVERT, cfg!(feature = "netcdf")),
    (b"CDF\x02", "NetCDF", CONVERT, cfg!(feature = "netcdf")),
];

const CONVERT: &str = "`tgm convert`";

/// A clause on a file without messages: what it begins like, and which command reads that. Empty if that is not known.
pub(crate) fn advice(start: &[u8]) -> String {
    if is_zio(start) {
        return clause("a message of ZIO", "`tgm zio ls`", cfg!(feature = "zio"));
    }
    let found = FORMATS.iter().find(|(magic, ..)| start.starts_with(magic));
    found.map_or(String::new(), |(_, name, command, is_in)| clause(name, command, *is_in))
}

/// The sizes of the message and of its first part stand before the level and "ZIO" of its prefix.
fn is_zio(start: &[u8]) -> bool {
    start.windows(4).any(|bytes| bytes.starts_with(b"ZIO") && bytes.last().is_some_and(u8::is_ascii_digit))
}

fn clause(name: &str, command: &str, is_in: bool) -> String {
    let way = if is_in { format!("{command} reads that") } else { format!("{command} of a full build reads that") };
    format!("; it begins like {name}: {way}")
}
