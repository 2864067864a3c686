//! ZIO's FLOW: a client sends tensors to a server, which pays for as many as it has room for.
//!
//! Channels stand for sockets here: what goes through is the single buffer that CLIENT and SERVER carry. With a DEALER
//! and a ROUTER it is `Parts::into_frames` with their envelopes instead.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tgm_std::ByteOrder;
use tgm_zio::{Direction, Flow, FlowEvent, Parts, Received, Tens, TensBuilder, TensorBuilder};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const ORDER: ByteOrder = ByteOrder::Little;
/// Messages that the server keeps at a time.
const ROOM: u64 = 3;

/// One end of a connection.
struct Socket {
    sends: Sender<Vec<u8>>,
    receives: Receiver<Vec<u8>>,
}

impl Socket {
    /// Sends what the protocol has to say.
    fn send_due(&self, flow: &mut Flow) -> Result<()> {
        while let Some(due) = flow.poll() {
            self.sends.send(Parts::of_flow(&due, ORDER).to_buffer()?)?;
        }
        Ok(())
    }
}

fn client(socket: &Socket, count: u64) -> Result<()> {
    let mut flow = Flow::client(Direction::Extract, 100)?;
    let mut sent = 0;
    while !flow.is_over() {
        socket.send_due(&mut flow)?;
        while flow.can_send() && sent < count {
            let values = [sent; 1000];
            let built = TensBuilder::new().byte_order(ORDER).tensor(TensorBuilder::new(&[1000], &values));
            socket.sends.send(built.flow(flow.data()?).build()?.parts.to_buffer()?)?;
            sent += 1;
        }
        if sent == count {
            flow.end();
            socket.send_due(&mut flow)?;
        }
        flow.receive(&Received::from_buffer(socket.receives.recv()?, ORDER)?.message()?)?;
    }
    Ok(())
}

fn server(socket: &Socket) -> Result<u64> {
    let mut flow = Flow::server(ROOM);
    let mut sum = 0;
    while !flow.is_over() {
        let received = Received::from_buffer(socket.receives.recv()?, ORDER)?;
        let message = received.message()?;
        if flow.receive(&message)? == FlowEvent::Data {
            sum += Tens::parse(&message)?.tensors()[0].view::<u64>()?.iter().sum::<u64>();
        }
        // The data was used, so there is room for more: this pays for it.
        socket.send_due(&mut flow)?;
    }
    Ok(sum)
}

/// Sends ten tensors, and compares their sum.
pub fn main() -> Result<()> {
    let ((to_server, at_server), (to_client, at_client)) = (channel(), channel());
    let far = Socket { sends: to_client, receives: at_server };
    let server = thread::spawn(move || server(&far));
    client(&Socket { sends: to_server, receives: at_client }, 10)?;
    assert_eq!(server.join().expect("it does not panic")?, 45_000);
    println!("ten tensors, at most {ROOM} at a time");
    Ok(())
}
