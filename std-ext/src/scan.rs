//! Where the messages of a buffer or file are (FORMAT §5.6).

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::{self, Read, Seek, SeekFrom};

use tgm_core::scan::{Scanner, Segment, Source, find_in_chunks};

use crate::error::Result;

/// Bytes read together while looking for a magic in a file.
pub(crate) const SEARCH_CHUNK: usize = 64 << 10;

/// How to scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Steps from the end, by postambles that state their message's length, alternate with steps from the start.
    pub bidirectional: bool,
    /// Messages longer than this are not believed when found from the end: 4 GiB.
    pub max_message_size: u64,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { bidirectional: true, max_message_size: 4 << 30 }
    }
}

/// Offset and length of each message in `bytes`, in ascending order; other bytes are skipped.
///
/// [`tgm_core::scan::scan`] reports those too, and does not allocate.
pub fn scan(bytes: &[u8]) -> Vec<(usize, usize)> {
    scan_with_options(bytes, &ScanOptions::default())
}

/// [`scan`] as `options` say.
pub fn scan_with_options(bytes: &[u8], options: &ScanOptions) -> Vec<(usize, usize)> {
    let Ok::<_, Infallible>(segments) = segments(bytes, options);
    segments.into_iter().filter_map(to_usize).collect()
}

/// Offset and length of each message in a file, in ascending order. Reads preambles, postambles, the frame headers of
/// streamed messages, and what lies between messages.
///
/// # Errors
/// [`TensogramError::Io`](crate::TensogramError::Io).
pub fn scan_file(file: &mut (impl Read + Seek)) -> Result<Vec<(usize, usize)>> {
    scan_file_with_options(file, &ScanOptions::default())
}

/// [`scan_file`] as `options` say.
///
/// # Errors
/// [`TensogramError::Io`](crate::TensogramError::Io).
pub fn scan_file_with_options(file: &mut (impl Read + Seek), options: &ScanOptions) -> Result<Vec<(usize, usize)>> {
    let len = file.seek(SeekFrom::End(0))?;
    let source = SeekSource { file: RefCell::new(file), len };
    Ok(segments(source, options)?.into_iter().filter_map(to_usize).collect())
}

fn to_usize(segment: Segment) -> Option<(usize, usize)> {
    let extent = (usize::try_from(segment.offset()).ok()?, usize::try_from(segment.length()).ok()?);
    segment.is_message().then_some(extent)
}

/// All segments of a source in ascending order.
pub(crate) fn segments<S: Source>(source: S, options: &ScanOptions) -> Result<Vec<Segment>, S::Error> {
    let mut scanner = Scanner::new(source);
    let mut from_start = Vec::new();
    let mut from_end = Vec::new();
    let mut backward = options.bidirectional;
    while let Some(segment) = scanner.next_segment()? {
        from_start.push(segment);
        if backward {
            let found = scanner.next_message_back(options.max_message_size)?;
            backward = found.is_some();
            from_end.extend(found);
        }
    }
    from_start.extend(from_end.into_iter().rev());
    Ok(from_start)
}

/// A reader that can seek.
struct SeekSource<'f, F> {
    file: RefCell<&'f mut F>,
    len: u64,
}

impl<F: Read + Seek> Source for SeekSource<'_, F> {
    type Error = io::Error;

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(offset))?;
        fill(out, |rest, _| file.read(rest))
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> io::Result<Option<u64>> {
        find_in_chunks(self, magic, from, end, &mut vec![0; SEARCH_CHUNK])
    }
}

/// Fills `out` by repeated reads; `read` is given what is left and how much has been filled. Fewer bytes come only from the
/// end of the source.
pub(crate) fn fill(out: &mut [u8], mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match read(rest, filled) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
