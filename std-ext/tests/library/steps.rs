use std::ops::Range;

use tgm_core::selection::Pick;
use tgm_std::encode::{MessageBuilder, ObjectBuilder};
use tgm_std::read::*;
use tgm_std::read::{RangeFetch, Reader};
use tgm_std::{DecodeOptions, Result, TensogramError};

/// A source that a test drives by hand, and what was read of it.
struct Flash {
    bytes: Vec<u8>,
    read: Vec<Range<u64>>,
}

impl Flash {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, read: Vec::new() }
    }

    fn answer(&mut self, want: &Want) -> Fetched {
        let fetched = self.bytes.fetch(want, None).unwrap();
        self.read.push(fetched.offset..fetched.offset + fetched.bytes.len() as u64);
        fetched
    }

    fn drive<A>(&mut self, mut task: Task<'_, A>) -> Result<A> {
        loop {
            match task.step()? {
                Step::Done(answer) => return Ok(answer),
                Step::Wants(wants) => {
                    // In any order.
                    for want in wants.iter().rev() {
                        task.give(want, self.answer(want))?;
                    }
                }
            }
        }
    }
}

fn messages() -> Vec<u8> {
    let message = |n: u32| {
        let values: Vec<u32> = (0..40_000).map(|value| value + n).collect();
        let object = ObjectBuilder::new(&[40_000], &values).unwrap().metadata("n", n);
        MessageBuilder::new().object(object.clone()).object(object).encode().unwrap()
    };
    [message(1), message(2), message(3)].concat()
}

#[test]
fn tasks_driven_by_hand_answer_as_a_reader_does() {
    let bytes = messages();
    for options in [ReadOptions::memory(), ReadOptions::local(), ReadOptions::remote()] {
        let (mut flash, steps) = (Flash::new(bytes.clone()), Steps::new("flash", options));
        let reader = Reader::new(bytes.clone(), options);
        assert_eq!(flash.drive(steps.count()).unwrap(), 3);
        assert_eq!(flash.drive(steps.layouts()).unwrap(), reader.message_layouts().unwrap());
        for message in 0..3 {
            let (metadata, descriptors) = reader.decode_descriptors(message).unwrap();
            assert_eq!(flash.drive(steps.metadata(message)).unwrap(), metadata);
            assert_eq!(flash.drive(steps.bytes(message)).unwrap(), reader.read_message(message).unwrap());
            assert_eq!(flash.drive(steps.descriptor(message, 1)).unwrap(), descriptors[1]);
            let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
            let all = flash.drive(steps.read(message, 1).options(&options).bytes()).unwrap();
            assert_eq!(all, reader.decode_object(message, 1, &options).unwrap().2);
            let picks = [Pick::from(7..9)];
            let found: Vec<f64> = flash.drive(steps.read(message, 0).select(&picks).values()).unwrap();
            let first = f64::from(u32::try_from(message).unwrap()) + 8.0;
            assert_eq!(found, [first, first + 1.0]);
        }
        assert!(matches!(flash.drive(steps.bytes(3)), Err(TensogramError::Framing(_))));
        assert!(matches!(flash.drive(steps.descriptor(0, 2)), Err(TensogramError::Object(_))));
    }
}

#[test]
fn only_what_is_wanted_is_read_and_nothing_twice() {
    let mut flash = Flash::new(messages());
    let steps = Steps::new("flash", ReadOptions::memory());
    let values: Vec<u32> = flash.drive(steps.read(2, 1).ranges(&[(20_000, 4)]).values()).unwrap();
    assert_eq!(values, [20_003, 20_004, 20_005, 20_006]);
    let read: u64 = flash.read.iter().map(|range| range.end - range.start).sum();
    assert!(read < flash.bytes.len() as u64 / 10, "{read} of {}", flash.bytes.len());
    flash.read.clear();
    let again: Vec<u32> = flash.drive(steps.read(2, 1).ranges(&[(20_000, 4)]).values()).unwrap();
    assert_eq!((again, flash.read.len()), (values, 0));
    steps.refresh();
    let _: Vec<u32> = flash.drive(steps.read(2, 1).ranges(&[(20_000, 4)]).values()).unwrap();
    assert!(!flash.read.is_empty());
}

/// As an event loop has it: each task waits for its own bytes, and takes a step when they come.
#[test]
fn messages_whose_places_are_known_are_not_searched_for() {
    let bytes = messages();
    let layouts = Reader::new(bytes.clone(), ReadOptions::memory()).message_layouts().unwrap();
    let size = bytes.len() as u64;
    let (mut flash, steps) = (Flash::new(bytes), Steps::of_messages("flash", ReadOptions::remote(), size, layouts));
    assert_eq!(flash.drive(steps.count()).unwrap(), 3);
    assert!(flash.read.is_empty());
    assert_eq!(flash.drive(steps.metadata(2)).unwrap().base.len(), 2);
    assert_eq!(flash.read.len(), 1, "{:?}", flash.read);
}

#[test]
fn a_task_outlives_its_steps() {
    let bytes = messages();
    let mut flash = Flash::new(bytes.clone());
    let task = Steps::new("flash", ReadOptions::local()).query(1, "n = 2".parse().unwrap());
    assert_eq!(flash.drive(task).unwrap(), [0, 1]);
    let task = Steps::new("flash", ReadOptions::local()).query(1, "n = 3".parse().unwrap());
    assert!(flash.drive(task).unwrap().is_empty());
    let task = Steps::new("flash", ReadOptions::memory()).descriptors(2);
    assert_eq!(flash.drive(task).unwrap(), Reader::new(bytes, ReadOptions::memory()).decode_descriptors(2).unwrap());
}

#[test]
fn tasks_may_be_under_way_at_the_same_time() {
    let mut flash = Flash::new(messages());
    let steps = Steps::new("flash", ReadOptions::memory());
    let mut tasks: Vec<_> =
        (0..3).map(|message| Some(steps.read(message, 0).ranges(&[(0, 1)]).values::<u32>())).collect();
    let mut found = vec![Vec::new(); 3];
    while tasks.iter().any(Option::is_some) {
        for (task, found) in tasks.iter_mut().zip(&mut found) {
            match task.as_mut().map(Task::step) {
                None => {}
                Some(Ok(Step::Done(values))) => {
                    *found = values;
                    *task = None;
                }
                Some(Ok(Step::Wants(wants))) => {
                    for want in &wants {
                        task.as_mut().unwrap().give(want, flash.answer(want)).unwrap();
                    }
                }
                Some(Err(error)) => panic!("{error}"),
            }
        }
    }
    assert_eq!(found, [[1], [2], [3]]);
}

#[test]
fn bytes_that_were_not_asked_for_and_other_versions_are_errors() {
    let flash = Flash::new(messages());
    let steps = Steps::new("flash", ReadOptions::memory());
    let mut task = steps.count();
    let Step::Wants(wants) = task.step().unwrap() else { panic!("nothing is known") };
    let wrong = Fetched { offset: 5, bytes: vec![0; 3], size: Some(flash.bytes.len() as u64), tag: None };
    assert!(task.give(&wants[0], wrong).unwrap_err().to_string().contains("flash"));
    let tagged =
        |tag: &str| Fetched { tag: Some(Tag::Weak(tag.into())), ..flash.bytes.fetch(&wants[0], None).unwrap() };
    task.give(&wants[0], tagged("a")).unwrap();
    assert_eq!(task.tag(), Some(Tag::Weak("a".into())));
    assert!(task.give(&wants[0], tagged("b")).is_err());
    // Nothing was given: the next step wants it again.
    let steps = Steps::new("flash", ReadOptions::memory());
    let mut task = steps.count();
    let first = task.step().unwrap();
    assert_eq!(task.step().unwrap(), first);
}
