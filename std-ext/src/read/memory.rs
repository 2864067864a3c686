//! Bytes in memory as a source.

use super::fetch::{FetchError, FetchTraits, Fetched, RangeFetch, Tag, Want};
use crate::base::span::{head, span_len, tail};

fn fetch(bytes: &[u8], want: &Want) -> Fetched {
    let size = bytes.len() as u64;
    let range = want.within(size);
    let found = head(tail(bytes, range.start), span_len(&range));
    Fetched { offset: range.start, bytes: found.to_vec(), size: Some(size), tag: None }
}

impl RangeFetch for Vec<u8> {
    fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        (&self[..]).fetch(want, unchanged)
    }

    fn traits(&self) -> FetchTraits {
        (&self[..]).traits()
    }

    fn name(&self) -> String {
        (&self[..]).name()
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

impl<F: RangeFetch + ?Sized> RangeFetch for Box<F> {
    fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        (**self).fetch(want, unchanged)
    }

    fn fetch_many(&self, wants: &[Want], unchanged: Option<&Tag>) -> Vec<Result<Fetched, FetchError>> {
        (**self).fetch_many(wants, unchanged)
    }

    fn traits(&self) -> FetchTraits {
        (**self).traits()
    }

    fn name(&self) -> String {
        (**self).name()
    }
}
