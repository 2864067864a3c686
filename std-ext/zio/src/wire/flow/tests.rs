//! Both sides of a flow, without sockets.

use std::format;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use tgm_core::descriptor::ByteOrder;

fn pass(from: &mut Flow, to: &mut Flow) -> FlowEvent {
    to.receive_label(from.poll().unwrap().label()).unwrap()
}

fn opened(direction: Direction, asked: u64, limit: u64) -> (Flow, Flow) {
    let (mut client, mut server) = (Flow::client(direction, asked).unwrap(), Flow::server(limit));
    pass(&mut client, &mut server);
    let credit = asked.min(limit);
    assert_eq!(pass(&mut server, &mut client), FlowEvent::Accepted { credit });
    (client, server)
}

#[test]
fn data_flows_either_way_and_is_paid_for() {
    for direction in [Direction::Extract, Direction::Inject] {
        let (client, server) = opened(direction, 3, 2);
        let is_client = client.is_sender();
        assert_eq!(is_client, direction == Direction::Extract);
        let (mut sender, mut receiver) = if is_client { (client, server) } else { (server, client) };
        assert_eq!((sender.can_send(), sender.credit(), receiver.credit()), (false, 0, 2));
        assert_eq!(sender.data().unwrap_err().kind(), K::NoCredit);
        assert_eq!(pass(&mut receiver, &mut sender), FlowEvent::Paid { credit: 2 });
        for left in [2, 1] {
            assert_eq!((sender.can_send(), sender.credit(), receiver.can_send()), (true, left, false));
            assert_eq!(receiver.receive_label(sender.data().unwrap().label()), Ok(FlowEvent::Data));
        }
        assert_eq!(sender.data().unwrap_err().kind(), K::NoCredit);
        assert_eq!(receiver.receive_label(FlowLabel::Dat).unwrap_err().kind(), K::CreditExceeded);
        assert_eq!(pass(&mut receiver, &mut sender), FlowEvent::Paid { credit: 2 });
        assert_eq!(receiver.poll(), None);
        assert_eq!(receiver.data().unwrap_err().kind(), K::OutOfTurn);
        sender.end();
        assert!(sender.credit() > 0 && !sender.can_send());
    }
}

#[test]
fn directions_have_names_and_reverse_each_other() {
    for (direction, name) in [(Direction::Extract, "extract"), (Direction::Inject, "inject")] {
        assert_eq!((direction.name(), Direction::from_name(name)), (name, Some(direction)));
        assert_ne!(direction.reversed(), direction);
    }
    assert_eq!(Direction::from_name("Extract"), None);
}

#[test]
fn data_that_is_on_its_way_is_received_after_the_end() {
    let (mut sender, mut receiver) = opened(Direction::Extract, 2, 2);
    pass(&mut receiver, &mut sender);
    let late = sender.data().unwrap();
    receiver.end();
    let eot = receiver.poll().unwrap();
    assert_eq!(receiver.receive_label(late.label()), Ok(FlowEvent::Data));
    assert_eq!(receiver.poll(), None);
    assert_eq!(sender.receive_label(eot.label()), Ok(FlowEvent::Ended));
    assert!(!sender.is_over() && sender.data().is_err());
    assert_eq!(pass(&mut sender, &mut receiver), FlowEvent::Ended);
    assert!(sender.is_over() && receiver.is_over());
    assert_eq!(receiver.receive_label(FlowLabel::Eot), Ok(FlowEvent::Late));
    assert_eq!(receiver.receive_label(FlowLabel::Dat).unwrap_err().kind(), K::OutOfTurn);
}

#[test]
fn both_may_end_at_once() {
    let (mut a, mut b) = opened(Direction::Inject, 1, 1);
    a.end();
    b.end();
    let (from_a, from_b) = (a.poll().unwrap(), b.poll().unwrap());
    assert_eq!(a.receive_label(from_b.label()), Ok(FlowEvent::Ended));
    assert_eq!(b.receive_label(from_a.label()), Ok(FlowEvent::Ended));
    assert!(a.is_over() && b.is_over());
}

#[test]
fn a_server_may_refuse() {
    for limit in [0, 5] {
        let (mut client, mut server) = (Flow::client(Direction::Extract, 1).unwrap(), Flow::server(limit));
        pass(&mut client, &mut server);
        server.end();
        assert_eq!(pass(&mut server, &mut client), FlowEvent::Refused);
        assert_eq!(pass(&mut client, &mut server), FlowEvent::Ended);
        assert!(server.is_over() && client.is_over());
    }
}

#[test]
fn wrong_answers_change_nothing() {
    let mut client = Flow::client(Direction::Extract, 4).unwrap();
    client.poll().unwrap();
    for (label, kind) in [
        (FlowLabel::Bot { direction: Direction::Extract, credit: 4 }, K::BadDirection),
        (FlowLabel::Bot { direction: Direction::Inject, credit: 5 }, K::CreditExceeded),
        (FlowLabel::Dat, K::OutOfTurn),
        (FlowLabel::Pay { credit: 1 }, K::OutOfTurn),
    ] {
        assert_eq!(client.receive_label(label).unwrap_err().kind(), kind);
    }
    client.receive_label(FlowLabel::Bot { direction: Direction::Inject, credit: 4 }).unwrap();
    assert_eq!(client.receive_label(FlowLabel::Pay { credit: 5 }).unwrap_err().kind(), K::CreditExceeded);
    assert_eq!(client.receive_label(FlowLabel::Pay { credit: 4 }), Ok(FlowEvent::Paid { credit: 4 }));
    assert_eq!(Flow::client(Direction::Extract, 0).unwrap_err().kind(), K::BadCredit);
}

#[test]
fn labels_are_read_as_they_are_written() {
    let most = u64::MAX;
    for label in [
        FlowLabel::Bot { direction: Direction::Extract, credit: most },
        FlowLabel::Bot { direction: Direction::Inject, credit: 1 },
        FlowLabel::Dat,
        FlowLabel::Pay { credit: most },
        FlowLabel::Eot,
    ] {
        let prefix = Outgoing { label, seqno: 0 }.prefix();
        assert_eq!(prefix.as_ref(), prefix.as_bytes());
        assert_eq!(FlowLabel::parse(&prefix.as_bytes()[8..]), Ok(label));
    }
    let documented = br#"{"flow":"BOT","direction":"inject","credits":3}"#;
    assert_eq!(FlowLabel::parse(documented), Ok(FlowLabel::Bot { direction: Direction::Inject, credit: 3 }));
    for (label, kind) in [
        (&b"{}"[..], K::NoFlow),
        (b"x", K::LabelNotJson),
        (b"{\"flow\":1}", K::BadFlow),
        (b"{\"flow\":\"bot\"}", K::BadFlow),
        (b"{\"flow\":\"BOT\",\"credit\":1}", K::BadDirection),
        (b"{\"flow\":\"BOT\",\"direction\":\"inject\"}", K::BadCredit),
        (b"{\"flow\":\"PAY\",\"credit\":0}", K::BadCredit),
        (b"{\"flow\":\"PAY\",\"credit\":-1}", K::BadCredit),
    ] {
        assert_eq!(FlowLabel::parse(label).unwrap_err().kind(), kind);
    }
}

/// `credits` counts only where there is no `credit`.
#[test]
fn credit_is_above_zero_and_has_one_name() {
    let credit = |said: &str| {
        let label = format!(r#"{{"flow":"BOT","direction":"extract"{said}}}"#);
        FlowLabel::parse(label.as_bytes()).map_err(|error| error.kind())
    };
    let bot = |credit| Ok(FlowLabel::Bot { direction: Direction::Extract, credit });
    assert_eq!((credit(r#","credit":1"#), credit(r#","credits":1"#)), (bot(1), bot(1)));
    assert_eq!(credit(r#","credit":2,"credits":1"#), bot(2));
    for bad in ["", r#","credit":0"#, r#","credits":0"#, r#","credit":0,"credits":1"#, r#","credit":"1","credits":1"#] {
        assert_eq!(credit(bad), Err(K::BadCredit), "{bad}");
    }
}

#[test]
fn numbers_that_do_not_follow_are_counted() {
    let mut server = Flow::server(4);
    for (label, seqno, gaps) in [
        ("ZIO0FLOW{\"flow\":\"BOT\",\"direction\":\"extract\",\"credit\":1}", 9_u64, 0),
        ("ZIO0FLOW{\"flow\":\"EOT\"}", 11, 1),
    ] {
        let coords = Coords { seqno, ..Coords::default() }.to_bytes(ByteOrder::Little);
        let parts = [label.as_bytes(), &coords];
        server.receive(&Message::from_parts(&parts, ByteOrder::Little).unwrap()).unwrap();
        assert_eq!(server.gaps(), gaps);
    }
}

fn any_label() -> impl Strategy<Value = FlowLabel> {
    let credit = prop_oneof![1..6_u64, Just(u64::MAX)];
    prop_oneof![
        (any::<bool>(), credit.clone()).prop_map(|(is, credit)| FlowLabel::Bot {
            direction: if is { Direction::Extract } else { Direction::Inject },
            credit
        }),
        Just(FlowLabel::Dat),
        credit.prop_map(|credit| FlowLabel::Pay { credit }),
        Just(FlowLabel::Eot),
    ]
}

#[derive(Clone, Debug)]
enum Act {
    Receive(FlowLabel),
    Poll,
    Data,
    End,
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any_label().prop_map(Act::Receive),
        3 => Just(Act::Poll),
        3 => Just(Act::Data),
        1 => Just(Act::End),
    ]
}

proptest! {
    /// A peer that sends anything at all cannot make an end send or take more than was agreed on.
    #[test]
    fn no_peer_makes_an_end_exceed_its_credit(
        acts in prop::collection::vec(any_act(), 0..80), is_client: bool, is_sender: bool, limit in 0..5_u64,
    ) {
        let direction = if is_sender { Direction::Extract } else { Direction::Inject };
        let mut flow = match Flow::client(direction, limit) {
            Ok(client) if is_client => client,
            _ => Flow::server(limit),
        };
        let (mut paid, mut received, mut got, mut sent) = (0_u64, 0_u64, 0_u64, 0_u64);
        for act in acts {
            match act {
                Act::Receive(label) => {
                    let before = std::format!("{flow:?}");
                    match (label, flow.receive_label(label)) {
                        (_, Err(_)) => prop_assert_eq!(before, std::format!("{:?}", flow)),
                        (FlowLabel::Dat, Ok(event)) => {
                            prop_assert_eq!(event, FlowEvent::Data);
                            received += 1;
                        }
                        (FlowLabel::Pay { credit }, Ok(FlowEvent::Paid { .. })) => got += credit,
                        _ => {}
                    }
                }
                Act::Poll => {
                    if let Some(FlowLabel::Pay { credit }) = flow.poll().map(|sent| sent.label()) {
                        paid += credit;
                    }
                }
                Act::Data => sent += u64::from(flow.data().is_ok()),
                Act::End => flow.end(),
            }
            prop_assert!(flow.limit() <= limit);
            prop_assert!(received <= paid && paid - received <= flow.limit());
            prop_assert!(sent <= got && got - sent <= flow.limit());
        }
    }

    /// Two honest ends, messages of which are delivered in order but at any time, never err, and end when asked to.
    #[test]
    fn two_ends_agree_whatever_the_delays(
        choices in prop::collection::vec(0..5_u8, 0..200), is_sender: bool, asked in 1..6_u64, limit in 1..6_u64,
    ) {
        let direction = if is_sender { Direction::Extract } else { Direction::Inject };
        let mut ends = [Flow::client(direction, asked).unwrap(), Flow::server(limit)];
        let mut ways: [Vec<FlowLabel>; 2] = [Vec::new(), Vec::new()];
        // At last everything is delivered.
        let last = [0, 1, 2, 3].into_iter().cycle().take(200);
        let stop = choices.len();
        for (step, choice) in choices.into_iter().chain(last).enumerate() {
            if step == stop {
                ends[0].end();
            }
            let one = usize::from(choice & 1);
            match choice {
                0 | 1 => ways[one].extend(ends[one].poll().map(|sent| sent.label())),
                2 | 3 if !ways[1 - one].is_empty() => {
                    let label = ways[1 - one].remove(0);
                    prop_assert!(ends[one].receive_label(label).is_ok(), "{:?} {:?}", ends[one], label);
                }
                4 => {
                    for (end, way) in ends.iter_mut().zip(&mut ways) {
                        way.extend(end.data().map(|sent| sent.label()));
                    }
                }
                _ => {}
            }
            let on_their_way = ways.iter().flatten().filter(|label| **label == FlowLabel::Dat).count();
            prop_assert!(on_their_way as u64 <= asked.min(limit));
        }
        prop_assert!(ends[0].is_over());
        prop_assert!(ways.iter().all(Vec::is_empty));
    }
}

/// What comes before it can, from the wrong side, or twice.
#[test]
fn messages_out_of_turn_are_refused_and_change_nothing() {
    let bot = |direction, credit| FlowLabel::Bot { direction, credit };
    let kind = |flow: &mut Flow, label| {
        let before = std::format!("{flow:?}");
        let kind = flow.receive_label(label).map_err(|error| error.kind());
        assert!(kind.is_ok() || std::format!("{flow:?}") == before);
        kind
    };
    // A client that did not ask yet.
    let mut client = Flow::client(Direction::Extract, 2).unwrap();
    for label in [bot(Direction::Inject, 2), FlowLabel::Eot] {
        assert_eq!(kind(&mut client, label), Err(K::OutOfTurn));
    }
    // A sender gets no data, a receiver no credit, and a server that did not answer yet no credit either.
    let (mut sender, mut receiver) = opened(Direction::Extract, 2, 2);
    assert_eq!(kind(&mut sender, FlowLabel::Dat), Err(K::OutOfTurn));
    assert_eq!(kind(&mut receiver, FlowLabel::Pay { credit: 1 }), Err(K::OutOfTurn));
    assert_eq!(kind(&mut sender, bot(Direction::Inject, 2)), Err(K::OutOfTurn));
    let mut server = Flow::server(2);
    assert_eq!(kind(&mut server, FlowLabel::Eot), Err(K::OutOfTurn));
    kind(&mut server, bot(Direction::Inject, 2)).unwrap();
    assert!(server.is_sender());
    assert_eq!(kind(&mut server, FlowLabel::Pay { credit: 1 }), Err(K::OutOfTurn));
    // After the end: late credit for a sender, none for a receiver, and an answer only once.
    sender.end();
    receiver.end();
    assert_eq!(kind(&mut sender, FlowLabel::Pay { credit: 1 }), Ok(FlowEvent::Late));
    assert_eq!(kind(&mut receiver, FlowLabel::Pay { credit: 1 }), Err(K::OutOfTurn));
    assert_eq!(kind(&mut sender, bot(Direction::Inject, 2)), Err(K::OutOfTurn));
    let mut gone = Flow::client(Direction::Inject, 1).unwrap();
    gone.poll().unwrap();
    gone.end();
    assert_eq!(kind(&mut gone, bot(Direction::Extract, 1)), Ok(FlowEvent::Late));
    assert_eq!(kind(&mut gone, bot(Direction::Extract, 1)), Err(K::OutOfTurn));
}
