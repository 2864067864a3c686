//! Datasets as stores of Zarr, and the chunks that were decoded.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use tgm_dataset::{OpenOptions, ZarrStore, open_all};
use tgm_std::{DecodeOptions, Result};

use crate::commands::serve::cache::Cache;
use crate::commands::serve::shelf::Shelved;
use crate::show::text::hex;

/// Files whose datasets stay open.
const OPEN: usize = 64;
/// The file of a store that a reader asks for first.
const ROOT: &str = "zarr.json";

/// The datasets of files, opened when they are asked for.
#[derive(Debug)]
pub(super) struct Stores {
    options: OpenOptions,
    decode: DecodeOptions,
    opened: Mutex<Opened>,
    chunks: Mutex<Cache<Key>>,
}

/// What is open, and how often something was opened.
#[derive(Debug, Default)]
struct Opened {
    count: u64,
    files: HashMap<String, (u64, Place)>,
}

/// The datasets of a file. Who opens it holds the lock, and others wait for him.
type Place = Arc<Mutex<Option<Datasets>>>;

/// The datasets of a file, as it was when it had this tag.
#[derive(Clone, Debug)]
pub(super) struct Datasets {
    pub(super) tag: Arc<str>,
    pub(super) stores: Arc<[ZarrStore]>,
}

/// The tag of a file, the number of a dataset, and a key of its store.
type Key = (Arc<str>, usize, String);

/// What a store has at a key, and the tag of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) bytes: Bytes,
    pub(super) tag: String,
}

impl Stores {
    pub(super) fn new(options: OpenOptions, decode: DecodeOptions, budget: u64) -> Self {
        Self { options, decode, opened: Mutex::new(Opened::default()), chunks: Mutex::new(Cache::new(budget)) }
    }

    /// The datasets of a file. If `is_new`, a file that was written since is opened again. Otherwise what is open counts: a reader
    /// goes on with what it began.
    ///
    /// # Errors
    /// The errors of opening.
    pub(super) fn datasets(&self, name: &str, file: &Shelved, is_new: bool) -> Result<Datasets> {
        let place = self.place(name);
        let mut held = lock(&place);
        if let Some(known) = &*held
            && (!is_new || *known.tag == *file.open()?.tag)
        {
            return Ok(known.clone());
        }
        let tag: Arc<str> = file.open()?.tag.into();
        let stores = open_all(&[file.path()], &self.options)?.into_iter().map(ZarrStore::of).collect();
        // A file that is written meanwhile has another tag, so that the next reader opens it again.
        let found = Datasets { tag, stores };
        *held = Some(found.clone());
        Ok(found)
    }

    /// The place of a file. Those that were not asked for longest are closed.
    fn place(&self, name: &str) -> Place {
        let mut opened = lock(&self.opened);
        opened.count = opened.count.wrapping_add(1);
        let count = opened.count;
        if !opened.files.contains_key(name) && opened.files.len() >= OPEN {
            let oldest = opened.files.iter().min_by_key(|(_, (used, _))| *used).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| opened.files.remove(&oldest));
        }
        let (used, place) = opened.files.entry(name.into()).or_default();
        *used = count;
        Arc::clone(place)
    }

    /// What dataset `number` of a file has at a key. `None` if there is no such dataset, and for what its store lacks.
    ///
    /// # Errors
    /// The errors of opening, reading and decoding.
    pub(super) fn get(&self, name: &str, file: &Shelved, number: usize, key: &str) -> Result<Option<Found>> {
        let Datasets { tag, stores } = self.datasets(name, file, key == ROOT)?;
        let Some(store) = stores.get(number) else { return Ok(None) };
        let known: Key = (Arc::clone(&tag), number, key.into());
        let of_key = format!("\"{}-{number}-{}\"", tag.trim_matches('"'), hex(key.as_bytes()));
        if let Some(bytes) = lock(&self.chunks).get(&known) {
            return Ok(Some(Found { bytes, tag: of_key }));
        }
        let Some(bytes) = store.get(key, &self.decode)? else { return Ok(None) };
        let bytes = Bytes::from(bytes.into_owned());
        lock(&self.chunks).put(known, bytes.clone());
        Ok(Some(Found { bytes, tag: of_key }))
    }
}

/// What a lock holds. A thread that panicked meanwhile left whole values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an error says that a file is not there.
pub(super) fn is_missing(error: &tgm_std::TensogramError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(known) = cause {
        if known.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return true;
        }
        cause = known.source();
    }
    false
}
