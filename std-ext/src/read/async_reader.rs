//! A reader over a source that answers later.

use std::collections::HashMap;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;

use super::batch::Batch;
use super::fetch::{AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, Fetched, Tag, Want};
use super::gather::{Gather, Gathered};
use super::locate::{Located, SearchGoal};
use super::lone_message::{Beginning, LastMessage, MessageAt};
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::question::about::FirstMetadata;
use super::question::object::{Chosen, Object};
use super::question::whole::Bytes;
use super::question::{Answer, Question, Subject, object_method, question_methods};
use super::read_task::ReadTask;
use super::session::{Call, DoneOrFetch, Session, note};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::{head, index, span_len, tail};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::{MessageLayout, ScanOptions, Segments, Table};

/// Answers with at most this many bytes are decoded where the future runs. Longer ones are decoded on a thread for
/// work that blocks.
const QUICK: usize = 16 << 10;
/// The unit in which bytes under way are counted.
const UNIT: u64 = 1 << 10;

/// Reads messages, and parts of them, of a source that answers later, such as an object store.
///
/// It has the methods of [`Reader`](super::Reader), with the same results. Futures are [`Send`], and may be dropped at any
/// time: what was fetched by then serves later calls. Any number of tasks may share the reader. Tasks that need the same bytes
/// at the same time fetch them once. Under way are at most 64 MiB of a remote source, over all tasks.
///
/// Values are decoded on threads for work that blocks, if this runs under tokio.
#[derive(Debug)]
pub struct AsyncReader<F> {
    fetch: F,
    session: Session,
    flights: Flights,
    under_way: Semaphore,
}

/// A request that is being answered, and its answer.
type Flight = Arc<OnceCell<Result<Fetched, FetchError>>>;

/// A request of a call.
struct UnderWay<'f> {
    want: Want,
    since: Instant,
    answer: BoxFuture<'f, Result<Fetched, FetchError>>,
}

/// The requests that are being answered.
#[derive(Debug, Default)]
struct Flights(Mutex<HashMap<(Want, Option<Tag>), Flight>>);

impl Flights {
    fn of(&self, key: &(Want, Option<Tag>)) -> Flight {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(flights.entry(key.clone()).or_default())
    }

    fn end(&self, key: &(Want, Option<Tag>), flight: &Flight) {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // After `forget`, a newer request may have the same key. It goes on.
        if flights.get(key).is_some_and(|known| Arc::ptr_eq(known, flight)) {
            flights.remove(key);
        }
    }

    /// Nobody joins the requests that were made so far. Those who wait for them get their answers.
    fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl<F: AsyncRangeFetch> AsyncReader<F> {
    /// A reader of `fetch`. Nothing is read yet.
    pub fn new(fetch: F, options: ReadOptions) -> Self {
        Self::with_scan_options(fetch, options, ScanOptions::default())
    }

    /// [`Self::new`] with options of the search for messages.
    pub fn with_scan_options(fetch: F, options: ReadOptions, scan: ScanOptions) -> Self {
        let session = Session::new(fetch.name(), options, scan);
        let under_way = Semaphore::new(permits(&options));
        Self { fetch, session, flights: Flights::default(), under_way }
    }

    /// The source.
    pub const fn source(&self) -> &F {
        &self.fetch
    }

    /// Forgets what is known of the source. The next call reads it as if it was opened then.
    pub fn refresh(&self) {
        // An answer may be older than this call, if its request is.
        self.flights.forget();
        self.session.refresh();
    }

    /// Reads the first bytes, which say whether the source can be read, and how long it is.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn touch(&self) -> Result<u64> {
        let mut call = self.session.begin();
        loop {
            if let Some(size) = call.known.size() {
                return Ok(size);
            }
            self.fetch(&mut call, vec![Want::At(0..self.session.options().initial.max(1))]).await?;
        }
    }

    /// The length of the source, and which version it is, as far as it tells.
    #[cfg(feature = "remote")]
    pub(crate) async fn version(&self) -> Option<(u64, Option<Tag>)> {
        self.touch().await.ok()?;
        self.session.version()
    }

    /// The bytes of `range`. Where the source ends earlier, only the bytes up to its end.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let size = self.touch().await?;
        let mut call = self.session.begin();
        let range = Want::At(range).within(size);
        loop {
            if let Some(bytes) = call.known.bytes(&range) {
                return Ok(bytes.into_owned());
            }
            let mut wants = MissingRanges::default();
            wants.push(range.clone());
            let requests = call.requests(wants)?;
            self.fetch(&mut call, requests).await?;
        }
    }

    /// The number of messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn message_count(&self) -> Result<usize> {
        Ok(self.table().await?.messages.len())
    }

    /// The places of all messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn message_layouts(&self) -> Result<Vec<MessageLayout>> {
        Ok(self.table().await?.messages.clone())
    }

    /// Calls `with` with all messages and the bytes between them, in order.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn with_segments<T>(&self, with: impl FnOnce(Segments<'_>) -> T) -> Result<T> {
        let table = self.table().await?;
        Ok(with(table.segments()))
    }

    /// The places of the messages with these numbers. The search goes no further than the last of them. The list is shorter if
    /// there are fewer messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn message_layouts_in(&self, numbers: Range<usize>) -> Result<Vec<MessageLayout>> {
        let part =
            |messages: &[MessageLayout]| head(tail(messages, numbers.start as u64), numbers.len() as u64).to_vec();
        let Some(last) = numbers.clone().next_back() else { return Ok(Vec::new()) };
        let mut call = self.session.begin();
        if let Some(table) = call.table() {
            return Ok(part(&table.messages));
        }
        let mut search = call.search(SearchGoal::Index(last));
        let found = match self.run(&mut call, &mut search).await {
            Ok(Located::Table(table)) => return Ok(part(&call.keep_table(table).messages)),
            Ok(Located::Message(_)) => Ok(part(search.messages())),
            Err(error) => Err(error),
        };
        // The search goes on from here at the next call.
        call.keep_search(search);
        found
    }

    /// The place of the message that begins at byte `offset`, by its preamble. Its end is not read, and no other message is.
    /// `None` if no message begins there; a message that does not tell its length, because it was streamed, is looked for from
    /// the start.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn message_layout_at(&self, offset: u64) -> Result<Option<MessageLayout>> {
        let mut call = self.session.begin();
        let beginning = self.run(&mut call, &mut MessageAt::new(offset, self.session.options())).await?;
        drop(call);
        Ok(match beginning {
            Beginning::Message(layout) => Some(layout),
            Beginning::Other => None,
            Beginning::Streamed => {
                self.table().await?.messages.iter().find(|message| message.offset == offset).copied()
            }
        })
    }

    /// The place of the last message: see [`Reader::last_message`](super::Reader::last_message).
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn last_message(&self) -> Result<Option<MessageLayout>> {
        if self.session.table().is_none() {
            let mut call = self.session.begin();
            let mut last = LastMessage::new(self.session.options(), self.fetch.traits().suffix);
            if let Some(last) = self.run(&mut call, &mut last).await? {
                return Ok(Some(last));
            }
        }
        Ok(self.table().await?.messages.last().copied())
    }

    /// The bytes of message `index`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; the errors of the source.
    pub async fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, Bytes).await
    }

    question_methods!([async await] ask, decode_metadata, decode_descriptors, decode_range, select);
    object_method!([async await] ask, decode_object);

    /// [`Self::decode_object`] of each of the messages. What they need is fetched together. All values are in memory at the
    /// end.
    ///
    /// # Errors
    /// The errors of [`Self::decode_object`], for the first message that fails.
    pub async fn decode_object_batch(
        &self,
        indices: &[usize],
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)>> {
        self.ask_many(indices, &|| Object { index: object, options: options.clone() }).await
    }

    /// [`Self::decode_range`] of each of the messages, fetched together.
    ///
    /// # Errors
    /// The errors of [`Self::decode_range`], for the first message that fails.
    pub async fn decode_range_batch(
        &self,
        indices: &[usize],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<(DataObjectDescriptor, Vec<Vec<u8>>)>> {
        let question = || Chosen { index: object, choice: ranges.to_vec(), options: options.clone() };
        self.ask_many(indices, &question).await
    }

    /// Fetches the metadata and index of the messages together, so that later calls need not.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn prefetch(&self, indices: &[usize]) -> Result<()> {
        let question = FirstMetadata;
        let mut call = self.session.begin();
        let layouts = self.layouts(&mut call, indices).await?;
        let mut batch = Batch::new(layouts.into_iter().map(|layout| call.gather_at(layout, &question)));
        self.run(&mut call, &mut batch).await?;
        batch.into_gathers().for_each(|(mut gather, _)| call.keep_findings(&mut gather));
        Ok(())
    }

    /// All messages, searched for at the first call.
    pub(crate) async fn table(&self) -> Result<Arc<Table>> {
        if let Some(table) = self.session.table() {
            return Ok(table);
        }
        let mut call = self.session.begin();
        let mut search = call.search(SearchGoal::All);
        let found = self.run(&mut call, &mut search).await;
        call.keep_all(found, search)
    }

    /// The places of messages. The search goes as far as the last of them.
    async fn layouts(&self, call: &mut Call<'_>, indices: &[usize]) -> Result<Vec<MessageLayout>> {
        let Some(last) = indices.iter().max() else { return Ok(Vec::new()) };
        let table = if let Some(table) = call.table() {
            table
        } else {
            let mut search = call.search(SearchGoal::Index(*last));
            if indices.len() > last / 2 {
                search = search.for_most();
            }
            match self.run(call, &mut search).await? {
                Located::Table(table) => call.keep_table(table),
                Located::Message(_) => {
                    let found = |index: &usize| search.messages().get(*index).copied();
                    let layouts: Option<Vec<_>> = indices.iter().map(found).collect();
                    call.keep_search(search);
                    return layouts.ok_or_else(|| TensogramError::Framing("a message was lost from the list".into()));
                }
            }
        };
        indices.iter().map(|index| table.get(*index)).collect()
    }

    /// The answer of a message or a frame.
    pub(crate) async fn ask<Q: Question + 'static>(&self, of: impl Into<Subject>, question: Q) -> Result<Q::Answer> {
        let mut call = self.session.begin();
        let gather = call.gather(of.into(), &question)?;
        self.answer(&mut call, gather, Arc::new(question)).await
    }

    async fn ask_many<Q: Question + 'static>(
        &self,
        indices: &[usize],
        question: &(impl Fn() -> Q + Sync),
    ) -> Result<Vec<Q::Answer>> {
        let question = Arc::new(question());
        let mut call = self.session.begin();
        let layouts = self.layouts(&mut call, indices).await?;
        let mut batch = Batch::new(layouts.into_iter().map(|layout| call.gather_at(layout, &*question)));
        self.run(&mut call, &mut batch).await?;
        let mut answers = Vec::with_capacity(indices.len());
        for (mut gather, gathered) in batch.into_gathers() {
            call.keep_findings(&mut gather);
            let gathered = gathered.ok_or_else(|| TensogramError::Framing("a message was not gathered".into()))?;
            answers.push(match note(&mut gather, work(Arc::clone(&question), gathered).await?) {
                Some(answer) => answer,
                None => self.answer(&mut call, gather, Arc::clone(&question)).await?,
            });
        }
        Ok(answers)
    }

    async fn answer<Q: Question + 'static>(
        &self,
        call: &mut Call<'_>,
        mut gather: Gather,
        question: Arc<Q>,
    ) -> Result<Q::Answer> {
        loop {
            let gathered = self.run(call, &mut gather).await;
            call.keep_findings(&mut gather);
            if let Some(answer) = note(&mut gather, work(Arc::clone(&question), gathered?).await?) {
                return Ok(answer);
            }
        }
    }

    /// Drives a task to its end.
    async fn run<T: ReadTask>(&self, call: &mut Call<'_>, task: &mut T) -> Result<T::Output> {
        loop {
            match call.step(task)? {
                DoneOrFetch::Done(output) => return Ok(output),
                DoneOrFetch::Fetch(requests) => self.fetch(call, requests).await?,
            }
        }
    }

    /// Makes requests side by side, and takes in their answers.
    async fn fetch(&self, call: &mut Call<'_>, requests: Vec<Want>) -> Result<()> {
        let tag = call.tag();
        let mut waiting = requests.into_iter();
        let mut result = Ok(());
        let mut under_way: Vec<UnderWay<'_>> = Vec::new();
        loop {
            // After a failure no new request is made, and those under way are waited for: their answers are kept.
            let most = if result.is_ok() { self.session.options().parallel.max(1) } else { 0 };
            let room = most.saturating_sub(under_way.len());
            under_way.extend(waiting.by_ref().take(room).map(|want| {
                let answer: BoxFuture<'_, _> = Box::pin(self.fetch_once((want.clone(), tag.clone())));
                UnderWay { want, since: Instant::now(), answer }
            }));
            if under_way.is_empty() {
                return result;
            }
            let (UnderWay { want, since, .. }, answer) = poll_fn(|context| {
                for index in 0..under_way.len() {
                    if let Some(request) = under_way.get_mut(index)
                        && let Poll::Ready(answer) = request.answer.as_mut().poll(context)
                    {
                        return Poll::Ready((under_way.swap_remove(index), answer));
                    }
                }
                Poll::Pending
            })
            .await;
            if let Ok(fetched) = &answer {
                call.take_time(fetched.bytes.len() as u64, since.elapsed());
            }
            result = result.and(answer.map_err(Into::into).and_then(|answer| call.take(&want, answer)));
        }
    }

    /// Makes a request, or waits for the same request of another task.
    async fn fetch_once(&self, key: (Want, Option<Tag>)) -> Result<Fetched, FetchError> {
        let len = match &key.0 {
            Want::At(range) => span_len(range),
            Want::Suffix(len) => *len,
        };
        let flight = self.flights.of(&key);
        // If the task that makes the request is dropped, one that waits makes it again.
        flight
            .get_or_init(|| async {
                // A request longer than the limit takes all permits. With more than there are it would wait forever. The
                // semaphore gives 32 bits of them at once; no answer is as long as that.
                let most = permits(self.session.options()) as u64;
                let permits = u32::try_from(len.div_ceil(UNIT).clamp(1, most)).unwrap_or(u32::MAX);
                // The semaphore is never closed.
                let _permit = self.under_way.acquire_many(permits).await;
                self.fetch.fetch(&key.0, key.1.as_ref()).await
            })
            .await;
        self.flights.end(&key, &flight);
        // The last task takes the bytes. Tasks before it copy them.
        match Arc::try_unwrap(flight) {
            Ok(cell) => cell.into_inner(),
            Err(shared) => shared.get().cloned(),
        }
        .unwrap_or_else(|| Err(FetchError::new(FetchErrorKind::Unavailable, "the request was given up")))
    }
}

/// How many units of bytes may be under way.
fn permits(options: &ReadOptions) -> usize {
    index(options.in_flight / UNIT).clamp(1, Semaphore::MAX_PERMITS)
}

/// Decodes an answer: on a thread for work that blocks, unless it is quick or there is no such thread.
async fn work<Q: Question + 'static>(question: Arc<Q>, gathered: Gathered) -> Result<Answer<Q::Answer>>
where
    Q::Answer: 'static,
{
    if gathered.byte_len() <= QUICK || Handle::try_current().is_err() {
        return question.answer(gathered);
    }
    let work = spawn_blocking(move || question.answer(gathered)).await;
    work.map_err(|error| TensogramError::Io(std::io::Error::other(error)))?
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Waker};

    use super::*;
    use crate::read::RangeFetch as _;

    /// A source whose content changes. Its first answer does not come.
    struct Slow {
        content: Mutex<Vec<u8>>,
        was_asked: AtomicBool,
    }

    impl AsyncRangeFetch for &Slow {
        fn fetch<'a>(&'a self, want: &'a Want, _: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
            let answer = self.content.lock().unwrap().fetch(want, None);
            if self.was_asked.swap(true, Ordering::Relaxed) {
                Box::pin(async { answer })
            } else {
                Box::pin(std::future::pending())
            }
        }

        fn name(&self) -> String {
            "slow".into()
        }
    }

    #[test]
    fn a_call_after_a_refresh_does_not_wait_for_requests_from_before() {
        let source = Slow { content: Mutex::new(b"old".to_vec()), was_asked: AtomicBool::new(false) };
        let reader = AsyncReader::new(&source, ReadOptions::remote());
        let context = &mut Context::from_waker(Waker::noop());
        let mut before = Box::pin(reader.read(0..3));
        assert!(before.as_mut().poll(context).is_pending());
        *source.content.lock().unwrap() = b"new".to_vec();
        reader.refresh();
        let mut after = Box::pin(reader.read(0..3));
        let Poll::Ready(bytes) = after.as_mut().poll(context) else {
            unreachable!("it waits for the request from before")
        };
        assert_eq!(bytes.unwrap(), b"new");
    }
}
