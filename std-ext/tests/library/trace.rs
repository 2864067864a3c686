//! Events of the feature `tracing`.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use tgm_std::read::{ReadOptions, Reader};
use tgm_std::{Archive, DecodeOptions, TensogramFile};

/// Keeps each event as a line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let separator = if self.0.is_empty() { "" } else { " " };
        write!(self.0, "{separator}{}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "tgm_std"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The events of `work`, each with the words that are expected of it.
fn check(work: impl FnOnce(), expected: &[&[&str]]) {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), work);
    let lines = lines.0.lock().unwrap().clone();
    for words in expected {
        let found = lines.iter().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(found, "{words:?} in {lines:#?}");
    }
}

const PATH: &str = "../tests/data/multi/three.tgm";

#[test]
fn opening_and_scanning_are_told() {
    let open = || assert_eq!(Archive::open(PATH).unwrap().len().unwrap(), 3);
    check(
        open,
        &[&["DEBUG", "message=open", "three.tgm", "\"file\""], &["DEBUG", "message=scan", "messages=3", "junk=0"]],
    );
    let map = || drop(TensogramFile::open_mmap(PATH).unwrap());
    check(map, &[&["message=open", "\"map\""]]);
}

#[test]
fn requests_and_what_is_kept_are_told() {
    let reader = Reader::new(std::fs::read(PATH).unwrap(), ReadOptions::remote());
    let read = || drop(reader.decode_object(1, 0, &DecodeOptions::default()).unwrap());
    check(read, &[&["DEBUG", "message=request", "\"memory\"", "ranges=1"], &["TRACE", "message=answer", "offset=0"]]);
    check(read, &[&["TRACE", "message=done", "requests=0"]]);
}
