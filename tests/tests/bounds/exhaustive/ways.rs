//! The ways to read a message, which must agree.

use std::cell::Cell;
use std::io::{Seek as _, SeekFrom, Write as _};

use tempfile::NamedTempFile;
use tgm_core::Message;
use tgm_core::push::{Event, Link, PushDecoder};
use tgm_core::scan::Scanner;
use tgm_std::{
    DecodeLimits, DecodeOptions, Dtype, MessageLayout, TensogramFile, decode, decode_range, decode_with_masks, scan,
};

use crate::counted::Counted;
use crate::mapped;

/// The most bytes of values that may be decoded.
const VALUES: u64 = 1 << 20;
/// The most bytes that scanning may look at per byte of input; a call of the source counts as eight bytes. Test
/// `scan_work` has a smaller bound for long inputs: in short ones each call weighs more.
const WORK_PER_BYTE: u64 = 32;

/// Options of a server that expects small objects.
pub(crate) fn options() -> DecodeOptions {
    let limits = DecodeLimits { max_decoded_bytes: VALUES, free_bytes: VALUES, ..DecodeLimits::default() };
    DecodeOptions { limits, ..DecodeOptions::default() }
}

/// What the ways need: a file and a push decoder, reused for every message.
pub(crate) struct Ways {
    file: NamedTempFile,
    decoder: Box<PushDecoder<512>>,
}

impl Ways {
    pub(crate) fn new() -> Self {
        Self { file: NamedTempFile::new().unwrap(), decoder: Box::new(PushDecoder::new(Link::Reliable)) }
    }

    /// Reads `bytes` as a slice, in pieces and, if asked for, as a file. Returns whether they hold a message that
    /// decodes.
    pub(crate) fn read(&mut self, bytes: &[u8], as_file: bool) -> bool {
        let whole = values(bytes);
        slice(bytes, whole.as_ref());
        self.push(bytes);
        work(bytes);
        if as_file {
            self.as_file(bytes);
        }
        whole.is_some()
    }

    /// Asserts that a message that ends well in pieces is valid as a whole, and that the cut does not matter.
    fn push(&mut self, bytes: &[u8]) {
        let whole = self.objects_of_the_first(&[bytes]);
        let half = bytes.len() / 2;
        assert_eq!(self.objects_of_the_first(&[&bytes[..half], &bytes[half..]]), whole);
        let Some(count) = whole else { return };
        let message = Message::parse(bytes).expect("it ended well");
        assert_eq!(
            message.frames().map(Result::unwrap).filter(|f| f.frame_type().is_data_object()).count() as u64,
            count
        );
    }

    /// The number of objects of the message that begins with the first byte, if it ends well.
    fn objects_of_the_first(&mut self, pieces: &[&[u8]]) -> Option<u64> {
        self.decoder.reset(0);
        for piece in pieces {
            let mut rest = *piece;
            loop {
                match self.decoder.next_event(&mut rest) {
                    Ok(None) => break,
                    Ok(Some(Event::MessageEnd(end))) => return Some(end.object_count),
                    Ok(Some(Event::Resynchronised { .. })) | Err(_) => return None,
                    Ok(Some(_)) => {}
                }
            }
        }
        None
    }

    /// Asserts that positioned reads and the map find the messages that the slice holds, with the same values.
    fn as_file(&mut self, bytes: &[u8]) {
        let file = self.file.as_file_mut();
        file.set_len(0).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(bytes).unwrap();
        let opened = TensogramFile::open(self.file.path()).unwrap();
        let mapped = mapped::map(self.file.path()).unwrap();
        let layouts = mapped.message_layouts();
        let found: Vec<_> =
            scan(bytes).iter().map(|&(at, len)| MessageLayout { offset: at as u64, length: len as u64 }).collect();
        assert_eq!((layouts, &opened.message_layouts().unwrap()), (&found[..], &found));
        for index in 0..layouts.len() {
            let read = opened.read_message(index).unwrap();
            assert_eq!(read, mapped.message_bytes(index).unwrap());
            let decoded = opened.decode_message(index, &options()).ok();
            assert_eq!(
                decoded.map(|(_, objects)| objects.into_iter().map(|(_, values)| values).collect()),
                values(&read)
            );
        }
    }
}

/// The values of all objects, if the message decodes.
fn values(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (_, objects) = decode(bytes, &options()).ok()?;
    Some(objects.into_iter().map(|(_, values)| values).collect())
}

/// Asserts that the other ways to read a slice agree with `decode`.
fn slice(bytes: &[u8], whole: Option<&Vec<Vec<u8>>>) {
    let options = options();
    assert_eq!(decode_with_masks(bytes, &options).is_ok(), whole.is_some());
    if let Ok(message) = Message::parse(bytes) {
        let sound = message.objects().filter_map(Result::ok);
        let lens = sound
            .filter_map(|object| Some(tgm_std::read(&object).options(&options).bytes().ok()?.len()))
            .sum::<usize>();
        let expected = whole.map(|objects| objects.iter().map(Vec::len).sum());
        assert!(expected.is_none_or(|expected: usize| expected == lens));
        let _ = message.metadata().map(|metadata| metadata.objects().count());
        let _ = message.object(0).and_then(|object| object.view_any().map(|view| view.len()));
    }
    if let Some(first) = whole.and_then(|whole| whole.first()) {
        let count = u64::from(!first.is_empty());
        let (descriptor, parts) = decode_range(bytes, 0, &[(0, 0), (0, count)], &options).unwrap();
        let expected: Vec<u8> = match descriptor.dtype {
            Dtype::Bitmask => first.iter().take(1).map(|byte| byte & 0x80).collect(),
            dtype => first.iter().take(dtype.byte_width()).copied().collect(),
        };
        assert_eq!(parts, [Vec::new(), expected]);
    }
}

/// Asserts that the work of scanning is bounded by the number of bytes.
fn work(bytes: &[u8]) {
    let work = Cell::new(0);
    let mut scanner = Scanner::new(Counted { bytes, work: &work });
    while let Ok(Some(_)) = scanner.next_segment() {}
    assert!(work.get() <= WORK_PER_BYTE * (bytes.len() as u64 + 64), "{} for {} bytes", work.get(), bytes.len());
}
