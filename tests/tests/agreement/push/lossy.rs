//! Damage on the way: junk, lost bytes, messages cut short. The messages after it are not lost.

use std::collections::BTreeSet;
use std::fmt;

use tgm_core::error::{Error, ErrorKind};
use tgm_core::push::{Event, Link, PushDecoder};
use tgm_push_oracle::{Fact, facts_of};

use super::{FIRST, NESTED, Numbers, STEP, STREAM, THREE, corpus};

const LARGE: usize = 4096;

/// The facts of `message` alone.
fn alone(message: &[u8]) -> Vec<Fact> {
    let facts = facts_of::<LARGE>(Link::Lossy, [message]);
    assert!(matches!(facts.last(), Some(Fact::End { .. })), "{:?}", facts.last());
    facts
}

/// Checks that `stream`, in pieces of several lengths, ends with the whole `message`, and that all bytes before it are
/// reported. `alone` has the facts of the message on its own.
fn assert_ends_with(link: Link, stream: &[u8], message: &[u8], alone: &[Fact], case: &dyn fmt::Debug) {
    for longest in [1, 50, 4000] {
        let facts = facts_of::<LARGE>(link, Numbers(7).cut(stream, longest));
        assert!(facts.ends_with(alone), "{case:?}: {:?}", facts.iter().filter(|f| is_rough(f)).collect::<Vec<_>>());
        let accounted: u64 =
            facts.iter().map(|fact| if let Fact::End { length, .. } = fact { *length } else { 0 }).sum();
        let skipped: u64 = facts.iter().map(|fact| if let Fact::Skipped(count) = fact { *count } else { 0 }).sum();
        assert_eq!(accounted + skipped, stream.len() as u64, "{case:?}");
        let before = &stream[..stream.len() - message.len()];
        assert!(before.is_empty() || facts.len() > alone.len(), "{case:?}");
    }
}

fn is_rough(fact: &Fact) -> bool {
    matches!(fact, Fact::Skipped(_) | Fact::Error(_) | Fact::Start | Fact::End { .. })
}

#[test]
fn a_message_cut_short_anywhere_does_not_hide_the_next() {
    for torn in [THREE, FIRST, STREAM] {
        for whole in [STREAM, FIRST] {
            let expected = alone(whole);
            for len in (0..torn.len()).filter(|len| *len < 80 || len % STEP == 0) {
                let stream = [&torn[..len], whole].concat();
                assert_ends_with(Link::Lossy, &stream, whole, &expected, &len);
            }
        }
    }
}

#[test]
fn bytes_lost_or_changed_or_added_anywhere_do_not_hide_the_next_message() {
    let mut numbers = Numbers(3);
    let expected = alone(THREE);
    for round in 0..6000 / STEP {
        let mut damaged = [THREE, FIRST, STREAM][round % 3].to_vec();
        let at = numbers.below(damaged.len());
        let count = numbers.below(60).min(damaged.len() - at);
        match round % 4 {
            0 => drop(damaged.drain(at..at + count)),
            1 => damaged[at..at + count].iter_mut().for_each(|byte| *byte ^= 0x55),
            2 => drop(damaged.splice(at..at, THREE[..count].to_vec())),
            _ => damaged[at] = damaged[at].wrapping_add(1),
        }
        damaged.extend_from_slice(THREE);
        assert_ends_with(Link::Lossy, &damaged, THREE, &expected, &(round, at, count));
    }
}

#[test]
fn junk_is_counted_and_said_once() {
    let message = alone(FIRST);
    for junk in [
        vec![0; 1],
        vec![0; 100],
        b"TENSOGR".to_vec(),
        b"TENSOTENSOGRTENSOGRM\0\x02TENSOGRM".to_vec(),
        b"TENSOGRM".repeat(9),
        [&FIRST[..8], &[0, 2], &FIRST[10..]].concat(),
        [FIRST, b"T"].concat()[1..].to_vec(),
    ] {
        let stream = [&junk, FIRST, &junk, FIRST].concat();
        for longest in [1, 5, 33, 9000] {
            let facts = facts_of::<LARGE>(Link::Lossy, Numbers(11).cut(&stream, longest));
            let error = |facts: &[Fact]| matches!(facts[0], Fact::Error(e) if is_no_message(e));
            let (first, second) = facts.split_at(2 + message.len());
            for part in [first, second] {
                assert!(error(part), "{junk:?}: {:?}", part[0]);
                assert_eq!(part[1], Fact::Skipped(junk.len() as u64));
                assert_eq!(part[2..], message);
            }
        }
    }
}

fn is_no_message(error: Error) -> bool {
    matches!(error.kind(), ErrorKind::StartMagic | ErrorKind::Version(_))
}

#[test]
fn junk_at_the_end_is_no_second_error() {
    let stream = [FIRST, &[7; 30]].concat();
    let facts = facts_of::<LARGE>(Link::Lossy, [stream.as_slice()]);
    assert_eq!(facts.iter().filter(|fact| matches!(fact, Fact::Error(_))).count(), 1);
    assert_eq!(facts.last(), Some(&Fact::Error(ErrorKind::StartMagic.at(0))));
}

#[test]
fn a_message_inside_of_another_is_payload_on_a_reliable_link_only() {
    let reliable = facts_of::<LARGE>(Link::Reliable, [NESTED]);
    assert!(!reliable.iter().any(|fact| matches!(fact, Fact::Error(_))));
    let inner = NESTED.windows(8).rposition(|window| window == b"TENSOGRM").unwrap();
    assert!(inner > 0);
    let lossy = facts_of::<LARGE>(Link::Lossy, [NESTED]);
    assert!(lossy.contains(&Fact::Error(ErrorKind::Truncated.at(inner as u64))));
    assert!(lossy.contains(&Fact::Skipped(inner as u64)));
}

#[test]
fn links_differ_only_where_a_message_holds_another() {
    let mut different = BTreeSet::new();
    for (path, bytes) in corpus() {
        let [reliable, lossy] =
            [Link::Reliable, Link::Lossy].map(|link| facts_of::<32768>(link, Numbers(5).cut(&bytes, 100)));
        if reliable != lossy {
            assert!(bytes.windows(8).filter(|window| window == b"TENSOGRM").count() > 1, "{path}");
            different.insert(path);
        }
    }
    assert!(different.iter().any(|path| path.contains("nested-message")), "{different:?}");
}

/// Decodes a stream that can be read again: after an error, it continues where a message was missed.
fn lengths_with_reading_again(stream: &[u8]) -> Vec<u64> {
    let mut decoder = PushDecoder::<LARGE>::new(Link::Reliable);
    let (mut rest, mut lengths) = (stream, Vec::new());
    loop {
        let event = decoder.next_event(&mut rest).map(|event| {
            if let Some(Event::MessageEnd(end)) = event {
                lengths.push(end.length);
            }
            event.is_some()
        });
        match event {
            Ok(true) => continue,
            Ok(false) if decoder.finish().is_ok() => return lengths,
            Ok(false) | Err(_) => {}
        }
        if let Some(missed) = decoder.missed() {
            decoder.reset(missed);
            rest = &stream[usize::try_from(missed).unwrap()..];
            assert_eq!((decoder.position(), decoder.message_offset()), (missed, missed));
        } else if rest.is_empty() && decoder.finish().is_err() {
            return lengths;
        }
    }
}

#[test]
fn on_a_reliable_link_missed_says_where_to_read_again() {
    for torn in [THREE, STREAM] {
        for len in 0..torn.len() {
            let stream = [&torn[..len], FIRST, STREAM, THREE].concat();
            let expected = [FIRST, STREAM, THREE].map(|message| message.len() as u64);
            assert_eq!(lengths_with_reading_again(&stream), expected, "{len}");
        }
    }
}

#[test]
fn searching_is_said() {
    let mut decoder = PushDecoder::<0>::new(Link::Lossy);
    let mut rest: &[u8] = &[1; 24];
    assert!(!decoder.is_searching());
    assert_eq!(decoder.next_event(&mut rest).unwrap_err(), ErrorKind::StartMagic.at(0));
    assert!(decoder.is_searching());
    decoder.reset(0);
    assert!(!decoder.is_searching());
    let mut rest: &[u8] = &FIRST[..24];
    assert!(matches!(decoder.next_event(&mut rest), Ok(Some(Event::Preamble(_)))));
    assert_eq!(decoder.missed(), None);
}
