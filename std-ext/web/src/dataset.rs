//! Datasets of archives whose bytes JavaScript fetches ([`tgm_std::read::Given`]).
//!
//! [`tgm_dataset_ask`] answers questions. An answer of `wants` names bytes that are missing: JavaScript fetches them, gives them by
//! [`tgm_dataset_give`], and asks the same question again. Several questions may be asked at the same time. When none is left,
//! [`tgm_dataset_forget`] frees the bytes that were given.

use std::cell::RefCell;
use std::sync::Arc;

use ciborium::Value;
#[cfg(feature = "dataset")]
use tgm_dataset::ZarrStore;
use tgm_dataset::{Dataset, Member, OpenOptions, open_archives};
use tgm_std::Archive;
use tgm_std::read::{Fetched, Given, ReadOptions, Tag, Want};

#[cfg(feature = "dataset")]
use crate::answer::buffer;
use crate::answer::{Answer, run};
use crate::args::{Args, integer};
use crate::contents;
use crate::failure::{Failure, map, wrong};
use crate::memory::Table;
#[cfg(feature = "page")]
use crate::page::Page;
#[cfg(feature = "dataset")]
use crate::picked;
use crate::room::decoding;

thread_local! {
    static OPENED: RefCell<Table<Opened>> = const { RefCell::new(Table::EMPTY) };
}

/// Archives, and what is known of them.
struct Opened {
    sources: Vec<(Given, Arc<Archive<'static>>)>,
    datasets: Vec<Dataset>,
    /// The stores of the datasets that were asked for.
    #[cfg(feature = "dataset")]
    stores: Vec<Option<ZarrStore>>,
    #[cfg(feature = "page")]
    page: Page,
}

/// `sources`, pairs of a name and a kind ("memory", "local", "remote"): the number of these archives.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_dataset_new(args: u32) -> u32 {
    run(args, |mut args| {
        let sources = args.list("sources")?.iter().map(source).collect::<Result<_, _>>()?;
        let opened = Opened {
            sources,
            datasets: Vec::new(),
            #[cfg(feature = "dataset")]
            stores: Vec::new(),
            #[cfg(feature = "page")]
            page: Page::default(),
        };
        Ok(OPENED.with_borrow_mut(|table| table.put(opened)).into())
    })
}

fn source(pair: &Value) -> Result<(Given, Arc<Archive<'static>>), Failure> {
    let texts: Option<Vec<&str>> = pair.as_array().and_then(|pair| pair.iter().map(Value::as_text).collect());
    let Some([name, kind]) = texts.as_deref() else { return Err(wrong("a source is a name and a kind")) };
    let options = match *kind {
        "memory" => ReadOptions::memory(),
        "local" => ReadOptions::local(),
        _ => ReadOptions::remote(),
    };
    let given = Given::new(*name);
    Ok((given.clone(), Arc::new(Archive::from_fetch(given, options))))
}

/// Frees archives.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_dataset_free(opened: u32) {
    drop(OPENED.with_borrow_mut(|table| table.take(opened)));
}

/// Frees the bytes that were given. Archives keep some of them by themselves.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_dataset_forget(opened: u32) -> u32 {
    OPENED.with_borrow_mut(|table| {
        table.get_mut(opened).map_or(0, |opened| {
            opened.sources.iter().for_each(|(given, _)| given.forget());
            1
        })
    })
}

/// `opened`, `ask`, and what the question has: `done`, the answer; or `wants`, what has to be fetched first: each a source, a start
/// and an end, or a source and a number of bytes at its end.
///
/// | question | arguments | answer |
/// |---|---|---|
/// | `count` | | the number of messages of the first archive |
/// | `datasets` | as `chosen` takes them, `grids` | [`contents::datasets`] |
/// | `labels` | `dataset`, `dim` | labels as texts |
/// | `message` | `message` | [`contents::message`] |
/// | `find` | `message`, `object` | the dataset, the variable and the indices of an object |
/// | `read` | `dataset`, and as `picked::read` takes them | values |
/// | `coordinate` | `dataset`, and as `picked::coordinate` takes them | values; null without such a coordinate |
/// | `zarr` | `dataset`, `key` | the buffer with what the dataset has there as a store of Zarr; null for what it lacks |
/// | others | | `Page::ask` |
///
/// The feature `dataset` has no `Page::ask`, and the feature `page` has neither `read` nor `coordinate` nor `zarr`.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_dataset_ask(args: u32) -> u32 {
    run(args, |mut args| {
        with_opened(&mut args, |opened, args| {
            let answer = opened.ask(args);
            let wants: Vec<Value> = (0_u64..)
                .zip(&opened.sources)
                .flat_map(|(number, (given, _))| given.wants().into_iter().map(move |want| wanted(number, &want)))
                .collect();
            if wants.is_empty() { Ok(map([("done", answer?)])) } else { Ok(map([("wants", Value::Array(wants))])) }
        })
    })
}

fn wanted(source: u64, want: &Want) -> Value {
    Value::Array(match want {
        Want::At(range) => vec![source.into(), range.start.into(), range.end.into()],
        Want::Suffix(len) => vec![source.into(), (*len).into()],
    })
}

/// `opened`, `want` as [`tgm_dataset_ask`] named it, `offset`, `bytes`, `size`, `tag`, `weak`.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_dataset_give(args: u32) -> u32 {
    run(args, |mut args| {
        with_opened(&mut args, |opened, args| {
            let want: Vec<u64> = args.list("want")?.iter().map(|it| integer(it, "want")).collect::<Result<_, _>>()?;
            let (source, want) = match *want.as_slice() {
                [source, start, end] => (source, Want::At(start..end)),
                [source, len] => (source, Want::Suffix(len)),
                _ => return Err(wrong("this is not a want")),
            };
            let is_weak = args.flag("weak");
            let tag = args.text("tag")?.map(|tag| if is_weak { Tag::Weak(tag) } else { Tag::Strong(tag) });
            let (offset, size) = (args.integer("offset")?, args.optional("size")?);
            let answer = Fetched { offset, bytes: args.bytes("bytes")?, size, tag };
            let source = usize::try_from(source).ok().and_then(|source| opened.sources.get(source));
            source.ok_or_else(|| wrong("there is no such source"))?.0.give(&want, answer)?;
            Ok(Value::Null)
        })
    })
}

fn with_opened(args: &mut Args, work: impl FnOnce(&mut Opened, &mut Args) -> Answer) -> Answer {
    let number = args.integer("opened")?;
    OPENED.with_borrow_mut(|table| work(table.get_mut(number).ok_or_else(|| wrong("there is no such archive"))?, args))
}

impl Opened {
    fn ask(&mut self, args: &mut Args) -> Answer {
        let asked = args.text("ask")?.unwrap_or_default();
        match asked.as_str() {
            "count" => Ok((self.archive()?.len()? as u64).into()),
            "message" => contents::message(self.archive()?, args.integer("message")?),
            "datasets" => self.open(args),
            "labels" => contents::labels(self.dataset(args)?, &args.text("dim")?.unwrap_or_default()),
            "find" => contents::find(&self.datasets, args.integer("message")?, args.integer("object")?),
            #[cfg(feature = "dataset")]
            "read" => picked::read(self.dataset(args)?, args),
            #[cfg(feature = "dataset")]
            "coordinate" => picked::coordinate(self.dataset(args)?, args),
            #[cfg(feature = "dataset")]
            "zarr" => self.zarr(args),
            #[cfg(feature = "page")]
            _ => self.page.ask(&self.datasets, &asked, args),
            #[cfg(not(feature = "page"))]
            _ => Err(wrong("there is no such question")),
        }
    }

    fn archive(&self) -> Result<&Archive<'static>, Failure> {
        self.sources.first().map(|(_, archive)| &**archive).ok_or_else(|| wrong("there is no archive"))
    }

    fn open(&mut self, args: &mut Args) -> Answer {
        let with_grids = args.flag("grids");
        let members: Vec<Member> = self.sources.iter().map(|(_, archive)| Arc::clone(archive).into()).collect();
        let options = OpenOptions { decode: decoding(), ..OpenOptions::default() };
        #[cfg(feature = "dataset")]
        let options = chosen(options, args)?;
        self.datasets = open_archives(&members, &options)?;
        #[cfg(feature = "dataset")]
        {
            self.stores = self.datasets.iter().map(|_| None).collect();
        }
        #[cfg(feature = "page")]
        {
            self.page = Page::default();
        }
        Ok(contents::datasets(&self.datasets, with_grids))
    }

    fn dataset(&self, args: &mut Args) -> Result<&Dataset, Failure> {
        self.datasets.get(args.integer::<usize>("dataset")?).ok_or_else(no_dataset)
    }

    #[cfg(feature = "dataset")]
    fn zarr(&mut self, args: &mut Args) -> Answer {
        let (number, key) = (args.integer::<usize>("dataset")?, args.text("key")?.unwrap_or_default());
        let dataset = self.datasets.get(number).ok_or_else(no_dataset)?;
        let store = self.stores.get_mut(number).ok_or_else(no_dataset)?;
        let store = store.get_or_insert_with(|| ZarrStore::of(dataset.clone()));
        let found = store.get(&key, &decoding())?;
        Ok(found.map_or(Value::Null, |bytes| buffer(bytes.into_owned())))
    }
}

/// Options that are chosen: `profile`, `group`, `only` (texts of queries), `validTime`, `raw` (true, or names of variables), as
/// [`OpenOptions`] has them.
///
/// # Errors
/// Texts that cannot be read.
#[cfg(feature = "dataset")]
fn chosen(options: OpenOptions, args: &mut Args) -> Result<OpenOptions, Failure> {
    use tgm_dataset::Raw;
    use tgm_std::TensogramError;
    use tgm_std::metadata::query::{Query, QueryError};

    let metadata = |why: String| Failure::from(TensogramError::Metadata(why.into()));
    let text = |value: Value| value.into_text().map_err(|_| wrong("not a text"));
    let query = |value: Value| text(value)?.parse::<Query>().map_err(|error: QueryError| metadata(error.to_string()));
    let raw = match args.value("raw") {
        Some(Value::Bool(true)) => Raw::Everything,
        Some(Value::Array(names)) => Raw::Named(names.into_iter().map(text).collect::<Result<_, _>>()?),
        _ => Raw::Nothing,
    };
    let profile = args.text("profile")?.map(|text| text.parse().map_err(metadata)).transpose()?;
    Ok(OpenOptions {
        profile: profile.unwrap_or_default(),
        valid_time: args.flag("validTime"),
        group: args.text("group")?,
        only: args.list("only")?.into_iter().map(query).collect::<Result<_, _>>()?,
        raw,
        ..options
    })
}

fn no_dataset() -> Failure {
    wrong("there is no such dataset")
}
