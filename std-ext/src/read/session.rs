//! What calls to one reader share: bytes, the messages found so far, the structure of messages.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "async")]
use std::time::Duration;

use super::fetch::{FetchError, FetchErrorKind, Fetched, Tag, Want};
use super::gather::Gather;
use super::known_bytes::KnownBytes;
use super::locate::{Locate, Located, SearchGoal};
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::outline::MetOutline;
use super::question::{Answer, Question, Subject};
use super::read_task::{Progress, ReadTask};
use super::structure::Structure;
use crate::base::error::{Result, TensogramError};
use crate::base::trace;
use crate::scan::{MessageLayout, ScanOptions, Table};

/// What is shared. Locks are held for copies of lists, and never while bytes are fetched or decoded.
#[derive(Debug)]
pub(crate) struct Session {
    name: String,
    options: ReadOptions,
    scan: ScanOptions,
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    known: KnownBytes,
    /// All messages, once a search has come to the end.
    table: Option<Arc<Table>>,
    /// The search as far as it has come. A call takes it and puts it back.
    search: Option<Locate>,
    /// By the offset of the message.
    structures: HashMap<u64, Arc<Structure>>,
    /// Bytes of all structures.
    structure_bytes: u64,
    /// Outlines that the search for all messages has met, by the offset of the message.
    outlines: HashMap<u64, Arc<MetOutline>>,
    /// Grows with each refresh, so that calls that began before do not bring back what was forgotten.
    epoch: u64,
}

/// One call: what it knows, and what it may still do.
///
/// Whatever becomes of it, also if it is dropped in the middle, what it has fetched serves later calls.
#[derive(Debug)]
pub(crate) struct Call<'s> {
    session: Held<'s>,
    pub(crate) known: KnownBytes,
    requests: u64,
    epoch: u64,
    /// Whether its last step found what it was for.
    is_done: bool,
}

/// The session of a call.
#[derive(Debug)]
enum Held<'s> {
    /// The call ends before its reader does.
    Borrowed(&'s Session),
    /// The call keeps the session alive.
    Shared(Arc<Session>),
}

impl Deref for Held<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Self::Borrowed(session) => session,
            Self::Shared(session) => session,
        }
    }
}

impl Session {
    pub(crate) fn new(name: String, options: ReadOptions, scan: ScanOptions) -> Self {
        Self { name, options, scan, shared: Mutex::default() }
    }

    /// A session about a source of which nothing is known but its length.
    pub(crate) fn of_size(name: String, options: ReadOptions, size: u64) -> Self {
        let shared = Shared { known: KnownBytes::of_size(size), ..Shared::default() };
        Self { shared: Mutex::new(shared), ..Self::new(name, options, ScanOptions::default()) }
    }

    /// A session about a source whose length and messages are known.
    pub(crate) fn of_messages(name: String, options: ReadOptions, size: u64, messages: Vec<MessageLayout>) -> Self {
        let table = Some(Arc::new(Table::of(messages)));
        let shared = Shared { known: KnownBytes::of_size(size), table, ..Shared::default() };
        Self { shared: Mutex::new(shared), ..Self::new(name, options, ScanOptions::default()) }
    }

    pub(crate) const fn options(&self) -> &ReadOptions {
        &self.options
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Every change under the lock is complete by itself, so a panic elsewhere leaves nothing half done.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self) -> Call<'_> {
        Call::new(Held::Borrowed(self))
    }

    /// A call that may outlive its reader.
    pub(crate) fn begin_shared(self: &Arc<Self>) -> Call<'static> {
        Call::new(Held::Shared(Arc::clone(self)))
    }

    /// All messages, if they were all found.
    pub(crate) fn table(&self) -> Option<Arc<Table>> {
        self.shared().table.clone()
    }

    /// The length and the version of the source, once an answer has told the length.
    pub(crate) fn version(&self) -> Option<(u64, Option<Tag>)> {
        let shared = self.shared();
        Some((shared.known.size()?, shared.known.tag().cloned()))
    }

    /// Forgets everything: the source may have changed.
    pub(crate) fn refresh(&self) {
        let mut shared = self.shared();
        *shared = Shared { epoch: shared.epoch.wrapping_add(1), ..Shared::default() };
    }
}

impl<'s> Call<'s> {
    fn new(session: Held<'s>) -> Self {
        let (known, epoch) = {
            let shared = session.shared();
            (shared.known.clone(), shared.epoch)
        };
        Self { session, known, requests: 0, epoch, is_done: false }
    }
}

impl Call<'_> {
    /// What is shared. `None` if it was refreshed after this call began: then it may be of another version of the source, which
    /// does not go with what this call knows.
    fn current(&self) -> Option<MutexGuard<'_, Shared>> {
        Some(self.session.shared()).filter(|shared| shared.epoch == self.epoch)
    }

    /// All messages, if they were all found.
    pub(crate) fn table(&self) -> Option<Arc<Table>> {
        self.current()?.table.clone()
    }

    /// The search for messages, taken up where the last call left it.
    pub(crate) fn search(&self, goal: SearchGoal) -> Locate {
        let kept = self.current().and_then(|mut shared| shared.search.take());
        kept.unwrap_or_else(|| Locate::new(goal, &self.session.scan, &self.session.options)).with_goal(goal)
    }

    /// What has to be read for a question.
    ///
    /// # Errors
    /// [`TensogramError::Framing`](crate::TensogramError::Framing) if the messages are known and there is no such one.
    pub(crate) fn gather(&self, of: Subject, question: &impl Question) -> Result<Gather> {
        let index = match of {
            Subject::Message(layout) => return Ok(self.gather_at(layout, question)),
            Subject::Frame(frame) => {
                let options = &self.session.options;
                let gather = Gather::of_frame(frame, question.wanted(), question.options(), options);
                return Ok(gather.with_described(question.described()));
            }
            Subject::Number(index) => index,
        };
        if let Some(table) = self.table() {
            return Ok(self.gather_at(table.get(index)?, question));
        }
        let locate = self.search(SearchGoal::Index(index)).for_payloads(question.wanted().has_payload());
        let gather = Gather::search(locate, index, question.wanted(), question.options(), &self.session.options);
        Ok(gather.with_described(question.described()))
    }

    /// What has to be read for a question to the message at `layout`.
    pub(crate) fn gather_at(&self, layout: MessageLayout, question: &impl Question) -> Gather {
        let shared = self.current();
        let structure = shared.as_ref().and_then(|shared| shared.structures.get(&layout.offset).cloned());
        let outline = shared.as_ref().and_then(|shared| shared.outlines.get(&layout.offset).cloned());
        drop(shared);
        let gather = Gather::at(layout, structure, question.wanted(), question.options(), &self.session.options);
        let outline = outline.filter(|outline| outline.length == layout.length);
        gather.with_outline(outline).with_described(question.described())
    }

    /// Keeps the list of all messages that `search` has found. A search that failed goes on at the next call from where it is.
    ///
    /// # Errors
    /// The error that the search ended with.
    pub(crate) fn keep_all(&mut self, found: Result<Located>, mut search: Locate) -> Result<Arc<Table>> {
        self.keep_outlines(&mut search);
        match found {
            Ok(Located::Table(table)) => Ok(self.keep_table(table)),
            Ok(Located::Message(_)) => Err(TensogramError::Framing("a search for all messages ended at one".into())),
            Err(error) => {
                self.keep_search(search);
                Err(error)
            }
        }
    }

    /// The requests for what a step has asked for.
    ///
    /// # Errors
    /// [`FetchErrorKind::TooLarge`] if the call has made as many requests as it may.
    pub(crate) fn requests(&mut self, wants: MissingRanges) -> Result<Vec<Want>> {
        debug_assert!(!wants.is_empty(), "a step that waits has asked for something");
        let requests = wants.requests(&self.known, &self.session.options);
        self.requests += requests.len() as u64;
        let most = self.session.options.requests;
        // Known bytes and bytes after the source's end make no request. So no request means: the rest is after the end.
        let (kind, text) = if requests.is_empty() {
            (FetchErrorKind::Protocol, "the source ends before the bytes that are needed".to_owned())
        } else if self.requests > most {
            (FetchErrorKind::TooLarge, format!("more than {most} requests for one call"))
        } else {
            trace::requested(&self.session.name, requests.len());
            return Ok(requests);
        };
        Err(FetchError::new(kind, format!("{}: {text}", self.session.name)).into())
    }

    /// Takes in an answer.
    ///
    /// # Errors
    /// The errors of [`KnownBytes::insert`].
    pub(crate) fn take(&mut self, want: &Want, answer: Fetched) -> Result<()> {
        trace::answered(&self.session.name, answer.offset, answer.bytes.len());
        Ok(self.known.insert(want, answer, &self.session.name)?)
    }

    /// Takes in how long an answer of `len` bytes took.
    #[cfg(feature = "async")]
    pub(crate) fn take_time(&mut self, len: u64, took: Duration) {
        self.known.pace.take(len, took);
    }

    /// The version that requests ask for.
    pub(crate) fn tag(&self) -> Option<Tag> {
        self.known.tag().cloned()
    }

    /// One step of a task: its result, or the requests to make before the next step.
    ///
    /// # Errors
    /// The errors of the task, and of [`Self::requests`].
    pub(crate) fn step<T: ReadTask>(&mut self, task: &mut T) -> Result<DoneOrFetch<T::Output>> {
        let mut wants = MissingRanges::default();
        let progress = task.step(&self.known, &mut wants)?;
        self.is_done = matches!(progress, Progress::Done(_));
        Ok(match progress {
            Progress::Done(output) => DoneOrFetch::Done(output),
            Progress::Wait => {
                let requests = self.requests(wants)?;
                self.known.shrink_before(task.done_with(), self.session.options.kept);
                DoneOrFetch::Fetch(requests)
            }
        })
    }

    /// Keeps the outlines that a search has met.
    pub(crate) fn keep_outlines(&self, search: &mut Locate) {
        if let Some(mut shared) = self.current() {
            shared.outlines.extend(search.take_outlines());
        }
    }

    /// Keeps the search for later calls.
    pub(crate) fn keep_search(&self, mut search: Locate) {
        self.keep_outlines(&mut search);
        // With a table of all messages, nothing is left to search.
        if let Some(mut shared) = self.current().filter(|shared| shared.table.is_none()) {
            shared.search = Some(search);
        }
    }

    /// Keeps the table of all messages.
    pub(crate) fn keep_table(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
        if let Some(mut shared) = self.current() {
            shared.table = Some(Arc::clone(&table));
            shared.search = None;
        }
        table
    }

    /// Keeps what a gathering has found out.
    pub(crate) fn keep_findings(&self, gather: &mut Gather) {
        if let Some(table) = gather.take_table() {
            self.keep_table(table);
        }
        if let Some(search) = gather.take_search() {
            self.keep_search(search);
        }
        if let (Some(layout), Some(structure)) = (gather.layout(), gather.structure())
            && let Some(mut shared) = self.current()
        {
            let bytes = structure.byte_len();
            // Nothing is thrown out for it. Beyond the limit, each call reads the structure of such a message again.
            let fits = shared.structure_bytes + bytes <= self.session.options.kept;
            if fits && !shared.structures.contains_key(&layout.offset) {
                shared.structures.insert(layout.offset, Arc::clone(structure));
                shared.structure_bytes += bytes;
            }
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Some(mut shared) = self.current() {
            shared.known.adopt(&self.known);
            shared.known.shrink_to(self.session.options.kept);
            // A call looks at all pieces that are kept: so few are, where requests cost little. What failed needs its own again.
            if self.is_done && self.session.options.parallel <= 1 {
                shared.known.keep_last(32);
            }
            trace::ended(&self.session.name, self.requests, shared.known.byte_len());
        }
    }
}

/// What comes after a step.
#[derive(Debug)]
pub(crate) enum DoneOrFetch<T> {
    /// The task is done.
    Done(T),
    /// These requests have to be answered.
    Fetch(Vec<Want>),
}

/// The answer. `None` if more has to be gathered for it, which the next step of `gather` does.
pub(crate) fn note<T>(gather: &mut Gather, answer: Answer<T>) -> Option<T> {
    match answer {
        Answer::Is(answer) => return Some(answer),
        Answer::NeedsFrame => gather.read_whole_frame(),
        Answer::NeedsMessage => gather.read_whole_message(),
    }
    None
}
