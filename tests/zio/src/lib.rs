//! A peer that uses libzmq, and sending and receiving with it: see `tests/live.rs` and `tests/flow.rs`.

use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use zeromq::{SocketRecv, SocketSend, ZmqMessage};

/// The variable that names a Python with pyzmq; `tests/peers/run build test` sets it.
pub const PYTHON_VARIABLE: &str = "TGM_ZIO_PYTHON";
/// How long an operation may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The peer script in one of its roles, connected to an endpoint. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Peer(Child);

impl Peer {
    /// Starts it.
    ///
    /// # Panics
    /// If there is no Python to start.
    pub fn start(role: &str, endpoint: &str) -> Self {
        Self::run("peer.py", role, endpoint)
    }

    /// Starts another script in this folder.
    ///
    /// # Panics
    /// If there is no Python to start.
    pub fn run(script: &str, role: &str, endpoint: &str) -> Self {
        let python = std::env::var_os(PYTHON_VARIABLE)
            .unwrap_or_else(|| panic!("{PYTHON_VARIABLE} does not name a Python with pyzmq: use tests/peers/run"));
        let mut command = Command::new(&python);
        command.arg(format!("{}/{script}", env!("CARGO_MANIFEST_DIR"))).args([role, endpoint]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", python.display())))
    }

    /// Waits until it ends, and returns what it reports of the messages it received.
    ///
    /// # Panics
    /// If it fails, or does not end in time.
    pub async fn report(self) -> Vec<Value> {
        let output = timeout(PATIENCE, self.0.wait_with_output()).await.expect("the peer does not end").unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the peer failed: {stderr}");
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The frames of the next message.
///
/// # Panics
/// If none arrives in time.
pub async fn receive(socket: &mut impl SocketRecv) -> Vec<Bytes> {
    timeout(PATIENCE, socket.recv()).await.expect("the peer sends nothing").unwrap().into_vec()
}

/// Sends frames as soon as a peer is connected.
///
/// # Panics
/// If no peer connects in time.
pub async fn send<B: Into<Bytes>>(socket: &mut impl SocketSend, frames: Vec<B>) {
    let frames: Vec<Bytes> = frames.into_iter().map(Into::into).collect();
    let sending = async {
        while socket.send(ZmqMessage::try_from(frames.clone()).unwrap()).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, sending).await.expect("the peer does not connect");
}
