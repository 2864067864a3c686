//! What views and events say of the sample messages, by every way that leads to the same thing.

use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Filter, MaskKind, Stage};
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::index::{HashList, Index, IndexEntry};
use tgm_core::metadata::Metadata;
use tgm_core::phase::DecodePhase;
use tgm_core::push::{Event, Link, PushDecoder, PushState};
use tgm_core::stored::Stored;
use tgm_core::wire::FrameType;
use tgm_core::{ErrorKind, Message};

const SAMPLES: [&[u8]; 7] = [
    include_bytes!("../samples/b16-none-szip.tgm"),
    include_bytes!("../samples/backfilled-0.24.0.tgm"),
    include_bytes!("../samples/bits16.tgm"),
    include_bytes!("../samples/cbor-before-payload-mask-rle.tgm"),
    include_bytes!("../samples/float32-little.tgm"),
    include_bytes!("../samples/none-szip-int16-big.tgm"),
    include_bytes!("../samples/some-objects.tgm"),
];

fn messages() -> impl Iterator<Item = Message<'static>> {
    SAMPLES.into_iter().map(|bytes| Message::parse(bytes).unwrap())
}

fn frames<'a>(message: &Message<'a>) -> Vec<Frame<'a>> {
    message.frames().map(Result::unwrap).collect()
}

#[test]
fn frames_are_the_bytes_that_their_headers_say() {
    for message in messages() {
        let bytes = message.as_bytes();
        for frame in frames(&message) {
            let at = |offset: u64| usize::try_from(offset).unwrap();
            let whole = &bytes[at(frame.offset())..at(frame.end_offset())];
            assert_eq!(frame.header().total_length.get(), frame.total_length());
            assert_eq!((&whole[..2], &whole[whole.len() - 4..]), (&b"FR"[..], &b"ENDF"[..]));
            let again = Frame::parse_at(whole, frame.offset()).unwrap();
            assert_eq!((again.0.body(), again.1.len()), (frame.body(), 0));
            assert_eq!(&bytes[at(frame.body_offset())..][..frame.body().len()], frame.body());
            assert_eq!(Frame::parse(whole).unwrap().0.offset(), 0);
        }
        assert_eq!(message.preamble().total_length.get(), message.total_length().unwrap_or(0));
        assert_eq!(message.postamble().map(|postamble| &postamble.magic), Some(b"39277777"));
    }
}

#[test]
fn a_walk_goes_on_from_its_place_and_phase() {
    for message in messages() {
        let all = frames(&message);
        for taken in 0..=all.len() {
            let mut walk = message.frames();
            assert_eq!(walk.by_ref().take(taken).count(), taken);
            let rest = message.frames_at(walk.position(), walk.phase());
            assert!(rest.map(|frame| frame.unwrap().offset()).eq(all[taken..].iter().map(Frame::offset)));
        }
    }
}

#[test]
fn an_index_lists_the_objects_in_every_way_it_is_asked() {
    let mut seen = 0;
    for message in messages() {
        let objects: Vec<_> =
            frames(&message).into_iter().filter(|f| f.frame_type() == FrameType::NTensorFrame).collect();
        let Some(index) = message.find_index().unwrap() else { continue };
        seen += 1;
        let own: Vec<_> = objects.iter().map(|frame| (frame.offset(), frame.total_length())).collect();
        assert_eq!((index.len(), index.is_empty()), (own.len(), own.is_empty()));
        assert!(index.is_ascending() && index.iter().len() == own.len());
        assert!(index.into_iter().map(|entry| (entry.offset, entry.length)).eq(own.iter().copied()));
        assert!((&index).into_iter().map(|entry| entry.offset).eq(index.offsets()));
        assert!(index.iter().map(|entry| entry.length).eq(index.lengths()));
        for (i, frame) in objects.iter().enumerate() {
            assert_eq!(index.get(i).map(|entry| (entry.offset, entry.length)), Some(own[i]));
            let by_index = message.object_at(index.get(i).unwrap()).unwrap();
            assert_eq!(by_index.frame().offset(), frame.offset());
            assert_eq!(message.object(i).unwrap().payload(), message.object_by_walk(i).unwrap().payload());
            assert_eq!(message.object_frame(i).unwrap().offset(), frame.offset());
        }
        assert_eq!(index.get(own.len()).map(|entry| entry.offset), None);
        assert!(message.object(own.len()).is_err() && message.object_by_walk(own.len()).is_err());
        assert_eq!(message.verify_index(), Ok(()));
    }
    assert!(seen > 0);
}

#[test]
fn hash_lists_have_the_digests_of_the_objects_as_text_and_as_numbers() {
    let mut seen = 0;
    for message in messages() {
        let slots: Vec<_> = message.objects().map(|object| object.unwrap().frame().hash_slot()).collect();
        for frame in frames(&message) {
            if !matches!(frame.frame_type(), FrameType::HeaderHash | FrameType::FooterHash) {
                continue;
            }
            seen += 1;
            let list = HashList::parse(&frame).unwrap();
            assert_eq!((list.len(), list.is_empty(), list.is_xxh3()), (slots.len(), slots.is_empty(), Some(true)));
            assert!(list.algorithm().unwrap() == *"xxh3");
            assert!(list.iter().map(Result::unwrap).eq(slots.iter().copied()));
            assert!(list.texts().zip(&slots).all(|(text, slot)| text.unwrap() == *format!("{slot:016x}")));
        }
        let presence = message.hash_presence().unwrap();
        assert_eq!(message.verify_hash_lists(presence), Ok(()));
        assert!(message.verify(presence).all(|verified| verified.is_ok()));
    }
    assert!(seen > 0);
    let empty = HashList::from_body(&[0xa0], 0).unwrap();
    assert!(
        empty.is_empty() && empty.algorithm().is_none() && empty.is_xxh3().is_none() && empty.texts().next().is_none()
    );
    // {"hashes": […]}: 16 hexadecimal digits, of either case; no fewer, and no others.
    for (text, number) in [("0123456789abCDEF", Some(0x0123_4567_89ab_cdef)), ("123", None), ("0123456789abcdeg", None)]
    {
        let head = [0x60 + u8::try_from(text.len()).unwrap()];
        let body = [&[0xa1, 0x66][..], b"hashes", &[0x81], &head, text.as_bytes()].concat();
        assert_eq!(HashList::from_body(&body, 0).unwrap().iter().next().unwrap().ok(), number, "{text}");
    }
}

#[test]
fn metadata_of_objects_is_the_same_one_by_one_and_in_a_row() {
    for message in messages() {
        let metadata = message.metadata().unwrap();
        assert_eq!(metadata.object_count(), message.objects().count());
        assert!(
            metadata
                .data_objects()
                .map(|o| o.unwrap().frame().offset())
                .eq(message.objects().map(|o| o.unwrap().frame().offset()))
        );
        assert_eq!(
            metadata.frame().as_encoded(),
            message.outline().unwrap().metadata(&message).unwrap().frame().as_encoded()
        );
        let mut count = 0;
        for (i, object) in metadata.objects().enumerate() {
            let (object, alone) = (object.unwrap(), metadata.object(i).unwrap().unwrap());
            let keys = |entries: Vec<_>| -> Vec<String> {
                entries
                    .into_iter()
                    .map(|entry: tgm_core::Result<(tgm_core::cbor::Value<'_>, _)>| {
                        entry.unwrap().0.as_text().unwrap().to_string()
                    })
                    .collect()
            };
            assert_eq!(keys(object.entries().collect()), keys(alone.entries().collect()));
            // What the library wrote is kept apart from the application's keys.
            let reserved = object.base().and_then(|base| base.get("_reserved_").unwrap());
            assert_eq!(object.reserved().unwrap().map(|map| map.offset()), reserved.map(|map| map.offset()));
            assert!(reserved.is_some() && metadata.get_at(i, "_reserved_").unwrap().is_none());
            count += 1;
        }
        assert_eq!(count, metadata.object_count());
        assert!(metadata.object(count).unwrap().is_none() && metadata.get_at(count, "a").unwrap().is_none());
        assert_eq!(metadata.frame().base_entries().count(), metadata.frame().base_len());
    }
}

/// Push decoding gives the same CBOR of metadata, index and hash frames as reading the whole message.
#[test]
fn events_open_the_same_cbor_as_frames() {
    for message in messages() {
        let mut whole = frames(&message).into_iter().filter(|frame| frame.frame_type() != FrameType::NTensorFrame);
        let mut decoder = PushDecoder::<4096>::new(Link::Reliable);
        let mut input = message.as_bytes();
        assert!(format!("{decoder:?}").contains("4096"));
        while let Some(event) = decoder.next_event(&mut input).unwrap() {
            match event {
                Event::Cbor(cbor) => {
                    let frame = whole.next().unwrap();
                    assert_eq!(
                        (cbor.frame_type(), cbor.as_bytes(), cbor.offset()),
                        (frame.frame_type(), frame.body(), frame.body_offset())
                    );
                    assert!(format!("{cbor:?}").contains(&format!("len: {}", cbor.as_bytes().len())));
                    assert!(matches!(cbor.verdict(), Verdict::Good | Verdict::Missing), "{:?}", cbor.verdict());
                    match cbor.frame_type() {
                        FrameType::HeaderIndex | FrameType::FooterIndex => {
                            assert!(cbor.index().unwrap().iter().eq(Index::parse(&frame).unwrap()));
                        }
                        FrameType::HeaderHash | FrameType::FooterHash => {
                            assert_eq!(cbor.hash_list().unwrap().len(), HashList::parse(&frame).unwrap().len());
                        }
                        _ => {
                            let metadata = Metadata::of_frame(&frame).unwrap();
                            assert_eq!(cbor.metadata().unwrap().as_encoded(), metadata.as_encoded());
                        }
                    }
                }
                Event::Chunk(chunk) => assert!(format!("{chunk:?}").contains(&format!("len: {}", chunk.bytes.len()))),
                _ => {}
            }
        }
        assert!(whole.next().is_none());
        assert_eq!(
            (decoder.finish(), decoder.position(), decoder.missed()),
            (Ok(()), message.as_bytes().len() as u64, None)
        );
    }
}

#[test]
fn views_show_their_shape_and_no_values() {
    for message in messages() {
        let length = message.as_bytes().len();
        assert!(format!("{message:?}").contains(&format!("given: {length}")));
        assert!(frames(&message).iter().all(|frame| format!("{frame:?}").contains("total_length")));
        assert!(message.objects().all(|object| format!("{:?}", object.unwrap().descriptor()).contains("dtype")));
        assert!(format!("{:?}", message.frames()).contains("walk"));
    }
    assert!(format!("{:?}", PushState::new(Link::Lossy)).contains("Lossy"));
    let message = Message::parse(SAMPLES[4]).unwrap();
    let object = message.object(0).unwrap();
    let view = object.view::<f32>().unwrap();
    assert!(format!("{view:?}").contains("Little") && format!("{view:?}").len() < 200);
}

#[test]
fn names_of_byte_orders_and_types_lead_back_to_them() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        assert_eq!((ByteOrder::from_name(order.name()), order.to_string()), (Some(order), order.name().to_owned()));
    }
    assert_eq!((ByteOrder::from_name("middle"), ByteOrder::native()), (None, ByteOrder::NATIVE));
    assert_eq!(ByteOrder::NATIVE == ByteOrder::Little, 1_u16.to_ne_bytes() == [1, 0]);
    for dtype in Dtype::ALL {
        assert_eq!((Dtype::from_name(dtype.name()), dtype.to_string()), (Some(dtype), dtype.name().to_owned()));
    }
    for name in ["", "float", "Float32", "float32 ", "bitmas", "uint128"] {
        assert_eq!(Dtype::from_name(name), None);
    }
}

#[test]
fn slots_are_checked_where_the_message_says_that_it_has_digests() {
    for message in messages() {
        for frame in frames(&message) {
            let verdict = message.hash_presence().unwrap().check(&frame);
            assert!(matches!(verdict, Verdict::Good | Verdict::Missing));
            assert_eq!(HashPresence::Flagged.covers(&frame), frame.has_hash_flag());
        }
    }
}

/// A streamed message may be as short as its preamble and its postamble.
#[test]
fn a_message_without_frames_is_a_message() {
    let whole = SAMPLES[4];
    let mut empty = [&whole[..24], &whole[whole.len() - 24..]].concat();
    empty[16..24].fill(0);
    let message = Message::parse(&empty).unwrap();
    assert_eq!((message.total_length(), message.frames().count()), (None, 0));
    assert!(message.postamble().is_some());
    let error = Message::parse(&empty[..47]).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated, 47));
}

/// Writers that cannot go back leave 0 in the postamble, even if the preamble states the length.
#[test]
fn the_postamble_may_leave_the_length_open() {
    let mut bytes = SAMPLES[4].to_vec();
    let at = bytes.len() - 16;
    assert_eq!(bytes[at..at + 8], SAMPLES[4][16..24]);
    bytes[at..at + 8].fill(0);
    assert!(Message::parse(&bytes).is_ok());
    bytes[at + 7] = 1;
    let error = Message::parse(&bytes).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::TotalLengthMismatch, at as u64));
}

/// An index leads to frames, which may be damaged. That is another error than an index that leads elsewhere.
#[test]
fn damage_at_the_end_of_a_frame_is_not_an_error_of_the_index() {
    let mut seen = 0;
    for message in messages().filter(|message| message.find_index().unwrap().is_some()) {
        let frame = *message.object(0).unwrap().frame();
        let entry = message.find_index().unwrap().unwrap().get(0).unwrap();
        let mut bytes = message.as_bytes().to_vec();
        bytes[usize::try_from(frame.end_offset()).unwrap() - 1] ^= 1;
        let damaged = Message::parse(&bytes).unwrap();
        assert_eq!(damaged.object_at(entry).unwrap_err().kind(), ErrorKind::FrameEnd);
        let whole = |offset, length| message.object_at(IndexEntry { offset, length }).map(|_| ());
        assert!(whole(entry.offset, entry.length).is_ok());
        for (offset, length) in [(entry.offset, entry.length + 8), (entry.offset + 8, entry.length), (24, 0)] {
            assert_eq!(whole(offset, length).unwrap_err().kind(), ErrorKind::IndexEntry, "{offset}, {length}");
        }
        seen += 1;
    }
    assert!(seen > 0);
}

/// Values, packed values or shuffled elements: bytes are offered in the one form that they have.
#[test]
fn stored_bytes_say_in_which_form_they_are() {
    let object = Message::parse(SAMPLES[2]).unwrap().object(0).unwrap();
    let (descriptor, payload) = (object.descriptor(), object.payload());
    let packed = object.stored().unwrap();
    assert!(packed.as_values().is_none() && packed.as_shuffled().is_none());
    assert_eq!(packed.as_packed().map(|(bytes, packing)| (bytes, packing.bits_per_value)), Some((payload, 16)));
    assert_eq!(packed.as_packed_from().map(|(bytes, _, first)| (bytes, first)), Some((payload, 0)));
    let window = Stored::window(descriptor, &payload[6..10], 6).unwrap();
    assert!(window.as_packed().is_none());
    assert_eq!(window.as_packed_from().map(|(bytes, _, first)| (bytes, first)), Some((&payload[6..10], 3)));
    let beyond = Stored::window(descriptor, payload, 2).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::PayloadSize);

    let plain = Message::parse(SAMPLES[4]).unwrap().object(0).unwrap();
    let values = plain.stored().unwrap();
    assert_eq!(values.as_values(), Some(plain.payload()));
    assert!(values.as_packed().is_none() && values.as_packed_from().is_none() && values.as_shuffled().is_none());

    for (encoding, bytes) in [("none", 32), ("simple_packing", 8)] {
        let encoded = shuffled(encoding);
        let descriptor = Descriptor::parse(&encoded, 0).unwrap();
        let bytes = vec![7; bytes];
        let stored = Stored::new(&descriptor, &bytes).unwrap();
        assert!(stored.as_values().is_none() && stored.as_packed().is_none() && stored.as_packed_from().is_none());
        assert_eq!(stored.as_shuffled(), (encoding == "none").then_some((&bytes[..], 2)));
        let part = Stored::window(&descriptor, &bytes[..4], 0).unwrap_err();
        assert!(matches!(part.kind(), ErrorKind::NeedsDecoding(_)), "{part}");
    }
}

/// The descriptor of four values of float64 in shuffled elements of two bytes.
fn shuffled(encoding: &str) -> Vec<u8> {
    let mut encoder = minicbor::Encoder::new(Vec::new());
    encoder.begin_map().unwrap();
    let texts = [("type", "ntensor"), ("dtype", "float64"), ("byte_order", "little"), ("encoding", encoding)];
    for (key, text) in texts.into_iter().chain([("filter", "shuffle"), ("compression", "none")]) {
        encoder.str(key).unwrap().str(text).unwrap();
    }
    for (key, number) in [("ndim", 1), ("shuffle_element_size", 2), ("sp_bits_per_value", 16)] {
        encoder.str(key).unwrap().u64(number).unwrap();
    }
    for key in ["sp_reference_value", "sp_binary_scale_factor", "sp_decimal_scale_factor"] {
        encoder.str(key).unwrap().u8(0).unwrap();
    }
    for (key, number) in [("shape", 4), ("strides", 1)] {
        encoder.str(key).unwrap().array(1).unwrap().u64(number).unwrap();
    }
    encoder.end().unwrap();
    encoder.into_writer()
}

/// The first sample whose frames have no digests: they are removed, so that only other checks find damage.
fn without_digests(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let offsets: Vec<_> = frames(&Message::parse(&bytes).unwrap()).iter().map(Frame::offset).collect();
    for offset in offsets {
        // The low byte of the frame's flags.
        bytes[usize::try_from(offset).unwrap() + 7] &= !2;
    }
    bytes[11] &= !0x80;
    bytes
}

#[test]
fn a_message_is_intact_whether_or_not_it_has_digests() {
    for message in messages() {
        let found = message.verify_all().unwrap();
        assert_eq!((found.frames, found.objects), (frames(&message).len(), message.objects().count()));
        let bytes = without_digests(message.as_bytes());
        let bare = Message::parse(&bytes).unwrap().verify_all().unwrap();
        assert_eq!((bare.frames, bare.objects, bare.hashed_frames), (found.frames, found.objects, 0));
        assert!(!bare.is_hashed());
    }
}

/// Without digests a descriptor that does not go with its payload is found all the same, and so is a wrong mask.
#[test]
fn objects_that_contradict_themselves_are_found_without_digests() {
    let mut bytes = without_digests(SAMPLES[4]);
    let descriptor = *Message::parse(SAMPLES[4]).unwrap().object(0).unwrap().descriptor();
    let dtype = descriptor.as_encoded().windows(7).position(|window| window == b"float32").unwrap();
    let dtype = usize::try_from(descriptor.offset()).unwrap() + dtype;
    bytes[dtype..dtype + 7].copy_from_slice(b"float64");
    let error = Message::parse(&bytes).unwrap().verify_all().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::PayloadSize | ErrorKind::StridesMismatch), "{error}");

    let masked = Message::parse(SAMPLES[3]).unwrap().object(0).unwrap();
    let (_, mask) = masked.descriptor().masks().iter().next().unwrap();
    let mut bytes = without_digests(SAMPLES[3]);
    let at = usize::try_from(masked.region_offset() + mask.offset()).unwrap();
    assert_eq!(bytes[at..at + masked.mask_blob(&mask).unwrap().len()], *masked.mask_blob(&mask).unwrap());
    // The length of the first run.
    bytes[at + 1] ^= 1;
    let error = Message::parse(&bytes).unwrap().verify_all().unwrap_err();
    assert!(error.offset() >= at as u64, "{error:?}");
}

#[test]
fn masked_values_are_restored_and_only_plain_objects_are_viewed() {
    let mut plain = 0;
    for message in messages() {
        let object = message.object(0).unwrap();
        let at = usize::try_from(object.region_offset()).unwrap();
        assert_eq!(&message.as_bytes()[at..at + object.payload().len()], object.payload());
        let is_plain = object.descriptor().pending_stage().is_none();
        assert_eq!(object.view_any().is_ok(), is_plain);
        plain += usize::from(is_plain);
    }
    assert!(plain > 0 && plain < SAMPLES.len());
    let masked = Message::parse(SAMPLES[3]).unwrap().object(0).unwrap();
    let count = usize::try_from(masked.descriptor().element_count()).unwrap();
    let (kind, mask) = masked.descriptor().masks().iter().next().unwrap();
    let (mut values, mask) = (vec![0_f32; count], masked.mask(&mask).unwrap());
    masked.decode_floats_into(&mut [], &mut values).unwrap();
    let is_masked = |value: &f32| match kind {
        MaskKind::Nan => value.is_nan(),
        MaskKind::PosInf => *value == f32::INFINITY,
        MaskKind::NegInf => *value == f32::NEG_INFINITY,
    };
    assert_eq!(values.iter().filter(|value| is_masked(value)).count() as u64, mask.count_set().unwrap());
    assert!(mask.count_set().unwrap() > 0);
}

#[test]
fn types_phases_and_stages_have_names() {
    for frame_type in FrameType::ALL {
        assert_eq!(frame_type.to_string(), format!("{frame_type:?}"));
        assert_eq!(frame_type.is_metadata(), frame_type.name().ends_with("Metadata"), "{frame_type}");
    }
    let phases = [DecodePhase::Header, DecodePhase::Body, DecodePhase::Preceded, DecodePhase::Footer];
    assert_eq!(phases.map(|phase| phase.to_string()), ["header", "body", "preceder", "footer"]);
    assert_eq!(Stage::Filter(Some(Filter::Shuffle)).to_string(), "filter shuffle");
    assert_eq!(Stage::Masks(None).to_string(), "an unknown mask method");
    let floats = Dtype::ALL.into_iter().filter(|dtype| dtype.is_float()).map(Dtype::name);
    assert!(floats.eq(["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]));
    let empty = Index::from_body(b"\xa2\x67offsets\x80\x67lengths\x80", 0).unwrap();
    assert_eq!((empty.is_empty(), empty.len()), (true, 0));
    assert!(Message::parse(SAMPLES[0]).unwrap().find_index().unwrap().is_none_or(|index| !index.is_empty()));
}

/// The frames of a message, and after them footer frames with these types and bodies, as a streamed message.
fn with_footer(message: &Message<'_>, footer: &[(u8, &[u8])]) -> Vec<u8> {
    let all = frames(message);
    let end = usize::try_from(all.last().unwrap().end_offset()).unwrap();
    let mut bytes = message.as_bytes()[..end].to_vec();
    bytes[16..24].fill(0);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let first_footer = bytes.len() as u64;
    for (frame_type, body) in footer {
        let len = 16 + body.len() as u64 + 12;
        bytes.extend([b'F', b'R', 0, *frame_type, 0, 1, 0, 0]);
        bytes.extend(len.to_be_bytes());
        bytes.extend(*body);
        bytes.extend([0; 8]);
        bytes.extend(b"ENDF");
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes.extend(first_footer.to_be_bytes());
    bytes.extend([0; 8]);
    bytes.extend(b"39277777");
    bytes
}

/// A message may have an index and a hash list in its header and in its footer. They have to agree.
#[test]
fn a_second_index_or_hash_list_has_to_be_like_the_first() {
    let (index_frame, hash_frame) = (6, 5);
    let mut seen = [0; 2];
    for message in messages() {
        let all = frames(&message);
        let body = |wanted| all.iter().find(|frame| frame.frame_type() == wanted).map(|frame| frame.body().to_vec());
        let checked = |frame_type, body: &[u8]| {
            let bytes = with_footer(&message, &[(frame_type, body)]);
            let message = Message::parse(&bytes).unwrap();
            let footer = frames(&message).last().unwrap().offset();
            let result = match frame_type {
                6 => message.verify_index(),
                _ => message.verify_hash_lists(message.hash_presence().unwrap()),
            };
            result.map_err(|error| (error.kind(), error.offset() == footer))
        };
        if let Some(mut body) = body(FrameType::HeaderIndex) {
            assert_eq!(checked(index_frame, &body), Ok(()));
            *body.last_mut().unwrap() ^= 1;
            assert_eq!(checked(index_frame, &body), Err((ErrorKind::IndexEntry, true)));
            let none = b"\xa2\x67offsets\x80\x67lengths\x80";
            assert_eq!(checked(index_frame, none), Err((ErrorKind::IndexCount, true)));
            seen[0] += 1;
        }
        if let Some(mut body) = body(FrameType::HeaderHash) {
            assert_eq!(checked(hash_frame, &body), Ok(()));
            let digit =
                body.windows(3).position(|window| window[0] == 0x70 && window[1].is_ascii_hexdigit()).unwrap() + 1;
            body[digit] = if body[digit] == b'0' { b'1' } else { b'0' };
            assert_eq!(checked(hash_frame, &body), Err((ErrorKind::HashListEntry, true)));
            let none = b"\xa2\x66hashes\x80\x69algorithm\x64xxh3";
            assert_eq!(checked(hash_frame, none), Err((ErrorKind::HashListCount, true)));
            // Digests of another kind cannot be compared, but counted.
            let other = b"\xa2\x66hashes\x80\x69algorithm\x63md5";
            assert_eq!(checked(hash_frame, other).map_err(|(kind, _)| kind), Err(ErrorKind::HashListCount));
            seen[1] += 1;
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}
