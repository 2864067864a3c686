//! Bytes in memory as a source.

use super::fetch::{FetchError, FetchTraits, Fetched, RangeFetch, Tag, Want};

/// The part of a source of `size` bytes that is asked for.
pub(crate) fn clip(want: &Want, size: u64) -> std::ops::Range<u64> {
    match want {
        Want::At(range) => range.start.min(size)..range.end.min(size),
        Want::Suffix(len) => size.saturating_sub(*len)..size,
    }
}

fn fetch(bytes: &[u8], want: &Want) -> Fetched {
    let size = bytes.len() as u64;
    let range = clip(want, size);
    let at = |offset| usize::try_from(offset).unwrap_or(usize::MAX);
    let found = bytes.get(at(range.start)..at(range.end)).unwrap_or_default();
    Fetched { offset: range.start, bytes: found.to_vec(), size: Some(size), tag: None }
}

impl RangeFetch for Vec<u8> {
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        Ok(fetch(self, want))
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: true, size: Some(self.len() as u64) }
    }

    fn name(&self) -> String {
        "memory".into()
    }
}

impl RangeFetch for &[u8] {
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        Ok(fetch(self, want))
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: true, size: Some(self.len() as u64) }
    }

    fn name(&self) -> String {
        "memory".into()
    }
}
