//! The page that shows fields: archives whose bytes JavaScript fetches ([`tgm_std::read::Given`]), their datasets, and pictures of these.
//!
//! An archive has one plate: the values that are shown now. [`tgm_page_ask`] answers questions. An answer of `wants` names bytes
//! that are missing: JavaScript fetches them, gives them by [`tgm_page_give`], and asks the same question again.

use std::cell::RefCell;
use std::sync::Arc;

use ciborium::Value;
use tgm_dataset::{Dataset, OpenOptions, open_archives};
use tgm_std::read::{Fetched, Given, ReadOptions, Tag, Want};
use tgm_std::{Archive, TensogramError};

use crate::answer::{Answer, run};
use crate::args::Args;
use crate::contents;
use crate::failure::{Failure, map, wrong};
use crate::memory::Table;
use crate::plate::Plate;

thread_local! {
    static PAGES: RefCell<Table<Page>> = const { RefCell::new(Table::EMPTY) };
}

/// An archive, and what is known of it.
#[derive(Debug)]
struct Page {
    given: Given,
    archive: Arc<Archive<'static>>,
    wants: Vec<Want>,
    datasets: Vec<Dataset>,
    plate: Option<Plate>,
}

/// `name`, `kind` ("memory", "local", "remote"): the number of an archive.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_page_new(args: u32) -> u32 {
    run(args, |mut args| {
        let given = Given::new(args.text("name")?.unwrap_or_default());
        let options = match args.text("kind")?.as_deref() {
            Some("memory") => ReadOptions::memory(),
            Some("local") => ReadOptions::local(),
            _ => ReadOptions::remote(),
        };
        let archive = Arc::new(Archive::from_fetch(given.clone(), options));
        let page = Page { given, archive, wants: Vec::new(), datasets: Vec::new(), plate: None };
        Ok(PAGES.with_borrow_mut(|table| table.put(page)).into())
    })
}

/// Frees an archive.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_page_free(page: u32) {
    drop(PAGES.with_borrow_mut(|table| table.take(page)));
}

/// `page`, `ask`, and what the question has: `done`, the answer; or `wants`, what has to be fetched first.
///
/// | question | arguments | answer |
/// |---|---|---|
/// | `count` | | the number of messages |
/// | `datasets` | | [`contents::datasets`] |
/// | `labels` | `dataset`, `dim` | labels as texts |
/// | `message` | `message` | [`contents::message`] |
/// | `find` | `message`, `object` | the dataset, the variable and the indices of an object |
/// | `load` | `dataset`, `variable`, `picks` | [`Plate::about`] of the values, which are the plate from now on |
/// | `view` | as `Scene::of` takes them | [`Plate::view`] |
/// | `point` | `x`, `y` | [`Plate::point`] |
/// | `series` | `dim`, `x`, `y` | [`Plate::series`] |
/// | `csv` | | [`Plate::csv`] |
#[unsafe(no_mangle)]
pub extern "C" fn tgm_page_ask(args: u32) -> u32 {
    run(args, |mut args| {
        with_page(&mut args, |page, args| {
            let answer = page.ask(args);
            page.wants = page.given.wants();
            if page.wants.is_empty() {
                page.given.forget();
                return Ok(map([("done", answer?)]));
            }
            Ok(map([("wants", Value::Array(page.wants.iter().map(want).collect()))]))
        })
    })
}

/// `page`, `want` (which of those it wants), `offset`, `bytes`, `size`, `tag`, `weak`.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_page_give(args: u32) -> u32 {
    run(args, |mut args| {
        with_page(&mut args, |page, args| {
            let which: usize = args.integer("want")?;
            let is_weak = args.flag("weak");
            let tag = args.text("tag")?.map(|tag| if is_weak { Tag::Weak(tag) } else { Tag::Strong(tag) });
            let (offset, size) = (args.integer("offset")?, args.optional("size")?);
            let answer = Fetched { offset, bytes: args.bytes("bytes")?, size, tag };
            page.given.give(page.wants.get(which).ok_or_else(|| wrong("there is no such want"))?, answer)?;
            Ok(Value::Null)
        })
    })
}

fn with_page(args: &mut Args, work: impl FnOnce(&mut Page, &mut Args) -> Answer) -> Answer {
    let number = args.integer("page")?;
    PAGES.with_borrow_mut(|table| work(table.get_mut(number).ok_or_else(|| wrong("there is no such archive"))?, args))
}

fn want(want: &Want) -> Value {
    match want {
        Want::At(range) => Value::Array(vec![range.start.into(), range.end.into()]),
        Want::Suffix(len) => (*len).into(),
    }
}

impl Page {
    fn ask(&mut self, args: &mut Args) -> Answer {
        let asked = args.text("ask")?;
        match asked.as_deref() {
            Some("count") => Ok((self.archive.len()? as u64).into()),
            Some("message") => contents::message(&self.archive, args.integer("message")?),
            Some("datasets") => {
                self.datasets = open_archives(&[Arc::clone(&self.archive).into()], &OpenOptions::default())?;
                self.plate = None;
                Ok(contents::datasets(&self.datasets))
            }
            Some("labels") => contents::labels(self.dataset(args)?, &args.text("dim")?.unwrap_or_default()),
            Some("find") => {
                let (message, object) = (args.integer("message")?, args.integer("object")?);
                contents::find(&self.datasets, message, object)
            }
            Some("load") => {
                let dataset = args.integer::<usize>("dataset")?;
                let plate = Plate::load(self.datasets.get(dataset).ok_or_else(no_dataset)?, dataset, args)?;
                let about = plate.about();
                self.plate = Some(plate);
                Ok(about)
            }
            Some("view") => self.plate.as_mut().ok_or_else(no_plate)?.view(args),
            Some("point") => self.shown()?.0.point(self.shown()?.1, args),
            Some("series") => self.shown()?.0.series(self.shown()?.1, args),
            Some("csv") => self.shown()?.0.csv(self.shown()?.1),
            _ => Err(wrong("there is no such question")),
        }
    }

    fn dataset(&self, args: &mut Args) -> Result<&Dataset, Failure> {
        self.datasets.get(args.integer::<usize>("dataset")?).ok_or_else(no_dataset)
    }

    /// The plate, and its dataset.
    fn shown(&self) -> Result<(&Plate, &Dataset), Failure> {
        let plate = self.plate.as_ref().ok_or_else(no_plate)?;
        Ok((plate, self.datasets.get(plate.dataset).ok_or_else(no_dataset)?))
    }
}

fn no_dataset() -> Failure {
    wrong("there is no such dataset")
}

fn no_plate() -> Failure {
    TensogramError::Object("no values are shown".into()).into()
}
