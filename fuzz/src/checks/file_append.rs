//! Appending to any file: the bytes before stay, and readers find the message at the stated place, by reads and by map.
//! A torn tail is refused without a change, or it alone is removed.
//!
//! One case is left out: a damaged message that states to end where the appended one does misleads readers.

use std::fs;
use std::sync::OnceLock;

use tempfile::NamedTempFile;
use tgm_core::wire::{MAGIC, PREAMBLE_SIZE};
use tgm_std::{AppendOptions, EncodeOptions, MappedFile, MessageBuilder, ObjectBuilder, TensogramFile, TornTail};

use crate::provenance;

/// Appends a message to a file of `bytes`: once refusing a torn tail, once removing it.
pub fn check(bytes: &[u8]) {
    for torn_tail in [TornTail::Refuse, TornTail::Remove] {
        append(bytes, torn_tail);
    }
}

fn append(bytes: &[u8], torn_tail: TornTail) {
    let file = NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), bytes).expect("a temporary file");
    let mut opened = TensogramFile::open(file.path()).expect("the file exists");
    let before = opened.message_layouts().expect("a scan");
    assert!(
        before
            .iter()
            .map(|l| (l.offset, l.length))
            .eq(tgm_std::scan(bytes).into_iter().map(|(o, l)| (o as u64, l as u64)))
    );
    let appended = opened.append_message(message(), &AppendOptions { sync: false, torn_tail });
    let after = fs::read(file.path()).expect("a temporary file");
    let Ok(layout) = appended else {
        assert!(torn_tail == TornTail::Refuse && after == bytes, "{appended:?}");
        return;
    };
    let kept = usize::try_from(layout.offset).expect("in memory");
    assert!(torn_tail == TornTail::Remove || kept == bytes.len());
    assert_eq!((&after[..kept], &after[kept..]), (&bytes[..kept], message()));
    if is_claimed(&bytes[..kept], after.len()) {
        return;
    }
    // The tables of the writer, of a later reader and of a map.
    let last = opened.message_count().expect("a scan") - 1;
    assert_eq!(opened.message_layouts().expect("a scan").last(), Some(&layout));
    assert_eq!(opened.read_message(last).expect("just written"), message());
    // SAFETY: only this check knows the file, and it does not write to the file any more.
    let mapped = unsafe { MappedFile::open(file.path()) }.expect("the file exists");
    let later = TensogramFile::open(file.path()).expect("the file exists");
    assert_eq!(mapped.message_layouts(), later.message_layouts().expect("a scan"));
    assert_eq!(mapped.message_layouts().last(), Some(&layout));
    for (index, layout) in mapped.message_layouts().iter().enumerate() {
        let read = later.read_message(index).expect("in the table");
        assert_eq!(mapped.message_bytes(index).expect("in the table"), read);
        assert_eq!(read.len() as u64, layout.length);
    }
}

/// Whether a message that begins in `bytes` states that it ends at `end`.
fn is_claimed(bytes: &[u8], end: usize) -> bool {
    let mut preambles = bytes.windows(PREAMBLE_SIZE).enumerate().filter(|(_, preamble)| preamble.starts_with(MAGIC));
    preambles.any(|(at, preamble)| preamble[16..] == ((end - at) as u64).to_be_bytes())
}

/// The message that is appended.
fn message() -> &'static [u8] {
    static MESSAGE: OnceLock<Vec<u8>> = OnceLock::new();
    MESSAGE.get_or_init(|| {
        let options = EncodeOptions { provenance: Some(provenance()), ..EncodeOptions::default() };
        let object = ObjectBuilder::new(&[3], &[1_u16, 2, 3]).expect("three values");
        MessageBuilder::new().options(options).object(object).encode().expect("plain values")
    })
}
