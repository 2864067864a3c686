//! The fixed layouts as values.

use std::fmt::Debug;

use tgm_std::Result;
use tgm_std::wire::*;

fn text<T: Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn preamble_round_trips_and_bad_bytes_are_refused() {
    let bytes = *b"TENSOGRM\0\x03\0\x95\0\0\0\x01\0\0\0\0\0\0\x02\x50";
    let preamble = Preamble::read_from(&bytes).unwrap();
    assert_eq!((preamble.version, preamble.flags.bits(), preamble.reserved), (3, 0x95, 1));
    assert_eq!(preamble.total_length, 592);
    let mut out = Vec::new();
    preamble.write_to(&mut out);
    assert_eq!(out, bytes);
    assert!(text(Preamble::read_from(&bytes[..23])).contains("buffer too short for preamble"));
    assert!(text(Preamble::read_from(&[b'T'; 24])).contains("invalid magic bytes"));
    assert!(text(Preamble::read_from(b"TENSOGRM\0\x02              ")).contains("unsupported message version 2"));
}

#[test]
fn frame_header_round_trips_and_bad_bytes_are_refused() {
    let mut bytes = *b"FR\0\x09\0\x01\0\x03\0\0\0\0\0\0\0\xa2";
    let header = FrameHeader::read_from(&bytes).unwrap();
    let flags = DataObjectFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT;
    let expected = FrameHeader { frame_type: FrameType::NTensorFrame, version: 1, flags, total_length: 162 };
    assert_eq!(header, expected);
    let mut out = Vec::new();
    header.write_to(&mut out);
    assert_eq!(out, bytes);
    assert!(text(FrameHeader::read_from(&bytes[..15])).contains("too short"));
    bytes[3] = 4;
    assert!(text(FrameHeader::read_from(&bytes)).contains("reserved frame type 4"));
    bytes[3] = 10;
    assert!(text(FrameHeader::read_from(&bytes)).contains("unknown frame type 10"));
    bytes[0] = 0;
    assert!(text(FrameHeader::read_from(&bytes)).starts_with("framing error"));
}

#[test]
fn postamble_round_trips_and_bad_bytes_are_refused() {
    let bytes = *b"\0\0\0\0\0\0\x02\x38\0\0\0\0\0\0\x02\x5039277777";
    let postamble = Postamble::read_from(&bytes).unwrap();
    assert_eq!(postamble, Postamble { first_footer_offset: 568, total_length: 592 });
    let mut out = Vec::new();
    postamble.write_to(&mut out);
    assert_eq!(out, bytes);
    assert!(text(Postamble::read_from(&bytes[..23])).contains("buffer too short for postamble"));
    assert!(text(Postamble::read_from(&[0; 24])).contains("invalid end magic"));
}

#[test]
fn tail_has_20_bytes_in_data_objects_and_12_in_other_frames() {
    for frame_type in FrameType::ALL {
        assert_eq!(footer_size_for(frame_type), if frame_type.is_data_object() { 20 } else { 12 });
    }
}
