//! Looking for a message, in the background.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tgm_core::Message;
use tgm_core::metadata::MessageMetadata;
use tgm_std::metadata::query::Query;

use crate::commands::browse::source::Source;
use crate::show::json;

/// Time between two reports.
const PACE: Duration = Duration::from_millis(100);
/// Messages whose places are looked up at once.
const BATCH: usize = 512;

/// What to look for.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// A text in the metadata, in any case.
    Text(String),
    /// A filter, as that of `-w`.
    Filter(Query),
}

impl FromStr for Pattern {
    type Err = String;

    /// A text with an operator is a filter.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_filter = text.contains(['=', '<', '>', '?']) || text.contains(" in ") || text.ends_with(" exists");
        if is_filter {
            return text.parse().map(Self::Filter).map_err(|error| format!("{error}"));
        }
        if text.is_empty() { Err("there is nothing to look for".into()) } else { Ok(Self::Text(text.to_lowercase())) }
    }
}

impl Pattern {
    /// Whether a message is searched for. A message that cannot be read is not.
    fn is_in(&self, bytes: &[u8]) -> bool {
        let Ok(metadata) = Message::parse(bytes).and_then(|message| message.metadata()) else { return false };
        match self {
            Self::Filter(query) => query.matches(&metadata).unwrap_or(false),
            Self::Text(text) => has_text(&metadata, text).unwrap_or(false),
        }
    }
}

/// Whether keys or values of the metadata have this text.
fn has_text(metadata: &MessageMetadata<'_>, text: &str) -> tgm_core::Result<bool> {
    let has = |value: &serde_json::Value| json::compact(value).to_lowercase().contains(text);
    if has(&json::map_json(metadata.frame().extra_entries())?) {
        return Ok(true);
    }
    for object in metadata.objects() {
        if has(&json::map_json(object?.entries())?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where a search is, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// It has come to this message.
    At(usize),
    /// This message matches; whether the search began from the other end in between.
    Found(usize, bool),
    /// No message matches.
    Nothing,
    /// It was stopped.
    Stopped,
}

/// Looks for the next message that matches, from `start` on, which itself comes last. At the end it goes on from the other
/// end. Waits for a scan that has not come far enough.
pub(super) fn search(
    source: &Source,
    pattern: &Pattern,
    (start, is_backward): (usize, bool),
    stop: &AtomicBool,
    mut tell: impl FnMut(Search),
) {
    let mut next_report = Instant::now() + PACE;
    let mut look = |numbers: std::ops::Range<usize>| -> Option<Result<usize, ()>> {
        let mut layouts = source.layouts(numbers.clone());
        if is_backward {
            layouts.reverse();
        }
        let count = layouts.len();
        let mut found = None;
        source.read_each(&layouts, |number, bytes| {
            let index = if is_backward { numbers.start + count - 1 - number } else { numbers.start + number };
            if stop.load(Ordering::Relaxed) {
                found = Some(Err(()));
            } else if bytes.is_ok_and(|bytes| pattern.is_in(bytes)) {
                found = Some(Ok(index));
            } else if Instant::now() >= next_report {
                next_report = Instant::now() + PACE;
                tell(Search::At(index));
            }
            found.is_none()
        });
        found
    };
    let ended =
        if is_backward { backward(source, start, stop, &mut look) } else { forward(source, start, stop, &mut look) };
    tell(ended);
}

/// Looks at messages of these numbers: the one that matches, or an error if the search is stopped.
type Look<'l> = dyn FnMut(std::ops::Range<usize>) -> Option<Result<usize, ()>> + 'l;

fn ended(found: Result<usize, ()>, is_around: bool) -> Search {
    found.map_or(Search::Stopped, |index| Search::Found(index, is_around))
}

fn forward(source: &Source, start: usize, stop: &AtomicBool, look: &mut Look<'_>) -> Search {
    let mut at = start + 1;
    loop {
        let known = source.known();
        if at < known.count {
            let end = known.count.min(at + BATCH);
            if let Some(found) = look(at..end) {
                return ended(found, false);
            }
            at = end;
        } else if known.is_done {
            break;
        } else if wait(stop) {
            return Search::Stopped;
        }
    }
    let mut at = 0;
    while at <= start {
        let end = (start + 1).min(at + BATCH);
        if let Some(found) = look(at..end) {
            return ended(found, true);
        }
        at = end;
    }
    Search::Nothing
}

fn backward(source: &Source, start: usize, stop: &AtomicBool, look: &mut Look<'_>) -> Search {
    let mut end = start;
    while end > 0 {
        let from = end.saturating_sub(BATCH);
        if let Some(found) = look(from..end) {
            return ended(found, false);
        }
        end = from;
    }
    // The last message is known when the scan is done.
    while !source.known().is_done {
        if wait(stop) {
            return Search::Stopped;
        }
    }
    let mut end = source.known().count;
    while end > start {
        let from = end.saturating_sub(BATCH).max(start);
        if let Some(found) = look(from..end) {
            return ended(found, true);
        }
        end = from;
    }
    Search::Nothing
}

/// Waits for the scan. Returns whether the search is to be stopped.
fn wait(stop: &AtomicBool) -> bool {
    thread::sleep(Duration::from_millis(20));
    stop.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn run(source: &Source, pattern: &str, start: usize, is_backward: bool) -> Search {
        let mut last = None;
        let stop = AtomicBool::new(false);
        search(source, &pattern.parse().unwrap(), (start, is_backward), &stop, |search| last = Some(search));
        last.unwrap()
    }

    #[test]
    fn a_search_goes_both_ways_and_around() {
        let source = Source::open(Path::new("../../tests/data/multi/three.tgm")).unwrap();
        source.scan(|| true);
        assert_eq!(run(&source, "step=2", 0, false), Search::Found(2, false));
        assert_eq!(run(&source, "step=0", 0, false), Search::Found(0, true));
        assert_eq!(run(&source, "step<2", 2, true), Search::Found(1, false));
        assert_eq!(run(&source, "step=2", 1, true), Search::Found(2, true));
        assert_eq!(run(&source, "step=7", 1, true), Search::Nothing);
        assert_eq!(run(&source, "STEP", 0, false), Search::Found(1, false));
        assert_eq!(run(&source, "no such text", 0, false), Search::Nothing);
        let stop = AtomicBool::new(true);
        let mut last = None;
        search(&source, &"step=2".parse().unwrap(), (0, false), &stop, |search| last = Some(search));
        assert_eq!(last, Some(Search::Stopped));
    }

    #[test]
    fn texts_with_an_operator_are_filters() {
        assert!(matches!("2t".parse(), Ok(Pattern::Text(_))));
        assert!(matches!("step in 0..3".parse(), Ok(Pattern::Filter(_))));
        assert!(matches!("step?".parse(), Ok(Pattern::Filter(_))));
        assert!("a=".parse::<Pattern>().is_err() || "=".parse::<Pattern>().is_err());
        assert!(" ".parse::<Pattern>().is_err());
    }
}
