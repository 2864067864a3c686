//! Messages taken apart and put together by hand.

use tensogram::framing::{
    DecodedMessage, EncodedObject, HashFramePolicy, decode_data_object_frame, decode_message, decode_metadata_only,
    encode_data_object_frame, encode_message,
};
use tensogram::hash::{check_frame_hash, hash_frame_body, verify_frame_hash};
use tensogram::remote_scan_parse::{REASON_SHORT_FETCH_FWD, footer_region_present, same_message_check};
use tensogram::wire::{DataObjectFlags, FrameFlags, FrameHeader, Postamble, Preamble, footer_size_for};
use tensogram::{
    BackwardCommit, BackwardOutcome, Dtype, ForwardOutcome, FrameType, GlobalMetadata, MessageFlags, Result,
    TensogramError, decode, parse_backward_postamble, parse_forward_preamble, validate_backward_preamble,
};

use crate::fields::descriptor;

fn wire() -> Result<()> {
    println!("== wire");
    for number in 0..11 {
        match FrameType::from_u16(number) {
            Ok(frame) => print!("{frame:?}({}) ", footer_size_for(frame)),
            Err(_) => print!("- "),
        }
    }
    println!();
    println!("{}", FrameType::from_u16(9)?.is_data_object());
    let mut flags = MessageFlags::new(MessageFlags::HEADER_METADATA);
    flags.set(MessageFlags::HASHES_PRESENT);
    println!("{} {} {}", flags.bits(), flags.has(MessageFlags::FOOTER_INDEX), flags.has_metadata());
    let mut out = Vec::new();
    Preamble { version: 3, flags, reserved: 0, total_length: 100 }.write_to(&mut out);
    let header_flags = DataObjectFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT;
    FrameHeader { frame_type: FrameType::NTensorFrame, version: 1, flags: header_flags, total_length: 52 }
        .write_to(&mut out);
    Postamble { first_footer_offset: 76, total_length: 100 }.write_to(&mut out);
    println!("{out:?}");
    println!("{:?} {}", Preamble::read_from(&out)?.flags, FrameHeader::read_from(&out[24..])?.total_length);
    println!("{}", Postamble::read_from(&out[40..])?.first_footer_offset);
    println!("{:?}", Preamble::read_from(&out[..10]).is_err());
    Ok(())
}

fn framing() -> Result<()> {
    println!("== framing");
    let object = descriptor(Dtype::Uint8, &[4]);
    for before in [false, true] {
        let frame = encode_data_object_frame(&object, &[1, 2, 3, 4], before, true)?;
        let (read, payload, masks, used) = decode_data_object_frame(&frame)?;
        println!("{} {payload:?} {masks:?} {}", read.dtype, used == frame.len());
        println!("{} {}", tensogram::compute_hash(&frame), check_frame_hash(&frame, FrameType::NTensorFrame)?);
        println!("{:016x}", hash_frame_body(&frame, FrameType::NTensorFrame)?);
        verify_frame_hash(&frame, FrameType::NTensorFrame, None)?;
        let mut damaged = frame.clone();
        damaged[20] ^= 1;
        match verify_frame_hash(&damaged, FrameType::NTensorFrame, Some(5)) {
            Err(TensogramError::HashMismatch { expected, actual, .. }) => {
                println!("{} {} {}", expected.len(), actual.len(), expected != actual);
            }
            other => println!("{other:?}"),
        }
    }
    let objects: Vec<EncodedObject> =
        (0..2).map(|i| EncodedObject { descriptor: object.clone(), encoded_payload: vec![i; 4] }).collect();
    let mut metadata = GlobalMetadata::default();
    metadata.extra.insert("by".to_string(), "hand".into());
    for policy in [HashFramePolicy::default(), HashFramePolicy { header: true, footer: true }] {
        let message = encode_message(&metadata, &objects, true, policy)?;
        println!("{} {}", message.len(), tensogram::compute_hash(&message));
        let read: DecodedMessage<'_> = decode_message(&message)?;
        println!("{:?} {:?}", read.preamble.flags, read.index.map(|index| index.offsets));
        println!("{:?} {:?}", read.hash_frame.map(|list| list.hashes.len()), read.preceder_payloads);
        for (descriptor, payload, masks, offset) in &read.objects {
            println!("{} {payload:?} {masks:?} {offset}", descriptor.dtype);
        }
        println!("{:?} {}", decode_metadata_only(&message)?.extra.get("by"), read.global_metadata.base.len());
        println!("{}", decode(&message, &Default::default())?.1.len());
    }
    Ok(())
}

fn remote() {
    println!("== remote scan");
    let mut preamble = Vec::new();
    Preamble { version: 3, flags: MessageFlags::new(1), reserved: 0, total_length: 100 }.write_to(&mut preamble);
    let mut postamble = Vec::new();
    Postamble { first_footer_offset: 48, total_length: 100 }.write_to(&mut postamble);
    match parse_forward_preamble(&preamble, 0, 1000, 1000) {
        ForwardOutcome::Hit { offset, length, msg_end } => println!("{offset} {length} {msg_end}"),
        other => println!("{other:?}"),
    }
    println!("{:?}", parse_forward_preamble(&preamble, 950, 1000, 1000));
    println!(
        "{}",
        parse_forward_preamble(&[], 0, 0, 0) == ForwardOutcome::Terminate { reason: REASON_SHORT_FETCH_FWD }
    );
    match parse_backward_postamble(&postamble, 0, 1000) {
        BackwardOutcome::NeedPreambleValidation { msg_start, length, first_footer_offset } => {
            println!("{msg_start} {length} {}", footer_region_present(first_footer_offset, length));
            match validate_backward_preamble(&preamble, msg_start, length) {
                BackwardCommit::Layout { offset, length } => {
                    println!("{}", same_message_check(offset, length, 900, 100))
                }
                BackwardCommit::Format { reason } => println!("{reason}"),
            }
        }
        other => println!("{other:?}"),
    }
    println!("{:?}", validate_backward_preamble(&preamble, 900, 101));
}

pub(crate) fn run() -> Result<()> {
    wire()?;
    framing()?;
    remote();
    Ok(())
}
