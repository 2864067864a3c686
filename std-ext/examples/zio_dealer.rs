//! A ZIO DEALER: the frames of a message with tensors, as they go through a socket of ZeroMQ and come out of it.
//!
//! No socket here: a binding of ZeroMQ takes and gives lists of frames, which this program makes and reads. A DEALER sends
//! an empty frame first, then header, coordinates and payload parts. A ROUTER receives them behind the peer's identity.

use tgm_std::ByteOrder;
use tgm_std::zio::{
    BridgeOptions, Coords, Envelope, Level, Message, Parts, Tens, TensBuilder, TensorBuilder, from_tensogram,
    to_tensogram,
};

/// The byte order of the numbers in a message, on which both sides agree.
const ORDER: ByteOrder = ByteOrder::Little;

/// The frames that a DEALER hands to its socket.
fn dealer_frames(message: Parts<'_>) -> Vec<Vec<u8>> {
    let mut frames = vec![Vec::new()];
    frames.extend(message.into_vecs());
    frames
}

/// Makes the frames of a message, reads them, archives them and makes them again.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
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
    let mut frames = dealer_frames(built.parts);
    assert!(frames[0].is_empty());

    // The ROUTER on the other side puts the identity of the peer in front.
    frames.insert(0, b"detector-7".to_vec());
    let (identity, _) = Envelope::Router.strip(&frames)?;
    assert_eq!(identity, Some(&b"detector-7"[..]));
    let message = Message::from_frames(&frames, Envelope::Router, ORDER)?;
    assert_eq!((message.level(), message.coords().seqno), (Level::Info, 300));

    // Values are read where they lie in the frames.
    let tens = Tens::parse(&message)?;
    let view = tens.tensors()[0].view::<i16>()?;
    assert_eq!((view.get_at(&[0, 0]), view.get_at(&[2, 3])), (Some(0), Some(11)));

    // Into an archive, and out of it again as the same frames.
    let archived = to_tensogram(&message, &BridgeOptions::default())?;
    tgm_std::check_message(&archived)?;
    let (parts, not_kept) = from_tensogram(&archived, &BridgeOptions::default())?;
    assert!(parts.iter().eq(frames[2..].iter().map(Vec::as_slice)));
    println!("{} frames, {} bytes archived, {} things not kept", frames.len(), archived.len(), not_kept.len());
    Ok(())
}
