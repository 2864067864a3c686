//! Archives whose bytes JavaScript fetches: [`tgm_std::read::Steps`].

use std::cell::RefCell;

use ciborium::Value;
use tgm_std::decode::picks::PicksError;
use tgm_std::metadata::query::QueryError;
use tgm_std::read::{Fetched, ReadOptions, Step, Steps, Tag, Task, Want};
use tgm_std::scan::MessageLayout;
use tgm_std::{Picks, TensogramError};

use crate::answer::{Answer, buffer, run};
use crate::args::{Args, integer};
use crate::failure::{Failure, map, wrong};
use crate::memory::Table;
use crate::metadata;
use crate::read::{decoding, described};

thread_local! {
    static STEPS: RefCell<Table<Steps>> = const { RefCell::new(Table::EMPTY) };
    static TASKS: RefCell<Table<Running>> = const { RefCell::new(Table::EMPTY) };
}

/// A task, and the bytes that it waits for.
struct Running {
    work: Box<dyn Work>,
    wants: Vec<Want>,
}

/// A task of any answer.
trait Work {
    /// The answer, or what has to be fetched.
    ///
    /// # Errors
    /// The errors of the task.
    fn step(&mut self) -> Result<Step<Value>, Failure>;

    /// Takes bytes.
    ///
    /// # Errors
    /// The errors of [`Task::give`].
    fn give(&mut self, want: &Want, answer: Fetched) -> Result<(), TensogramError>;
}

impl<A, F: Fn(A) -> Answer> Work for (Task<'static, A>, F) {
    fn step(&mut self) -> Result<Step<Value>, Failure> {
        Ok(match self.0.step()? {
            Step::Done(answer) => Step::Done(self.1(answer)?),
            Step::Wants(wants) => Step::Wants(wants),
        })
    }

    fn give(&mut self, want: &Want, answer: Fetched) -> Result<(), TensogramError> {
        self.0.give(want, answer)
    }
}

/// `name`, `kind` ("memory", "local", "remote"): the number of an archive. If `size` and `messages` are there, pairs of offset and
/// length, they are not searched for.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_steps_new(args: u32) -> u32 {
    run(args, |mut args| {
        let name = args.text("name")?.unwrap_or_default();
        let options = match args.text("kind")?.as_deref() {
            Some("memory") => ReadOptions::memory(),
            Some("local") => ReadOptions::local(),
            _ => ReadOptions::remote(),
        };
        let steps = match (args.optional("size")?, args.ranges("messages")?) {
            (Some(size), Some(messages)) => {
                let messages = messages.into_iter().map(|(offset, length)| MessageLayout { offset, length });
                Steps::of_messages(name, options, size, messages)
            }
            _ => Steps::new(name, options),
        };
        Ok(STEPS.with_borrow_mut(|table| table.put(steps)).into())
    })
}

/// Frees an archive. Its tasks go on.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_steps_free(steps: u32) {
    drop(STEPS.with_borrow_mut(|table| table.take(steps)));
}

/// `steps`, `ask`, `message`, `object`, and what the question has: begins a task, and takes its first step, as [`tgm_task_step`].
#[unsafe(no_mangle)]
pub extern "C" fn tgm_task_new(args: u32) -> u32 {
    run(args, |mut args| {
        let number = args.integer("steps")?;
        let work = STEPS.with_borrow_mut(|table| {
            begin(table.get_mut(number).ok_or_else(|| wrong("there is no such archive"))?, &mut args)
        })?;
        step(Running { work, wants: Vec::new() })
    })
}

/// Begins a task.
fn begin(steps: &Steps, args: &mut Args) -> Result<Box<dyn Work>, Failure> {
    let message = args.optional("message")?.unwrap_or_default();
    let count = |count: usize| Ok((count as u64).into());
    Ok(match args.text("ask")?.as_deref() {
        Some("count") => Box::new((steps.count(), count)),
        Some("layouts") => Box::new((steps.layouts(), |layouts: Vec<MessageLayout>| {
            let pair = |layout: MessageLayout| vec![layout.offset.into(), layout.length.into()];
            Ok(Value::Array(layouts.into_iter().map(|layout| Value::Array(pair(layout))).collect()))
        })),
        Some("metadata") => Box::new((steps.metadata(message), |found| Ok(metadata::metadata(found)))),
        Some("descriptors") => Box::new((steps.descriptors(message), described)),
        Some("descriptor") => {
            let task = steps.descriptor(message, args.integer("object")?);
            Box::new((task, |found| metadata::descriptor(&found)))
        }
        Some("bytes") => Box::new((steps.bytes(message), |bytes| Ok(buffer(bytes)))),
        Some("query") => {
            let text = args.text("query")?.unwrap_or_default();
            Box::new((
                steps.query(message, text.parse().map_err(|error: QueryError| metadata_error(&error))?),
                |found: Vec<usize>| Ok(Value::Array(found.into_iter().map(|number| (number as u64).into()).collect())),
            ))
        }
        Some("read") => read(steps, message, args)?,
        _ => return Err(wrong("there is no such question")),
    })
}

/// The failure of a text that cannot be read.
fn metadata_error(error: &impl ToString) -> Failure {
    TensogramError::Metadata(error.to_string().into()).into()
}

/// Begins to read values.
fn read(steps: &Steps, message: usize, args: &mut Args) -> Result<Box<dyn Work>, Failure> {
    let (options, ranges) = (decoding(args), args.ranges("ranges")?);
    let shape: Vec<u64> = args.list("shape")?.iter().map(|dim| integer(dim, "shape")).collect::<Result<_, _>>()?;
    let picks = args.text("region")?.map(|text| text.parse::<Picks>()?.resolve(shape.iter().copied()));
    let picks = picks.transpose().map_err(|error: PicksError| metadata_error(&error))?;
    let mut request = steps.read(message, args.integer("object")?).options(&options);
    if let Some(picks) = &picks {
        request = request.select(picks);
    }
    if let Some(ranges) = &ranges {
        request = request.ranges(ranges);
    }
    Ok(match args.text("type")?.as_deref() {
        None => Box::new((request.bytes(), |bytes| Ok(buffer(bytes)))),
        Some("float32") => Box::new((request.values::<f32>(), |values: Vec<f32>| {
            Ok(buffer(values.into_iter().flat_map(f32::to_ne_bytes).collect()))
        })),
        Some("float64") => Box::new((request.values::<f64>(), |values: Vec<f64>| {
            Ok(buffer(values.into_iter().flat_map(f64::to_ne_bytes).collect()))
        })),
        Some(other) => return Err(wrong(format!("values of type {other}"))),
    })
}

/// `task`: `done`, the answer; or `task`, its number from now on, and `wants`, what has to be fetched: pairs of start and end, or the
/// number of last bytes. The task is gone after an answer or an error.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_task_step(args: u32) -> u32 {
    run(args, |mut args| {
        let number = args.integer("task")?;
        let task = TASKS.with_borrow_mut(|table| table.take(number));
        step(task.ok_or_else(|| wrong("there is no such task"))?)
    })
}

fn step(mut task: Running) -> Answer {
    match task.work.step()? {
        Step::Done(answer) => Ok(map([("done", answer)])),
        Step::Wants(wants) => {
            let listed = wants.iter().map(want).collect();
            task.wants = wants;
            let number = TASKS.with_borrow_mut(|table| table.put(task));
            Ok(map([("task", number.into()), ("wants", Value::Array(listed))]))
        }
    }
}

fn want(want: &Want) -> Value {
    match want {
        Want::At(range) => Value::Array(vec![range.start.into(), range.end.into()]),
        Want::Suffix(len) => (*len).into(),
    }
}

/// `task`, `want` (which of those it wants), `offset`, `bytes`, `size`, `tag`, `weak`.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_task_give(args: u32) -> u32 {
    run(args, |mut args| {
        let (number, which) = (args.integer("task")?, args.integer::<usize>("want")?);
        let is_weak = args.flag("weak");
        let tag = args.text("tag")?.map(|tag| if is_weak { Tag::Weak(tag) } else { Tag::Strong(tag) });
        let (offset, size) = (args.integer("offset")?, args.optional("size")?);
        let answer = Fetched { offset, bytes: args.bytes("bytes")?, size, tag };
        TASKS.with_borrow_mut(|table| {
            let Running { work, wants } = table.get_mut(number).ok_or_else(|| wrong("there is no such task"))?;
            let want = wants.get(which).ok_or_else(|| wrong("there is no such want"))?;
            Ok::<_, Failure>(work.give(want, answer)?)
        })?;
        Ok(Value::Null)
    })
}

/// Frees a task. What it was given serves later ones.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_task_free(task: u32) {
    drop(TASKS.with_borrow_mut(|table| table.take(task)));
}
