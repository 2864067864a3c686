//! How often each operation allocates: the promises of both crates, as numbers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use tgm_core::Message as View;
use tgm_core::descriptor::ByteOrder;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_std::read::{ReadOptions, Reader};
use tgm_std::{
    DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder,
    ObjectTable, Scratch, TensogramFile,
};
use tgm_tests::alloc::measure;
use tgm_tests::builder::{Message, Object, array, map};
use tgm_tests::corpus;

/// Allocations of every operation in `tgm_core`.
const CORE: u64 = 0;
/// Allocations for values that are borrowed from the message.
const BORROWED: u64 = 0;
/// Allocations for values that take one stage: they are swapped, unpacked, unshuffled or decompressed.
const ONE_STAGE: u64 = 1;
/// Allocations for values that are decompressed and then unpacked or unshuffled.
const TWO_STAGES: u64 = 2;
/// Allocations to open a payload that is read in parts.
const OPENED_PARTS: u64 = 1;
/// Allocations to decompress a mask.
const MASK_DECOMPRESSED: u64 = 1;
/// Allocations to read a message from a file at a position.
const READ_MESSAGE: u64 = 1;
/// What `decode` gives of a message, each with one allocation: the lists of objects and of `base`; of `_reserved_` the map,
/// three keys, two texts, and the encoder's map with two keys and two texts.
const DECODED_MESSAGE: u64 = 2 + 1 + 3 + 2 + 1 + 4;
/// What `decode` gives of an object without metadata, each with one allocation: the values; of the descriptor four names,
/// shape and strides; of `base` the map and the key `_reserved_`, its map and the key `tensor`, and that one's map with four
/// keys, a text and two lists.
const DECODED_OBJECT: u64 = 1 + 6 + 2 + 2 + 1 + 7;
/// Allocations to encode a small object: the message, the frames before the objects, the descriptor's CBOR, and the lists
/// of objects and of frames.
const ENCODED: u64 = 5;

/// How often `work` allocates. It runs once before it is counted, because the first run creates state that the thread
/// keeps.
fn allocations<T>(mut work: impl FnMut() -> T) -> u64 {
    work();
    measure(work).1.count
}

/// A message with everything in it: metadata, index, digests, masks, preceders.
fn full() -> Vec<u8> {
    let values: Vec<f32> = (0..100_u8).map(f32::from).collect();
    let bits: Vec<bool> = (0..100).map(|at| at % 7 == 0).collect();
    let mars = map([("mars", map([("param", "2t".into()), ("levels", array([1.into(), 2.into()]))]))]);
    let objects = [
        Object::f32(&[10, 10], &values),
        Object::f32(&[10, 10], &values).masked("nan", "rle", &bits).masked("inf-", "roaring", &bits),
        Object::packed(&[100], vec![0x5a; 150], 273.15, (-4, 0), 12).shuffled(2),
        Object::bytes(&[7; 33]).big_endian(),
    ];
    let base = array(objects.iter().map(|_| mars.clone()));
    let metadata = map([("base", base), ("_extra_", map([("title", "x".into())]))]);
    let preceded = objects.into_iter().map(|object| (Some(map([("step", 3.into())])), object));
    Message::streamed_with(&metadata, &metadata, preceded).build().bytes
}

#[test]
fn core_does_not_allocate() {
    let streamed = full();
    let buffered = corpus::sample("realistic/surface-181x360").bytes;
    for bytes in [&streamed, &buffered] {
        let mut values = vec![0; 1 << 20];
        let work: &mut [(&str, &mut dyn FnMut())] = &mut [
            ("parse", &mut || assert!(View::parse(bytes).unwrap().as_bytes().len() > 48)),
            ("frames", &mut || assert!(View::parse(bytes).unwrap().frames().all(|frame| frame.is_ok()))),
            ("objects", &mut || assert!(View::parse(bytes).unwrap().objects().all(|object| object.is_ok()))),
            ("object(i)", &mut || {
                let message = View::parse(bytes).unwrap();
                assert!((0..4).any(|index| message.object(index).is_err()) || message.object(3).is_ok());
            }),
            ("find_index", &mut || assert!(View::parse(bytes).unwrap().find_index().unwrap().is_some())),
            ("metadata lookup", &mut || {
                let metadata = View::parse(bytes).unwrap().metadata().unwrap();
                let found = ["mars.param", "step", "mars.levels", "title", "extra.title", "no.such", "_reserved_"]
                    .map(|path| metadata.get(path).unwrap().is_some());
                assert!(found[0] && !found[5]);
                assert!(metadata.get_at(0, "mars.param").unwrap().is_some());
                assert!(metadata.objects().all(|object| object.unwrap().entries().all(|entry| entry.is_ok())));
                assert!(metadata.frame().extra_entries().all(|entry| entry.is_ok()));
            }),
            ("first_metadata", &mut || assert!(View::parse(bytes).unwrap().first_metadata().unwrap().base_len() > 0)),
            ("verify", &mut || {
                let message = View::parse(bytes).unwrap();
                assert!(message.hash_presence().is_ok());
                assert!(message.verify(HashPresence::Flagged).all(|frame| frame.unwrap().verdict == Verdict::Good));
            }),
            ("view", &mut || {
                for object in View::parse(bytes).unwrap().objects() {
                    if let Ok(view) = object.unwrap().view_any() {
                        assert_eq!(view.len() as u64, object.unwrap().descriptor().element_count());
                    }
                    if let Ok(view) = object.unwrap().view::<f32>() {
                        assert!(view.iter().sum::<f32>().is_finite());
                        assert_eq!(view.rows().map(|row| row.len()).sum::<usize>(), view.len());
                    }
                }
            }),
            ("decode_into", &mut || {
                for object in View::parse(bytes).unwrap().objects() {
                    let object = object.unwrap();
                    let count = object.descriptor().element_count();
                    let len = usize::try_from(object.descriptor().decoded_len().unwrap()).unwrap();
                    for order in [ByteOrder::Big, ByteOrder::Little] {
                        // Errors do not allocate either.
                        let _ = object.decode_into(0..count, order, &mut values[..len]);
                        let _ =
                            object.decode_into(1..2, order, &mut values[..object.descriptor().dtype().byte_width()]);
                        let _ = object.decode_into(0..count + 1, order, &mut values[..len]);
                    }
                }
            }),
            ("scan", &mut || assert_eq!(tgm_core::scan::scan(bytes).count(), 1)),
            ("errors", &mut || {
                assert!(View::parse(&bytes[..30]).is_err());
                assert!(tgm_core::scan::scan(&bytes[8..]).all(|segment| !segment.is_message()));
            }),
        ];
        for (name, work) in work {
            assert_eq!(allocations(&mut **work), CORE, "{name}");
        }
    }
}

/// The allocations of `Read::bytes` for the only object of a message.
fn allocations_of_values(object: Object, options: &DecodeOptions) -> u64 {
    let built = Message::buffered([object]).build();
    let object = View::parse(&built.bytes).unwrap().object(0).unwrap();
    let count = allocations(|| tgm_std::read(&object).options(options).bytes().unwrap().len());
    let (values, _) = measure(|| tgm_std::read(&object).options(options).bytes().unwrap());
    assert!(!values.is_empty());
    count
}

#[test]
fn values_take_at_most_one_allocation_per_buffer() {
    let native = DecodeOptions::default();
    let stored = DecodeOptions { native_byte_order: false, ..native.clone() };
    let unrestored = DecodeOptions { restore_non_finite: false, ..native.clone() };
    let plain = || Object::f32(&[100], &[1.5; 100]);
    let swapped = || if cfg!(target_endian = "little") { plain().big_endian() } else { plain() };
    let unswapped = || if cfg!(target_endian = "little") { plain() } else { plain().big_endian() };
    let packed = || Object::packed(&[100], vec![0x5a; 150], 273.15, (-4, 0), 12);
    let bits: Vec<bool> = (0..100).map(|at| at % 7 == 0).collect();
    for (name, object, options, expected) in [
        ("plain", unswapped(), &native, BORROWED),
        ("plain, in stored order", swapped(), &stored, BORROWED),
        ("bytes", Object::bytes(&[1; 100]).big_endian(), &native, BORROWED),
        ("masked, not restored", unswapped().masked("nan", "rle", &bits), &unrestored, BORROWED),
        ("swapped", swapped(), &native, ONE_STAGE),
        ("packed", packed(), &native, ONE_STAGE),
        ("shuffled", plain().shuffled(4), &native, ONE_STAGE),
        ("shuffled and packed", packed().shuffled(2), &native, ONE_STAGE),
        ("lz4", unswapped().compressed("lz4"), &native, ONE_STAGE),
        ("zstd", unswapped().compressed("zstd"), &native, ONE_STAGE),
        ("lz4, swapped in place", swapped().compressed("lz4"), &native, ONE_STAGE),
        ("zstd, swapped in place", swapped().compressed("zstd"), &native, ONE_STAGE),
        ("rle", Object::plain("bitmask", &[800], [0xf0; 100]).compressed("rle"), &native, ONE_STAGE),
        ("roaring", Object::plain("bitmask", &[800], [0xf0; 100]).compressed("roaring"), &native, ONE_STAGE),
        ("lz4 and shuffled", plain().shuffled(4).compressed("lz4"), &native, TWO_STAGES),
        ("zstd and packed", packed().compressed("zstd"), &native, TWO_STAGES),
        ("masked, raw", unswapped().masked("nan", "none", &bits), &native, ONE_STAGE),
        ("masked, roaring", unswapped().masked("nan", "roaring", &bits), &native, ONE_STAGE),
        ("masked, lz4", unswapped().masked("nan", "lz4", &bits), &native, ONE_STAGE + MASK_DECOMPRESSED),
        ("masked, zstd", unswapped().masked("nan", "zstd", &bits), &native, ONE_STAGE + MASK_DECOMPRESSED),
    ] {
        assert_eq!(allocations_of_values(object, options), expected, "{name}");
    }
}

#[test]
fn values_into_a_buffer_do_not_allocate_once_scratch_memory_is_large_enough() {
    let doubles: Vec<f64> = (0..5000).map(|i| 280.0 + (f64::from(i) / 50.0).sin()).collect();
    let singles = vec![280.25_f32; 5000];
    let object = || ObjectBuilder::new(&[5000], &doubles).unwrap();
    let encoded = |object| MessageBuilder::new().object(object).encode().unwrap();
    let built = |object| Message::buffered([object]).build().bytes;
    let bits: Vec<bool> = (0..100).map(|at| at % 7 == 0).collect();
    let plain = || Object::f32(&[100], &[1.5; 100]);
    let masked = |method| plain().masked("nan", method, &bits).masked("inf-", method, &bits);
    let messages = [
        ("plain", built(plain())),
        ("swapped", built(plain().big_endian())),
        ("shuffled", encoded(object().shuffle())),
        ("packed", encoded(object().simple_packing(13))),
        ("packed and shuffled", encoded(object().simple_packing(16).shuffle())),
        ("szip", encoded(ObjectBuilder::new(&[5000], &singles).unwrap().szip())),
        ("szip of shuffled", encoded(object().shuffle().szip())),
        ("szip of packed", encoded(object().simple_packing(16).szip())),
        ("zstd", encoded(object().zstd(3))),
        ("zstd of shuffled", encoded(object().shuffle().zstd(3))),
        ("zstd of packed", encoded(object().simple_packing(12).zstd(3))),
        ("lz4", encoded(object().lz4())),
        ("lz4 of shuffled", encoded(object().shuffle().lz4())),
        ("lz4 of packed and swapped", built(Object::packed(&[100], vec![7; 150], 0.0, (0, 0), 12).compressed("lz4"))),
        ("blosc2, shuffled, zstd", corpus::sample("codecs/blosc2-zstd-l5").bytes),
        ("blosc2, shuffled, zlib", corpus::sample("codecs/blosc2-zlib-l5").bytes),
        ("masks of no method", built(masked("none"))),
        ("masks of rle", built(masked("rle"))),
        ("masks of roaring", built(masked("roaring"))),
        ("masks of lz4", built(masked("lz4"))),
        ("masks of zstd", built(masked("zstd"))),
    ];
    // One scratch serves all messages, in both byte orders.
    let mut scratch = Scratch::default();
    for (name, bytes) in messages {
        let object = View::parse(&bytes).unwrap().object(0).unwrap();
        let mut out = vec![0xa5; usize::try_from(object.descriptor().decoded_len().unwrap()).unwrap()];
        for native_byte_order in [true, false] {
            let options = DecodeOptions { native_byte_order, ..DecodeOptions::default() };
            let count = allocations(|| {
                tgm_std::read(&object).options(&options).scratch(&mut scratch).bytes_into(&mut out).unwrap();
            });
            assert_eq!(count, CORE, "{name}");
            assert_eq!(out, *tgm_std::read(&object).options(&options).bytes().unwrap(), "{name}");
        }
    }
}

#[test]
fn ranges_and_f32_of_packed_values_into_a_buffer_allocate_only_to_open_szip() {
    let doubles: Vec<f64> = (0..5000).map(|i| 280.0 + (f64::from(i) / 50.0).sin()).collect();
    let object = || ObjectBuilder::new(&[5000], &doubles).unwrap().simple_packing(16);
    let options = DecodeOptions::default();
    for (name, object, of_range) in [
        ("packed", object(), CORE),
        ("packed and shuffled", object().shuffle(), CORE),
        ("zstd", object().zstd(3), CORE),
        ("lz4 of shuffled", object().shuffle().lz4(), CORE),
        ("szip, opened for parts", object().szip(), OPENED_PARTS),
    ] {
        let bytes = MessageBuilder::new().object(object).encode().unwrap();
        let object = View::parse(&bytes).unwrap().object(0).unwrap();
        let (mut scratch, mut floats, mut out) = (Scratch::default(), vec![0.0_f32; 5000], vec![0.0_f64; 700]);
        let whole = || {
            tgm_std::read(&object)
                .ranges(&[(0, floats.len() as u64)])
                .options(&options)
                .scratch(&mut scratch)
                .values_into(&mut floats)
                .unwrap();
        };
        assert_eq!(allocations(whole), CORE, "{name}");
        let ranges = [(4000, 600), (7, 100)];
        let part = || {
            tgm_std::read(&object)
                .ranges(&ranges)
                .options(&options)
                .scratch(&mut scratch)
                .values_into(&mut out)
                .unwrap();
        };
        assert_eq!(allocations(part), of_range, "{name}");
    }
}

#[test]
fn decoding_a_message_allocates_only_what_it_gives() {
    let values = vec![1.5_f32; 64];
    for count in [0, 1, 2, 10, 100] {
        let object = || ObjectBuilder::new(&[64], &values).unwrap();
        let message = (0..count).fold(MessageBuilder::new(), |message, _| message.object(object()));
        let (bytes, options) = (message.encode().unwrap(), DecodeOptions::default());
        let owned = allocations(|| tgm_std::decode(&bytes, &options).unwrap());
        // Without objects neither list takes memory.
        let lists = if count == 0 { 2 } else { 0 };
        assert_eq!(owned, DECODED_MESSAGE - lists + count * DECODED_OBJECT, "{count} objects");
        let borrowed = || {
            let objects = View::parse(&bytes).unwrap().objects();
            objects
                .map(|object| tgm_std::read(&object.unwrap()).options(&options).bytes().unwrap().len())
                .sum::<usize>()
        };
        assert_eq!(allocations(borrowed), BORROWED, "{count} objects");
    }
}

#[test]
fn encoding_a_small_message_takes_few_allocations() {
    let descriptor = DataObjectDescriptor::new(Dtype::Float32, ByteOrder::NATIVE, &[256]);
    let (data, metadata, options) = ([0; 1024], GlobalMetadata::default(), EncodeOptions::default());
    let count = allocations(|| tgm_std::encode(&metadata, &[(&descriptor, &data)], &options).unwrap());
    assert_eq!(count, ENCODED);
}

#[test]
fn an_object_found_in_an_object_table_does_not_allocate() {
    let bytes = full();
    let message = View::parse(&bytes).unwrap();
    let table = ObjectTable::new(&message).unwrap();
    assert_eq!(table.len(), 4);
    assert_eq!(allocations(|| table.object(&message, 3).unwrap().payload().len()), CORE);
}

#[test]
fn a_map_lends_messages_and_a_file_reads_each_into_one_buffer() {
    let sample = corpus::sample("realistic/surface-181x360");
    let map = crate::mapped::map(&sample.path).unwrap();
    let borrowed = allocations(|| {
        let message = map.message(0).unwrap();
        let object = message.object(0).unwrap();
        assert!(message.metadata().unwrap().object_count() > 0);
        object.payload().len() + map.message_bytes(0).unwrap().len()
    });
    assert_eq!(borrowed, CORE);
    let file = TensogramFile::open(&sample.path).unwrap();
    assert_eq!(allocations(|| file.read_message(0).unwrap().len()), READ_MESSAGE);
}

/// What a reader of a local file keeps of earlier calls costs each later call: so it keeps little.
#[test]
fn later_reads_of_a_reader_take_the_memory_of_early_ones() {
    let values: Vec<u8> = (0..300_000_u32).map(|i| ((i * 7919) >> 3).to_le_bytes()[0]).collect();
    let object = ObjectBuilder::new(&[values.len() as u64], &values).unwrap();
    let bytes = MessageBuilder::new().object(object).encode().unwrap().repeat(400);
    let reader = Reader::new(&bytes[..], ReadOptions::local());
    assert_eq!(reader.message_count().unwrap(), 400);
    let options = DecodeOptions::default();
    let used: Vec<u64> = (0..400)
        .map(|index| measure(|| reader.decode_range(index, 0, &[(150_000, 10)], &options).unwrap()).1.peak)
        .collect();
    let (early, late) = (used[9], used[300..].iter().copied().min().unwrap());
    assert!(late <= early + early / 2, "{early} and {late} bytes");
}

#[test]
fn the_counting_allocator_counts() {
    let (_, usage) = measure(|| (Vec::<u8>::with_capacity(1000), Box::new(7_u64)));
    assert_eq!((usage.count, usage.peak), (2, 1008));
}
