//! Runs of neighbouring messages of a file.

use tgm_std::file::{AppendOptions, Data};
use tgm_std::internal::Threads;
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
