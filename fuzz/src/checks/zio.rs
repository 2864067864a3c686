//! ZIO messages: parts that were unpacked are packed again the same, and TENS messages go through Tensogram to the
//! byte.

use tgm_std::ByteOrder;
use tgm_zio::{
    BridgeOptions, Flow, FlowLabel, Message, Parts, Tens, TensLabel, file, from_tensogram, parts, to_tensogram,
};

/// Checks the messages of a file of `bytes`, and `bytes` as a message.
pub fn check(bytes: &[u8]) {
    for message in file::messages(bytes).filter_map(Result::ok).take(4) {
        one(message.1);
    }
    one(bytes);
}

fn one(buffer: &[u8]) {
    let found: Result<Vec<_>, _> = parts(buffer).collect();
    let message = Message::from_buffer(buffer, ByteOrder::Little);
    let (Ok(found), Ok(message)) = (found, message) else { return };
    let sent = Parts::of_message(&message);
    assert!(sent.iter().eq(found.iter().copied()));
    assert!(sent.to_buffer().expect("parts are in memory").len() <= buffer.len());
    let flow = Flow::server(3).receive(&message);
    assert_eq!(flow.is_ok(), matches!(FlowLabel::parse(message.label()), Ok(FlowLabel::Bot { .. })));
    let Ok(tens) = Tens::parse(&message) else { return };
    // What is read without std is what is read with it.
    let entries = TensLabel::of(&message).expect("the label was read").tensors();
    for (entry, tensor) in entries.zip(tens.tensors()) {
        // Only a tensor of very many dimensions needs memory.
        let Ok(entry) = entry else { continue };
        assert_eq!((entry.bytes(&message), entry.dtype()), (Ok(tensor.bytes()), tensor.dtype()));
    }
    for tensor in tens.tensors() {
        if let Ok(view) = tensor.ordered_view::<u8>() {
            assert_eq!(view.iter().count(), tensor.bytes().len());
        }
    }
    let options = BridgeOptions { pass_through: true, ..BridgeOptions::default() };
    let tensogram = to_tensogram(&message, &options).expect("every TENS message has a Tensogram form");
    let (back, _) = from_tensogram(&tensogram, &options).expect("just made from TENS");
    assert_eq!(back, sent);
}
