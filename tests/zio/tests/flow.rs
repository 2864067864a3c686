//! FLOW over loopback with a peer of libzmq, which knows the protocol from its description (`flow_peer.py`): either
//! side asks, either side sends.

use bytes::Bytes;
use serde_json::{Value, json};
use tgm_std::ByteOrder;
use tgm_zio::{Direction, Envelope, ErrorKind, Flow, FlowEvent, Parts, Received, Tens, TensBuilder, TensorBuilder};
use tgm_zio_live::{Peer, receive, send};
use zeromq::{DealerSocket, RouterSocket, Socket, SocketRecv, SocketSend};

const LOOPBACK: &str = "tcp://127.0.0.1:0";
const ORDER: ByteOrder = ByteOrder::Little;
const COUNT: u64 = 7;
const ROOM: u64 = 3;

/// Our end: a transmission and its socket.
struct End<S> {
    flow: Flow,
    socket: S,
    envelope: Envelope,
    peer: Option<Bytes>,
}

impl<S: SocketRecv + SocketSend> End<S> {
    async fn send(&mut self, parts: Parts<'_>) {
        send(&mut self.socket, parts.into_frames(self.envelope, self.peer.as_ref()).unwrap()).await;
    }

    /// Sends what the protocol has to say.
    async fn send_due(&mut self) {
        while let Some(due) = self.flow.poll() {
            self.send(Parts::of_flow(&due, ORDER)).await;
        }
    }

    async fn receive(&mut self) -> (FlowEvent, Received) {
        let received = Received::from_frames(receive(&mut self.socket).await, self.envelope, ORDER).unwrap();
        self.peer = received.identity().cloned();
        let event = self.flow.receive(&received.message().unwrap()).unwrap();
        (event, received)
    }

    /// Receives until the end, and returns the values of each tensor.
    async fn receive_all(&mut self) -> Vec<[u64; 2]> {
        let mut found = Vec::new();
        while !self.flow.is_over() {
            self.send_due().await;
            let (event, received) = self.receive().await;
            if event == FlowEvent::Data {
                let message = received.message().unwrap();
                let tens = Tens::parse(&message).unwrap();
                let view = tens.tensors()[0].view::<u64>().unwrap();
                found.push([view.get(0).unwrap(), view.get(1).unwrap()]);
            }
            self.send_due().await;
        }
        assert_eq!(self.flow.gaps(), 0);
        found
    }

    /// Sends all tensors and ends.
    async fn send_all(&mut self) {
        let mut sent = 0;
        while !self.flow.is_over() {
            self.send_due().await;
            while sent < COUNT && self.flow.can_send() {
                let values = [sent, sent * sent];
                let tensor = TensorBuilder::new(&[2], &values);
                let data = self.flow.data().unwrap();
                let built = TensBuilder::new().byte_order(ORDER).tensor(tensor).flow(data).build().unwrap();
                self.send(built.parts).await;
                sent += 1;
            }
            if sent == COUNT {
                self.flow.end();
                self.send_due().await;
            } else if self.flow.is_open() {
                assert_eq!(self.flow.data().unwrap_err().kind(), ErrorKind::NoCredit);
            }
            self.receive().await;
            self.send_due().await;
        }
    }
}

fn all_values() -> Vec<[u64; 2]> {
    (0..COUNT).map(|number| [number, number * number]).collect()
}

async fn server(role: &str) -> (End<RouterSocket>, Peer) {
    let mut socket = RouterSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::run("flow_peer.py", role, &endpoint.to_string());
    (End { flow: Flow::server(ROOM), socket, envelope: Envelope::Router, peer: None }, peer)
}

async fn client(role: &str) -> (End<DealerSocket>, Peer) {
    let mut socket = DealerSocket::new();
    let endpoint = socket.bind(LOOPBACK).await.unwrap();
    let peer = Peer::run("flow_peer.py", role, &endpoint.to_string());
    let flow = Flow::client(Direction::Extract, 9).unwrap();
    (End { flow, socket, envelope: Envelope::Dealer, peer: None }, peer)
}

async fn one(peer: Peer) -> Value {
    let mut lines = peer.report().await;
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

#[tokio::test]
async fn a_server_receives_what_a_client_of_libzmq_sends() {
    let (mut end, peer) = server("SENDER").await;
    let (event, _) = end.receive().await;
    assert_eq!(event, FlowEvent::Asked { direction: Direction::Extract, credit: 9 });
    assert_eq!(end.receive_all().await, all_values());
    let report = one(peer).await;
    assert_eq!(report["limit"], ROOM);
    assert!(report["most"].as_u64().unwrap() <= ROOM, "{report}");
}

#[tokio::test]
async fn a_server_sends_to_a_client_of_libzmq() {
    let (mut end, peer) = server("RECEIVER").await;
    end.receive().await;
    assert!(end.flow.is_sender());
    end.send_all().await;
    let report = one(peer).await;
    assert_eq!((&report["limit"], &report["values"]), (&json!(ROOM), &json!(all_values())));
}

#[tokio::test]
async fn a_client_sends_to_a_server_of_libzmq() {
    let (mut end, peer) = client("SERVER").await;
    end.send_all().await;
    assert_eq!(end.flow.limit(), 3);
    let report = one(peer).await;
    assert_eq!(report["values"], json!(all_values()));
    assert_eq!(report["seen"].as_array().unwrap().last().unwrap(), "EOT");
}

#[tokio::test]
async fn a_server_of_libzmq_refuses() {
    let (mut end, peer) = client("REFUSER").await;
    end.send_due().await;
    assert_eq!(end.receive().await.0, FlowEvent::Refused);
    end.send_due().await;
    assert!(end.flow.is_over());
    assert_eq!(one(peer).await["seen"], json!(["BOT", "EOT"]));
}
