//! Crashes of the system: whatever a crash leaves of the writes, no message that was acknowledged is lost, and none that is
//! torn is believed.

use proptest::prelude::*;
use tgm_core::scan::Segment;
use tgm_disk::{Crash, Step};

use super::simulated::Simulated;
use crate::base::options::{DecodeOptions, EncodeOptions};
use crate::file::append::medium::Medium;
use crate::file::append::protocol::{Known, Stopped, Tail};
use crate::file::append::{AppendOptions, TornTail};
use crate::model::types::{ByteOrder, DataObjectDescriptor, Dtype, GlobalMetadata};
use crate::scan::{Bytes, ScanOptions, Table};

const SYNCED: AppendOptions = AppendOptions { sync: true, torn_tail: TornTail::Remove };
const UNSYNCED: AppendOptions = AppendOptions { sync: false, torn_tail: TornTail::Remove };

/// The step after which a message is acknowledged whose append has failed.
const NEVER: Option<usize> = Some(usize::MAX);

/// Appends to a file, and what was acknowledged when.
struct History {
    initial: Vec<u8>,
    disk: Simulated,
    known: Option<Known>,
    /// All messages in the order in which they were written, also those that failed.
    messages: Vec<Vec<u8>>,
    /// The number of steps after which a message was acknowledged to be on disk, for each of them.
    acknowledged: Vec<Option<usize>>,
}

impl History {
    /// A file with these messages on disk, and other bytes after them.
    fn new(messages: &[Vec<u8>], behind: &[u8]) -> Self {
        let initial = [&*messages.concat(), behind].concat();
        let disk = Simulated::new(&initial);
        Self { initial, disk, known: None, messages: messages.to_vec(), acknowledged: vec![Some(0); messages.len()] }
    }

    /// Appends messages in a batch, or one without a batch.
    fn append(&mut self, messages: &[Vec<u8>], how: AppendOptions) -> bool {
        let appended = self.try_append(messages, how);
        let steps = self.disk.steps.borrow().len();
        self.messages.extend_from_slice(messages);
        self.acknowledged.resize(self.messages.len(), if appended.is_ok() { None } else { NEVER });
        if appended.is_ok() && how.sync {
            // A wait is for everything that was written before, too.
            let is_there = |message: &&mut Option<usize>| message.is_none();
            self.acknowledged.iter_mut().filter(is_there).for_each(|at| *at = Some(steps));
        }
        appended.is_ok()
    }

    fn try_append(&mut self, messages: &[Vec<u8>], how: AppendOptions) -> Result<(), Stopped> {
        let len = self.disk.seen.borrow().len() as u64;
        let mut tail = Tail::find(&self.disk, len, self.known.take(), None, how)?.unwrap();
        if let [message] = messages {
            tail.write(&self.disk, message)?;
        } else {
            messages.iter().try_for_each(|message| tail.add(&self.disk, message).map(drop))?;
            tail.flush(&self.disk)?;
        }
        self.known = Some(tail.known());
        Ok(())
    }

    /// The crashes that matter: before each wait, and at the end. Each comes with the number of steps before it.
    fn crashes(&self, sector: usize) -> Vec<(usize, Crash)> {
        let steps = self.disk.steps.borrow();
        let ends = (0..=steps.len()).filter(|&at| at == steps.len() || steps[at] == Step::Sync);
        ends.map(|at| (at, Crash::after(&self.initial, &steps[..at], sector))).collect()
    }

    /// Checks what a crash after step `at` has left. Returns the messages that are there.
    fn check(&self, at: usize, left: &[u8]) -> Vec<Vec<u8>> {
        let found = scan(left);
        let mut rest = found.iter();
        for (message, acknowledged) in self.messages.iter().zip(&self.acknowledged) {
            let mut ahead = rest.clone();
            if ahead.next() == Some(message) {
                rest = ahead;
            } else {
                assert!(acknowledged.is_none_or(|steps| steps > at), "an acknowledged message is lost");
            }
        }
        let steps = self.disk.steps.borrow();
        let kind = |step: &Step| match step {
            Step::Write { offset, bytes } => format!("write {} at {offset}", bytes.len()),
            step => format!("{step:?}"),
        };
        let said = || steps.iter().take(at).map(kind).collect::<Vec<_>>();
        assert_eq!(
            rest.count(),
            0,
            "a message is there that was not appended, after {:?}: {:?} of {} bytes, {} at first",
            said(),
            tgm_core::scan::scan(left).collect::<Vec<_>>(),
            left.len(),
            self.initial.len()
        );
        found
    }

    /// Checks the state, appends, and checks again. Returns the history of the repair.
    fn check_and_repair(&self, at: usize, left: &[u8]) -> Self {
        let found = self.check(at, left);
        let mut repair = Self::new(&[], left);
        (repair.messages, repair.acknowledged) = (found.clone(), vec![Some(0); found.len()]);
        let next = message(b"after the crash");
        assert!(repair.append(std::slice::from_ref(&next), SYNCED));
        assert_eq!(scan(&repair.disk.seen.borrow()), [found, vec![next]].concat());
        repair
    }

    /// Checks each state that each crash can leave: all of them, or as many as `most` at random. For some states also
    /// those that a crash during the repair can leave. Returns the number of states.
    fn check_crashes(&self, sector: usize, most: u128, rng: &mut Rng) -> u128 {
        // Machines of 32 bits are emulated, and slow.
        let most = if usize::BITS < u64::BITS { most / 8 } else { most };
        let mut checked = 0;
        for (at, crash) in self.crashes(sector) {
            let mut check = |left: Vec<u8>| {
                let repair = self.check_and_repair(at, &left);
                checked += 1;
                if rng.below(50) == 0 {
                    for (at, crash) in repair.crashes(sector) {
                        let left = crash.state(|count| rng.below(count));
                        repair.check_and_repair(at, &left);
                    }
                }
            };
            if crash.count() <= most {
                crash.states().for_each(&mut check);
            } else {
                let mut choice = Rng(at as u64 + 1);
                (0..most).for_each(|_| check(crash.state(|count| choice.below(count))));
            }
        }
        checked
    }
}

/// The messages that all ways of scanning find.
fn scan(bytes: &[u8]) -> Vec<Vec<u8>> {
    let core: Vec<_> = tgm_core::scan::scan(bytes).filter(Segment::is_message).collect();
    for bidirectional in [false, true] {
        let Ok(table) = Table::scan(Bytes(bytes), &ScanOptions { bidirectional, ..ScanOptions::default() });
        assert!(table.segments().filter(Segment::is_message).eq(core.iter().copied()), "all ways find the same");
    }
    core.iter().map(|segment| segment.bytes_of(bytes).unwrap().to_vec()).collect()
}

#[derive(Debug)]
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

fn message(payload: &[u8]) -> Vec<u8> {
    let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[payload.len() as u64]);
    crate::encode(&GlobalMetadata::default(), &[(&descriptor, payload)], &EncodeOptions::default()).unwrap()
}

/// A message that holds messages in its payload.
fn nested(count: usize) -> Vec<u8> {
    message(&[&[9; 40][..], &message(&[5; 20]).repeat(count), &[8; 30]].concat())
}

/// A message whose payload differs from the payloads of other numbers.
fn numbered(number: usize, len: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..len).map(|at| (at * 7 + number * 31 + 1).to_le_bytes()[0]).collect();
    message(&payload)
}

/// Bytes after the last message: nothing, messages torn in their order and in none, and zeros.
fn tails() -> Vec<(&'static str, Vec<u8>)> {
    let (torn, holding) = (numbered(50, 700), nested(2));
    let mut without_magic = holding.clone();
    without_magic[..8].fill(0);
    let mut without_middle = torn.clone();
    without_middle[200..].fill(0);
    vec![
        ("", Vec::new()),
        ("torn", torn[..torn.len() - 40].to_vec()),
        ("torn, holds messages", holding[..holding.len() - 40].to_vec()),
        ("without its magic", without_magic),
        ("without its end", without_middle),
        ("zeros", vec![0; 1000]),
    ]
}

#[test]
fn every_state_after_a_crash_of_a_synced_append_has_what_was_acknowledged_and_nothing_torn() {
    let mut rng = Rng(1);
    let mut checked = 0;
    for (name, behind) in tails() {
        for before in [vec![], vec![numbered(1, 33), numbered(2, 100)]] {
            for (sector, most) in [(512, 4096), (100, 300)] {
                let mut history = History::new(&before, &behind);
                assert!(history.append(&[numbered(3, 40)], SYNCED), "{name}");
                assert!(history.append(&[numbered(4, 600)], SYNCED), "{name}");
                checked += history.check_crashes(sector, most, &mut rng);
            }
        }
    }
    println!("{checked} states");
}

#[test]
fn every_state_after_a_crash_of_a_synced_batch_has_what_was_acknowledged_and_nothing_torn() {
    let mut rng = Rng(2);
    let mut checked = 0;
    for (_, behind) in tails() {
        let mut history = History::new(&[numbered(1, 33)], &behind);
        assert!(history.append(&[numbered(2, 40), numbered(3, 10), numbered(4, 50)], SYNCED));
        assert!(history.append(&[numbered(5, 9), nested(1), numbered(6, 20)], SYNCED));
        // Too long to be written twice.
        let long: Vec<_> = (7..10).map(|number| numbered(number, 5000)).collect();
        assert!(history.append(&long, SYNCED));
        for (sector, most) in [(512, 1024), (37, 100)] {
            checked += history.check_crashes(sector, most, &mut rng);
        }
    }
    println!("{checked} states");
}

/// A payload can be a file of messages. Without the frames around them they would look like messages of the file.
#[test]
fn messages_inside_payloads_are_never_believed() {
    let mut rng = Rng(3);
    let mut checked = 0;
    for (_, behind) in tails() {
        for sector in [512, 100, 24, 5] {
            let mut history = History::new(&[numbered(1, 33)], &behind);
            assert!(history.append(&[nested(1)], SYNCED));
            assert!(history.append(&[message(&nested(2))], SYNCED));
            checked += history.check_crashes(sector, 400, &mut rng);
        }
    }
    println!("{checked} states");
}

#[test]
fn a_write_that_fails_leaves_nothing_that_mixes_with_later_messages() {
    let mut rng = Rng(4);
    for failing in 0..12 {
        for first in [vec![numbered(2, 300)], vec![nested(1)], vec![numbered(2, 30), numbered(3, 200)]] {
            // With two failures, the cut after the first one fails as well.
            for (failures, sector) in [(1, 512), (2, 512), (1, 64), (2, 64)] {
                let mut history = History::new(&[numbered(1, 33)], &[]);
                history.disk.fail(failing..failing + failures);
                history.append(&first, SYNCED);
                history.disk.fail(0..0);
                // Its header lies where that of the first message was.
                assert!(history.append(&[numbered(4, 280)], SYNCED));
                history.check_crashes(sector, 200, &mut rng);
            }
        }
    }
}

/// Another program shortens the file and does not wait. The disk may still have the old length, and the old bytes.
#[test]
fn messages_that_were_cut_off_do_not_mix_with_those_in_their_place() {
    let mut rng = Rng(6);
    for sector in [512, 64] {
        let kept = numbered(1, 33);
        let mut history = History::new(&[kept.clone(), numbered(2, 700)], &[]);
        history.disk.cut(kept.len() as u64).unwrap();
        history.acknowledged[1] = NEVER;
        assert!(history.append(&[numbered(3, 700)], SYNCED));
        for (at, crash) in history.crashes(sector) {
            let is_written = |step: &Step| matches!(step, Step::Write { .. });
            if history.disk.steps.borrow()[..at].iter().any(is_written) {
                (0..300).for_each(|_| drop(history.check_and_repair(at, &crash.state(|count| rng.below(count)))));
            }
        }
    }
}

/// Without `sync` less is promised: what was synced before is there, and scans find it.
#[test]
fn a_crash_after_appends_without_sync_keeps_what_was_synced_and_digests_tell_the_rest() {
    let mut rng = Rng(5);
    let (mut torn, mut whole) = (0, 0);
    for (_, behind) in tails() {
        for sector in [512, 100] {
            let mut history = History::new(&[numbered(1, 33)], &behind);
            assert!(history.append(&[numbered(2, 200)], SYNCED));
            assert!(history.append(&[numbered(3, 700)], UNSYNCED));
            assert!(history.append(&[numbered(4, 10), numbered(5, 300)], UNSYNCED));
            let synced = &history.messages[..2];
            for (at, crash) in history.crashes(sector).split_off(history.crashes(sector).len() - 1) {
                for _ in 0..400 {
                    let left = crash.state(|count| rng.below(count));
                    let found = scan(&left);
                    assert!(found.starts_with(synced), "crash after step {at}");
                    for message in &found[2..] {
                        let verifying = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
                        let is_written = history.messages.contains(message);
                        assert_eq!(crate::decode(message, &verifying).is_ok() && is_written, is_written);
                        if crate::decode(message, &verifying).is_ok() {
                            let values = |bytes: &[u8]| crate::decode(bytes, &verifying).unwrap().1.remove(0).1;
                            assert!(history.messages.iter().any(|written| values(written) == values(message)));
                        }
                        *(if is_written { &mut whole } else { &mut torn }) += 1;
                    }
                    // The next append with `sync` makes all of it durable.
                    let mut repair = History::new(&[], &left);
                    let next = numbered(6, 60);
                    assert!(repair.append(std::slice::from_ref(&next), SYNCED));
                    assert_eq!(scan(&repair.disk.seen.borrow()), [found, vec![next]].concat());
                }
            }
            // A later append with `sync` covers them.
            assert!(history.append(&[numbered(7, 50)], SYNCED));
            assert!(history.acknowledged.iter().all(Option::is_some));
            let (at, crash) = history.crashes(sector).pop().unwrap();
            crash.states().for_each(|left| drop(history.check(at, &left)));
        }
    }
    assert!(torn > 0 && whole > 0, "{torn} torn, {whole} whole: the simulation shows what can happen");
}

#[test]
fn the_name_of_a_file_is_on_disk_before_its_first_synced_message_is_acknowledged() {
    for first in [SYNCED, UNSYNCED] {
        let mut history = History::new(&[], &[]);
        assert!(history.append(&[numbered(1, 20)], first));
        assert!(history.append(&[numbered(2, 20)], SYNCED));
        let steps = history.disk.steps.borrow();
        let named = steps.iter().position(|step| *step == Step::SyncName).unwrap();
        assert!(history.acknowledged.iter().all(|at| at.unwrap() > named));
        // A handle waits for it once.
        assert_eq!(steps.iter().filter(|step| **step == Step::SyncName).count(), 1);
    }
}

#[test]
fn waits_for_the_disk_are_two_for_a_message_or_a_batch_and_three_around_inner_magics() {
    let mut history = History::new(&[], &[]);
    let mut waits = |messages: &[Vec<u8>]| {
        let count = |history: &History| history.disk.steps.borrow().iter().filter(|s| **s == Step::Sync).count();
        let before = count(&history);
        assert!(history.append(messages, SYNCED));
        count(&history) - before
    };
    let many: Vec<_> = (0..100).map(|number| numbered(number, 10)).collect();
    assert_eq!(waits(&[numbered(1, 10)]), 3, "the first append of a handle waits for what was there before");
    assert_eq!(waits(&[numbered(2, 10)]), 2);
    assert_eq!(waits(&many), 2);
    assert_eq!(waits(&[nested(2)]), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Long histories: batches and single messages, with and without `sync`, that crash, are repaired and crash again.
    #[test]
    fn a_file_survives_crash_after_crash(
        appends in proptest::collection::vec((1..5_usize, 0..900_usize, 0..6_u8, any::<bool>()), 1..8),
        sector in prop_oneof![Just(512_usize), Just(64), Just(7)],
        behind in 0..6_usize,
        seed: u64,
    ) {
        let mut rng = Rng(seed);
        let mut history = History::new(&[numbered(1, 33)], &tails()[behind].1);
        for (number, (count, len, kind, fails)) in appends.into_iter().enumerate() {
            let made = |index: usize| if kind == 0 && index == 0 { nested(1) } else { numbered(100 * number + index, len + index) };
            let messages: Vec<_> = (0..count).map(made).collect();
            if fails {
                let failing = rng.below(8);
                history.disk.fail(failing..failing + 1 + rng.below(2));
            }
            history.append(&messages, SYNCED);
            history.disk.fail(0..0);
            let (at, crash) = { let mut crashes = history.crashes(sector); crashes.swap_remove(rng.below(crashes.len())) };
            for _ in 0..8 {
                let left = crash.state(|count| rng.below(count));
                let repaired = history.check_and_repair(at, &left);
                if rng.below(16) == 0 {
                    history = repaired;
                    break;
                }
            }
        }
    }
}
