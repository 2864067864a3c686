//! Whether a catalogue is of the data that it is used with, and whether the data has grown since.

use std::fmt;

use ciborium::Value as Owned;
use tgm_core::cbor::Map;
use tgm_core::frame::stored_hash;
use tgm_core::wire::{DATA_OBJECT_FOOTER_SIZE, POSTAMBLE_SIZE};

use super::bad;
use super::cbor::{bytes_of, map, uint_of};
use super::served::{is_served, is_settled};
use tgm_std::Result;
use tgm_std::file::Data;
use tgm_std::hash::digest;
use tgm_std::internal::is_of_server;

/// Bytes at the start of the data that a catalogue remembers by their digest.
const HEAD: u64 = 4 << 10;

/// What a catalogue remembers of its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    /// Bytes of the head, and their digest.
    pub(super) head_length: u64,
    pub(super) head: u64,
    /// The last bytes of the last covered message.
    pub(super) tail: Vec<u8>,
    /// The hash slot of the last covered object, and where its frame ends.
    pub(super) digest: Option<(u64, u64)>,
    /// The sum of the covered messages' fingerprints.
    pub(super) metadata: Option<u64>,
    /// Which file the data were, and in which state.
    pub(super) identity: Option<Vec<u8>>,
    /// Whether a later change would have shown in a time of change in whole seconds.
    pub(super) is_settled: bool,
}

/// What a catalogue is worth for its data as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freshness {
    /// The catalogue covers all of the data.
    Fresh,
    /// The data has grown: the catalogue covers its beginning.
    Grown {
        /// The byte up to which the data is covered.
        covered: u64,
        /// Bytes of the data.
        size: u64,
    },
    /// What was compared quickly fits, and nothing says whether the middle of the data is as it was: the catalogue has no
    /// digest of the metadata, or the data is on a server that does not name its versions, or was catalogued elsewhere, and
    /// reading all metadata was not asked for.
    NotChecked,
    /// The catalogue is of other data, or the data was changed. The text says how that shows.
    Stale(String),
}

impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => f.write_str("fresh"),
            Self::Grown { covered, size } => {
                write!(f, "grown: {covered} of {size} bytes are covered")
            }
            Self::NotChecked => f.write_str("not checked: the middle of the data may have changed"),
            Self::Stale(why) => write!(f, "stale: {why}"),
        }
    }
}

impl Proof {
    /// Remembers what the data is now, up to `end`.
    ///
    /// # Errors
    /// The errors of reading.
    pub(super) fn of(data: &Data<'_>, end: u64, digest: Option<(u64, u64)>, metadata: Option<u64>) -> Result<Self> {
        let head_length = end.min(HEAD);
        let head = self::digest(&read(data, 0, head_length)?);
        // Shorter data are taken whole; so it is below.
        let tail = read(data, end.saturating_sub(POSTAMBLE_SIZE as u64), POSTAMBLE_SIZE as u64)?;
        // The clock is read first: what changes the file from now on has this time or a later one.
        let now = std::time::SystemTime::now();
        let identity = data.identity();
        let is_settled = identity.as_deref().and_then(|identity| is_settled(identity, now)) == Some(true);
        Ok(Self { head_length, head, tail, digest, metadata, identity, is_settled })
    }

    /// Whether the data are the file that they were when the catalogue was written, unchanged since: also a file of this machine
    /// that a server has by now, with its size and its time of change. `None` if neither shows: the file is another one, which may
    /// be a copy, a server does not name its versions, or it tells a time of change in whole seconds, which was not over when the
    /// file was catalogued.
    pub(super) fn is_of_same_file(&self, data: &Data<'_>) -> Option<bool> {
        let (before, now) = (self.identity.as_ref()?, data.identity()?);
        let is_proof = self.is_settled || !is_of_server(before);
        if before == &now {
            return is_proof.then_some(true);
        }
        if is_served(before, &now, self.is_settled) {
            return Some(true);
        }
        (is_of_server(before) && is_of_server(&now)).then_some(false)
    }

    /// Whether the data were on a server when the catalogue was written.
    pub(super) fn is_of_server(&self) -> bool {
        self.identity.as_deref().is_some_and(is_of_server)
    }

    pub(super) fn to_value(&self) -> Owned {
        let Owned::Map(mut entries) = map([
            ("head_length", self.head_length.into()),
            ("head", self.head.into()),
            ("tail", Owned::Bytes(self.tail.clone())),
        ]) else {
            return Owned::Null;
        };
        if let Some((digest, end)) = self.digest {
            entries.push(("digest".into(), digest.into()));
            entries.push(("digest_end".into(), end.into()));
        }
        entries.extend(self.metadata.map(|sum| ("metadata".into(), sum.into())));
        entries.extend(self.identity.clone().map(|identity| ("identity".into(), Owned::Bytes(identity))));
        if self.is_settled {
            entries.push(("settled".into(), true.into()));
        }
        Owned::Map(entries)
    }

    /// Reads what a leaf remembers.
    pub(super) fn parse(map: &Map<'_>) -> Result<Self> {
        let digest = match map.get("digest")? {
            Some(digest) => Some((digest.as_u64()?, uint_of(map, "digest_end")?)),
            None => None,
        };
        Ok(Self {
            head_length: uint_of(map, "head_length")?.min(HEAD),
            head: uint_of(map, "head")?,
            tail: bytes_of(map, "tail")?,
            digest,
            metadata: map.get("metadata")?.map(|sum| sum.as_u64()).transpose()?,
            identity: if map.get("identity")?.is_some() { Some(bytes_of(map, "identity")?) } else { None },
            is_settled: map.get("settled")?.map(|settled| settled.as_bool()).transpose()?.unwrap_or(false),
        })
    }

    /// Compares the data with what is remembered of it, up to `end`.
    ///
    /// # Errors
    /// The errors of reading.
    pub(super) fn check(&self, data: &Data<'_>, end: u64) -> Result<Freshness> {
        let size = data.length()?;
        if size < end {
            return Ok(Freshness::Stale(format!("the data has {size} bytes, the catalogue covers {end}")));
        }
        let stale = |what: &str| Ok(Freshness::Stale(format!("{what} of the data differ from what the catalogue has")));
        if digest(&read(data, 0, self.head_length)?) != self.head {
            return stale("the first bytes");
        }
        if read(data, end.saturating_sub(self.tail.len() as u64), self.tail.len() as u64)? != self.tail {
            return stale("the last covered bytes");
        }
        if let Some((slot, object_end)) = self.digest {
            let at = object_end.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
            let tail = read(data, at, DATA_OBJECT_FOOTER_SIZE as u64)?;
            if stored_hash(&tail) != Some(slot) {
                return stale("the digest of the last covered object");
            }
        }
        Ok(if size == end { Freshness::Fresh } else { Freshness::Grown { covered: end, size } })
    }
}

/// Bytes of the data, as many as are there.
fn read(data: &Data<'_>, offset: u64, len: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len.min(HEAD)).map_err(|_| bad("the start of the data is too long"))?];
    let read = data.read_at(offset, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
