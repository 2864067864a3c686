//! The archives of numpy, `.npz`: zip files of `.npy` files, stored or deflated.
//!
//! A file becomes one message. Each `NAME.npy` becomes an object whose metadata has `name: NAME`, and back. Values of
//! stored entries are borrowed. There is no room for other metadata: [`write()`] lists what is lost.
//!
//! Sizes and checksums of entries are checked. Entries that share bytes are refused, and the limits of
//! [`DecodeLimits`] apply to all deflated entries of a file together.
//!
//! ```
//! use tgm_convert::arrays::{Array, Arrays, Bools};
//! use tgm_convert::npz::{self, Method};
//! use tgm_std::{ByteOrder, DecodeOptions, Dtype};
//!
//! let array = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[2, 2], vec![1, 2, 3, 4])?.named("a");
//! let arrays = Arrays { arrays: vec![array], ..Arrays::default() };
//! let mut file = Vec::new();
//! assert!(npz::write(&arrays, Method::Deflated, &mut file)?.is_empty());
//! assert_eq!(npz::read(&file, Bools::Bitmask, &DecodeOptions::default())?, arrays);
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use miniz_oxide::deflate::core::CompressorOxide;
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use rawzip::path::{EntryPath, ZipFilePath};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveWriter, ZipFileHeaderRecord, ZipSliceArchive, crc32};
use tgm_std::internal::reserve;
use tgm_std::{DecodeLimits, DecodeOptions, Result, TensogramError};

use super::arrays::{Array, Arrays, Bools, NotKept, refused, refused_by};
use super::npy;

/// The first bytes of an archive: a file in it, or the end of an empty one.
pub const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// The end of the names of arrays.
const SUFFIX: &str = ".npy";
/// Bytes that are compressed at a time.
const CHUNK: usize = 64 << 10;

/// How arrays are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// As they are, as `numpy.savez` does.
    #[default]
    Stored,
    /// Compressed, as `numpy.savez_compressed` does.
    Deflated,
}

/// The arrays of an archive, in the order of its directory. Files that are not arrays are listed in
/// [`Arrays::not_kept`], and so are arrays that cannot be read, with the reason.
///
/// # Errors
/// [`TensogramError::Object`] for bytes that are not an archive, for one without an array, and for entries that share bytes;
/// [`TensogramError::Framing`] for more entries than the limits allow.
pub fn read<'a>(bytes: &'a [u8], bools: Bools, options: &DecodeOptions) -> Result<Arrays<'a>> {
    let archive = ZipArchive::from_slice(bytes).map_err(|error| refused_by("not a .npz file", error))?;
    let counted = check_entries(&archive, &options.limits)?;
    let (mut arrays, mut seen) = (Arrays::default(), BTreeMap::new());
    let mut budget = SizeBudget { limits: &options.limits, encoded: 0, decoded: 0 };
    for (index, record) in archive.entries().enumerate() {
        let record = record.map_err(|error| refused_by(format_args!("entry {index} of the archive"), error))?;
        if record.is_dir() {
            continue;
        }
        let path = String::from_utf8_lossy(record.file_path().as_bytes()).into_owned();
        let name = path.strip_suffix(SUFFIX);
        if name.is_none() && !is_array(bytes, &archive, &record) {
            arrays.not_kept.push(NotKept::of_message(format!("{path:?}, which is not an array")));
            continue;
        }
        let array = entry(bytes, &archive, &record, &mut budget).and_then(|data| array(data, bools));
        match array {
            Ok(array) => {
                let name = name.unwrap_or(&path);
                *seen.entry(name.to_string()).or_insert(0_usize) += 1;
                arrays.arrays.push(array.named(name));
            }
            Err(error) => arrays.not_kept.push(NotKept::array(format!("entry {path:?}: {error}"))),
        }
    }
    if arrays.arrays.len() + arrays.not_kept.len() != counted {
        return Err(refused(format!("{counted} entries of the archive, and not all of them are read or listed")));
    }
    let of_zarr = ["zarr.json\"", ".zarray\"", ".zgroup\""];
    if arrays.arrays.is_empty()
        && arrays.not_kept.iter().any(|note| of_zarr.iter().any(|name| note.what.contains(name)))
    {
        return Err(refused("the archive holds a Zarr store: unpack it, and read the directory"));
    }
    if arrays.arrays.is_empty() && !arrays.not_kept.iter().any(|note| note.is_values) {
        return Err(refused("not a .npz file: the archive holds no arrays"));
    }
    for (name, count) in seen.into_iter().filter(|(_, count)| *count > 1) {
        let what =
            format!("that {name:?} is the last of {count} entries with this name, which is the one that others read");
        arrays.not_kept.push(NotKept::of_message(what));
    }
    tell_sparse(&mut arrays);
    let counted = arrays.arrays.len() + arrays.not_kept.iter().filter(|note| note.is_values).count();
    arrays.check_count(counted, "entries")
}

/// Counts the entries that are not directories, by the directory of the archive alone, and checks that no two share bytes.
fn check_entries(archive: &ZipSliceArchive<&[u8]>, limits: &DecodeLimits) -> Result<usize> {
    let mut places = Vec::new();
    for (index, record) in archive.entries().enumerate() {
        let record = record.map_err(|error| refused_by(format_args!("entry {index} of the archive"), error))?;
        if record.is_dir() {
            continue;
        }
        limits.check_objects(places.len() + 1)?;
        let found = archive.get_entry(record.wayfinder());
        let path = String::from_utf8_lossy(record.file_path().as_bytes()).into_owned();
        let found = found.map_err(|error| refused_by(format_args!("entry {path:?}"), error))?;
        let (start, end) = found.compressed_data_range();
        places.push(start..end);
    }
    let counted = places.len();
    check_apart(places)?;
    Ok(counted)
}

/// Whether an entry whose name does not say so is an array. numpy asks the content too.
fn is_array(bytes: &[u8], archive: &ZipSliceArchive<&[u8]>, record: &ZipFileHeaderRecord<'_>) -> bool {
    let Ok(found) = archive.get_entry(record.wayfinder()) else { return false };
    let (start, end) = found.compressed_data_range();
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let Some(data) = range.and_then(|(start, end)| bytes.get(start..end)) else { return false };
    match record.compression_method() {
        CompressionMethod::STORE => data.starts_with(npy::MAGIC),
        CompressionMethod::DEFLATE => {
            let mut start = [0; npy::MAGIC.len()];
            let mut state = Box::new(DecompressorOxide::new());
            let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
            _ = decompress(&mut state, data, &mut start, 0, flags);
            start == *npy::MAGIC
        }
        _ => false,
    }
}

/// Says of the parts of a sparse matrix of scipy what they are.
fn tell_sparse(arrays: &mut Arrays<'_>) {
    let find = |name: &str| arrays.arrays.iter().find(|array| array.name() == Some(name));
    let has = |names: &[&str]| names.iter().all(|name| find(name).is_some());
    let is_sparse = has(&["format", "shape", "data"])
        && [&["indices", "indptr"][..], &["row", "col"], &["offsets"], &["coords"]].iter().any(|names| has(names));
    let format = find("format").and_then(|array| array.texts()?.first().map(ToString::to_string));
    if let Some(format) = format.filter(|_| is_sparse) {
        let what =
            format!("the sparse matrix of scipy ({format:.20}) as one array: its parts are kept, each by itself");
        arrays.metadata.insert("sparse".into(), format.into());
        arrays.not_kept.push(NotKept::of_message(what));
    }
}

/// The array of a `.npy` file that is borrowed or in memory.
fn array(file: Cow<'_, [u8]>, bools: Bools) -> Result<Array<'_>> {
    match file {
        Cow::Borrowed(file) => npy::read(file, bools),
        Cow::Owned(mut file) => {
            let (header, values) = npy::header_of(&file)?;
            let header_len = file.len() - values.len();
            file.drain(..header_len);
            npy::array(&header, Cow::Owned(file), bools)
        }
    }
}

/// The limits, and what all entries have taken of them.
struct SizeBudget<'l> {
    limits: &'l DecodeLimits,
    encoded: u64,
    decoded: u64,
}

impl SizeBudget<'_> {
    /// Takes room for an entry.
    fn take(&mut self, encoded: u64, decoded: u64) -> Result<usize> {
        // Sums beyond all numbers are beyond all limits.
        self.encoded = self.encoded.saturating_add(encoded);
        self.decoded = self.decoded.saturating_add(decoded);
        self.limits.check_bytes(self.encoded, self.decoded)?;
        self.limits.check_bytes(encoded, decoded)
    }
}

/// The file of an entry, checked by its size and its checksum.
fn entry<'a>(
    bytes: &'a [u8],
    archive: &ZipSliceArchive<&'a [u8]>,
    record: &ZipFileHeaderRecord<'_>,
    budget: &mut SizeBudget<'_>,
) -> Result<Cow<'a, [u8]>> {
    let found = archive.get_entry(record.wayfinder()).map_err(|error| refused_by("the archive", error))?;
    let (start, end) = found.compressed_data_range();
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let data = range.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(|| refused("it is cut short"))?;
    let claim = found.claim_verifier();
    let is_encrypted = record.flags().is_encrypted();
    let file = match record.compression_method() {
        _ if is_encrypted => return Err(refused("it is encrypted")),
        CompressionMethod::STORE => Cow::Borrowed(data),
        CompressionMethod::DEFLATE => Cow::Owned(inflate(data, claim.uncompressed_size, budget)?),
        other => return Err(refused(format!("its compression {other} is not supported: stored and deflated are"))),
    };
    if file.len() as u64 != claim.uncompressed_size {
        return Err(refused(format!(
            "it has {} bytes, and the directory says {}",
            file.len(),
            claim.uncompressed_size
        )));
    }
    if crc32(&file) != claim.crc {
        return Err(refused("its checksum is wrong"));
    }
    Ok(file)
}

/// Decompresses a deflated entry of `len` bytes.
fn inflate(data: &[u8], len: u64, budget: &mut SizeBudget<'_>) -> Result<Vec<u8>> {
    let mut out = reserve(budget.take(data.len() as u64, len)?)?;
    let mut state = Box::new(DecompressorOxide::new());
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, _, written) = decompress(&mut state, data, &mut out, 0, flags);
    match status {
        TINFLStatus::Done if written == out.len() => Ok(out),
        TINFLStatus::Done => Err(refused(format!("it has {written} bytes, and the directory says {len}"))),
        TINFLStatus::HasMoreOutput => Err(refused(format!("it has more bytes than the {len} of the directory"))),
        _ => Err(refused(format!("its deflated data are damaged near byte {written} of its content"))),
    }
}

/// Checks that no two entries share bytes: such archives are made to be much larger than they look.
fn check_apart(mut places: Vec<Range<u64>>) -> Result<()> {
    places.sort_unstable_by_key(|place| (place.start, place.end));
    match places.array_windows().find(|[first, second]| first.end > second.start) {
        Some([_, second]) => {
            Err(refused(format!("not a .npz file: two entries of the archive share the bytes at {}", second.start)))
        }
        None => Ok(()),
    }
}

/// Writes arrays as an archive, each as `NAME.npy`. Returns what it has no room for.
///
/// Arrays without a name are called `object_` and their number. Values go to the sink without a copy.
///
/// # Errors
/// [`TensogramError::Metadata`] for names of more than 65,531 bytes, and for shapes of thousands of dimensions;
/// [`TensogramError::Io`] from the sink.
pub fn write(arrays: &Arrays<'_>, method: Method, sink: impl Write) -> Result<Vec<NotKept>> {
    let (names, mut not_kept) = arrays.names();
    let mut archive = ZipArchiveWriter::new(sink);
    for (array, name) in arrays.arrays.iter().zip(&names) {
        add(&mut archive, array, &format!("{name}{SUFFIX}"), method)?;
    }
    archive.finish().map_err(zip_error)?.flush()?;
    not_kept.extend(arrays.metadata_not_kept(&[&[super::arrays::NAME], &npy::KEPT[..]].concat()));
    Ok(not_kept)
}

/// Adds an array to an archive.
fn add(archive: &mut ZipArchiveWriter<impl Write>, array: &Array<'_>, path: &str, method: Method) -> Result<()> {
    // The path has the name as it is. The writer of archives would change names such as `../a`; those lack the flag that
    // says that they are UTF-8.
    let is_normal = ZipFilePath::from_str(path).as_str() == path;
    let path = if is_normal { EntryPath::conformant(path) } else { EntryPath::verbatim(path.as_bytes()) };
    match method {
        Method::Stored => {
            let (mut entry, config) = archive.new_file(path).start().map_err(zip_error)?;
            let mut data = config.wrap(&mut entry);
            npy::write(array, &mut data)?;
            let (_, descriptor) = data.finish().map_err(zip_error)?;
            entry.finish(descriptor).map_err(zip_error)?;
        }
        Method::Deflated => {
            let file = archive.new_file(path).compression_method(CompressionMethod::DEFLATE);
            let (mut entry, config) = file.start().map_err(zip_error)?;
            let mut data = config.wrap(Deflater::new(&mut entry));
            npy::write(array, &mut data)?;
            let (deflater, descriptor) = data.finish().map_err(zip_error)?;
            deflater.finish()?;
            entry.finish(descriptor).map_err(zip_error)?;
        }
    }
    Ok(())
}

/// The error of the archive's writer: of the sink, or of a name.
fn zip_error(error: rawzip::Error) -> TensogramError {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => TensogramError::Io(error),
        other => TensogramError::Metadata(format!("the archive: {other}").into()),
    }
}

/// A writer that compresses.
struct Deflater<W> {
    sink: W,
    state: Box<CompressorOxide>,
    out: Vec<u8>,
}

impl<W: Write> Deflater<W> {
    fn new(sink: W) -> Self {
        let mut state = Box::<CompressorOxide>::default();
        // Without the head and the checksum of zlib: an archive has its own. 6 is numpy's level.
        state.set_format_and_level(DataFormat::Raw, 6);
        Self { sink, state, out: vec![0; CHUNK] }
    }

    /// Compresses `input`, and what is left after it if it is the end.
    fn feed(&mut self, mut input: &[u8], flush: MZFlush) -> io::Result<()> {
        loop {
            let result = deflate(&mut self.state, input, &mut self.out, flush);
            input = input.get(result.bytes_consumed..).unwrap_or_default();
            self.sink.write_all(self.out.get(..result.bytes_written).unwrap_or_default())?;
            match result.status {
                Ok(MZStatus::StreamEnd) => return Ok(()),
                Ok(_) if flush == MZFlush::None && input.is_empty() => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(io::Error::other(format!("deflate: {error:?}"))),
            }
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.feed(&[], MZFlush::Finish)
    }
}

impl<W: Write> Write for Deflater<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.feed(bytes, MZFlush::None)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
