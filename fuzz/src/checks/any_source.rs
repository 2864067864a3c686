//! A reader gives what memory gives, whatever portions its source answers in. A source that lies gives errors, or what it
//! made up, and the reader comes to an end.

use std::cell::Cell;
use std::sync::Mutex;

use tgm_std::read::options::ReadKnob;
use tgm_std::read::{FetchError, FetchErrorKind, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use tgm_std::{DecodeLimits, DecodeOptions};

/// The bytes, after a source that fails and, if it is to, lies. The first bytes of the input say when.
struct Source<'a> {
    bytes: &'a [u8],
    script: &'a [u8],
    lies: bool,
    state: Mutex<Cell<usize>>,
}

impl Source<'_> {
    fn next(&self) -> u8 {
        let Ok(state) = self.state.lock() else { return 0 };
        let at = state.get();
        state.set(at + 1);
        self.script.get(at % self.script.len().max(1)).copied().unwrap_or(0)
    }
}

impl RangeFetch for Source<'_> {
    fn fetch(&self, want: &Want, tag: Option<&Tag>) -> Result<Fetched, FetchError> {
        let mut answer = self.bytes.fetch(want, tag)?;
        match self.next() {
            1..=8 => return Err(FetchError::new(FetchErrorKind::Unavailable, "try again")),
            9 if self.lies => answer.offset = answer.offset.wrapping_add(1),
            10 if self.lies => answer.bytes.truncate(answer.bytes.len() / 2),
            11 if self.lies => answer.size = answer.size.map(|size| size ^ 1),
            12 if self.lies => answer.size = None,
            13 if self.lies => answer.bytes.extend_from_slice(b"more than there is"),
            14 if self.lies => answer.bytes.iter_mut().for_each(|byte| *byte ^= 0x55),
            15 if self.lies => answer.tag = Some(Tag::Weak("another".into())),
            16 if self.lies => answer.offset = u64::MAX,
            _ => {}
        }
        Ok(answer)
    }

    fn name(&self) -> String {
        "a source".into()
    }
}

/// Reads `bytes`, whose first 16 are the script of the source, in parts.
pub fn check(bytes: &[u8]) {
    let Some((script, bytes)) = bytes.split_at_checked(16) else { return };
    let knobs = [
        (ReadKnob::Initial, u64::from(script[0]) + 1),
        (ReadKnob::WholeMessage, 0),
        (ReadKnob::WholeFrame, u64::from(script[1])),
        (ReadKnob::Descriptor, u64::from(script[2]) + 20),
        (ReadKnob::Header, u64::from(script[3]) + 24),
        (ReadKnob::Gap, if script[4] < 128 { u64::from(script[4]) } else { u64::MAX }),
        (ReadKnob::Request, u64::from(script[5]) + 16),
        (ReadKnob::Requests, 2_000),
    ];
    let options = knobs.into_iter().fold(ReadOptions::memory(), |options, (knob, value)| knob.set(value, options));
    for lies in [false, true] {
        let source = Source { bytes, script, lies, state: Mutex::default() };
        let reader = Reader::new(source, options);
        read(&reader, bytes, lies);
    }
}

fn read(reader: &Reader<Source<'_>>, bytes: &[u8], lies: bool) {
    let limits = DecodeLimits { free_bytes: 1 << 20, max_decoded_bytes: 1 << 20, ..DecodeLimits::default() };
    let decode = DecodeOptions { limits, ..DecodeOptions::default() };
    let listed = retry(|| reader.with_segments(|segments| segments.collect::<Vec<_>>()));
    let expected: Vec<_> = tgm_std::core::scan::scan(bytes).collect();
    if let (Some(listed), false) = (listed, lies) {
        assert_eq!(listed, expected);
    }
    let messages = expected.iter().filter(|segment| segment.is_message());
    for (index, segment) in messages.enumerate().take(4) {
        let message = segment.bytes_of(bytes).unwrap_or_default();
        let object = retry(|| reader.decode_object(index, 0, &decode));
        let range = retry(|| reader.decode_range(index, 0, &[(0, 1), (3, 2)], &decode));
        let _ = (retry(|| reader.decode_metadata(index)), retry(|| reader.decode_descriptors(index)));
        if lies {
            continue;
        }
        // What was read in part is what the whole says, unless damage elsewhere was not noticed.
        if let (Some(found), Ok(expected)) = (object, tgm_std::decode_object(message, 0, &decode)) {
            assert_eq!(found.2, expected.2);
        }
        if let (Some(found), Ok(expected)) = (range, tgm_std::decode_range(message, 0, &[(0, 1), (3, 2)], &decode)) {
            assert_eq!(found.1, expected.1);
        }
    }
}

/// The result of a call that is repeated while the source fails. `None` after an error of another kind, or many failures.
fn retry<T>(mut call: impl FnMut() -> tgm_std::Result<T>) -> Option<T> {
    for _ in 0..200 {
        match call() {
            Err(error) if error.to_string().contains("try again") => {}
            other => return other.ok(),
        }
    }
    None
}
