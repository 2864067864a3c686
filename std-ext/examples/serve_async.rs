//! Many tasks read one archive at the same time, without threads that wait.
//!
//! The reader is shared by all tasks. Tasks that need the same bytes fetch them once, and values are decoded on the threads
//! that tokio keeps for work that blocks. The source here is a local file; [`tgm_std::remote::open`] gives one at an address.

use std::sync::Arc;

use tgm_std::read::{AsyncLocalFile, AsyncReader, LocalFile, ReadOptions};
use tgm_std::{AppendOptions, DecodeOptions, MessageBuilder, ObjectBuilder, Result, TensogramFile};

/// Writes an archive, and lets 64 tasks read ten messages of it each.
pub fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("archive.tgm");
    let mut archive = TensogramFile::create(&path)?;
    for step in 0..100_u16 {
        let values: Vec<f32> = (0..10_000_u16).map(|i| f32::from(i) + f32::from(step)).collect();
        let object = ObjectBuilder::new(&[100, 100], &values)?.metadata("step", step);
        MessageBuilder::new().object(object).append_to(&mut archive, &AppendOptions::default())?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let source = AsyncLocalFile::new(LocalFile::open(&path)?);
        let reader = Arc::new(AsyncReader::new(source, ReadOptions::local()));
        println!("{} messages", reader.message_count().await?);
        let tasks: Vec<_> = (0..64_usize)
            .map(|task| {
                let reader = Arc::clone(&reader);
                tokio::spawn(async move {
                    let messages: Vec<usize> = (0..10).map(|number| (task * 7 + number) % 100).collect();
                    let objects = reader.decode_object_batch(&messages, 0, &DecodeOptions::default()).await?;
                    Ok(objects.iter().map(|(.., values)| values.len()).sum::<usize>())
                })
            })
            .collect();
        let mut bytes = 0;
        for task in tasks {
            let read: Result<usize> = task.await.expect("a task does not panic");
            bytes += read?;
        }
        println!("{bytes} bytes of values");
        assert_eq!(bytes, 64 * 10 * 40_000);
        Ok(())
    })
}
