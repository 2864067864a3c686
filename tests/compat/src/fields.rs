//! Fields encoded through pipelines and decoded: whole, in ranges, with masks, by iterator.

use std::collections::BTreeMap;

use ciborium::Value;
use tensogram::types::{ByteOrder, MasksMetadata};
use tensogram::{
    AggregateHashPolicy, CompressionBackend, DataObjectDescriptor, DataPipeline, DecodeOptions, DecodedObject, Dtype,
    EncodeOptions, GlobalMetadata, MaskMethod, ObjectIter, Result, apply_pipeline, data_object_inline_hashes, decode,
    decode_descriptors, decode_metadata, decode_object, decode_range, decode_range_from_payload, decode_with_masks,
    encode, encode_pre_encoded, messages, objects, objects_metadata, scan, scan_with_options,
};

/// A descriptor with every field written out, as users of the reference write it.
pub(crate) fn descriptor(dtype: Dtype, shape: &[u64]) -> DataObjectDescriptor {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    DataObjectDescriptor {
        obj_type: "ntensor".to_string(),
        ndim: shape.len() as u64,
        shape: shape.to_vec(),
        strides,
        dtype,
        byte_order: ByteOrder::native(),
        encoding: "none".to_string(),
        filter: "none".to_string(),
        compression: "none".to_string(),
        masks: None,
        params: BTreeMap::new(),
    }
}

pub(crate) fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

pub(crate) fn values(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|chunk| f64::from_ne_bytes(chunk.try_into().unwrap_or_default())).collect()
}

fn wave(count: u32) -> Vec<f64> {
    (0..count).map(|i| 280.0 + 10.0 * (f64::from(i) / 25.0).sin()).collect()
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A message of one object for each pipeline.
fn pipelines() -> std::result::Result<(), Box<dyn std::error::Error>> {
    println!("== pipelines");
    let wave = wave(360);
    let raw = bytes(&wave);
    let mut descriptors = Vec::new();
    for (encoding, bits, filter, compression, level) in [
        ("none", None, "none", "none", None),
        ("none", None, "shuffle", "zstd", Some(5)),
        ("none", None, "none", "lz4", None),
        ("none", None, "shuffle", "szip", None),
        ("simple_packing", None, "none", "none", None),
        ("simple_packing", Some(24), "none", "szip", None),
        ("simple_packing", Some(12), "shuffle", "zstd", None),
    ] {
        let pipeline = DataPipeline {
            encoding: encoding.into(),
            bits,
            filter: filter.into(),
            compression: compression.into(),
            compression_level: level,
        };
        let mut descriptor = descriptor(Dtype::Float64, &[18, 20]);
        apply_pipeline(&mut descriptor, Some(&wave), &pipeline, "wave")?;
        descriptors.push(descriptor);
    }
    let list: Vec<(&DataObjectDescriptor, &[u8])> = descriptors.iter().map(|d| (d, raw.as_slice())).collect();
    let options = EncodeOptions {
        compression_backend: CompressionBackend::Auto,
        threads: 2,
        parallel_threshold_bytes: Some(0),
        aggregate_hash: AggregateHashPolicy::Both,
        ..Default::default()
    };
    let message = encode(&GlobalMetadata::default(), &list, &options)?;
    let strict = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let (metadata, decoded) = decode(&message, &strict)?;
    println!("{} objects, {} of metadata", decoded.len(), metadata.num_objects());
    for (descriptor, data) in &decoded {
        let loss = farthest(&wave, &values(data));
        let keys: Vec<&String> = descriptor.params.keys().collect();
        println!(
            "{}+{}+{} {} elements, loss below {:.0e}, {keys:?}",
            descriptor.encoding,
            descriptor.filter,
            descriptor.compression,
            descriptor.num_elements()?,
            if loss == 0.0 { 0.0 } else { 2_f64.powf(loss.log2().ceil()) },
        );
    }
    for i in [0, 4, 5] {
        let (descriptor, parts) = decode_range(&message, i, &[(300, 2), (0, 3), (360, 0)], &DecodeOptions::default())?;
        let parts: Vec<Vec<i64>> =
            parts_of(&parts).iter().map(|part| part.iter().map(|x| (x * 100.0).round() as i64).collect()).collect();
        println!("range of {} {}: {parts:?}", descriptor.encoding, descriptor.compression);
        if i == 0 {
            let parts = decode_range_from_payload(&descriptor, &raw, &[(1, 1)], &DecodeOptions::default())?;
            println!("range of a payload: {:?}", parts_of(&parts) == [[wave[1]]]);
        }
    }
    // A decoded descriptor can be used again unchanged.
    let (_, last, _) = decode_object(&message, 6, &DecodeOptions::default())?;
    println!("last again: {} {}", last.dtype, serde_json::to_string(&last.byte_order)?);
    Ok(())
}

fn parts_of(parts: &[Vec<u8>]) -> Vec<Vec<f64>> {
    parts.iter().map(|part| values(part)).collect()
}

fn pre_encoded() -> Result<()> {
    println!("== pre-encoded");
    let mut packed = descriptor(Dtype::Float64, &[4]);
    packed.encoding = "simple_packing".into();
    for (key, value) in [
        ("sp_reference_value", Value::from(10.0)),
        ("sp_binary_scale_factor", Value::from(1)),
        ("sp_decimal_scale_factor", Value::from(0)),
        ("sp_bits_per_value", Value::from(8)),
    ] {
        packed.params.insert(key.to_string(), value);
    }
    let message =
        encode_pre_encoded(&GlobalMetadata::default(), &[(&packed, &[0, 1, 2, 255])], &EncodeOptions::default())?;
    let (_, objects): (GlobalMetadata, Vec<DecodedObject>) = decode(&message, &DecodeOptions::default())?;
    println!("{:?}", values(&objects[0].1));
    Ok(())
}

fn masks() -> Result<()> {
    println!("== masks");
    let data = [1.0, f64::NAN, f64::INFINITY, 4.0, f64::NEG_INFINITY, f64::NAN];
    let options = EncodeOptions {
        allow_nan: true,
        allow_inf: true,
        nan_mask_method: MaskMethod::Rle,
        pos_inf_mask_method: MaskMethod::from_name("zstd").unwrap_or_default(),
        neg_inf_mask_method: MaskMethod::Lz4,
        small_mask_threshold_bytes: 0,
        ..EncodeOptions::default()
    };
    let descriptor = descriptor(Dtype::Float64, &[6]);
    let message = encode(&GlobalMetadata::default(), &[(&descriptor, &bytes(&data))], &options)?;
    let (_, decoded) = decode(&message, &DecodeOptions::default())?;
    println!("{:?}", values(&decoded[0].1));
    let masks: MasksMetadata = decoded[0].0.masks.clone().unwrap_or_default();
    for mask in [&masks.nan, &masks.pos_inf, &masks.neg_inf].into_iter().flatten() {
        println!("{} at {}, {} params", mask.method, mask.offset, mask.params.len());
    }
    let zeros = DecodeOptions { restore_non_finite: false, ..Default::default() };
    println!("{:?}", values(&decode_object(&message, 0, &zeros)?.2));
    let (_, with) = decode_with_masks(&message, &DecodeOptions::default())?;
    let set = &with[0].masks;
    println!("{:?} {:?} {:?} {}", set.nan, set.pos_inf, set.neg_inf, set.is_empty());
    println!("{:?} {}", values(&with[0].payload), with[0].descriptor.dtype);
    for method in
        [MaskMethod::None, MaskMethod::Roaring, MaskMethod::Rle, MaskMethod::Lz4, MaskMethod::Zstd { level: Some(9) }]
    {
        print!("{} ", method.name());
    }
    println!("{}", MaskMethod::from_name("gzip").is_err());
    Ok(())
}

/// Keeps the objects that are not read yet, as programs with a reading loop do.
struct Reader {
    rest: ObjectIter,
}

impl Reader {
    fn next(&mut self) -> Option<Result<(DataObjectDescriptor, Vec<u8>)>> {
        self.rest.next()
    }
}

fn iterators() -> Result<()> {
    println!("== iterators");
    let a = descriptor(Dtype::Uint8, &[3]);
    let mut b = descriptor(Dtype::Int16, &[2]);
    b.byte_order = ByteOrder::Big;
    let one =
        encode(&GlobalMetadata::default(), &[(&a, &[1, 2, 3]), (&b, &[0, 1, 255, 255])], &EncodeOptions::default())?;
    let two = encode(&GlobalMetadata::default(), &[], &EncodeOptions { hashing: false, ..Default::default() })?;
    let buffer = [one.as_slice(), b"between", &two].concat();
    println!("{} messages, {}", messages(&buffer).len(), scan(&buffer) == [(0, one.len()), (one.len() + 7, two.len())]);
    let forward = tensogram::ScanOptions { bidirectional: false, max_message_size: 1 << 20 };
    println!("{}", scan_with_options(&buffer, &forward) == scan(&buffer));
    for message in messages(&buffer) {
        println!("{} objects, {} entries", decode_descriptors(message)?.1.len(), decode_metadata(message)?.base.len());
    }
    let mut reader =
        Reader { rest: objects(&buffer, DecodeOptions { native_byte_order: false, ..Default::default() })? };
    println!("{} left", reader.rest.len());
    while let Some(object) = reader.next() {
        let (descriptor, data) = object?;
        println!("{} {:?} {data:?}", descriptor.dtype, descriptor.byte_order);
    }
    let described: Vec<String> = objects_metadata(&one)?.map(|d| format!("{}{:?}", d.dtype, d.shape)).collect();
    println!("{described:?}");
    let hashes = data_object_inline_hashes(&one)?;
    println!("{} digests, {}", hashes.len(), hashes.iter().all(Option::is_some));
    Ok(())
}

pub(crate) fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    pipelines()?;
    pre_encoded()?;
    masks()?;
    iterators()?;
    Ok(())
}
