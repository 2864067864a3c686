//! A ZIO DEALER and a ROUTER: the frames of a message with tensors, as they go through a socket of ZeroMQ and come out
//! of it; the answer, and the archive.
//!
//! No socket here: a binding of ZeroMQ takes and gives lists of frames, which this program makes and reads. A DEALER
//! sends an empty frame first, then header, coordinates and payload parts. A ROUTER receives them after the peer's
//! identity.

use bytes::Bytes;
use tgm_std::ByteOrder;
use tgm_zio::{
    BridgeOptions, Coords, Envelope, Level, Received, Tens, TensBuilder, TensorBuilder, from_tensogram, to_tensogram,
};

/// The byte order of the numbers in a message, on which both sides agree.
const ORDER: ByteOrder = ByteOrder::Little;

/// Makes the frames of a message, reads them, answers, archives them and makes them again.
pub fn main() -> tgm_std::Result<()> {
    // The sender has 3 channels of 4 samples.
    let samples: Vec<i16> = (0..12).collect();
    let built = TensBuilder::new()
        .byte_order(ORDER)
        .level(Level::Info)
        .coords(Coords { origin: 1, granule: 20, seqno: 300 })
        .metadata("a run of the detector")
        .tensor(TensorBuilder::new(&[3, 4], &samples))
        .build()?;
    assert!(built.warnings.is_empty());
    let mut frames = built.parts.into_frames(Envelope::Dealer, None)?;
    assert!(frames[0].is_empty());

    // The ROUTER on the other side puts the identity of the peer in front.
    frames.insert(0, Bytes::from_static(b"detector-7"));
    let received = Received::from_frames(frames, Envelope::Router, ORDER)?;
    let message = received.message()?;
    assert_eq!((message.level(), message.coords().seqno), (Level::Info, 300));

    // Values are read where they lie in the frames.
    let tens = Tens::parse(&message)?;
    let view = tens.tensors()[0].view::<i16>()?;
    assert_eq!((view.get_at(&[0, 0]), view.get_at(&[2, 3])), (Some(0), Some(11)));

    // The answer has the sums beside the samples, which are sent from where they came.
    let sums: Vec<i64> = samples.chunks(4).map(|channel| channel.iter().copied().map(i64::from).sum()).collect();
    let answer = received.to_builder()?.level(Level::Summary).tensor(TensorBuilder::new(&[3], &sums)).build()?.parts;
    assert_eq!(answer.payloads()[0].as_ptr(), received.parts()[2].as_ptr());
    let frames = answer.frames(Envelope::Router, received.identity().map(|identity| &**identity))?;
    assert_eq!((frames.len(), frames[0]), (6, &b"detector-7"[..]));

    // Into an archive, and out of it again as the same parts.
    let archived = to_tensogram(&message, &BridgeOptions::default())?;
    tgm_std::check_message(&archived)?;
    let (parts, not_kept) = from_tensogram(&archived, &BridgeOptions::default())?;
    assert!(parts.iter().eq(received.parts().iter().map(|part| &**part)));
    println!("{} frames, {} bytes archived, {} things not kept", frames.len(), archived.len(), not_kept.len());
    Ok(())
}
