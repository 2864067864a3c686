//! Writers of messages.

use tgm_std::archive::MessageSink;
use tgm_std::encode::Provenance;
use tgm_std::{Archive, EncodeOptions, MessageBuilder, ObjectBuilder, TensogramError, Writer};

fn object(n: i32) -> ObjectBuilder<'static> {
    ObjectBuilder::from_parts(
        tgm_std::DataObjectDescriptor::new(tgm_std::Dtype::Int32, tgm_std::ByteOrder::NATIVE, &[1]),
        n.to_ne_bytes().to_vec(),
    )
    .metadata("mars.n", n)
}

fn options() -> EncodeOptions {
    let provenance = Some(Provenance {
        time: "2024-01-01T00:00:00Z".into(),
        uuid: "01234567-89ab-4cde-8f01-23456789abcd".into(),
        encoder_name: "test".into(),
        encoder_version: "1".into(),
    });
    EncodeOptions { provenance, ..EncodeOptions::default() }
}

fn write<S: MessageSink>(writer: Writer<S>) -> S {
    let mut writer = writer.options(options());
    writer.extra("a.b", 1).unwrap();
    writer.object(object(1)).unwrap();
    writer.object(object(2)).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_message_is_the_one_of_the_builder_wherever_it_goes() {
    let expected = MessageBuilder::new().options(options()).extra("a.b", 1).object(object(1)).object(object(2));
    let expected = expected.encode().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/a.tgm");
    assert!(write(Writer::memory()) == expected);
    assert!(write(Writer::new(std::io::Cursor::new(Vec::new()))).into_inner() == expected);
    write(Writer::create(&path).unwrap());
    write(Writer::append(&path).unwrap());
    assert!(std::fs::read(&path).unwrap() == [&expected[..], &expected].concat());
    write(Writer::create(&path).unwrap());
    assert!(std::fs::read(&path).unwrap() == expected);
}

#[test]
fn messages_end_where_they_are_told_and_an_empty_one_is_not_written_unasked() {
    let mut writer = Writer::memory();
    for n in 0..3 {
        writer.object(object(n)).unwrap();
        writer.end_message().unwrap();
    }
    let archive = Archive::from_bytes(writer.finish().unwrap());
    assert_eq!(archive.len().unwrap(), 3);
    assert_eq!(archive.object(2, 0).unwrap().read().values::<i32>().unwrap(), [2]);
    assert!(Writer::memory().finish().unwrap().is_empty());
    let mut writer = Writer::memory();
    writer.end_message().unwrap();
    assert_eq!(Archive::from_bytes(writer.finish().unwrap()).len().unwrap(), 1);
}

#[test]
fn what_is_wrong_is_told_at_once_and_nothing_is_written() {
    let mut writer = Writer::memory();
    let wrong = ObjectBuilder::new(&[1], &[1_u8]).unwrap().metadata("extra.a", 1);
    assert!(matches!(writer.object(wrong), Err(TensogramError::Metadata(_))));
    assert!(writer.extra("extra.a", 1).is_err());
    writer.object(object(1)).unwrap();
    writer.object(ObjectBuilder::new(&[1], &[f64::NAN]).unwrap()).unwrap_err();
    assert!(writer.finish().is_err());
}
