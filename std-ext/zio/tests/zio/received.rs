//! Messages that came and are sent on, and the parts that a builder gives to things.

use bytes::Bytes;
use tgm_std::ByteOrder;
use tgm_zio::{
    Coords, Envelope, ErrorKind, Form, Level, Message, Parts, Payload, Received, Tens, TensBuilder, Tensor,
    TensorBuilder, file,
};

use crate::vectors::{id, list, order, parts};

const ORDER: ByteOrder = ByteOrder::Little;

#[test]
fn frames_come_in_and_go_out_without_a_copy() {
    for vector in list("valid.json", "vectors", 53) {
        let parts = parts(&vector);
        let frames: Vec<Bytes> =
            [vec![b"peer".to_vec(), vec![]], parts.clone()].concat().into_iter().map(Bytes::from).collect();
        let received = Received::from_frames(frames.clone(), Envelope::Router, order(&vector)).unwrap();
        assert_eq!(received.identity(), Some(&frames[0]));
        let sent = received.to_parts().unwrap().into_frames(Envelope::Router, received.identity()).unwrap();
        assert_eq!(sent, frames, "{}", id(&vector));
        for (sent, came) in sent.iter().zip(&frames).skip(4) {
            assert_eq!(sent.as_ptr(), came.as_ptr());
        }
        // As a single buffer: its parts are slices of it.
        let buffer = Bytes::from(received.to_parts().unwrap().to_buffer().unwrap());
        let range = buffer.as_ptr_range();
        let packed = Received::from_frames([buffer.clone()], Envelope::Plain, order(&vector)).unwrap();
        assert_eq!(packed.parts(), parts, "{}", id(&vector));
        assert!(packed.parts().iter().filter(|part| !part.is_empty()).all(|part| range.contains(&part.as_ptr())));
    }
}

#[test]
fn what_came_is_added_to_and_sent_on() {
    for vector in list("valid.json", "vectors", 53) {
        let parts = parts(&vector);
        let message = Message::from_parts(&parts, order(&vector)).unwrap();
        let tens = Tens::parse(&message).unwrap();
        let same = tens.to_builder().build().unwrap().parts;
        // A storage order that is the default is not written.
        let is_said = |tensor: &Tensor<'_>| tensor.order().is_some() || tensor.ascend().is_some();
        if !tens.tensors().iter().any(|tensor| tensor.layout().is_row_major() && is_said(tensor)) {
            assert_eq!(same.label(), tens.to_label().as_bytes(), "{}", id(&vector));
        }
        assert!(same.payloads().iter().zip(message.payloads()).all(|(sent, came)| sent.as_ptr() == came.as_ptr()));
        assert_eq!(same.payloads().len(), message.payloads().len());

        let more = [1_u8, 2];
        let builder =
            tens.to_builder().tensor(TensorBuilder::new(&[2], &more)).edit(0, |tensor| tensor.metadata("seen"));
        let sent = builder.build().unwrap().parts;
        let slices = sent.as_slices();
        let again = Message::from_parts(&slices, order(&vector)).unwrap();
        assert_eq!((again.level(), again.form(), again.coords()), (message.level(), message.form(), message.coords()));
        let again = Tens::parse(&again).unwrap();
        assert_eq!(again.tensors().len(), tens.tensors().len() + 1);
        assert_eq!(again.tensors()[0].metadata().unwrap(), "seen");
        assert_eq!(again.tensors().last().unwrap().bytes(), more);
    }
}

#[test]
fn things_go_into_the_parts_that_they_say() {
    let (first, second) = ([1_u8, 2], [3_u8, 4]);
    let tensor = |values| TensorBuilder::new(&[2], values);
    let build = |builder: TensBuilder<'_>| builder.build().map(|built| built.parts.into_vecs().split_off(2));
    let placed = TensBuilder::new().tensor(tensor(&first).part(1)).tensor(tensor(&second)).part_at(2, b"mine");
    assert_eq!(build(placed).unwrap(), [&[3, 4][..], &[1, 2], b"mine"]);
    // Two tensors of one part, given twice, once, or as the application's.
    let twice = TensBuilder::new().tensor(tensor(&first).part(0)).tensor(tensor(&first).part(0));
    assert_eq!(build(twice).unwrap(), [[1, 2]]);
    let shared = TensBuilder::new().tensor(tensor(&first)).tensor(TensorBuilder::in_part(&[1], "u", 2, 0));
    assert_eq!(build(shared).unwrap(), [[1, 2]]);
    let application = TensBuilder::new().part(b"ab").tensor(TensorBuilder::in_part(&[2], "u", 1, 0));
    assert_eq!(build(application).unwrap(), [b"ab"]);
    for (wrong, kind) in [
        (TensBuilder::new().tensor(tensor(&first).part(0)).tensor(tensor(&second).part(0)), ErrorKind::PartTaken),
        (TensBuilder::new().part_at(0, b"a").part_at(0, b"b"), ErrorKind::PartTaken),
        (TensBuilder::new().part_at(usize::MAX, b"a"), ErrorKind::PartOutOfRange),
        (TensBuilder::new().tensor(tensor(&first).part(1)), ErrorKind::PartOutOfRange),
        (TensBuilder::new().tensor(TensorBuilder::in_part(&[2], "u", 1, 0)), ErrorKind::PartOutOfRange),
        (TensBuilder::new().part(b"abc").tensor(TensorBuilder::in_part(&[2], "u", 1, 0)), ErrorKind::SizeMismatch),
    ] {
        assert_eq!(build(wrong).unwrap_err().kind(), kind);
    }
}

#[test]
fn a_payload_keeps_its_memory() {
    let bytes = Bytes::from(vec![1, 2, 3]);
    for payload in [Payload::from(bytes.clone()), Payload::from(&bytes[..]), Payload::from(vec![1, 2, 3])] {
        assert_eq!(payload, Payload::from(&[1, 2, 3]));
        let is_shared = matches!(payload, Payload::Shared(_));
        assert_eq!(payload.into_bytes().as_ptr() == bytes.as_ptr(), is_shared);
    }
}

/// A source that gives one byte at a time.
struct Drops<'a>(&'a [u8]);

impl std::io::Read for Drops<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = out.len().min(1);
        std::io::Read::read(&mut self.0, &mut out[..n])
    }
}

#[test]
fn files_are_read_one_message_at_a_time() {
    let mut row = Vec::new();
    for vector in list("valid.json", "vectors", 53) {
        let parts = parts(&vector);
        let message = Parts::of_message(&Message::from_parts(&parts, order(&vector)).unwrap());
        file::write(&mut row, &message).unwrap();
        let bare = message.to_buffer().unwrap();
        let found: Vec<_> = file::Reader::new(&bare[..]).map(Result::unwrap).collect();
        assert_eq!(found, [(0, bare)], "{}", id(&vector));
    }
    let whole: Vec<_> =
        file::messages(&row).map(|found| found.map(|(at, bytes)| (at, bytes.to_vec())).unwrap()).collect();
    assert_eq!(file::Reader::new(&row[..]).map(Result::unwrap).collect::<Vec<_>>(), whole);
    assert_eq!(file::Reader::new(Drops(&row)).map(Result::unwrap).collect::<Vec<_>>(), whole);
    // Cut anywhere, it gives what is whole, and the same error as a file in memory.
    for cut in (0..row.len().min(900)).chain([row.len() - 1]) {
        let read: Vec<_> =
            file::Reader::new(&row[..cut]).map(|found| found.map_err(|error| error.to_string())).collect();
        let memory = file::messages(&row[..cut]).map(|found| match found {
            Ok((at, bytes)) => Ok((at, bytes.to_vec())),
            Err(error) => Err(tgm_std::TensogramError::from(error).to_string()),
        });
        assert_eq!(read, memory.collect::<Vec<_>>(), "{cut}");
    }
    // A size that promises 4 GiB costs nothing.
    assert!(file::Reader::new(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1][..]).next().unwrap().is_err());
}

#[test]
fn messages_of_flow_and_text_have_no_tensors() {
    let find = |form: &[u8; 4], label: &[u8]| {
        let parts = Parts::new(Level::Info, Form(*form), label, Coords::default(), ORDER, [&b""[..]; 0]).into_vecs();
        Tens::find(&Message::from_parts(&parts, ORDER).unwrap()).map(|tens| tens.is_some())
    };
    for (form, label) in
        [(b"TEXT", &b"hello"[..]), (b"FLOW", b"{\"flow\":\"EOT\"}"), (b"BUFF", b"\xFF"), (b"    ", b"[]")]
    {
        assert_eq!(find(form, label), Ok(false));
    }
    assert_eq!(find(b"FLOW", b"{\"flow\":\"DAT\",\"TENS\":{}}"), Ok(true));
    assert_eq!(find(b"TENS", b"{}").unwrap_err().kind(), ErrorKind::NoTens);
    assert_eq!(find(b"FLOW", b"{\"TENS\":1}").unwrap_err().kind(), ErrorKind::TensNotObject);
}
