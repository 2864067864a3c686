//! What the page asks of datasets: pictures of them.

use std::cell::RefCell;
use std::rc::Rc;

use tgm_dataset::Dataset;
use tgm_std::TensogramError;

use crate::answer::Answer;
use crate::args::Args;
use crate::compared::Placed;
use crate::failure::{Failure, wrong};
use crate::plate::Plate;

thread_local! {
    /// The values that others are compared with, of any archive.
    static KEPT: RefCell<Option<Rc<Placed>>> = const { RefCell::new(None) };
}

/// The values that are shown now.
#[derive(Debug, Default)]
pub(crate) struct Page {
    plate: Option<Plate>,
}

impl Page {
    /// | question | arguments | answer |
    /// |---|---|---|
    /// | `load` | `dataset`, `variable`, `picks`, `less` | [`Plate::about`] of the values, which are the plate from now on; `less` subtracts those that were kept |
    /// | `keep` | | [`Plate::about`] of the plate, whose values are those that others are compared with |
    /// | `view` | as `Scene::of` takes them | [`Plate::view`] |
    /// | `point` | `x`, `y` | [`Plate::point`] |
    /// | `series` | `dim`, `x`, `y` | [`Plate::series`] |
    /// | `csv` | | [`Plate::csv`] |
    pub(crate) fn ask(&mut self, datasets: &[Dataset], asked: &str, args: &mut Args) -> Answer {
        if asked == "load" {
            let number = args.integer::<usize>("dataset")?;
            let kept = if args.flag("less") { KEPT.with_borrow(Clone::clone) } else { None };
            let plate = Plate::load(datasets.get(number).ok_or_else(no_dataset)?, number, kept, args)?;
            let about = plate.about();
            self.plate = Some(plate);
            return Ok(about);
        }
        let plate = self.plate.as_mut().ok_or_else(no_plate)?;
        let dataset = datasets.get(plate.dataset).ok_or_else(no_dataset)?;
        match asked {
            "view" => plate.view(args),
            "point" => plate.point(dataset, args),
            "series" => plate.series(dataset, args),
            "csv" => plate.csv(dataset),
            "keep" => {
                let placed = plate.placed(dataset)?;
                KEPT.set(Some(Rc::new(placed)));
                Ok(plate.about())
            }
            _ => Err(wrong("there is no such question")),
        }
    }
}

fn no_dataset() -> Failure {
    wrong("there is no such dataset")
}

fn no_plate() -> Failure {
    TensogramError::Object("no values are shown".into()).into()
}
