//! Validation of files and buffers: each message, and the bytes between them.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use tgm_codec::threads::Threads;
use tgm_core::scan::Segment;

use super::of_message;
use super::options::ValidateOptions;
use super::report::{FileIssue, FileValidationReport, ValidationReport};
use crate::base::error::TensogramError;
use crate::base::interrupt;
use crate::base::limits::reserve;
use crate::base::span::{index, span};
use crate::file::in_order::{in_order, open_unread};
use crate::file::{MessageReader, StreamOptions, StreamPart, TensogramFile, is_remote_url};
use crate::read::stream::open_stream;
use crate::scan::{Bytes, ScanOptions, Segments, Table};
use crate::validate::leftover::Leftover;

/// Validates every message in `bytes`. Bytes that belong to none are issues of the file.
///
/// ```
/// use tgm_std::validate::{ValidateOptions, validate_buffer};
///
/// # let mut bytes = std::fs::read("../tests/data/multi/three.tgm").unwrap();
/// bytes.extend(b"junk");
/// let report = validate_buffer(&bytes, &ValidateOptions::default());
/// assert_eq!(report.messages.len(), 3);
/// assert!(!report.is_ok() && report.messages.iter().all(|message| message.is_ok()));
/// assert_eq!(report.file_issues[0].length, 4);
/// ```
pub fn validate_buffer(bytes: &[u8], options: &ValidateOptions) -> FileValidationReport {
    let Ok(table) = Table::scan(Bytes(bytes), &ScanOptions::default());
    of_segments(bytes, table.segments(), options)
}

/// How much of a file has been looked at, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// From the start to the end of the last message that was validated.
    pub done: u64,
    /// All bytes. `None` for a stream.
    pub total: Option<u64>,
}

/// Validates every message of a file. Bytes that belong to none are issues of the file.
///
/// A regular file is read at positions. If it is truncated meanwhile, that is an error. Anything else, such as a pipe or a
/// source at an address, is read as [`validate_stream`] does.
///
/// # Errors
/// The errors of opening and reading the file.
pub fn validate_file(path: &Path, options: &ValidateOptions) -> io::Result<FileValidationReport> {
    validate_file_with(path, options, |_| Ok(()))
}

/// [`validate_file`] that calls `watch` after each message. An error of `watch` ends the work.
///
/// # Errors
/// The errors of [`validate_file`] and of `watch`.
///
/// ```
/// use tgm_std::validate::{ValidateOptions, validate_file_with};
///
/// let mut seen = Vec::new();
/// let path = "../tests/data/multi/three.tgm".as_ref();
/// validate_file_with(path, &ValidateOptions::default(), |progress| Ok(seen.push(progress)))?;
/// assert_eq!(seen.len(), 3);
/// assert_eq!(Some(seen[2].done), seen[2].total);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn validate_file_with(
    path: &Path,
    options: &ValidateOptions,
    watch: impl FnMut(Progress) -> io::Result<()>,
) -> io::Result<FileValidationReport> {
    if let Some(address) = path.to_str().filter(|text| is_remote_url(text)) {
        // All of it is read, and once.
        let file = open_unread(address).map_err(of_input)?;
        return of_stream(in_order(move |at, out| file.read_at(at, out)), options, watch);
    }
    if !fs::metadata(path)?.is_file() {
        return of_stream(open_stream(path)?, options, watch);
    }
    TensogramFile::open(path).and_then(|file| of_file(&file, options, watch)).map_err(of_input)
}

/// The error of input that a [`TensogramError`] is or holds.
fn of_input(error: TensogramError) -> io::Error {
    match error {
        TensogramError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// The longest junk of a stream that is searched for messages of version 2.
const SEARCHED: usize = 256 << 20;

/// Validates every message of a stream, such as standard input or a socket, when it has come. Bytes that belong to none are
/// issues of the file.
///
/// Takes memory for one message, for the reports, and for the first 256 MiB of junk. Messages are found as a
/// [`MessageReader`] finds them. The report is that of [`validate_buffer`] of all bytes, with one exception: a default
/// [`DecodeBudget::max_file_bytes`](crate::DecodeBudget::max_file_bytes) grows with the bytes that have come.
///
/// # Errors
/// The errors of the reader.
pub fn validate_stream(reader: impl Read, options: &ValidateOptions) -> io::Result<FileValidationReport> {
    of_stream(reader, options, |_| Ok(()))
}

fn of_stream(
    reader: impl Read,
    options: &ValidateOptions,
    mut watch: impl FnMut(Progress) -> io::Result<()>,
) -> io::Result<FileValidationReport> {
    let stream = StreamOptions { max_message_bytes: u64::MAX, max_junk_bytes: SEARCHED, ..StreamOptions::default() };
    let mut reader = MessageReader::with_options(reader, &stream);
    let mut spending = options.budget.of_file(0);
    let (mut messages, mut segments, mut leftovers) = (Vec::new(), Vec::new(), VecDeque::new());
    loop {
        match reader.next_part() {
            Ok(Some(StreamPart::Message(message))) => {
                let length = message.len() as u64;
                spending.extend_file(length);
                segments.push(Segment::Message { offset: message.offset(), length });
                let done = span(message.offset(), length).end;
                messages.push(of_message(&message, options, &mut spending));
                watch(Progress { done, total: None })?;
            }
            Ok(Some(StreamPart::Junk { offset, length, beginning })) => {
                segments.push(Segment::Junk { offset, length });
                leftovers.push_back(Leftover::of(beginning));
            }
            Ok(None) => break,
            Err(TensogramError::Io(error)) => return Err(error),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    let leftovers = |_: &Segment| leftovers.pop_front().unwrap_or(Leftover::Unknown);
    Ok(FileValidationReport { file_issues: junk(segments.into_iter(), options, leftovers), messages })
}

/// Bytes of messages that are held at a time: of longer messages fewer are validated side by side.
const HELD: u64 = 512 << 20;
/// Messages that each thread validates before their reports are taken in.
const BATCH: usize = 64;

/// How many threads validate messages of which the longest has so many bytes.
fn threads_for(options: &ValidateOptions, len: u64, longest: u64) -> Result<Threads, TensogramError> {
    let threads = Threads::resolve(options.threads, len, None)?;
    let most = u32::try_from(HELD / longest.max(1)).unwrap_or(u32::MAX).max(1);
    Ok(if threads.count() > most { Threads::resolve(most, len, None)? } else { threads })
}

/// A file that is read at positions: message by message on each thread.
///
/// What objects may decode to is counted as one thread counts it, message after message. So reports do not depend on the threads.
fn of_file(
    file: &TensogramFile,
    options: &ValidateOptions,
    mut watch: impl FnMut(Progress) -> io::Result<()>,
) -> Result<FileValidationReport, TensogramError> {
    let len = file.segments()?.next_back().map_or(0, |last| end_of(&last));
    let mut spending = options.budget.of_file(len);
    let segments: Vec<_> = file.segments()?.filter(Segment::is_message).collect();
    let threads = threads_for(options, len, segments.iter().map(Segment::length).max().unwrap_or(0))?;
    let numbered: Vec<_> = segments.into_iter().enumerate().collect();
    let mut messages = Vec::with_capacity(numbered.len());
    for batch in numbered.chunks(if threads.is_one() { 1 } else { BATCH.saturating_mul(threads.count() as usize) }) {
        let found = threads.map(batch, |(index, _)| -> Result<_, TensogramError> {
            interrupt::check()?;
            let mut of_this = spending.clone();
            let report = of_message(&file.read_message(*index)?, options, &mut of_this);
            Ok((report, spending.spent_by(&of_this)))
        })?;
        for ((index, segment), (report, spent)) in batch.iter().zip(found) {
            messages.push(if spending.take_of_file(spent) {
                report
            } else {
                of_message(&file.read_message(*index)?, options, &mut spending)
            });
            watch(Progress { done: end_of(segment), total: Some(len) })?;
        }
    }
    // A region that cannot be read is reported without a description.
    let leftovers = |segment: &Segment| match bytes_of(file, segment) {
        Ok(bytes) => Leftover::of(&bytes),
        Err(_) => Leftover::Unknown,
    };
    Ok(FileValidationReport { file_issues: junk(file.segments()?, options, leftovers), messages })
}

fn bytes_of(file: &TensogramFile, segment: &Segment) -> Result<Vec<u8>, TensogramError> {
    let len = usize::try_from(segment.length()).map_err(|_| TensogramError::encoding("region too large"))?;
    let mut bytes = reserve(len)?;
    let read = file.read_at(segment.offset(), &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

fn of_segments(bytes: &[u8], segments: Segments<'_>, options: &ValidateOptions) -> FileValidationReport {
    let messages = segments.clone().filter(Segment::is_message);
    let mut spending = options.budget.of_file(bytes.len() as u64);
    // The segments are of these bytes, so all of them are there.
    let validate = |segment: Segment| -> ValidationReport {
        of_message(segment.bytes_of(bytes).unwrap_or(&[]), options, &mut spending)
    };
    let messages = messages.map(validate).collect();
    let leftovers = |segment: &Segment| Leftover::of(segment.bytes_of(bytes).unwrap_or(&[]));
    FileValidationReport { file_issues: junk(segments, options, leftovers), messages }
}

/// Where a segment ends.
fn end_of(segment: &Segment) -> u64 {
    span(segment.offset(), segment.length()).end
}

/// The bytes that belong to no message, with a description of what they hold.
fn junk(
    segments: impl DoubleEndedIterator<Item = Segment> + ExactSizeIterator + Clone,
    options: &ValidateOptions,
    mut leftovers: impl FnMut(&Segment) -> Leftover,
) -> Vec<FileIssue> {
    let last = segments.clone().rposition(|segment| segment.is_message());
    let issues = segments.enumerate().filter(|(_, segment)| !segment.is_message()).map(|(i, segment)| {
        let (byte_offset, length) = (segment.offset(), segment.length());
        let description = match last {
            None => format!("{length} bytes with no valid messages"),
            Some(last) if i > last => format!("{length} trailing bytes after last message at offset {byte_offset}"),
            Some(_) => format!("{length} unrecognized bytes at offset {byte_offset}"),
        };
        let leftover = if options.like_reference { Leftover::Unknown } else { leftovers(&segment) };
        let description = match leftover {
            Leftover::Unknown => description,
            known => format!("{description}: {known}"),
        };
        // The numbers of an issue are of this machine, and may be too small for a file. The text has all of them.
        FileIssue { byte_offset: index(byte_offset), length: index(length), description }
    });
    issues.collect()
}
