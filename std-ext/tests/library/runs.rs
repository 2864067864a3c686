//! Long messages of a file: how little of them is read, and runs of neighbours.

use std::cell::Cell;

use tgm_core::scan::{Scanner, Source as _};
use tgm_std::codec::threads::Threads;
use tgm_std::file::{AppendOptions, Data};
use tgm_std::scan::Windowed;
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder, TensogramFile};

/// Outlines of long messages share memory, one after the other: nothing of one is left in the next.
#[test]
fn each_message_of_a_run_is_its_outline() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fields.tgm");
    let mut file = TensogramFile::create(&path).unwrap();
    for (number, len) in [400_000, 300_000, 100, 500_000, 300_001, 100, 450_000].into_iter().enumerate() {
        let values = vec![u8::MAX; len];
        let object = |len: usize| ObjectBuilder::new(&[len as u64], values.get(..len).unwrap()).unwrap();
        let name = "n".repeat(1000 * (7 - number));
        let message = MessageBuilder::new().extra("name", name).object(object(len)).object(object(len / 3));
        let options = EncodeOptions { descriptor_first: number % 2 == 0, ..EncodeOptions::default() };
        message.options(options).append_to(&mut file, &AppendOptions::default()).unwrap();
    }
    let layouts = file.message_layouts().unwrap();
    let seen = Data::from(&file).map_runs(&layouts, Threads::NONE, |first, run| {
        let mut seen = 0;
        run.for_each(|index, layout, bytes| {
            seen += 1;
            assert_eq!(layout, layouts[first + index]);
            assert!(bytes == file.read_message_outline(first + index)?, "message {}", first + index);
            Ok(())
        })?;
        Ok(seen)
    });
    assert_eq!(seen.unwrap().iter().sum::<usize>(), 7);
}

/// The end of each message, and the beginning of the one after it.
#[test]
fn a_scan_from_either_end_reads_little_of_long_messages() {
    const COUNT: usize = 100;
    let values = vec![1_u8; 300_000];
    let object = ObjectBuilder::new(&[300_000], &values).unwrap();
    let file = MessageBuilder::new().object(object).encode().unwrap().repeat(COUNT);
    for is_backward in [false, true] {
        let read = Cell::new(0);
        let mut scanner = Scanner::new(Windowed::new(file.len() as u64, |offset, out: &mut [u8]| {
            let Ok(some) = (&file[..]).read_at(offset, out);
            read.set(read.get() + some);
            Ok(some)
        }));
        let mut next = || {
            if is_backward { scanner.next_message_back(u64::MAX).unwrap() } else { scanner.next_segment().unwrap() }
        };
        assert_eq!((0..COUNT).filter(|_| next().is_some()).count(), COUNT);
        assert!(read.get() < COUNT * 2000 + (128 << 10), "{is_backward}: {} bytes", read.get());
    }
}
