//! Sources that answer later, for programs that wait.

use std::future::Future;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinSet;

use crate::base::interrupt;
use crate::read::{AsyncRangeFetch, FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};

/// Threads that drive requests. They mostly wait, so two serve many.
const WORKERS: usize = 2;
/// How long a call waits before it asks again whether it is interrupted.
const PAUSE: Duration = Duration::from_millis(50);

static RUNTIME: OnceLock<Runtime> = OnceLock::new();
static BUILDING: Mutex<()> = Mutex::new(());

/// The runtime of this library. It is built when it is first needed, and runs until the process ends.
///
/// # Errors
/// The system gives no threads. The next call tries again.
fn runtime() -> Result<&'static Runtime, FetchError> {
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let _alone = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = Builder::new_multi_thread().worker_threads(WORKERS).thread_name("tgm-remote").enable_all().build();
    let built = built.map_err(|error| {
        FetchError::new(FetchErrorKind::Io(error.kind()), format!("cannot start threads for requests: {error}"))
    })?;
    Ok(RUNTIME.get_or_init(|| built))
}

/// Runs `future` on the runtime of this library, and waits for it. What needs no request is answered on the thread of the caller,
/// as two changes of threads take longer than most answers.
///
/// It can be called from any thread: outside of all runtimes, on a thread of a multi-thread runtime, whose other tasks
/// go on elsewhere meanwhile, and on the thread of a current-thread runtime, whose other tasks wait.
///
/// # Errors
/// [`FetchErrorKind::Io`] if there are no threads, if the future panicked, or if the wait was interrupted: then the future is
/// dropped at its next point of waiting.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<T, FetchError> {
    let (runtime, mut future) = (runtime()?, Box::pin(future));
    let panicked = || failed(ErrorKind::Other, "a request ended without an answer: it panicked");
    let at_once = catch_unwind(AssertUnwindSafe(|| {
        let _runtime = runtime.enter();
        // Nobody is woken: what waits is polled anew by the task.
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }));
    match at_once {
        Ok(Poll::Ready(answer)) => return Ok(answer),
        Ok(Poll::Pending) => {}
        Err(_) => return Err(panicked()),
    }
    let (sender, answers) = mpsc::sync_channel(1);
    let task = runtime.spawn(async move {
        // The call below waits until the sender is gone, unless it is interrupted.
        let _ = sender.send(future.await);
    });
    let receive = || {
        while interrupt::check().is_ok() {
            match answers.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Timeout) => {}
                answer => return answer.map_err(|_| panicked()),
            }
        }
        task.abort();
        Err(failed(ErrorKind::Interrupted, "interrupted"))
    };
    let is_worker = Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_worker { tokio::task::block_in_place(receive) } else { receive() }
}

fn failed(kind: ErrorKind, text: &str) -> FetchError {
    FetchError::new(FetchErrorKind::Io(kind), text)
}

/// A source that answers later, for programs that wait for it. Clones share the source.
///
/// Requests run on two threads of this library, which start with the first of them. Calls may come from any thread,
/// also from tasks of tokio. Tasks of a `LocalSet` inside of a multi-thread runtime are the exception: tokio panics
/// there.
///
/// ```no_run
/// use tgm_std::read::{RangeFetch, Want};
/// use tgm_std::remote::{Blocking, RemoteOptions, open};
///
/// let source = Blocking::new(open("https://example.com/fields.tgm", &RemoteOptions::default())?);
/// let answer = source.fetch(&Want::At(0..65536), None)?;
/// println!("{} of {:?} bytes", answer.bytes.len(), answer.size);
/// # Ok::<(), tgm_std::read::FetchError>(())
/// ```
#[derive(Debug)]
pub struct Blocking<F> {
    source: Arc<F>,
    parallel: usize,
}

impl<F> Clone for Blocking<F> {
    fn clone(&self) -> Self {
        Self { source: Arc::clone(&self.source), parallel: self.parallel }
    }
}

impl<F: AsyncRangeFetch + 'static> Blocking<F> {
    /// The source, with at most 10 requests at once.
    pub fn new(source: F) -> Self {
        Self::shared(Arc::new(source))
    }

    /// [`Self::new`] of a source that others use too.
    pub const fn shared(source: Arc<F>) -> Self {
        Self { source, parallel: 10 }
    }

    /// The same with at most `parallel` requests at once, and at least one.
    #[must_use]
    pub fn parallel(self, parallel: usize) -> Self {
        Self { parallel: parallel.max(1), ..self }
    }

    /// The source itself, for a program that also has tasks.
    pub fn source(&self) -> &Arc<F> {
        &self.source
    }
}

impl<F: AsyncRangeFetch + 'static> RangeFetch for Blocking<F> {
    fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        let (source, want, unchanged) = (Arc::clone(&self.source), want.clone(), unchanged.cloned());
        wait(async move { source.fetch(&want, unchanged.as_ref()).await })?
    }

    fn fetch_many(&self, wants: &[Want], unchanged: Option<&Tag>) -> Vec<Result<Fetched, FetchError>> {
        if let [want] = wants {
            return vec![self.fetch(want, unchanged)];
        }
        let (source, all, parallel) = (Arc::clone(&self.source), wants.to_vec(), self.parallel);
        wait(fetch_all(source, all, unchanged.cloned(), parallel)).unwrap_or_else(|error| vec![Err(error); wants.len()])
    }

    fn traits(&self) -> FetchTraits {
        self.source.traits()
    }

    fn name(&self) -> String {
        self.source.name()
    }
}

/// Fetches all pieces, at most `parallel` at once. The answers stand in the order of `wants`.
async fn fetch_all<F: AsyncRangeFetch + 'static>(
    source: Arc<F>,
    wants: Vec<Want>,
    unchanged: Option<Tag>,
    parallel: usize,
) -> Vec<Result<Fetched, FetchError>> {
    let ended = || FetchError::new(FetchErrorKind::Io(ErrorKind::Other), "a request ended without an answer");
    let mut answers = vec![Err(ended()); wants.len()];
    let mut wants = wants.into_iter().enumerate();
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < parallel
            && let Some((index, want)) = wants.next()
        {
            let (source, unchanged) = (Arc::clone(&source), unchanged.clone());
            under_way.spawn(async move { (index, source.fetch(&want, unchanged.as_ref()).await) });
        }
        let Some(joined) = under_way.join_next().await else { break };
        // A request that panicked leaves the error that stands in its place.
        if let Ok((index, answer)) = joined
            && let Some(place) = answers.get_mut(index)
        {
            *place = answer;
        }
    }
    answers
}
