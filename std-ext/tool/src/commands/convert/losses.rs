//! What is not kept: listed on standard error, or an error with `--strict`.

use tgm_convert::arrays::NotKept;

use crate::show::output::Out;
use crate::write::destination::{Destination, Failure};

/// What differs between input and output.
#[derive(Debug, Default)]
pub(super) struct Losses {
    strict: bool,
    /// GRIB fields with a decimal scale, and the greatest bound of their differences.
    scaled: usize,
    bound: f64,
    /// GRIB fields whose picture is not kept.
    repacked: usize,
}

impl Losses {
    /// Nothing is lost yet.
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// Whether the output may be written after so many `problems`: what could not be read is reported, and the rest is
    /// written, but not with `--strict`.
    ///
    /// # Errors
    /// A sentence, if nothing is to be written.
    pub(super) fn check(&self, output: &Destination, problems: usize) -> Result<(), Failure> {
        if self.strict && problems > 0 {
            return Err(Failure::said(
                output.to_string(),
                "not written: not all could be converted, and --strict asks for that",
            ));
        }
        Ok(())
    }

    /// Whether anything that is not kept is an error, after which nothing is written.
    pub(super) const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Says that `what` of the message at `place` is not kept.
    ///
    /// # Errors
    /// The same, if anything that is not kept is an error.
    pub(super) fn not_kept(&self, out: &mut Out, place: &str, what: &str) -> Result<(), Failure> {
        if self.strict {
            return Err(Failure::said(place, format!("not kept: {what}")));
        }
        out.remark(&format!("{place}: not kept: {what}"));
        Ok(())
    }

    /// [`Self::not_kept`] for a list. Numbers of objects count from `first`.
    ///
    /// # Errors
    /// The errors of [`Self::not_kept`].
    pub(super) fn list(&self, out: &mut Out, place: &str, first: usize, list: &[NotKept]) -> Result<(), Failure> {
        list.iter().try_for_each(|NotKept { object, what, is_values }| {
            let place =
                object.map_or_else(|| place.to_string(), |object| format!("{place}, object {}", first + object));
            // What is lost is a problem of the input, and the rest is written.
            if *is_values && !self.strict {
                out.problem(&format!("{place}: not kept: {what}"));
                return Ok(());
            }
            self.not_kept(out, &place, what)
        })
    }

    /// Counts a field whose values may differ by `bound`: all fields of a file may have that.
    ///
    /// # Errors
    /// A sentence, if anything that is not kept is an error.
    #[cfg(feature = "grib")]
    pub(super) fn scaled(&mut self, place: &str, bound: f64) -> Result<(), Failure> {
        if self.strict {
            return Err(Failure::said(
                place,
                format!("a decimal scale: values may differ by rounding, at most {bound:e}"),
            ));
        }
        self.scaled += 1;
        self.bound = self.bound.max(bound);
        Ok(())
    }

    /// Counts a field whose picture is not kept, as all pictures of a file.
    ///
    /// # Errors
    /// A sentence, if anything that is not kept is an error.
    #[cfg(feature = "grib")]
    pub(super) fn repacked(&mut self, place: &str) -> Result<(), Failure> {
        if self.strict {
            return Err(Failure::said(place, "not kept: the picture, which holds the values".to_string()));
        }
        self.repacked += 1;
        Ok(())
    }

    /// Prints what was counted.
    pub(super) fn print(self, out: &mut Out) {
        let Self { scaled, bound, repacked, .. } = self;
        if repacked > 0 {
            out.remark(&format!(
                "{repacked} fields were pictures: back in GRIB they have simple packing of the same values"
            ));
        }
        if scaled > 0 {
            out.remark(&format!(
                "{scaled} fields have a decimal scale: values may differ by rounding, at most {bound:e}"
            ));
        }
    }
}
