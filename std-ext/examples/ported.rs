//! A program written for the crate `tensogram`: one line is different, the first.

use tgm_std as tensogram; // or, in Cargo.toml: tensogram = { package = "tgm-std", … }

use std::collections::BTreeMap;

use tensogram::{
    ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, StreamingEncoder,
    TensogramFile, ValidateOptions,
};

fn descriptor(shape: &[u64]) -> DataObjectDescriptor {
    DataObjectDescriptor {
        obj_type: "ntensor".to_string(),
        ndim: shape.len() as u64,
        shape: shape.to_vec(),
        strides: vec![shape[1], 1],
        dtype: Dtype::Float32,
        byte_order: ByteOrder::native(),
        encoding: "none".to_string(),
        filter: "shuffle".to_string(),
        compression: "szip".to_string(),
        masks: None,
        params: BTreeMap::from([
            ("shuffle_element_size".to_string(), 4.into()),
            ("szip_rsi".to_string(), 128.into()),
            ("szip_block_size".to_string(), 16.into()),
            ("szip_flags".to_string(), 8.into()),
        ]),
    }
}

/// Writes and reads a field in three ways.
pub fn main() -> tensogram::Result<()> {
    let field: Vec<u8> = (0..600_u16).flat_map(|i| (f32::from(i) / 4.0).to_ne_bytes()).collect();
    let about = BTreeMap::from([("param".to_string(), "2t".into())]);
    let metadata = GlobalMetadata { base: vec![about.clone()], ..Default::default() };
    let descriptor = descriptor(&[20, 30]);

    // Buffered.
    let message = tensogram::encode(&metadata, &[(&descriptor, &field)], &EncodeOptions::default())?;
    let (metadata, objects) = tensogram::decode(&message, &DecodeOptions::default())?;
    assert_eq!(metadata.get("param").and_then(|param| param.as_str()), Some("2t"));
    assert_eq!(objects[0].1, field);
    assert!(tensogram::validate_message(&message, &ValidateOptions::default()).is_ok());

    // Streamed.
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default())?;
    encoder.write_preceder(about)?;
    encoder.write_object(&descriptor, &field)?;
    let streamed = encoder.finish()?;
    let (_, ranges) = tensogram::decode_range(&streamed, 0, &[(10, 5)], &DecodeOptions::default())?;
    assert_eq!(ranges[0], field[40..60]);

    // A file.
    let folder = tempfile::tempdir()?;
    let mut file = TensogramFile::create(folder.path().join("fields.tgm"))?;
    file.append(&GlobalMetadata::default(), &[(&descriptor, &field)], &EncodeOptions::default())?;
    assert_eq!(file.message_count()?, 1);
    println!("{} bytes buffered, {} bytes streamed", message.len(), streamed.len());
    Ok(())
}
