//! TENS messages and FLOW by libzmq's CLIENT and SERVER, over loopback. Both sockets are libzmq's; what they carry is ours on
//! both ends, because the wheels of pyzmq are built without these sockets.
//!
//! The sockets carry single buffers. A message from a client has a routing id, which is not a frame; the answer needs it.

use std::thread;

use arzmq::prelude::{
    ClientSocket, Context, Message as Sent, Receiver, RecvFlags, SendFlags, Sender, ServerSocket, ZmqError,
};
use serde_json::json;
use tgm_std::ByteOrder;
use tgm_zio::{Direction, ErrorKind, Flow, FlowEvent, Parts, Received, Tens, TensBuilder, TensorBuilder};

const ORDER: ByteOrder = ByteOrder::Little;
const PATIENCE_MS: i32 = 60_000;
const COUNT: u64 = 7;
const ROOM: u64 = 3;

/// Gives up after a time. A macro, because the trait of all types of sockets is private.
macro_rules! patient {
    ($socket:expr) => {
        $socket.set_receive_timeout(PATIENCE_MS).unwrap();
        $socket.set_send_timeout(PATIENCE_MS).unwrap();
        $socket.set_linger(0).unwrap();
    };
}

/// A server at a port that the system chooses, and clients of it.
fn sockets<const CLIENTS: usize>() -> (ServerSocket, [ClientSocket; CLIENTS]) {
    let context = Context::new().unwrap();
    let server = ServerSocket::from_context(&context).unwrap();
    server.bind("tcp://127.0.0.1:*").unwrap();
    patient!(server);
    let endpoint = server.last_endpoint().unwrap();
    let clients = std::array::from_fn(|_| {
        let client = ClientSocket::from_context(&context).unwrap();
        patient!(client);
        client.connect(&endpoint).unwrap();
        client
    });
    (server, clients)
}

/// A message of these numbers.
fn message(values: &[u64]) -> Parts<'_> {
    let tensor = TensorBuilder::new(&[values.len() as u64], values).metadata(json!({"units": "µV"}));
    TensBuilder::new().byte_order(ORDER).tensor(tensor).build().unwrap().parts
}

fn values_of(received: &Received) -> Vec<u64> {
    let message = received.message().unwrap();
    Tens::parse(&message).unwrap().tensors()[0].view::<u64>().unwrap().iter().collect()
}

/// One end of a FLOW: a transmission and its socket.
struct End<S> {
    flow: Flow,
    socket: S,
    /// Who asked, for a server.
    peer: Option<u32>,
}

impl<S: Sender + Receiver> End<S> {
    fn send(&self, parts: &Parts<'_>) {
        let sent = Sent::from(parts.to_buffer().unwrap());
        if let Some(peer) = self.peer {
            sent.set_routing_id(peer).unwrap();
        }
        self.socket.send_msg(sent, SendFlags::empty()).unwrap();
    }

    fn send_due(&mut self) {
        while let Some(due) = self.flow.poll() {
            self.send(&Parts::of_flow(&due, ORDER));
        }
    }

    fn receive(&mut self) -> (FlowEvent, Received) {
        let sent = self.socket.recv_msg(RecvFlags::empty()).unwrap();
        self.peer = sent.routing_id();
        let received = Received::from_buffer(sent.bytes(), ORDER).unwrap();
        (self.flow.receive(&received.message().unwrap()).unwrap(), received)
    }

    /// Takes part until the end, as the side that sends or as the one that receives. Returns what arrived.
    fn run(mut self) -> Vec<Vec<u64>> {
        let (mut sent, mut found) = (0, Vec::new());
        loop {
            self.send_due();
            while self.flow.is_sender() && sent < COUNT && self.flow.can_send() {
                let (data, values) = (self.flow.data().unwrap(), [sent]);
                let built = TensBuilder::new().byte_order(ORDER).tensor(TensorBuilder::new(&[1], &values));
                self.send(&built.flow(data).build().unwrap().parts);
                sent += 1;
            }
            if sent == COUNT {
                self.flow.end();
                self.send_due();
            } else if self.flow.is_sender() && self.flow.is_open() {
                assert_eq!(self.flow.data().unwrap_err().kind(), ErrorKind::NoCredit);
            }
            if self.flow.is_over() {
                assert_eq!(self.flow.gaps(), 0);
                return found;
            }
            let (event, received) = self.receive();
            if event == FlowEvent::Data {
                found.push(values_of(&received));
            }
        }
    }
}

/// A FLOW in which the client asks for a direction. Returns what arrived at the client, and at the server.
fn flow(direction: Direction) -> [Vec<Vec<u64>>; 2] {
    let (socket, [client]) = sockets();
    let server = End { flow: Flow::server(ROOM), socket, peer: None };
    let server = thread::spawn(move || server.run());
    let client = End { flow: Flow::client(direction, 9).unwrap(), socket: client, peer: None }.run();
    [client, server.join().unwrap()]
}

#[test]
fn a_server_answers_the_client_whose_routing_id_it_has() {
    let (server, clients) = sockets::<2>();
    // More than one read of the socket.
    let many: Vec<u64> = (0..300_000).collect();
    for (client, values) in clients.iter().zip([&[1, 2][..], &many]) {
        client.send_msg(message(values).to_buffer().unwrap(), SendFlags::empty()).unwrap();
    }
    for _ in &clients {
        let sent = server.recv_msg(RecvFlags::empty()).unwrap();
        let received = Received::from_buffer(sent.bytes(), ORDER).unwrap();
        assert!(received.identity().is_none(), "the routing id is not a frame");
        let sum = [values_of(&received).iter().sum()];
        let answer = Sent::from(message(&sum).to_buffer().unwrap());
        answer.set_routing_id(sent.routing_id().unwrap()).unwrap();
        server.send_msg(answer, SendFlags::empty()).unwrap();
    }
    for (client, sum) in clients.iter().zip([3, many.iter().sum()]) {
        let answer = client.recv_msg(RecvFlags::empty()).unwrap();
        assert_eq!(values_of(&Received::from_buffer(answer.bytes(), ORDER).unwrap()), [sum]);
    }
}

#[test]
fn the_sockets_refuse_several_frames_and_answers_to_nobody() {
    let (server, [client]) = sockets();
    let frame = || Sent::from(message(&[1]).into_vecs().swap_remove(0));
    assert_eq!(client.send_msg(frame(), SendFlags::SEND_MORE), Err(ZmqError::InvalidArgument));
    assert_eq!(server.send_msg(frame(), SendFlags::empty()), Err(ZmqError::HostUnreachable));
}

#[test]
fn a_client_sends_a_flow_to_a_server() {
    let all: Vec<_> = (0..COUNT).map(|number| vec![number]).collect();
    assert_eq!(flow(Direction::Extract), [Vec::new(), all]);
}

#[test]
fn a_server_sends_a_flow_to_a_client() {
    let all: Vec<_> = (0..COUNT).map(|number| vec![number]).collect();
    assert_eq!(flow(Direction::Inject), [all, Vec::new()]);
}
