//! Files that cannot be read at positions: standard input, pipes, devices. Their messages come one after the other.
//!
//! A thread reads, so that the command can notice a pause: it then shows what it has, and waits. Memory is needed for one
//! message, for a few reads, and for lost bytes up to a limit.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use tgm_std::TensogramError;
use tgm_std::file::{MessageReader, SourceName, StreamOptions, StreamPart};

use crate::read::entry::Entry;
use crate::read::lost::{self, Stray};
use crate::read::pipes;
use crate::show::output::Out;
use crate::show::progress::meter::Share;

/// Bytes of one read.
const CHUNK: usize = 256 << 10;
/// Reads that wait for the command.
const WAITING: usize = 4;
/// A stream without bytes for so long is pausing.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether messages of this path come one after the other. "-" is standard input.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-") || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// A stream of messages.
pub(crate) struct Streamed {
    name: String,
    reader: MessageReader<Reads>,
    /// Messages so far, with those before the start.
    count: usize,
    /// The start's position in the file.
    base: u64,
    /// Lost bytes that were not reported yet: what follows them is part of the report.
    stray: Option<Stray>,
    /// Whether reading ended with an error.
    has_failed: bool,
    progress: Share,
}

/// What a stream gives next.
pub(crate) enum Next<'s> {
    /// A message.
    Message(Entry<'s>),
    /// Lost bytes.
    Lost(Stray),
    /// Nothing for a while. More may come.
    Pause,
}

impl Streamed {
    /// Opens a stream. `None` if it cannot be opened, which is reported.
    pub(crate) fn open_or_report(path: &Path, out: &mut Out) -> Option<Self> {
        Self::new(path, Reads::open(path), (0, 0), out)
    }

    /// Opens a file that may still grow, after the messages that are there: their number, and the position after them.
    /// The stream ends when nothing was appended for the time `idle`. `None` if the file cannot be opened, which is
    /// reported.
    pub(crate) fn follow_or_report(
        path: &Path,
        from: (usize, u64),
        idle: Option<Duration>,
        out: &mut Out,
    ) -> Option<Self> {
        Self::new(path, Reads::follow(path, from.1, idle), from, out)
    }

    fn new(path: &Path, reads: io::Result<Reads>, (count, base): (usize, u64), out: &mut Out) -> Option<Self> {
        let name = SourceName::of(path).to_string();
        let reads = match reads {
            Ok(reads) => reads,
            Err(error) => {
                cannot_read(&name, &error.into(), out);
                return None;
            }
        };
        let options =
            StreamOptions { max_message_bytes: u64::MAX, max_junk_bytes: lost::SEARCHED, ..StreamOptions::default() };
        Some(Self {
            name,
            reader: MessageReader::with_options(reads, &options),
            count,
            base,
            stray: None,
            has_failed: false,
            progress: Share::new(None),
        })
    }

    /// The stream's name as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many messages have come.
    pub(crate) const fn message_count(&self) -> usize {
        self.count
    }

    /// Whether the stream could not be read to its end.
    pub(crate) const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The next part. Lost bytes are reported too, when it is known what follows them. `None` at the end, or after an error,
    /// which is reported.
    pub(crate) fn next_or_report(&mut self, out: &mut Out) -> Option<Next<'_>> {
        let Self { name, reader, count, base, stray, has_failed, progress } = self;
        match reader.next_part() {
            Ok(Some(StreamPart::Message(message))) => {
                let index = *count;
                *count += 1;
                let length = message.len() as u64;
                progress.take_up(*base + message.offset() + length, length, *count);
                if let Some(stray) = stray.take() {
                    out.problem(&format!("{name}: {}", stray.describe(Some(index))));
                }
                Some(Next::Message(Entry {
                    file: name,
                    index: index.into(),
                    offset: *base + message.offset(),
                    bytes: message.as_bytes(),
                }))
            }
            Ok(Some(StreamPart::Junk { offset, length, beginning })) => {
                let found = Stray { offset: *base + offset, length, beginning: beginning.to_vec() };
                *stray = Some(found.clone());
                Some(Next::Lost(found))
            }
            // Parts of other kinds hold nothing to show.
            Ok(Some(_)) => Some(Next::Pause),
            Ok(None) => {
                if let Some(stray) = stray.take() {
                    let text = if *count == 0 { stray.no_message() } else { stray.describe(None) };
                    out.problem(&format!("{name}: {text}"));
                }
                None
            }
            Err(TensogramError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Some(Next::Pause),
            Err(error) => {
                *has_failed = true;
                cannot_read(name, &error, out);
                None
            }
        }
    }
}

fn cannot_read(name: &str, error: &TensogramError, out: &mut Out) {
    out.problem(&format!("cannot read {name}\n{error}"));
}

/// Reads that another thread makes. A read after a pause waits; any other gives up with `WouldBlock` when a pause begins.
struct Reads {
    receiver: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
    is_pausing: bool,
}

impl Reads {
    fn open(path: &Path) -> io::Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let source = pipes::open(path)?;
        thread::spawn(move || send(source, &sender));
        Ok(Self { receiver, chunk: io::Cursor::default(), is_pausing: false })
    }

    /// Reads of a file that may still grow, from a position on.
    fn follow(path: &Path, from: u64, idle: Option<Duration>) -> io::Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let mut file = pipes::file(path)?;
        file.seek(SeekFrom::Start(from))?;
        thread::spawn(move || send(Growing { file, at: from, idle }, &sender));
        Ok(Self { receiver, chunk: io::Cursor::default(), is_pausing: false })
    }

    /// The next read of the thread. `None` at the end.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let received = if self.is_pausing {
            self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            self.receiver.recv_timeout(PAUSE)
        };
        self.is_pausing = matches!(received, Err(RecvTimeoutError::Timeout));
        match received {
            Ok(read) => read.map(Some),
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::WouldBlock.into()),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}

impl Read for Reads {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.chunk.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            match self.receive()? {
                Some(chunk) => self.chunk = io::Cursor::new(chunk),
                None => return Ok(0),
            }
        }
    }
}

/// A file that may still grow. Its end is reached when nothing was appended for a time.
struct Growing {
    file: File,
    at: u64,
    idle: Option<Duration>,
}

impl Read for Growing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let start = Instant::now();
        loop {
            let count = self.file.read(out)?;
            self.at += count as u64;
            if count > 0 || self.idle.is_some_and(|idle| start.elapsed() >= idle) {
                return Ok(count);
            }
            if self.file.metadata()?.len() < self.at {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file became shorter while it was followed",
                ));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Sends what `source` gives, read by read, until it ends or the receiver is gone.
fn send(mut source: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match source.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                // Small reads must not keep large chunks.
                if count < CHUNK / 4 {
                    chunk.shrink_to_fit();
                }
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_error = read.is_err();
        if sender.send(read).is_err() || is_error {
            return;
        }
    }
}
