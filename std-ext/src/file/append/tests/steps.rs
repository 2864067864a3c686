//! Which steps appending takes, counted. What they are good for is tested by crashes.

use tgm_core::wire::MAGIC;
use tgm_disk::Step;

use super::simulated::Simulated;
use crate::file::append::medium::Medium as _;
use crate::file::append::protocol::{BATCH, DENSE, ONE_BY_ONE, Tail};
use crate::file::append::{AppendOptions, TornTail};

const SYNCED: AppendOptions = AppendOptions { sync: true, torn_tail: TornTail::Remove };
const UNSYNCED: AppendOptions = AppendOptions { sync: false, torn_tail: TornTail::Remove };

/// The end of an empty file, which is settled.
fn settled(disk: &Simulated, how: AppendOptions) -> Tail {
    let mut tail = Tail::find(disk, 0, None, None, how).unwrap().unwrap();
    tail.write(disk, &[1; 10]).unwrap();
    disk.steps.borrow_mut().clear();
    tail
}

/// Writes and waits since the last call.
fn counts(disk: &Simulated) -> (usize, usize) {
    let steps = disk.steps.take();
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    (count(|step| matches!(step, Step::Write { .. })), count(|step| *step == Step::Sync))
}

#[test]
fn a_flush_without_messages_takes_no_steps() {
    let disk = Simulated::default();
    let mut tail = settled(&disk, SYNCED);
    tail.flush(&disk).unwrap();
    assert_eq!(counts(&disk), (0, 0));
    tail.add(&disk, &[1; 10]).unwrap();
    tail.flush(&disk).unwrap();
    assert_ne!(counts(&disk), (0, 0));
}

/// Many messages, which a scan would read one by one.
#[test]
fn only_the_last_message_is_read_to_find_the_end_of_a_file() {
    let message = crate::MessageBuilder::new().object(crate::ObjectBuilder::new(&[1000], &[1_u8; 1000]).unwrap());
    let message = message.encode().unwrap();
    let file = message.repeat(2000);
    let disk = Simulated::new(&file);
    assert!(Tail::find(&disk, file.len() as u64, None, None, UNSYNCED).unwrap().is_some());
    assert!(disk.read.get() < file.len() / 10, "{} of {}", disk.read.get(), file.len());
}

#[test]
fn small_messages_are_written_together_until_they_would_exceed_a_batch() {
    let disk = Simulated::default();
    let mut tail = settled(&disk, UNSYNCED);
    tail.add(&disk, &vec![1; BATCH / 2]).unwrap();
    tail.add(&disk, &vec![2; BATCH / 2]).unwrap();
    assert_eq!(counts(&disk), (0, 0), "a full batch waits");
    tail.add(&disk, &[3; 10]).unwrap();
    assert_eq!(counts(&disk), (1, 0), "the batch, without the message that did not fit");
    tail.add(&disk, &vec![4; BATCH - 1]).unwrap();
    assert_eq!(counts(&disk), (1, 0));
    tail.flush(&disk).unwrap();
    assert_eq!(counts(&disk), (1, 0));
    assert_eq!(disk.seen.borrow().len(), 10 + BATCH + 10 + BATCH - 1);
}

#[test]
fn a_message_as_long_as_a_batch_does_not_wait() {
    let disk = Simulated::default();
    let mut tail = settled(&disk, UNSYNCED);
    tail.add(&disk, &vec![1; BATCH]).unwrap();
    assert_eq!(counts(&disk), (2, 0), "without its magic, and the magic");
}

/// Writing many magics one by one takes longer than writing everything again.
#[test]
fn a_synced_batch_of_short_messages_is_written_twice_and_of_long_ones_only_the_magics() {
    let disk = Simulated::default();
    let mut tail = settled(&disk, SYNCED);
    let mut steps = |len: usize| {
        for _ in 0..3 {
            tail.add(&disk, &vec![1; len]).unwrap();
        }
        tail.flush(&disk).unwrap();
        counts(&disk)
    };
    assert_eq!(steps(DENSE), (2, 2));
    assert_eq!(steps(DENSE + 1), (1 + 3, 2));
    assert_eq!(steps(40), (2, 2));
}

/// Few magics of a torn tail are made invalid one by one, from the last to the first. More than that are made invalid at
/// once, and all of them before the tail is cut off.
#[test]
fn a_removal_waits_after_each_magic_or_after_all_of_them() {
    for (magics, waits) in [(1, 1), (ONE_BY_ONE, ONE_BY_ONE), (ONE_BY_ONE + 1, 1)] {
        let tail = [b"x", &*MAGIC.repeat(magics)].concat();
        let disk = Simulated::new(&tail);
        Tail::find(&disk, tail.len() as u64, None, None, SYNCED).unwrap().unwrap();
        let cut = disk.steps.borrow().iter().position(|step| matches!(step, Step::SetLen(0))).unwrap();
        assert_eq!(disk.steps.borrow()[cut - 1], Step::Sync);
        // One wait before all of it, and one after it.
        assert_eq!(counts(&disk), (magics, 1 + waits + 1), "{magics}");
    }
}

#[test]
fn an_end_elsewhere_than_asked_for_is_no_end_to_append_at() {
    let disk = Simulated::default();
    assert!(Tail::find(&disk, 0, None, Some(0), SYNCED).unwrap().is_some());
    assert!(Tail::find(&disk, 0, None, Some(8), SYNCED).unwrap().is_none());
    disk.write_at(0, b"torn").unwrap();
    assert!(Tail::find(&disk, 4, None, Some(4), SYNCED).unwrap().is_none());
    assert_eq!(*disk.seen.borrow(), b"torn", "nothing was removed");
}

/// Wherever writing stops: the message is not there, and the next one is.
#[test]
fn pieces_that_cannot_all_be_written_leave_the_file_as_it_was() {
    let write = |tail: &mut Tail, disk: &Simulated| {
        tail.write_pieces(disk, 30, |write_at| {
            write_at(20, &[2; 10])?;
            Ok([&MAGIC[..], &[1; 12]].concat())
        })
    };
    for failing in 0..3 {
        let disk = Simulated::default();
        let mut tail = settled(&disk, UNSYNCED);
        let before = disk.seen.borrow().clone();
        disk.fail(failing..failing + 1);
        write(&mut tail, &disk).unwrap_err();
        assert_eq!(*disk.seen.borrow(), before, "{failing}");
        write(&mut tail, &disk).unwrap();
        assert_eq!(*disk.seen.borrow(), [&before[..], &MAGIC[..], &[1; 12], &[2; 10]].concat());
    }
}
