//! Group commit: the appends of several threads share their writes and waits.

use std::io;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::options::AppendOptions;
use super::protocol::{Batch, is_nested};
use super::whole::whole_message;
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::encode;
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::MessageLayout;

/// Bytes from which on a message is written alone, without a copy in memory.
const LARGE: usize = 1 << 20;

/// Appends messages of many threads to one file. Each call returns when its own message is in the file, and with
/// [`AppendOptions::sync`] on disk.
///
/// While one thread writes and waits for the disk, the messages of other threads gather. The next thread writes them all and
/// waits for all of them: twice, however many they are. Clones share the group. Handles that were opened apart, and other
/// processes, may append as well: the lock of the file is held for one group at a time.
///
/// ```
/// use tgm_std::{EncodeOptions, GlobalMetadata, TensogramFile};
/// use tgm_std::file::{AppendOptions, GroupAppender};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("fields.tgm");
/// TensogramFile::create(&path)?;
/// let appender = GroupAppender::open(&path, &AppendOptions { sync: true, ..AppendOptions::default() })?;
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| appender.append(&GlobalMetadata::default(), &[], &EncodeOptions::default()));
///     }
/// });
/// assert_eq!(TensogramFile::open(&path)?.message_count()?, 4);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupAppender(Arc<Group>);

#[derive(Debug)]
struct Group {
    how: AppendOptions,
    file: Mutex<TensogramFile>,
    state: Mutex<State>,
    /// Tells waiting threads that a write has ended.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The messages that gather.
    gathering: Batch,
    /// The answer that they will get.
    answer: Arc<Answer>,
    /// Whether a thread writes.
    is_writing: bool,
}

/// The places of the messages of one group, in order, or why they were not appended.
type Answer = OnceLock<Result<Vec<MessageLayout>, Failed>>;

/// An error that several threads return.
#[derive(Clone, Debug)]
enum Failed {
    Framing(String),
    Io(io::ErrorKind, String),
}

impl Failed {
    fn new(error: &TensogramError) -> Self {
        match error {
            TensogramError::Io(error) => Self::Io(error.kind(), error.to_string()),
            TensogramError::Framing(reason) => Self::Framing(reason.to_string()),
            other => Self::Io(io::ErrorKind::Other, other.to_string()),
        }
    }

    fn error(&self) -> TensogramError {
        match self {
            Self::Framing(text) => TensogramError::Framing(text.as_str().into()),
            Self::Io(kind, text) => TensogramError::Io(io::Error::new(*kind, text.as_str())),
        }
    }
}

impl GroupAppender {
    /// Opens the file at `path`, which must be there. Threads share a clone of the result: what they append in the meantime is
    /// written together.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn open(path: impl AsRef<Path>, how: &AppendOptions) -> Result<Self> {
        let file = TensogramFile::open(path)?;
        let group = Group { how: *how, file: Mutex::new(file), state: Mutex::default(), ended: Condvar::new() };
        Ok(Self(Arc::new(group)))
    }

    /// Encodes a message, on this thread, and appends it. Returns its place.
    ///
    /// # Errors
    /// The errors of [`encode`] and of [`Self::append_message`].
    pub fn append(
        &self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<MessageLayout> {
        self.append_whole(&encode(metadata, objects, options)?)
    }

    /// Appends a message as it is. Returns its place.
    ///
    /// # Errors
    /// The errors of [`TensogramFile::append_message`]. If the write of a group fails, all its messages get the error, and
    /// none of them is in the file.
    pub fn append_message(&self, message: &[u8]) -> Result<MessageLayout> {
        whole_message(message)?;
        self.append_whole(message)
    }

    fn append_whole(&self, message: &[u8]) -> Result<MessageLayout> {
        let group = &*self.0;
        if group.takes_alone(message) { group.append_alone(message) } else { group.append_together(message) }
    }
}

impl Group {
    /// Whether a message is written by itself: a large one, and one whose inner magics need a wait of their own.
    fn takes_alone(&self, message: &[u8]) -> bool {
        message.len() >= LARGE || (self.how.sync && is_nested(message))
    }

    /// Appends a message with those that gather meanwhile.
    fn append_together(&self, message: &[u8]) -> Result<MessageLayout> {
        let mut state = lock(&self.state);
        let (index, answer) = (state.gathering.count(), Arc::clone(&state.answer));
        state.gathering.push(message);
        loop {
            if let Some(place) = place(&answer, index) {
                return place;
            }
            if state.is_writing {
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // This thread writes for all that have gathered, itself among them.
            let (mut batch, answer) = (mem::take(&mut state.gathering), mem::take(&mut state.answer));
            let turn = Turn::begin(self, state, answer);
            turn.write(|file| file.appender(&self.how)?.write_group(&mut batch));
            drop(turn);
            state = lock(&self.state);
        }
    }

    /// Appends a message by itself.
    fn append_alone(&self, message: &[u8]) -> Result<MessageLayout> {
        let state = self.ended.wait_while(lock(&self.state), |state| state.is_writing);
        let answer = Arc::default();
        let turn = Turn::begin(self, state.unwrap_or_else(PoisonError::into_inner), Arc::clone(&answer));
        turn.write(|file| Ok(vec![file.append_message(message, &self.how)?]));
        drop(turn);
        place(&answer, 0).unwrap_or_else(|| Err(lost()))
    }
}

/// The place of message `index` of a group. `None` if the group was not written yet.
fn place(answer: &Answer, index: usize) -> Option<Result<MessageLayout>> {
    let place = answer.get()?.as_ref().map(|layouts| layouts.get(index).copied());
    Some(match place {
        Ok(Some(place)) => Ok(place),
        Ok(None) => Err(lost()),
        Err(failed) => Err(failed.error()),
    })
}

fn lost() -> TensogramError {
    TensogramError::Io(io::Error::other("the place of the message was lost"))
}

/// The time in which one thread writes. Its end wakes the others, also if the thread panics.
struct Turn<'g> {
    group: &'g Group,
    answer: Arc<Answer>,
}

impl<'g> Turn<'g> {
    fn begin(group: &'g Group, mut state: MutexGuard<'_, State>, answer: Arc<Answer>) -> Self {
        state.is_writing = true;
        Self { group, answer }
    }

    fn write(&self, write: impl FnOnce(&mut TensogramFile) -> Result<Vec<MessageLayout>>) {
        let written = write(&mut lock(&self.group.file));
        // The answer of a group is set once.
        let _ = self.answer.set(written.map_err(|error| Failed::new(&error)));
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // After a write the answer is there, and stays.
        let _ = self.answer.set(Err(Failed::Io(io::ErrorKind::Other, "the thread that wrote has panicked".into())));
        lock(&self.group.state).is_writing = false;
        self.group.ended.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked has left the state as it was before or after a step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tgm_core::wire::MAGIC;

    use super::*;
    use crate::file::append::TornTail;

    fn how(sync: bool) -> AppendOptions {
        AppendOptions { sync, torn_tail: TornTail::Refuse }
    }

    #[test]
    fn large_messages_are_written_alone_and_with_sync_those_that_hold_messages() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fields.tgm");
        TensogramFile::create(&path).unwrap();
        let (large, small) = (vec![0; LARGE], vec![0; LARGE - 1]);
        let holding = [&MAGIC[..], b"a message of", MAGIC].concat();
        for (sync, alone) in [(false, [true, false, false]), (true, [true, false, true])] {
            let appender = GroupAppender::open(&path, &how(sync)).unwrap();
            assert_eq!([&large, &small, &holding].map(|message| appender.0.takes_alone(message)), alone, "{sync}");
        }
    }
}
