//! TENS messages over loopback to and from libzmq, which `peer.py` uses: PUSH, PULL, DEALER, ROUTER, in both
//! directions, and PUB to SUB.
//!
//! Our side binds to a port that the system chooses, and the peer connects, so that it does not matter which starts
//! first.

use bytes::Bytes;
use serde_json::{Value, json};
use tgm_std::ByteOrder;
use tgm_zio::{
    BridgeOptions, Coords, Envelope, Form, Level, Message, Parts, Tens, TensBuilder, TensorBuilder, from_tensogram,
    to_tensogram,
};
use tgm_zio_live::{Peer, receive, send};
use zeromq::{DealerSocket, PubSocket, PullSocket, PushSocket, RouterSocket, Socket};

const LOOPBACK: &str = "tcp://127.0.0.1:0";
const ORDER: ByteOrder = ByteOrder::Little;

/// Checks message `number` of those that the peer sends, and its way through Tensogram.
fn check_incoming(number: usize, frames: &[Bytes], envelope: Envelope) {
    let message = Message::from_frames(frames, envelope, ORDER).unwrap();
    let tens = Tens::parse(&message).unwrap();
    let tensor = &tens.tensors()[0];
    match number {
        0 => {
            assert_eq!((message.level(), message.form()), (Level::Info, Form::TENS));
            assert_eq!(message.coords(), Coords { origin: 1, granule: 2, seqno: u64::MAX });
            assert_eq!(tensor.metadata(), Some(&json!({"plane": "U", "units": "µV"})));
            let view = tensor.view::<f64>().unwrap();
            assert_eq!(view.iter().collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
            assert_eq!(view.get_at(&[1, 0]), Some(3.0));
        }
        1 => {
            assert_eq!(message.form(), Form::FLOW);
            assert_eq!(tens.label_keys()["flow"], "DAT");
            assert_eq!(tensor.ordered_view::<i16>().unwrap().iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
            assert!(tens.extra_parts().eq([0, 2]));
            assert_eq!(message.payload(0), Some(&b"the application's"[..]));
            assert_eq!(message.payload(2), Some(&[][..]));
        }
        _ => {
            assert_eq!((message.level(), message.form()), (Level::Fatal, Form(*b"    ")));
            let view = tensor.view::<u8>().unwrap();
            assert_eq!((view.len(), view.get_at(&[1023, 1023])), (1 << 20, Some(148)));
        }
    }
    let tensogram = to_tensogram(&message, &BridgeOptions::default()).unwrap();
    let (back, _) = from_tensogram(&tensogram, &BridgeOptions::default()).unwrap();
    assert_eq!(back, Parts::of_message(&message));
}

/// The messages that we send, and what the peer must report of each.
fn outgoing() -> Vec<(Vec<Vec<u8>>, Value)> {
    (0..3_u64)
        .map(|number| {
            let coords = Coords { origin: 7, granule: u64::MAX, seqno: number };
            let floats: Vec<f32> = (0..4_u8).map(|i| f32::from(i) + 0.5).collect();
            let ids = [u64::MAX - number];
            let built = TensBuilder::new()
                .byte_order(ORDER)
                .level(Level::Debug)
                .coords(coords)
                .metadata(json!({"number": number, "units": "µV"}))
                .tensor(TensorBuilder::new(&[2, 2], &floats).metadata(json!({"plane": "V"})))
                .tensor(TensorBuilder::new(&[], &ids))
                .part(b"more".to_vec())
                .build()
                .unwrap();
            assert_eq!(built.warnings, []);
            let label: Value = serde_json::from_slice(built.parts.label()).unwrap();
            let report = json!({
                "level": 3, "form": "TENS", "coords": [7, u64::MAX, number], "label": label, "sizes": [16, 8, 4],
                "values": [[0.5, 1.5, 2.5, 3.5], [u64::MAX - number]],
            });
            (built.parts.into_vecs(), report)
        })
        .collect()
}

/// What the peer must report of all messages that we send.
fn expected_reports() -> Vec<Value> {
    outgoing().into_iter().map(|(_, report)| report).collect()
}

#[tokio::test]
async fn messages_pushed_by_libzmq_are_read() {
    let mut socket = PullSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::start("PUSH", &endpoint.to_string());
    for number in 0..3 {
        let frames = receive(&mut socket).await;
        assert!(frames.len() > 2);
        check_incoming(number, &frames, Envelope::Plain);
        let packed = receive(&mut socket).await;
        assert_eq!(packed.len(), 1);
        check_incoming(number, &packed, Envelope::Plain);
    }
    assert!(peer.report().await.is_empty());
}

#[tokio::test]
async fn messages_pushed_to_libzmq_are_read_by_it() {
    let mut socket = PushSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::start("PULL", &endpoint.to_string());
    for (number, (parts, _)) in outgoing().into_iter().enumerate() {
        // One of them as a single buffer.
        let frames = if number == 1 {
            vec![Parts::of_message(&Message::from_parts(&parts, ORDER).unwrap()).to_buffer().unwrap()]
        } else {
            parts
        };
        send(&mut socket, frames).await;
    }
    assert_eq!(peer.report().await, expected_reports());
}

#[tokio::test]
async fn a_router_talks_with_a_dealer_of_libzmq() {
    let mut socket = RouterSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::start("DEALER", &endpoint.to_string());
    for (number, (parts, _)) in outgoing().into_iter().enumerate() {
        let frames = receive(&mut socket).await;
        check_incoming(number, &frames, Envelope::Router);
        let (identity, _) = Envelope::Router.strip(&frames).unwrap();
        send(&mut socket, [vec![identity.unwrap().to_vec(), Vec::new()], parts].concat()).await;
    }
    assert_eq!(peer.report().await, expected_reports());
}

#[tokio::test]
async fn a_dealer_talks_with_a_router_of_libzmq() {
    let mut socket = DealerSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::start("ROUTER", &endpoint.to_string());
    for (number, (parts, _)) in outgoing().into_iter().enumerate() {
        send(&mut socket, [vec![Vec::new()], parts].concat()).await;
        check_incoming(number, &receive(&mut socket).await, Envelope::Dealer);
    }
    assert_eq!(peer.report().await, expected_reports());
}

#[tokio::test]
async fn a_subscriber_of_libzmq_chooses_by_level_and_form() {
    let mut socket = PubSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::start("SUB", &endpoint.to_string());
    let (wanted, expected) = outgoing().swap_remove(1);
    let text = Parts::new(Level::Debug, Form(*b"TEXT"), b"not this", Coords::default(), ORDER, [&b"x"[..]; 1]);
    let other = text.into_bytes();
    // Nobody knows when a subscription arrives, so both go out until the subscriber has enough.
    let mut report = std::pin::pin!(peer.report());
    loop {
        send(&mut socket, other.clone()).await;
        send(&mut socket, wanted.clone()).await;
        tokio::select! {
            found = &mut report => return assert_eq!(found, [expected]),
            () = tokio::time::sleep(std::time::Duration::from_millis(20)) => {}
        }
    }
}
