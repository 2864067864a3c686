//! Files that are created, appended to, opened again and read.

use std::error::Error;
use std::fs::File;

use ciborium::Value;
use tensogram::{
    DecodeOptions, Dtype, EncodeOptions, FileMessageIter, GlobalMetadata, MessageLayout, RemoteScanOptions,
    ScanOptions, TensogramError, TensogramFile, scan_file, scan_file_with_options,
};

use crate::fields::descriptor;

/// Counts objects of a file, as a pipeline stage that owns its input does.
struct Counter {
    messages: FileMessageIter,
}

impl Counter {
    fn count(self) -> Result<usize, TensogramError> {
        let mut count = 0;
        for message in self.messages {
            count += tensogram::decode_descriptors(&message?)?.1.len();
        }
        Ok(count)
    }
}

pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    println!("== files");
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("new/fields.tgm");
    let mut file = TensogramFile::create(&path)?;
    println!("{} messages", file.message_count()?);
    let (a, b) = (descriptor(Dtype::Int32, &[2]), descriptor(Dtype::Uint8, &[2, 2]));
    for step in 0_i32..3 {
        let entry = [("step".to_string(), Value::from(step))].into_iter().collect();
        let metadata = GlobalMetadata { base: vec![entry], ..GlobalMetadata::default() };
        let data: Vec<u8> = [step, -step].iter().flat_map(|value| value.to_ne_bytes()).collect();
        file.append(&metadata, &[(&a, &data), (&b, &[1, 2, 3, 4])], &EncodeOptions::default())?;
    }
    println!("{} messages", file.message_count()?);
    file.invalidate_offsets();
    println!("{} {} {}", file.path() == Some(&path), file.source() == path.display().to_string(), file.is_remote());

    let file = TensogramFile::open(&path)?;
    let layouts: Vec<MessageLayout> = file.message_layouts()?;
    println!("{}", layouts.iter().zip(layouts.iter().skip(1)).all(|(a, b)| a.offset + a.length == b.offset));
    for index in 0..file.message_count()? {
        let (metadata, objects) = file.decode_message(index, &DecodeOptions::default())?;
        println!("{:?} {:?}", metadata.get_at(0, "step").and_then(|step| step.as_i64()), objects[0].1);
    }
    println!("{:?}", file.decode_metadata(2)?.get("step").and_then(|step| step.as_u64()));
    println!("{}", file.decode_descriptors(0)?.1[1].dtype);
    println!("{:?}", file.decode_object(1, 1, &DecodeOptions::default())?.2);
    println!("{:?}", file.decode_range(1, 1, &[(1, 2)], &DecodeOptions::default())?.1);
    println!("{}", file.read_message(0)?.starts_with(tensogram::wire::MAGIC));
    println!("{} objects", Counter { messages: file.iter()? }.count()?);

    let mut handle = File::open(&path)?;
    let extents = scan_file(&mut handle)?;
    println!("{}", extents == scan_file_with_options(&mut handle, &ScanOptions::default())?);
    println!("{}", extents.len() == layouts.len());
    let text = path.display().to_string();
    println!("{}", TensogramFile::open_source(&text, None)?.message_count()?);
    let options = RemoteScanOptions { bidirectional: false };
    println!("{} {options:?}", TensogramFile::open_source(text, Some(options))?.message_count()?);
    match TensogramFile::open(folder.path().join("none.tgm")) {
        Err(TensogramError::Io(error)) => println!("{}", error.to_string().starts_with("file not found: ")),
        other => println!("{other:?}", other = other.map(|_| ())),
    }
    Ok(())
}
