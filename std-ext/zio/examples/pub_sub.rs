//! ZIO over PUB and SUB: a publisher of images, and subscribers that choose by the first bytes of a message.
//!
//! A SUB socket compares the first bytes of the first frame. In ZIO these are `ZIO`, the level and the form, so
//! `ZIO4TENS` subscribes to tensors of level info. Channels stand for the sockets here; a list of frames goes through
//! each.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use bytes::Bytes;
use tgm_std::ByteOrder;
use tgm_zio::{Coords, Envelope, Form, Level, Parts, Received, Tens, TensBuilder, TensorBuilder};

const ORDER: ByteOrder = ByteOrder::Little;
const PIXELS: u16 = 64 * 64;

/// What a PUB socket does: each subscriber gets the messages that begin as it wants.
fn publish(subscribers: &[(&str, Sender<Vec<Bytes>>)], frames: &[Bytes]) {
    for (wanted, socket) in subscribers {
        if frames[0].starts_with(wanted.as_bytes()) {
            // Frames are counted by reference: subscribers share the payload.
            socket.send(frames.to_vec()).ok();
        }
    }
}

/// A subscriber: the mean of each image, until the publisher leaves.
fn means(socket: Receiver<Vec<Bytes>>) -> tgm_std::Result<Vec<f64>> {
    let mut means = Vec::new();
    for frames in socket {
        let received = Received::from_frames(frames, Envelope::Plain, ORDER)?;
        let message = received.message()?;
        // A message without tensors is not an error: it is text, or anything else.
        let Some(tens) = Tens::find(&message)? else { continue };
        for tensor in tens.tensors() {
            let image = tensor.view::<f32>()?;
            means.push(image.iter().map(f64::from).sum::<f64>() / f64::from(PIXELS));
        }
    }
    Ok(means)
}

/// Publishes to two subscribers, and compares what they got.
pub fn main() -> tgm_std::Result<()> {
    let ((to_first, first), (to_second, second)) = (channel(), channel());
    let subscribers = [("ZIO4TENS", to_first), ("ZIO", to_second)];
    let (first, second) = (thread::spawn(move || means(first)), thread::spawn(move || means(second)));
    for seqno in 0..4_u8 {
        let image = vec![f32::from(seqno); PIXELS.into()];
        let level = if seqno < 3 { Level::Info } else { Level::Debug };
        let built = TensBuilder::new()
            .byte_order(ORDER)
            .level(level)
            .coords(Coords { seqno: seqno.into(), ..Coords::default() })
            .tensor(TensorBuilder::new(&[64, 64], &image))
            .build()?;
        publish(&subscribers, &built.parts.into_frames(Envelope::Plain, None)?);
    }
    let text = Form::new("TEXT").unwrap_or_default();
    let bye = Parts::new(Level::Info, text, b"bye", Coords::default(), ORDER, [&b""[..]; 0]);
    publish(&subscribers, &bye.into_frames(Envelope::Plain, None)?);
    drop(subscribers);
    assert_eq!(first.join().expect("it does not panic")?, [0.0, 1.0, 2.0]);
    assert_eq!(second.join().expect("it does not panic")?, [0.0, 1.0, 2.0, 3.0]);
    println!("each subscriber had what it wanted");
    Ok(())
}
