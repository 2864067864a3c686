//! Reading in steps: the program fetches the bytes, and nothing here waits, has a thread, a clock or a runtime.
//!
//! ```text
//! Steps ─ count, metadata, object, read … ─► Task ─ step ─► Wants(what to fetch) ─ give ─┐
//!                                             ▲   └───────► Done(answer)                 │
//!                                             └──────────────────────────────────────────┘
//! ```
//!
//! [`Reader`](super::Reader) drives these tasks by a [`RangeFetch`](super::RangeFetch), and `AsyncReader` drives the same steps
//! by futures. A program with an event loop, in a browser, or before a flash chip drives them by itself.

use std::fmt;
use std::sync::Arc;

use tgm_core::descriptor::Descriptor;

use super::described::DescribedObject;
use super::fetch::{Fetched, Tag, Want};
use super::gather::Gather;
use super::locate::SearchGoal;
use super::options::ReadOptions;
use super::question::about::{AllMetadata, Described, Descriptors, objects_of};
use super::question::values::Decoded;
use super::question::whole::{Bytes, Outline};
use super::question::{Question, Subject};
use super::session::{Call, DoneOrFetch, Session, note};
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::decode::asked::{Asked, request_methods};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::number::Number;
use crate::model::query::Query;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::{MessageLayout, ScanOptions};

/// What comes after a step of a [`Task`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step<A> {
    /// The answer.
    Done(A),
    /// The bytes that the next step needs. Each of them has to be given, in any order; then comes the next step.
    Wants(Vec<Want>),
}

/// Reads messages, and parts of them, of a source that the program reads by itself.
///
/// Each method begins a [`Task`]. A task says which bytes it needs, is given them, and answers. Tasks of one `Steps` share what
/// was fetched, up to 20 MiB. Several tasks may be under way, and a task may outlive its `Steps`.
///
/// ```
/// use tgm_std::read::{Fetched, ReadOptions, Step, Steps, Task, Want};
///
/// /// What a program has in the place of a file: here memory, and it could be a flash chip.
/// fn drive<A>(flash: &[u8], mut task: Task<'_, A>) -> tgm_std::Result<A> {
///     loop {
///         match task.step()? {
///             Step::Done(answer) => return Ok(answer),
///             Step::Wants(wants) => {
///                 for want in wants {
///                     let place = want.within(flash.len() as u64);
///                     let bytes = flash[place.start as usize..place.end as usize].to_vec();
///                     task.give(&want, Fetched { offset: place.start, bytes, size: Some(flash.len() as u64), tag: None })?;
///                 }
///             }
///         }
///     }
/// }
///
/// let flash = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
/// let steps = Steps::new("flash", ReadOptions::local());
/// assert_eq!(drive(&flash, steps.count())?, 1);
/// assert_eq!(drive(&flash, steps.descriptor(0, 0))?.shape, [181, 360]);
/// let row: Vec<f32> = drive(&flash, steps.read(0, 0).ranges(&[(360, 360)]).values())?;
/// assert_eq!(row.len(), 360);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct Steps {
    session: Arc<Session>,
}

impl Steps {
    /// Nothing is known of the source. `name` stands in error texts.
    pub fn new(name: impl Into<String>, options: ReadOptions) -> Self {
        Self { session: Arc::new(Session::new(name.into(), options, ScanOptions::default())) }
    }

    /// Takes the places of the messages from the caller, who found them in a source of `size` bytes. No search is made.
    pub fn of_messages(
        name: impl Into<String>,
        options: ReadOptions,
        size: u64,
        messages: impl IntoIterator<Item = MessageLayout>,
    ) -> Self {
        Self { session: Arc::new(Session::of_messages(name.into(), options, size, messages.into_iter().collect())) }
    }

    /// Forgets what is known of the source. Tasks that begin now read it as if it was opened now.
    pub fn refresh(&self) {
        self.session.refresh();
    }

    /// The number of messages.
    pub fn count(&self) -> Task<'static, usize> {
        Task::new(&self.session, Search(|layouts: &[MessageLayout]| layouts.len()))
    }

    /// The places of all messages.
    pub fn layouts(&self) -> Task<'static, Vec<MessageLayout>> {
        Task::new(&self.session, Search(<[MessageLayout]>::to_vec))
    }

    /// The metadata of message `message`, with an entry for each object: [`Message::metadata`](crate::archive::Message::metadata).
    pub fn metadata(&self, message: usize) -> Task<'static, GlobalMetadata> {
        self.ask(message, AllMetadata { verify: true })
    }

    /// The metadata of message `message`, and the descriptor of each object. No payload is read.
    pub fn descriptors(&self, message: usize) -> Task<'static, (GlobalMetadata, Vec<DataObjectDescriptor>)> {
        self.ask(message, Descriptors)
    }

    /// The numbers of the objects of message `message` for which a query holds: [`Archive::query`](crate::Archive::query).
    pub fn query(&self, message: usize, query: Query) -> Task<'static, Vec<usize>> {
        let find = move |bytes: Vec<u8>| objects_of(&query, &bytes);
        Task::new(&self.session, Then(Asking::new(message, Outline(None)), find))
    }

    /// All bytes of message `message`.
    pub fn bytes(&self, message: usize) -> Task<'static, Vec<u8>> {
        self.ask(message, Bytes)
    }

    /// The descriptor of object `object` of message `message`. No payload is read.
    pub fn descriptor(&self, message: usize, object: usize) -> Task<'static, DataObjectDescriptor> {
        let question = Described(object);
        let read = |found: DescribedObject| {
            to_owned::descriptor(&Descriptor::parse(&found.cbor, found.offset)?, &MetadataBudget::by_default())
        };
        Task::new(&self.session, Then(Asking::new(message, question), read))
    }

    /// A request for values of object `object` of message `message`.
    pub const fn read(&self, message: usize, object: usize) -> StepsRead<'_> {
        StepsRead { steps: self, place: (message, object), asked: Asked::ALL }
    }

    fn ask<Q: Question + 'static>(&self, message: usize, question: Q) -> Task<'static, Q::Answer> {
        Task::new(&self.session, Asking::new(message, question))
    }
}

/// A request for the values of an object: [`Read`](crate::Read), whose last methods give tasks.
#[derive(Clone, Debug)]
#[must_use = "a request reads nothing before its task is driven"]
pub struct StepsRead<'r> {
    steps: &'r Steps,
    place: (usize, usize),
    asked: Asked<'r>,
}

impl<'r> StepsRead<'r> {
    request_methods!();

    /// The values as bytes: [`Read::bytes`](crate::Read::bytes).
    pub fn bytes(self) -> Task<'static, Vec<u8>> {
        let (message, object) = self.place;
        self.steps.ask(message, Decoded::bytes(object, self.asked))
    }

    /// The values as a vector of type `T`: [`Read::values`](crate::Read::values).
    pub fn values<T: Number>(self) -> Task<'static, Vec<T>> {
        let (message, object) = self.place;
        self.steps.ask(message, Decoded::values(object, self.asked))
    }
}

/// Something that is wanted of a source, and how far it has come. Dropping it loses nothing: what it was given serves later
/// tasks.
#[must_use = "a task does nothing before it is stepped"]
pub struct Task<'s, A> {
    call: Call<'s>,
    work: Box<dyn Work<A> + Send + 's>,
}

impl<A> fmt::Debug for Task<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<'s, A> Task<'s, A> {
    fn new(session: &Arc<Session>, work: impl Work<A> + Send + 's) -> Self {
        Self { call: session.begin_shared(), work: Box::new(work) }
    }

    /// Goes on as far as the bytes that were given allow. Decoding happens here, at the last step.
    ///
    /// # Errors
    /// The errors of what is read; [`TensogramError::Remote`] if the task has made as many requests as it may, or if the source
    /// ends before bytes that are needed.
    pub fn step(&mut self) -> Result<Step<A>> {
        Ok(match self.work.step(&mut self.call)? {
            DoneOrFetch::Done(answer) => Step::Done(answer),
            DoneOrFetch::Fetch(wants) => Step::Wants(wants),
        })
    }

    /// Gives the bytes that a step wanted. They may be more than was asked for; fewer only where the source ends, whose length
    /// the first answer has to tell.
    ///
    /// # Errors
    /// [`TensogramError::Remote`] for bytes that contradict the request, or that are of another version of the source than
    /// earlier ones.
    pub fn give(&mut self, want: &Want, answer: Fetched) -> Result<()> {
        self.call.take(want, answer)
    }

    /// The version of the source that earlier answers named. Answers have to be of the same one.
    pub fn tag(&self) -> Option<Tag> {
        self.call.tag()
    }
}

/// The work of a task.
pub(super) trait Work<A> {
    /// Goes on as far as the known bytes allow.
    ///
    /// # Errors
    /// The errors of what is read.
    fn step(&mut self, call: &mut Call<'_>) -> Result<DoneOrFetch<A>>;
}

/// A question to a message or to a frame.
pub(super) struct Asking<Q> {
    of: Subject,
    /// Begun at the first step.
    gather: Option<Gather>,
    question: Q,
}

impl<Q: Question> Asking<Q> {
    pub(super) fn new(of: impl Into<Subject>, question: Q) -> Self {
        Self { of: of.into(), gather: None, question }
    }
}

impl<Q: Question> Work<Q::Answer> for Asking<Q> {
    fn step(&mut self, call: &mut Call<'_>) -> Result<DoneOrFetch<Q::Answer>> {
        let gather = match &mut self.gather {
            Some(gather) => gather,
            none => none.insert(call.gather(self.of.clone(), &self.question)?),
        };
        loop {
            let gathered = match call.step(gather) {
                Ok(DoneOrFetch::Fetch(wants)) => return Ok(DoneOrFetch::Fetch(wants)),
                done => done,
            };
            call.keep_findings(gather);
            if let DoneOrFetch::Done(gathered) = gathered?
                && let Some(answer) = note(gather, self.question.answer(gathered)?)
            {
                return Ok(DoneOrFetch::Done(answer));
            }
        }
    }
}

/// A question, and what becomes of its answer.
struct Then<Q, F>(Asking<Q>, F);

impl<Q: Question, R, F: Fn(Q::Answer) -> Result<R>> Work<R> for Then<Q, F> {
    fn step(&mut self, call: &mut Call<'_>) -> Result<DoneOrFetch<R>> {
        Ok(match self.0.step(call)? {
            DoneOrFetch::Done(answer) => DoneOrFetch::Done(self.1(answer)?),
            DoneOrFetch::Fetch(wants) => DoneOrFetch::Fetch(wants),
        })
    }
}

/// The search for all messages, and what is wanted of them.
struct Search<F>(F);

impl<A, F: Fn(&[MessageLayout]) -> A> Work<A> for Search<F> {
    fn step(&mut self, call: &mut Call<'_>) -> Result<DoneOrFetch<A>> {
        if let Some(table) = call.table() {
            return Ok(DoneOrFetch::Done(self.0(&table.messages)));
        }
        // The search is kept from step to step where other tasks find it too.
        let mut search = call.search(SearchGoal::All);
        let found = match call.step(&mut search) {
            Ok(DoneOrFetch::Fetch(wants)) => {
                call.keep_search(search);
                return Ok(DoneOrFetch::Fetch(wants));
            }
            Ok(DoneOrFetch::Done(found)) => Ok(found),
            Err(error) => Err(error),
        };
        Ok(DoneOrFetch::Done(self.0(&call.keep_all(found, search)?.messages)))
    }
}
