//! Calls of `tgm-zio` without std.

use core::hint::black_box;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::tensor::Elements;
use tgm_zio::{
    Coords, Direction, Envelope, ErrorKind, Flow, FlowEvent, FlowLabel, Form, Json, LabelWriter, Layout, Level,
    Message, OrderedView, Outgoing, Prefix, Size, TensEntry, TensLabel, dtype_of, kind_of,
};

use crate::{keep, text};

/// Calls all of them.
pub(crate) fn all(input: &[u8], output: &mut [u8]) {
    parts(input, output);
    layout(input);
    if let Ok(value) = Json::parse(input) {
        json(value, 0);
    }
    if let Ok(message) = Message::from_buffer(input, black_box(ByteOrder::Big)) {
        keep(TensLabel::of(&message).map(|label| label.tensors().count()));
        if let Ok(label) = TensLabel::parse(input) {
            keep((label.label(), label.tens(), label.metadata()));
            label.tensors().flatten().for_each(|found| tensor(&found, &message));
        }
        flow(&message);
    }
    if let Ok(frames) = Envelope::Router.wrap(black_box(Some(input)), [input, &*output]) {
        frames.for_each(keep);
    }
    errors();
    keep((dtype_of(black_box('f'), black_box(4)), kind_of(black_box(Dtype::Int8))));
    let mut writer = LabelWriter::new(output);
    keep(writer.tensor(black_box(Dtype::Int16), black_box(&[3, 4])));
    keep(writer.tensor_of_kind(black_box('?'), black_box(7), black_box(&[u64::MAX])));
    keep(if black_box(true) { writer.finish() } else { writer.finish_flow() });
}

fn json(value: Json<'_>, depth: u32) {
    keep((value.as_text(), value.is_null(), value.as_bool(), value.as_u64(), value.get(black_box("TENS"))));
    if let Some(found) = value.as_str() {
        found.chars().for_each(keep);
        keep((found.plain(), found == *black_box("TENS")));
    }
    if depth < 2 {
        value.items().into_iter().flatten().for_each(|item| json(item, depth + 1));
        value.members().into_iter().flatten().for_each(|(key, member)| {
            keep(key);
            json(member, depth + 1);
        });
    }
}

fn tensor(found: &TensEntry<'_>, message: &Message<'_>) {
    keep((found.index(), found.json(), found.rank(), found.word(), found.kind(), found.dtype(), found.part()));
    keep((found.packing(), found.is_dense(), found.metadata(), found.byte_len(), found.bytes(message)));
    found.shape().for_each(keep);
    found.order().into_iter().flatten().for_each(keep);
    found.ascend().into_iter().flatten().for_each(keep);
    let (mut dims, mut order, mut ascend) = ([0; 4], [0; 4], [true; 4]);
    keep(found.shape_into(black_box(&mut dims)).map(<[u64]>::len));
    keep(found.layout_into(&mut dims, &mut order, &mut ascend).map(|layout| layout.is_row_major()));
    keep(found.view::<f32, _>(message, black_box(&mut dims)).map(|view| view.len()));
}

fn errors() {
    let kind = black_box(ErrorKind::BadWord);
    let whole = [kind.in_label(), kind.at_byte(3), kind.under("word"), kind.at(1, 2)];
    for error in whole.into_iter().chain([kind.of(1, "word"), kind.of_tensor(2)]) {
        keep((error.tensor(), error.key()));
    }
}

fn flow(message: &Message<'_>) {
    let direction = Direction::from_name(text(message.label())).map_or(Direction::Inject, Direction::reversed);
    let mut server = Flow::server(black_box(4));
    if let Ok(mut client) = Flow::client(black_box(direction), black_box(5)) {
        for _ in 0..4 {
            one(&mut client, message);
            one(&mut server, message);
        }
    }
}

fn one(flow: &mut Flow, message: &Message<'_>) {
    keep::<Result<FlowEvent, _>>(flow.receive(message));
    keep(FlowLabel::parse(message.label()).map(|label| (label.name(), flow.receive_label(label))));
    keep((flow.is_sender(), flow.is_open(), flow.is_over(), flow.can_send(), flow.credit(), flow.limit(), flow.gaps()));
    flow.poll().iter().for_each(outgoing);
    flow.data().iter().for_each(outgoing);
    if black_box(false) {
        flow.end();
    }
}

fn outgoing(sent: &Outgoing) {
    keep((sent.label(), sent.coords(), sent.prefix().as_bytes().len()));
}

fn parts(input: &[u8], output: &mut [u8]) {
    let order = black_box(ByteOrder::Big);
    let mut walk = tgm_zio::parts(input);
    keep((walk.next(), walk.rest(), walk.offset()));
    if let Ok(message) = Message::from_buffer(input, order) {
        keep((message.level(), message.form(), message.label(), message.coords(), message.byte_order()));
        keep((message.payload(black_box(3)), message.payloads().len(), message.clone().payloads().count()));
    }
    let frames = black_box([input, input.get(..black_box(3)).unwrap_or_default(), input]);
    for envelope in [Envelope::Plain, Envelope::Dealer, Envelope::Router] {
        keep(Message::from_frames(&frames, black_box(envelope), order).map(|message| message.payloads().len()));
        keep(envelope.strip(&frames));
    }
    if let Err(error) = Message::from_parts(&frames, order) {
        keep((error.kind(), error.part(), error.offset()));
    }
    keep((tgm_zio::encoded_len(black_box([3, usize::MAX])), tgm_zio::encode_into(&frames, output)));
    keep(Size::of(black_box(2), black_box(300)).map(|size| size.as_bytes().len()));
    keep((Level::from_number(black_box(9)), Form::new(text(input))));
    if let Some(level) = Level::from_digit(black_box(b'4')) {
        keep((level.number(), level.digit(), level.name(), Prefix::head(level, Form::TENS)));
    }
    keep((Form(black_box([7; 4])).as_str().is_some(), Prefix::parse(input)));
    keep(Coords::parse(input, order).map(|coords| coords.to_bytes(order)));
}

fn layout(input: &[u8]) {
    let shape: &[u64] = black_box(&[2, 4, 2]);
    let order: &[usize] = black_box(&[1, 0, 2]);
    let ascend: &[bool] = black_box(&[true, false, true]);
    let layout = Layout::new(shape, Some(order), Some(ascend)).unwrap_or(Layout::from_checked(shape, None, None));
    let mut strides = [0; 3];
    let offset = layout.strides_into(black_box(&mut strides[..]));
    keep((layout.is_row_major(), layout.ascends(), layout.fastest_first().count(), layout.flat_index(shape)));
    let Ok(elements) = Elements::<f32>::new(input, black_box(ByteOrder::Big)) else { return };
    if let Ok(view) = OrderedView::new(elements, layout.shape(), &strides, offset.unwrap_or(1)) {
        keep((view.stored().len(), view.shape(), view.strides(), view.get_at(black_box(&[1, 2, 1]))));
        view.iter().for_each(keep);
        keep(view.copy_into(black_box(&mut [0.0; 16])));
    }
}
