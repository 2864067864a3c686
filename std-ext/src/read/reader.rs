//! A reader over a source that answers before calls return.

use std::sync::Arc;

use super::fetch::{FetchTraits, RangeFetch, Tag, Want};
use super::locate::SearchGoal;
use super::lone_message::LastMessage;
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::question::whole::{Bytes, Outline};
use super::question::{Question, Subject, object_method, question_methods};
use super::read_task::ReadTask;
use super::session::{Call, DoneOrFetch, Session};
use super::steps::{Asking, Work};
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::span::{head_mut, span, span_len};
use crate::scan::{MessageLayout, ScanOptions, Segments, Table};

/// Reads messages, and parts of them, of any source that answers before calls return: memory, a file, a file object.
///
/// Bytes are read when a call needs them: these bytes, and some close to them. Each method gives the same results and errors
/// as the function of its name for bytes in memory. There is one difference: if only a part of a message is read, damage in
/// other parts is not noticed.
///
/// The reader may be shared by threads. It keeps up to 20 MiB between calls.
///
/// ```
/// use tgm_std::DecodeOptions;
/// use tgm_std::core::selection::Pick;
/// use tgm_std::read::{ReadOptions, Reader};
///
/// let bytes = std::fs::read("../tests/data/multi/three.tgm")?;
/// let reader = Reader::new(bytes, ReadOptions::memory());
/// assert_eq!(reader.message_count()?, 3);
/// let (metadata, descriptor, values) = reader.decode_object(2, 0, &DecodeOptions::default())?;
/// let picks = [Pick::from(1..3)];
/// let (_, selected) = reader.select(2, 0, &picks, &DecodeOptions::default())?;
/// assert_eq!(selected.shape, [2]);
/// # let _ = (metadata, descriptor, values);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct Reader<F> {
    fetch: F,
    session: Session,
}

impl<F: RangeFetch> Reader<F> {
    /// A reader of `fetch`. Nothing is read yet.
    pub fn new(fetch: F, options: ReadOptions) -> Self {
        Self::with_scan_options(fetch, options, ScanOptions::default())
    }

    /// [`Self::new`] with options of the search for messages.
    pub fn with_scan_options(fetch: F, options: ReadOptions, scan: ScanOptions) -> Self {
        let session = Session::new(fetch.name(), options, scan);
        Self { fetch, session }
    }

    /// A reader of bytes up to `size`, which is known.
    pub(crate) fn of_size(fetch: F, options: ReadOptions, size: u64) -> Self {
        let session = Session::of_size(fetch.name(), options, size);
        Self { fetch, session }
    }

    /// The source.
    pub const fn source(&self) -> &F {
        &self.fetch
    }

    /// How it fetches.
    pub(crate) const fn options(&self) -> &ReadOptions {
        self.session.options()
    }

    /// Forgets what is known of the source. The next call reads it as if it was opened then.
    pub fn refresh(&self) {
        self.session.refresh();
    }

    /// The number of messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn message_count(&self) -> Result<usize> {
        Ok(self.table()?.messages.len())
    }

    /// The places of all messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn message_layouts(&self) -> Result<Vec<MessageLayout>> {
        Ok(self.table()?.messages.clone())
    }

    /// Calls `with` with all messages and the bytes between them, in order.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn with_segments<T>(&self, with: impl FnOnce(Segments<'_>) -> T) -> Result<T> {
        Ok(with(self.table()?.segments()))
    }

    /// The place of the last message. The end of the source is read first: if it states where the message begins, nothing else
    /// is searched.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn last_message(&self) -> Result<Option<MessageLayout>> {
        let mut call = self.session.begin();
        let FetchTraits { suffix, .. } = self.fetch.traits();
        if call.table().is_none()
            && let Some(last) = self.run(&mut call, &mut LastMessage::new(self.session.options(), suffix))?
        {
            return Ok(Some(last));
        }
        drop(call);
        Ok(self.table()?.messages.last().copied())
    }

    /// The bytes of message `index`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; the errors of the source.
    pub fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, Bytes)
    }

    /// The bytes of message `index`, with zeros instead of payloads and masks. A message of up to
    /// 64 KiB of a remote source, or 256 KiB of a local one, is read as a whole.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`].
    pub fn read_message_outline(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, Outline(None))
    }

    question_methods!(ask, decode_metadata, decode_descriptors, decode_range, select);
    object_method!(ask, decode_object);

    /// The length of the source.
    pub(crate) fn size(&self) -> Result<u64> {
        let mut call = self.session.begin();
        loop {
            if let Some(size) = call.known.size() {
                return Ok(size);
            }
            self.fetch(&mut call, &[Want::At(0..self.session.options().initial.max(1))])?;
        }
    }

    /// The length of the source, and which version it is, as far as it tells.
    pub(crate) fn version(&self) -> Option<(u64, Option<Tag>)> {
        self.size().ok()?;
        self.session.version()
    }

    /// Fills `out` with bytes from `offset` on. Returns how many they are: fewer only at the source's end.
    pub(crate) fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let range = Want::At(span(offset, out.len() as u64)).within(self.size()?);
        let out = head_mut(out, span_len(&range));
        let mut call = self.session.begin();
        while call.known.copy_to(range.start, out).is_none() {
            let mut wants = MissingRanges::default();
            wants.push(range.clone());
            let requests = call.requests(wants)?;
            self.fetch(&mut call, &requests)?;
        }
        Ok(out.len())
    }

    /// All messages, searched for at the first call.
    pub(crate) fn table(&self) -> Result<Arc<Table>> {
        if let Some(table) = self.session.table() {
            return Ok(table);
        }
        let mut call = self.session.begin();
        let mut search = call.search(SearchGoal::All);
        let found = self.run(&mut call, &mut search);
        call.keep_all(found, search)
    }

    /// The answer of a message or a frame.
    pub(crate) fn ask<Q: Question>(&self, of: impl Into<Subject>, question: Q) -> Result<Q::Answer> {
        let (mut call, mut work) = (self.session.begin(), Asking::new(of, question));
        loop {
            match work.step(&mut call)? {
                DoneOrFetch::Done(answer) => return Ok(answer),
                DoneOrFetch::Fetch(requests) => self.fetch(&mut call, &requests)?,
            }
        }
    }

    /// Drives a task to its end.
    fn run<T: ReadTask>(&self, call: &mut Call<'_>, task: &mut T) -> Result<T::Output> {
        loop {
            match call.step(task)? {
                DoneOrFetch::Done(output) => return Ok(output),
                DoneOrFetch::Fetch(requests) => self.fetch(call, &requests)?,
            }
        }
    }

    /// Makes requests, and takes in their answers. Answers of others are kept if one fails.
    fn fetch(&self, call: &mut Call<'_>, requests: &[Want]) -> Result<()> {
        let tag = call.tag();
        let mut result = Ok(());
        for (want, answer) in requests.iter().zip(self.fetch.fetch_many(requests, tag.as_ref())) {
            let taken = answer.map_err(Into::into).and_then(|answer| call.take(want, answer));
            result = result.and(taken);
        }
        result
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};
    use crate::model::types::GlobalMetadata;
    use crate::read::fetch::{FetchError, Fetched, Tag};
    use crate::read::gather::{Gathered, Needs};
    use crate::read::question::Answer;
    use crate::read::question::about::FirstMetadata;

    /// A source whose content changes.
    struct Changing(Mutex<Vec<u8>>);

    impl RangeFetch for &Changing {
        fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> std::result::Result<Fetched, FetchError> {
            self.0.lock().unwrap().fetch(want, unchanged)
        }

        fn traits(&self) -> FetchTraits {
            self.0.lock().unwrap().traits()
        }

        fn name(&self) -> String {
            "changing".into()
        }
    }

    /// A question that does something at the moment when a call has seen what earlier calls found, and has read nothing.
    struct Meanwhile<D>(FirstMetadata, D);

    impl<D: Fn() + Send + Sync> Question for Meanwhile<D> {
        type Answer = GlobalMetadata;

        fn wanted(&self) -> Needs {
            self.1();
            self.0.wanted()
        }

        fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
            self.0.in_memory(message)
        }

        fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
            self.0.answer(gathered)
        }
    }

    /// The source changes and the reader is refreshed while a call runs. Calls that begin later know nothing of the old content.
    #[test]
    fn a_call_that_a_refresh_overtakes_brings_nothing_back() {
        let message = |n: u8| {
            let values = vec![u32::from(n); 100_000];
            let object = ObjectBuilder::new(&[100_000], &values).unwrap().metadata("n", n);
            MessageBuilder::new().object(object).encode().unwrap()
        };
        let number = |metadata: GlobalMetadata| metadata.base[0]["n"].as_integer();
        let (old, new) = (message(1), [message(2), message(2)].concat());
        for knows_all in [false, true] {
            let source = Changing(Mutex::new(old.clone()));
            let reader = Reader::new(&source, ReadOptions::remote());
            assert_eq!(number(reader.decode_metadata(0).unwrap()), Some(1.into()));
            if knows_all {
                assert_eq!(reader.message_count().unwrap(), 1);
            }
            let change = || {
                *source.0.lock().unwrap() = new.clone();
                reader.refresh();
            };
            // It began before, so its own answer is of either content.
            let _ = reader.ask(0, Meanwhile(FirstMetadata, change));
            assert_eq!(number(reader.decode_metadata(0).unwrap()), Some(2.into()), "{knows_all}");
            assert_eq!(reader.message_count().unwrap(), 2, "{knows_all}");
        }
    }
}
