//! What the page asks of datasets: pictures of them.

use tgm_dataset::Dataset;
use tgm_std::TensogramError;

use crate::answer::Answer;
use crate::args::Args;
use crate::failure::{Failure, wrong};
use crate::plate::Plate;

/// The values that are shown now.
#[derive(Debug, Default)]
pub(crate) struct Page {
    plate: Option<Plate>,
}

impl Page {
    /// | question | arguments | answer |
    /// |---|---|---|
    /// | `load` | `dataset`, `variable`, `picks` | [`Plate::about`] of the values, which are the plate from now on |
    /// | `view` | as `Scene::of` takes them | [`Plate::view`] |
    /// | `point` | `x`, `y` | [`Plate::point`] |
    /// | `series` | `dim`, `x`, `y` | [`Plate::series`] |
    /// | `csv` | | [`Plate::csv`] |
    pub(crate) fn ask(&mut self, datasets: &[Dataset], asked: &str, args: &mut Args) -> Answer {
        if asked == "load" {
            let number = args.integer::<usize>("dataset")?;
            let plate = Plate::load(datasets.get(number).ok_or_else(no_dataset)?, number, args)?;
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
