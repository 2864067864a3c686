//! Files as the commands read them: their bytes, and what lies where.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[cfg(feature = "mmap")]
use tgm_std::MappedFile;
use tgm_std::core::scan::{Segment, scan};
use tgm_std::{TensogramError, v2};

use crate::output::Out;

/// A file whose messages are known. Regular files are mapped, so that only what is looked at is read.
pub(crate) struct Input {
    name: String,
    backing: Backing,
}

enum Backing {
    #[cfg(feature = "mmap")]
    Mapped {
        file: MappedFile,
        segments: Vec<Segment>,
    },
    Read {
        bytes: Vec<u8>,
        segments: Vec<Segment>,
    },
}

/// A message of a file.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'f> {
    /// The file's name as the user gave it.
    pub(crate) file: &'f str,
    /// Which message of the file.
    pub(crate) index: usize,
    /// Bytes from the file's start.
    pub(crate) offset: u64,
    /// The message.
    pub(crate) bytes: &'f [u8],
}

impl Entry<'_> {
    /// Where the message is, in words.
    pub(crate) fn place(&self) -> String {
        format!("{}: message {}", self.file, self.index)
    }

    /// Where an object of the message is, in words.
    pub(crate) fn object_place(&self, object: usize) -> String {
        format!("{}, object {object}", self.place())
    }

    /// Bytes of the message.
    pub(crate) const fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl Input {
    /// Opens a file and finds its messages: of a regular file, only preambles, postambles and what lies between messages
    /// is read. "-" is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, TensogramError> {
        let backing = if path == Path::new("-") { read(io::stdin().lock())? } else { open(path)? };
        Ok(Self { name: path.display().to_string(), backing })
    }

    /// The file's name as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.backing {
            #[cfg(feature = "mmap")]
            Backing::Mapped { file, .. } => file.as_bytes(),
            Backing::Read { bytes, .. } => bytes,
        }
    }

    /// The file from start to end: messages, and bytes that belong to none.
    pub(crate) fn segments(&self) -> &[Segment] {
        match &self.backing {
            #[cfg(feature = "mmap")]
            Backing::Mapped { segments, .. } => segments,
            Backing::Read { segments, .. } => segments,
        }
    }

    /// The bytes of a segment.
    pub(crate) fn bytes_of(&self, segment: &Segment) -> &[u8] {
        segment.bytes_of(self.bytes()).unwrap_or_default()
    }

    /// The messages in order.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Entry<'_>> {
        let messages = self.segments().iter().filter(|segment| segment.is_message());
        messages.enumerate().map(|(index, segment)| Entry {
            file: &self.name,
            index,
            offset: segment.offset(),
            bytes: self.bytes_of(segment),
        })
    }
}

#[cfg(feature = "mmap")]
#[allow(unsafe_code, reason = "a memory map")]
fn open(path: &Path) -> Result<Backing, TensogramError> {
    let is_stream = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_stream {
        return read(open_stream(path)?);
    }
    // SAFETY: the tool's user must not truncate the file while it is read.
    let file = unsafe { MappedFile::open(path) }?;
    let segments = file.segments().collect();
    Ok(Backing::Mapped { file, segments })
}

#[cfg(not(feature = "mmap"))]
fn open(path: &Path) -> Result<Backing, TensogramError> {
    read(open_stream(path)?)
}

fn open_stream(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn read(mut source: impl Read) -> Result<Backing, TensogramError> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    let segments = scan(&bytes).collect();
    Ok(Backing::Read { bytes, segments })
}

/// Opens a file; if that fails, says so and returns nothing.
pub(crate) fn open_or_report(path: &Path, out: &mut Out) -> Option<Input> {
    match Input::open(path) {
        Ok(input) => Some(input),
        Err(error) => {
            out.problem(&format!("cannot read {}\n{error}", path.display()));
            None
        }
    }
}

/// Calls `with` for each message of each file. Files that cannot be read, and those that hold bytes but no message, are
/// reported.
pub(crate) fn for_each_message(
    paths: &[PathBuf],
    out: &mut Out,
    mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for path in paths {
        let Some(input) = open_or_report(path, out) else { continue };
        report_no_message(&input, out);
        for entry in input.messages() {
            with(out, &entry)?;
        }
    }
    Ok(())
}

/// Reports a file that holds bytes but no message, or none but old ones.
pub(crate) fn report_no_message(input: &Input, out: &mut Out) {
    if input.bytes().is_empty() || input.messages().next().is_some() {
        return;
    }
    let (name, old) = (input.name(), v2::scan(input.bytes()).into_iter().filter(|part| part.kind == v2::Kind::V2));
    match old.count() {
        0 => out.problem(&format!("{name}: no message found in {} bytes", input.bytes().len())),
        1 => out.problem(&format!("{name}: 1 message of version 2: `tgm upgrade` makes it version 3")),
        old => out.problem(&format!("{name}: {old} messages of version 2: `tgm upgrade` makes them version 3")),
    }
}

/// Reports bytes that belong to no message: a torn message may be among them. A file without any message has been
/// reported.
pub(crate) fn report_junk(input: &Input, out: &mut Out) {
    if input.messages().next().is_none() {
        return;
    }
    for segment in input.segments().iter().filter(|segment| !segment.is_message()) {
        let (offset, length) = (segment.offset(), segment.length());
        out.problem(&format!("{}: {length} bytes at {offset} belong to no message", input.name()));
    }
}
