//! Options that some formats have: one that is given for others is refused, as it would have no effect.

use super::Convert;
use super::format::Format;
use super::tgm::TGM;

/// An option of some formats.
pub(super) struct Effect {
    pub(super) option: &'static str,
    pub(super) is_given: bool,
    /// Whether it has an effect on input of a format.
    pub(super) reads: fn(Format) -> bool,
    /// Whether it has an effect on output of a format.
    pub(super) writes: fn(Format) -> bool,
}

impl Effect {
    pub(super) const fn of_reading(option: &'static str, is_given: bool, reads: fn(Format) -> bool) -> Self {
        Self { option, is_given, reads, writes: |_| false }
    }

    pub(super) const fn of_writing(option: &'static str, is_given: bool, writes: fn(Format) -> bool) -> Self {
        Self { option, is_given, reads: |_| false, writes }
    }
}

impl Convert {
    /// Why an option does not go with the formats. `None` if each has an effect.
    pub(super) fn refusal_of_options(&self, to: Format) -> Option<String> {
        let is_read = |reads: fn(Format) -> bool| {
            self.paths.iter().any(|path| self.format_of(path, Some(to)).is_ok_and(|from| from.is_some_and(reads)))
        };
        let has_none = |effect: &Effect| effect.is_given && !(effect.writes)(to) && !is_read(effect.reads);
        let effect = self.effects().into_iter().find(has_none)?;
        Some(format!("{} has no effect on these formats", effect.option))
    }

    /// All options that have an effect on some formats alone.
    fn effects(&self) -> Vec<Effect> {
        let mut effects = self.arrays.effects();
        let is_tgm = |format| format == TGM;
        effects.push(Effect::of_writing("--no-hash", !self.encode.options().hashing, is_tgm));
        effects.push(Effect::of_reading("--ignore-hash", self.digests.are_ignored(), is_tgm));
        #[cfg(feature = "grib")]
        effects.extend(self.grib.effects());
        #[cfg(any(feature = "netcdf", feature = "zarr"))]
        effects.extend(self.store_effects());
        #[cfg(feature = "netcdf")]
        effects.extend(self.netcdf.effects());
        #[cfg(feature = "arrow")]
        effects.push(self.tables.effect());
        #[cfg(feature = "zarr")]
        effects.push(self.zarr.effect());
        effects
    }

    /// Options that NetCDF and Zarr share.
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    fn store_effects(&self) -> Vec<Effect> {
        let is_store = Format::is_streamed;
        let mut effects = vec![
            Effect::of_writing("--name-key", self.name_key.is_some(), is_store),
            Effect { option: "--keep-packed", is_given: self.keep_packed, reads: is_store, writes: is_store },
            Effect::of_reading("--chunks", self.store.is_given(), is_store),
        ];
        effects.extend(self.cubes.effects());
        effects
    }
}
