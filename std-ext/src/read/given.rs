//! A source whose bytes the program gives: for programs that cannot wait inside of a call, such as pages of a browser.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fetch::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};
use super::known_bytes::KnownBytes;
use crate::base::error::{Result, TensogramError};

/// A source whose bytes the program gives. Whatever reads an [`Archive`](crate::Archive) runs by steps over it: the archive itself,
/// a catalogue, a dataset.
///
/// A call that needs bytes which were not given yet fails, and [`Self::wants`] says which ones. The program fetches them in its own
/// way, gives them, and makes the same call again. The call is done when nothing is wanted any more. Each time it goes further, as
/// no bytes are forgotten before [`Self::forget`]. What was computed before the call failed is computed again, so that this suits
/// reading; [`Steps`](super::Steps) has tasks that go on where they stopped.
///
/// Nothing here waits, has a thread, a clock or a runtime. Clones share the bytes.
///
/// ```
/// use tgm_std::Archive;
/// use tgm_std::read::{Fetched, Given, ReadOptions};
///
/// /// Makes a call until nothing is missing. `fetch` stands for the way in which a program fetches, which may be `await`ed.
/// fn by_steps<T>(given: &Given, fetch: impl Fn(std::ops::Range<usize>) -> Vec<u8>, size: u64, call: impl Fn() -> tgm_std::Result<T>) -> tgm_std::Result<T> {
///     loop {
///         let answer = call();
///         let wants = given.wants();
///         if wants.is_empty() {
///             given.forget();
///             return answer;
///         }
///         for want in wants {
///             let place = want.within(size);
///             let bytes = fetch(place.start as usize..place.end as usize);
///             given.give(&want, Fetched { offset: place.start, bytes, size: Some(size), tag: None })?;
///         }
///     }
/// }
///
/// let flash = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
/// let given = Given::new("flash");
/// let archive = Archive::from_fetch(given.clone(), ReadOptions::local());
/// let fetch = |place: std::ops::Range<usize>| flash[place].to_vec();
/// let row = by_steps(&given, fetch, flash.len() as u64, || archive.object(0, 0)?.read().ranges(&[(360, 360)]).values::<f32>())?;
/// assert_eq!(row.len(), 360);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone)]
pub struct Given(Arc<Shared>);

struct Shared {
    name: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: KnownBytes,
    wants: Vec<Want>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Given").field(&self.0.name).finish()
    }
}

impl Given {
    /// Nothing is given yet. `name` stands in error texts.
    pub fn new(name: impl Into<String>) -> Self {
        Self(Arc::new(Shared { name: name.into(), state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under the lock is complete by itself.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes that calls asked for since this was called last, and that were not there. All of them may be fetched at the same
    /// time. If there are any, the answer of a call does not count, whether it is an error or not.
    pub fn wants(&self) -> Vec<Want> {
        std::mem::take(&mut self.state().wants)
    }

    /// Gives bytes that were wanted. They may be more than was asked for; fewer only where the source ends. The first answer has to
    /// say how long the source is.
    ///
    /// # Errors
    /// [`TensogramError::Remote`] for bytes that contradict the request, or that are of another version of the source than earlier
    /// ones.
    pub fn give(&self, want: &Want, answer: Fetched) -> Result<()> {
        self.state().known.insert(want, answer, &self.0.name).map_err(TensogramError::from)
    }

    /// Forgets the bytes that were given, once a call is done. An archive keeps some of them by itself, up to 20 MiB.
    pub fn forget(&self) {
        self.state().known.shrink_to(0);
    }
}

impl RangeFetch for Given {
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> std::result::Result<Fetched, FetchError> {
        let mut state = self.state();
        let found = state.known.size().and_then(|size| {
            let range = want.within(size);
            let bytes = state.known.bytes(&range)?.into_owned();
            Some(Fetched { offset: range.start, bytes, size: Some(size), tag: state.known.tag().cloned() })
        });
        found.ok_or_else(|| {
            if !state.wants.contains(want) {
                state.wants.push(want.clone());
            }
            FetchError::new(FetchErrorKind::NotGiven, format!("{}: bytes were not given yet", self.0.name))
        })
    }

    /// Only bytes at places are asked for, and none from the end of a source of unknown length.
    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: false, size: self.state().known.size(), in_place: false }
    }

    fn name(&self) -> String {
        self.0.name.clone()
    }
}
