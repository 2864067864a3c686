//! It writes the same bytes as the encoder that blocks. Dropped futures leave a message that cannot be continued.

use std::future::Future;
use std::io::Cursor;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::encode::*;
use tgm_std::{ByteOrder, DataObjectDescriptor, EncodeOptions, GlobalMetadata, Provenance};
use tgm_std::{Dtype, StreamingEncoder, TensogramError};
use tokio::io::AsyncWrite;

fn options() -> EncodeOptions {
    let [time, uuid, encoder_name, encoder_version] =
        ["2026-01-01T00:00:00Z", "u", "name", "version"].map(str::to_string);
    let provenance = Provenance { time, uuid, encoder_name, encoder_version };
    EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn entry() -> BTreeMap<String, Value> {
    BTreeMap::from([("level".to_string(), 500.into())])
}

fn values() -> Vec<u8> {
    (0..30_000_u32).flat_map(|i| (f64::from(i) * 0.5).to_le_bytes()).collect()
}

fn descriptor(filter: &str) -> DataObjectDescriptor {
    let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, &[30_000]);
    descriptor.filter = filter.into();
    if filter == "shuffle" {
        descriptor.params.insert("shuffle_element_size".into(), 8.into());
    }
    descriptor
}

#[test]
fn the_bytes_are_those_of_the_encoder_that_blocks() {
    let (metadata, values) = (GlobalMetadata::default(), values());
    for hashing in [true, false] {
        for objects in 0..4 {
            let options = EncodeOptions { hashing, ..options() };
            let mut blocking = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options).unwrap();
            let mut streamed = run(AsyncStreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options)).unwrap();
            for i in 0..objects {
                if i == 1 {
                    blocking.write_preceder(entry()).unwrap();
                    run(streamed.write_preceder(entry())).unwrap();
                }
                let descriptor = descriptor(if i == 2 { "shuffle" } else { "none" });
                blocking.write_object(&descriptor, &values).unwrap();
                run(streamed.write_object(&descriptor, &values)).unwrap();
                let small = [1.5_f32, -2.0];
                let small = || ObjectBuilder::new(&[2], &small).unwrap().metadata("step", i);
                blocking.write(small()).unwrap();
                run(streamed.write(small())).unwrap();
                blocking.write_object_pre_encoded(&descriptor, &values).unwrap();
                run(streamed.write_object_pre_encoded(&descriptor, &values)).unwrap();
                assert_eq!(streamed.object_count(), blocking.object_count());
                assert_eq!(streamed.bytes_written(), blocking.bytes_written());
            }
            let expected = blocking.finish_with_backfill().unwrap().into_inner();
            let found = run(streamed.finish_with_backfill()).unwrap();
            assert_eq!(found.position(), expected.len() as u64);
            assert!(found.into_inner() == expected);
        }
    }
}

#[test]
fn a_message_behind_other_bytes_states_its_own_length() {
    let mut sink = Cursor::new(b"before".to_vec());
    sink.set_position(6);
    let sink = run(async {
        let mut encoder = AsyncStreamingEncoder::new(sink, &GlobalMetadata::default(), &options()).await?;
        encoder.write_object(&descriptor("none"), &values()).await?;
        encoder.finish_with_backfill().await
    })
    .unwrap();
    let bytes = sink.into_inner();
    assert!(bytes.starts_with(b"before"));
    let message = tgm_core::Message::parse(&bytes[6..]).unwrap();
    assert_eq!(message.as_bytes().len(), bytes.len() - 6);
    assert_eq!(bytes[bytes.len() - 16..bytes.len() - 8], (bytes.len() as u64 - 6).to_be_bytes());
    assert_eq!(bytes[6 + 16..6 + 24], (bytes.len() as u64 - 6).to_be_bytes());
}

#[test]
fn preceders_fail_as_they_do_in_the_encoder_that_blocks() {
    run(async {
        let (metadata, options) = (GlobalMetadata::default(), options());
        let mut encoder = AsyncStreamingEncoder::new(Vec::new(), &metadata, &options).await.unwrap();
        let reserved = BTreeMap::from([("_reserved_".to_string(), 1.into())]);
        assert!(matches!(encoder.write_preceder(reserved).await, Err(TensogramError::Metadata(_))));
        encoder.write_preceder(entry()).await.unwrap();
        assert!(matches!(encoder.write_preceder(entry()).await, Err(TensogramError::Framing(_))));
        assert!(matches!(encoder.finish().await, Err(TensogramError::Framing(_))));
    });
}

/// A writer that takes one byte at a time, and is not ready every other time.
#[derive(Default)]
struct Slow(Vec<u8>, bool);

impl AsyncWrite for Slow {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.1 = !self.1;
        if self.1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.0.extend(bytes.first());
        Poll::Ready(Ok(bytes.len().min(1)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_message_whose_write_was_dropped_cannot_be_continued() {
    let mut encoder = run(AsyncStreamingEncoder::new(Slow::default(), &GlobalMetadata::default(), &options())).unwrap();
    let object = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
    run(encoder.write_object(&object, &[1, 2, 3])).unwrap();
    {
        let mut write = pin!(encoder.write_object(&object, &[4, 5, 6]));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(write.as_mut().poll(&mut cx).is_pending());
    }
    let error = run(encoder.write_object(&object, &[7, 8, 9])).unwrap_err();
    assert!(error.to_string().contains("cannot be continued"), "{error}");
    assert!(matches!(run(encoder.finish()), Err(TensogramError::Framing(_))));
}

#[test]
fn futures_move_between_threads() {
    fn is_send<T: Send>(it: T) -> T {
        it
    }
    let (metadata, options) = (GlobalMetadata::default(), options());
    let encoder = run(is_send(AsyncStreamingEncoder::new(Vec::new(), &metadata, &options))).unwrap();
    assert!(run(is_send(encoder.finish())).is_ok());
}
