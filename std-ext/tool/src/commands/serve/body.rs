//! The bytes of an answer.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::spawn_blocking;

/// Bytes that are handed to a connection at a time.
const BLOCK: usize = 256 << 10;

/// The bytes of an answer, a block at a time: a slow reader has few of them in memory twice.
#[derive(Debug)]
pub(super) struct Reply {
    rest: u64,
    source: Source,
    /// A share of what may be decoded at a time, which is free again when the bytes are sent.
    _permit: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
enum Source {
    Memory(Bytes),
    File(mpsc::Receiver<io::Result<Bytes>>),
}

impl Reply {
    /// Bytes in memory.
    pub(super) fn of(bytes: Bytes, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { rest: bytes.len() as u64, source: Source::Memory(bytes), _permit: permit }
    }

    /// Bytes of a file, which are read as they are sent. A file that is shorter by then breaks the connection.
    pub(super) fn of_file(file: File, range: Range<u64>) -> Self {
        let (sender, blocks) = mpsc::channel(1);
        let rest = range.end.saturating_sub(range.start);
        tokio::spawn(send_file(file, range, sender));
        Self { rest, source: Source::File(blocks), _permit: None }
    }
}

/// Reads a file by blocks, each when the one before was taken. Ends when nobody takes them any more.
async fn send_file(file: File, range: Range<u64>, sender: mpsc::Sender<io::Result<Bytes>>) {
    let mut file = Some(file);
    let mut at = range.start;
    while at < range.end {
        let Some(held) = file.take() else { return };
        let len = range.end.saturating_sub(at).min(BLOCK as u64);
        let read = spawn_blocking(move || read_block(&held, at, len).map(|block| (held, block))).await;
        let block = match read.map_err(io::Error::other).flatten() {
            Ok((held, block)) => {
                file = Some(held);
                Ok(block)
            }
            Err(error) => Err(error),
        };
        at = at.saturating_add(len);
        let is_last = block.is_err();
        if sender.send(block).await.is_err() || is_last {
            return;
        }
    }
}

fn read_block(mut file: &File, at: u64, len: u64) -> io::Result<Bytes> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut block = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut block)?;
    Ok(block.into())
}

impl Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest == 0 {
            return Poll::Ready(None);
        }
        let block = match &mut self.source {
            // A copy, so that what waits in a connection keeps no whole chunk in memory.
            Source::Memory(bytes) => Ok(Bytes::copy_from_slice(&bytes.split_to(bytes.len().min(BLOCK)))),
            Source::File(blocks) => match blocks.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(block) => block.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into())),
            },
        };
        let len = block.as_ref().map_or(self.rest, |block| block.len() as u64);
        self.rest = self.rest.saturating_sub(len);
        Poll::Ready(Some(block.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.rest == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest)
    }
}
