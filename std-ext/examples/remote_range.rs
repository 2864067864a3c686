//! A few values of a field on a server, without reading the rest of the file.
//!
//! Give it the address of a `.tgm` file: `cargo run --example remote_range --features remote -- https://…`. Addresses that were
//! signed in advance work too. Without an address it serves a file of its own on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

use tgm_std::read::{RangeFetch, Want};
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Result, TensogramError, TensogramFile};

/// Reads ten values out of the middle of the first object.
pub fn main() -> Result<()> {
    let address = std::env::args().nth(1).filter(|argument| argument.contains("://"));
    let address = address.map_or_else(|| serve(field()?), Ok)?;
    // One request: it says how long the file is, and which version of it this is.
    let file = TensogramFile::open_source(&address, None)?;
    let (_, descriptors) = file.decode_descriptors(0)?;
    let first = descriptors.first().ok_or_else(|| TensogramError::Object("the message has no object".into()))?;
    println!("{} values of {}", first.num_elements()?, first.dtype);
    let middle = first.num_elements()? as u64 / 2;
    let (_, values) = file.decode_range(0, 0, &[(middle, 10)], &DecodeOptions::default())?;
    println!("10 of them, from number {middle} on, are {} bytes", values[0].len());
    assert!(!values[0].is_empty());
    Ok(())
}

/// A message of a million values, packed and compressed.
fn field() -> Result<Vec<u8>> {
    let values: Vec<f64> = (0..1 << 20).map(|i| f64::from(i % 977).sqrt()).collect();
    MessageBuilder::new().object(ObjectBuilder::new(&[1024, 1024], &values)?.simple_packing(16).szip()).encode()
}

/// Serves `bytes` on this machine, and returns the address.
fn serve(bytes: Vec<u8>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/field.tgm", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (mut lines, mut stream) = (BufReader::new(&stream).lines(), &stream);
            let mut range = 0..bytes.len() as u64;
            while let Some(Ok(line)) = lines.next().filter(|line| !matches!(line, Ok(line) if line.is_empty())) {
                let asked = line.strip_prefix("range: bytes=").and_then(|asked| asked.split_once('-'));
                if let Some((start, end)) =
                    asked.and_then(|(start, end)| Some((start.parse().ok()?, end.parse::<u64>().ok()?)))
                {
                    range = start..end + 1;
                }
            }
            let found = (&bytes[..]).fetch(&Want::At(range), None).expect("bytes in memory");
            let end = found.offset + found.bytes.len() as u64 - 1;
            let (start, size, length) = (found.offset, bytes.len(), found.bytes.len());
            let head = format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{end}/{size}");
            let head = format!("{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&found.bytes));
        }
    });
    Ok(address)
}
