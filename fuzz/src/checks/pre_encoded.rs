//! Pre-encoded objects: every route writes an accepted payload unchanged, and it reads back the same.

use tgm_core::Message;
use tgm_std::{
    DataObjectDescriptor, EncodeOptions, GlobalMetadata, StreamingEncoder, decode, decode_descriptors,
    encode_pre_encoded,
};

use crate::given::Given;
use crate::provenance;

/// Writes the objects of the message at the start of `bytes` as they are, and with one field of the descriptor changed.
pub fn check(bytes: &[u8]) {
    let (Ok(message), Ok((_, descriptors))) = (Message::parse(bytes), decode_descriptors(bytes)) else { return };
    let mut given = Given(bytes);
    for (object, descriptor) in message.objects().flatten().zip(descriptors).take(2) {
        write(&descriptor, object.region());
        write(&changed(descriptor, &mut given), object.region());
    }
}

/// The descriptor with one field changed.
fn changed(mut descriptor: DataObjectDescriptor, given: &mut Given<'_>) -> DataObjectDescriptor {
    let text = |given: &mut Given<'_>, of: &[&str]| String::from(given.choice(of));
    match given.byte() % 7 {
        0 => descriptor.encoding = text(given, &["none", "simple_packing", "x"]),
        1 => descriptor.filter = text(given, &["none", "shuffle", ""]),
        2 => descriptor.compression = text(given, &["none", "szip", "zstd", "rle", "zfp", "sz3", "blosc2"]),
        3 => descriptor.dtype = given.choice(&tgm_std::Dtype::ALL),
        4 => descriptor.shape.push(given.up_to(3)),
        5 => {
            let offsets = (0..given.byte() % 4).map(|_| u64::from(given.byte()).into()).collect();
            descriptor.params.insert("szip_block_offsets".into(), ciborium::Value::Array(offsets));
        }
        _ => {
            let key =
                text(given, &["sp_bits_per_value", "sp_reference_value", "szip_rsi", "shuffle_element_size", "hash"]);
            descriptor.params.insert(key, u64::from(given.number()).into());
        }
    }
    descriptor
}

fn write(descriptor: &DataObjectDescriptor, region: &[u8]) {
    let options = EncodeOptions { provenance: Some(provenance()), ..EncodeOptions::default() };
    let metadata = GlobalMetadata::default();
    let buffered = encode_pre_encoded(&metadata, &[(descriptor, region)], &options);
    let mut encoder = StreamingEncoder::new(Vec::new(), &metadata, &options).expect("default options");
    let streamed = encoder.write_object_pre_encoded(descriptor, region);
    assert_eq!(buffered.is_ok(), streamed.is_ok(), "{:?} {:?}", buffered.err(), streamed.err());
    let Ok(buffered) = buffered else { return };
    let streamed = encoder.finish().expect("an object was written");
    for message in [&buffered, &streamed] {
        let view = Message::parse(message).expect("just written");
        let object = view.objects().next().expect("one object").expect("just written");
        assert_eq!(object.region(), region);
        let (_, found) = decode_descriptors(message).expect("just written");
        assert_eq!(found[0].shape, descriptor.shape);
        assert_eq!((&found[0].encoding, &found[0].filter), (&descriptor.encoding, &descriptor.filter));
    }
    // Both routes wrote the same object.
    let values = [&buffered, &streamed]
        .map(|message| decode(message, &crate::options()).map(|(_, objects)| objects[0].1.clone()));
    assert_eq!(values[0].as_ref().ok(), values[1].as_ref().ok());
}
