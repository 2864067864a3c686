//! Appending to files: what is written piece by piece is what is encoded at once.

use std::fs;

use tgm_std::encode::{AggregateHashPolicy, Provenance};
use tgm_std::file::AppendOptions;
use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, GlobalMetadata, TensogramFile, encode};

fn options() -> EncodeOptions {
    let [time, uuid, encoder_name, encoder_version] = ["2026-01-01T00:00:00Z", "a", "b", "c"].map(str::to_owned);
    let provenance = Some(Provenance { time, uuid, encoder_name, encoder_version });
    EncodeOptions { provenance, ..EncodeOptions::default() }
}

/// A descriptor and bytes of finite values. 1.5 MB are more than what is encoded in memory.
fn object(dtype: Dtype, order: ByteOrder, count: u64) -> (DataObjectDescriptor, Vec<u8>) {
    let len = usize::try_from(dtype.byte_len(count).unwrap()).unwrap();
    // Bytes below 64 are of no exponent that NaN and infinities have.
    (DataObjectDescriptor::new(dtype, order, &[count]), (0..61).cycle().take(len).collect())
}

/// The file after a message, to which `objects` are appended.
fn appended(
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
    sync: bool,
) -> (tgm_std::Result<()>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fields.tgm");
    let mut file = TensogramFile::create(&path).unwrap();
    file.append(&GlobalMetadata::default(), &[], &self::options()).unwrap();
    let how = AppendOptions { sync, ..AppendOptions::default() };
    let done = file.append_with(&GlobalMetadata::default(), objects, options, &how).map(|place| {
        assert_eq!(file.read_message_at(place).unwrap().len() as u64, place.length);
        assert_eq!(file.message_count().unwrap(), 2);
    });
    (done, fs::read(&path).unwrap())
}

/// Whether the message in a file is the one that is encoded, or both are refused with one text.
fn assert_same(objects: &[(DataObjectDescriptor, Vec<u8>)], options: &EncodeOptions, what: &str) {
    let objects: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
    let first = encode(&GlobalMetadata::default(), &[], &self::options()).unwrap();
    let expected = encode(&GlobalMetadata::default(), &objects, options);
    for sync in [false, true] {
        let (done, file) = appended(&objects, options, sync);
        match (&expected, done) {
            (Ok(message), Ok(())) => assert!(file == [&first[..], message].concat(), "{what}"),
            (Err(expected), Err(error)) => {
                assert_eq!(error.to_string(), expected.to_string(), "{what}");
                assert!(file == first, "{what}: the file is as it was");
            }
            (expected, done) => panic!("{what}: {:?}, and in a file {done:?}", expected.as_ref().map(Vec::len)),
        }
    }
}

#[test]
fn long_values_are_the_message_that_is_encoded() {
    use AggregateHashPolicy::{Auto, Both, Footer, None};
    let long = |dtype| object(dtype, ByteOrder::Big, 12_000_000 / dtype.byte_len(8).unwrap());
    for (hashing, descriptor_first, aggregate_hash) in
        [(true, false, Auto), (true, true, Both), (true, false, Footer), (false, false, None)]
    {
        let options = EncodeOptions { hashing, descriptor_first, aggregate_hash, ..options() };
        for dtype in [Dtype::Float32, Dtype::Uint8, Dtype::Complex64, Dtype::Bitmask] {
            assert_same(&[long(dtype)], &options, dtype.name());
        }
        let short = || object(Dtype::Float64, ByteOrder::Little, 3);
        assert_same(
            &[short(), long(Dtype::Float64), object(Dtype::Int16, ByteOrder::Little, 0), short()],
            &options,
            "four",
        );
        let zstd = DataObjectDescriptor { compression: "zstd".into(), ..short().0 };
        if cfg!(feature = "zstd") {
            assert_same(&[long(Dtype::Float64), (zstd, short().1)], &options, "a stage");
        }
    }
}

#[test]
fn values_that_are_not_finite_are_masked_or_refused_as_in_memory() {
    let (descriptor, data) = object(Dtype::Float32, ByteOrder::Little, 400_000);
    // Beginning, end, and both sides of where a piece may end.
    for place in [0, 1, (512 << 8) - 1, 512 << 8, 399_999] {
        let mut data = data.clone();
        data[4 * place..4 * place + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        let objects = [(descriptor.clone(), data)];
        assert_same(&objects, &options(), "refused");
        assert_same(&objects, &EncodeOptions { allow_nan: true, ..options() }, "masked");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let (descriptor, data) = object(Dtype::Float32, ByteOrder::Little, 400_000);
    let other = |change: fn(&mut DataObjectDescriptor)| {
        let mut descriptor = descriptor.clone();
        change(&mut descriptor);
        descriptor
    };
    for wrong in [
        other(|it| it.shape = vec![400_001]),
        other(|it| it.ndim = 2),
        other(|it| it.obj_type.clear()),
        other(|it| drop(it.params.insert("shape".into(), 1.into()))),
        other(|it| it.compression = "zip".into()),
    ] {
        assert_same(&[(wrong, data.clone())], &options(), "a descriptor");
    }
}
