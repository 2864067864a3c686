//! How many requests, round trips and bytes a reader takes. The numbers are what a store with slow requests sees.

use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use tgm_std::read::{FetchError, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, StreamingEncoder};

/// Bytes in memory, behind counters.
#[derive(Default)]
struct Counted {
    bytes: Vec<u8>,
    requests: AtomicUsize,
    round_trips: AtomicUsize,
    fetched: AtomicUsize,
}

impl RangeFetch for &Counted {
    fn fetch(&self, want: &Want, tag: Option<&Tag>) -> Result<Fetched, FetchError> {
        let answer = (&self.bytes[..]).fetch(want, tag)?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.fetched.fetch_add(answer.bytes.len(), Ordering::Relaxed);
        Ok(answer)
    }

    fn fetch_many(&self, wants: &[Want], tag: Option<&Tag>) -> Vec<Result<Fetched, FetchError>> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        wants.iter().map(|want| self.fetch(want, tag)).collect()
    }

    fn name(&self) -> String {
        "counted bytes".into()
    }
}

/// Requests, round trips and bytes of a call.
#[derive(Debug)]
struct Cost(usize, usize, usize);

fn cost<T>(bytes: &[u8], call: impl FnOnce(&Reader<&Counted>) -> tgm_std::Result<T>) -> Cost {
    let counted = Counted { bytes: bytes.to_vec(), ..Counted::default() };
    let reader = Reader::new(&counted, ReadOptions::remote());
    call(&reader).map(drop).expect("a sound file");
    Cost(
        counted.requests.load(Ordering::Relaxed),
        counted.round_trips.load(Ordering::Relaxed),
        counted.fetched.load(Ordering::Relaxed),
    )
}

/// Checks requests and round trips, and that no byte was read twice.
fn check(bytes: &[u8], expected: usize, call: impl FnOnce(&Reader<&Counted>) -> tgm_std::Result<()>) {
    let Cost(requests, round_trips, fetched) = cost(bytes, call);
    assert_eq!((requests, round_trips), (expected, expected));
    assert!(fetched <= bytes.len(), "{fetched} of {}", bytes.len());
}

fn noise(count: u64) -> Vec<f32> {
    let mut state = 1_u64;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f32::from((state >> 48) as u16)
        })
        .collect()
}

fn message(objects: usize, values: &[f32]) -> Vec<u8> {
    let mut builder = MessageBuilder::new().extra("run", "a test");
    for number in 0..objects {
        let object = ObjectBuilder::new(&[values.len() as u64], values).expect("a shape");
        builder = builder.object(object.metadata("number", number as u64));
    }
    builder.encode().expect("a message")
}

/// 100 messages of 17 KB.
fn hundred() -> Vec<u8> {
    message(4, &noise(1024)).repeat(100)
}

#[test]
fn many_short_messages_take_few_requests_and_the_last_one_takes_one() {
    let bytes = hundred();
    assert!((1_700_000..1_850_000).contains(&bytes.len()), "{}", bytes.len());
    let options = DecodeOptions::default();
    check(&bytes[..bytes.len() / 10], 2, |reader| reader.message_count().map(drop));
    check(&bytes, 2, |reader| reader.message_count().map(drop));
    check(&bytes, 1, |reader| reader.last_message().map(drop));
    check(&bytes, 3, |reader| (0..100).try_for_each(|index| reader.decode_object(index, 0, &options).map(drop)));
}

/// Messages of about `len` bytes, each of another length.
fn lengths(count: usize, len: usize) -> Vec<u8> {
    spread(count, len, 404)
}

/// Messages of `len` bytes and up to `more`.
fn spread(count: usize, len: usize, more: usize) -> Vec<u8> {
    let values = noise((len + more) as u64 / 4 + 1000);
    (0..count).flat_map(|number| message(1, &values[..len / 4 + (number * 3701) % (more / 4)])).collect()
}

/// Compressed fields have nearly one length. Several hops are made side by side then, which find the ends of messages within a few
/// KiB. Where lengths say nothing, no guess is made.
#[test]
fn hops_over_messages_that_are_alike_are_made_side_by_side() {
    let count = 60;
    for (more, most_trips, most_bytes) in
        [(404, 14, 32 << 10), (16 << 10, 26, 64 << 10), (1 << 20, count + 2, 24 << 10)]
    {
        let bytes = spread(count, 1_200_000, more);
        let all = cost(&bytes, |reader| (0..count).try_for_each(|index| reader.decode_descriptors(index).map(drop)));
        assert!(all.1 <= most_trips && all.2 <= count * most_bytes, "{more}: {all:?}");
        let last = cost(&bytes, |reader| reader.decode_metadata(count - 1));
        assert!(last.1 <= most_trips + 1 && last.2 <= count * most_bytes, "{more}: {last:?}");
        let near = cost(&bytes, |reader| reader.decode_metadata(3));
        assert!(near.0 <= 7 && near.2 <= 7 * (64 << 10), "nothing after the message is read: {near:?}");
    }
}

/// A message that is named by its number costs a hop for each message before it, of at most 64 KiB. One caller who reads all of
/// them in order reads ahead, but for messages of 64 KiB and more, of which the descriptors and metadata come with the hop.
#[test]
fn hops_are_bounded_and_a_reader_of_all_reads_ahead() {
    for (count, len) in [(200, 17_000), (100, 190_000), (40, 1_200_000)] {
        let bytes = lengths(count, len);
        let index = count * 3 / 4;
        let Cost(requests, round_trips, fetched) = cost(&bytes, |reader| reader.decode_metadata(index));
        assert!(requests <= index + 3 && round_trips <= requests, "{len}: {requests} {round_trips}");
        assert!(fetched <= requests * (64 << 10), "{len}: {fetched} by {requests}");
        // In windows of 64 KiB, ten at once.
        assert!(len > 64_000 || round_trips <= 2 + (index * len).div_ceil(10 * (64 << 10)), "{round_trips}");

        let all = cost(&bytes, |reader| (0..count).try_for_each(|index| reader.decode_descriptors(index).map(drop)));
        let most = if len < 64_000 { 6 + bytes.len().div_ceil(8 << 20) } else { count + 2 };
        assert!(all.0 <= most && all.1 <= 16, "{len}: {all:?}, {most}");
        assert!(all.2 <= bytes.len(), "{len}: {all:?}");
    }
}

#[test]
fn an_object_is_found_by_the_index() {
    let bytes = message(20, &noise(50_000));
    let options = DecodeOptions::default();
    let last = cost(&bytes, |reader| reader.decode_object(0, 19, &options));
    assert_eq!((last.0, last.1), (2, 2), "{last:?}");
    assert!(last.2 < 268_000, "{last:?}");
    // The message's end is read in the same round trip, because it proves that there is a message.
    let middle = cost(&bytes, |reader| reader.decode_object(0, 9, &options));
    assert_eq!((middle.0, middle.1), (3, 2), "{middle:?}");
    let descriptors = cost(&bytes, |reader| reader.decode_descriptors(0));
    assert_eq!((descriptors.0, descriptors.1), (21, 2), "{descriptors:?}");
    assert!(descriptors.2 < 150_000, "{descriptors:?}");
}

#[test]
fn ranges_take_the_parts_that_hold_them() {
    let options = DecodeOptions::default();
    let values = noise(1 << 20);
    let raw = message(1, &values);
    let range = |bytes: &[u8]| cost(bytes, |reader| reader.decode_range(0, 0, &[(500_000, 10)], &options));
    let found = range(&raw);
    assert!(found.1 <= 3 && found.2 <= 130_000, "{found:?}");
    let szip = ObjectBuilder::new(&[1 << 20], &values).expect("a shape").szip();
    let szip = MessageBuilder::new().object(szip).encode().expect("a message");
    assert!(szip.len() > 1 << 20, "{}", szip.len());
    let found = range(&szip);
    assert!(found.1 <= 3 && found.2 <= 130_000, "{found:?}");
    eprintln!("szip {found:?}");
}

#[test]
fn streamed_messages_are_read_from_their_footer() {
    let values = noise(50_000);
    let mut encoder = StreamingEncoder::new(
        Cursor::new(Vec::new()),
        &tgm_std::GlobalMetadata::default(),
        &tgm_std::EncodeOptions::default(),
    )
    .expect("a stream");
    for _ in 0..20 {
        encoder.write(ObjectBuilder::new(&[50_000], &values).expect("a shape")).expect("an object");
    }
    let bytes = encoder.finish_with_backfill().expect("the end").into_inner();
    let found = cost(&bytes, |reader| reader.decode_object(0, 9, &DecodeOptions::default()));
    assert!(found.1 <= 3, "{found:?}");
}
