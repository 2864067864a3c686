//! The lossless stages that make an object smallest, by trials on a part of its values.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tgm_core::descriptor::{Compression, Dtype, Filter};
use tgm_std::codec::about::{About, Input};
use tgm_std::codec::{self, Codec};
use tgm_std::pipeline::encode_pipeline;
use tgm_std::{DataObjectDescriptor, EncodeOptions};

use super::PipelineFlags;

/// Bytes of values that are tried, from their middle.
const TRIED: usize = 1 << 20;
/// A level that takes a few times as long as the usual one, for codecs with levels.
const SLOWER: i32 = 9;

/// What trials found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// When the first trial began.
    start: Option<Instant>,
    /// The best stages of the last object of each kind.
    best: Vec<(Kind, Stages)>,
}

/// Objects that are likely to be alike: their encoding and type.
type Kind = (String, Dtype);

/// Stages after the encoding. The stages that an object has, if all are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stages {
    filter: Option<Filter>,
    compression: Option<Compression>,
    level: Option<i32>,
}

impl Trials {
    /// The stages to take without a trial, because the time is over.
    fn known(&self, kind: &Kind, budget: Option<Duration>) -> Option<Stages> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = known.start.get_or_insert_with(Instant::now).elapsed();
        let found = known.best.iter().find(|(found, _)| found == kind).map(|(_, stages)| *stages);
        budget.filter(|budget| spent >= *budget).map(|_| found.unwrap_or_default())
    }

    fn learn(&self, kind: Kind, stages: Stages) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.best.iter_mut().find(|(found, _)| *found == kind) {
            Some((_, found)) => *found = stages,
            None => known.best.push((kind, stages)),
        }
    }
}

impl PipelineFlags {
    /// These flags with the stages that make the object smallest.
    pub(super) fn with_best(&self, descriptor: &DataObjectDescriptor, data: &[u8], options: &EncodeOptions) -> Self {
        let kind = (descriptor.encoding.clone(), descriptor.dtype);
        let stages = self.trials.known(&kind, self.budget).unwrap_or_else(|| {
            let (part, data) = part_of(descriptor, data);
            let tried =
                candidates().filter_map(|stages| Some((self.with(stages).try_on(&part, data, options)?, stages)));
            let best = tried.min_by_key(|(len, _)| *len).map_or_else(Stages::default, |(_, stages)| stages);
            self.trials.learn(kind, best);
            best
        });
        self.with(stages)
    }

    fn with(&self, stages: Stages) -> Self {
        let Stages { filter, compression, level } = stages;
        Self { best: false, filter, compression, level, ..self.clone() }
    }

    /// Bytes of a payload with these stages. `None` if the values cannot have them.
    fn try_on(&self, descriptor: &DataObjectDescriptor, data: &[u8], options: &EncodeOptions) -> Option<usize> {
        let ((staged, data), _) = self.stage(descriptor.clone(), Cow::Borrowed(data)).ok()?;
        encode_pipeline(&staged, &data, options).ok().map(|(_, region)| region.len())
    }
}

/// All lossless stages of this build, and first the ones that an object has.
fn candidates() -> impl Iterator<Item = Stages> {
    let has_no_loss = |about: &&About| !about.is_lossy && about.input != Input::Numbers && about.usual.is_some();
    let codecs = codec::all().map(Codec::about).filter(has_no_loss).flat_map(|about| {
        let slower = about.level.as_ref().filter(|level| (level.least..=level.most).contains(&SLOWER)).map(|_| SLOWER);
        let levels = [Some(None), slower.map(Some)].into_iter().flatten();
        levels.map(|level| (about.compression, level))
    });
    let compressions = [(Compression::None, None)].into_iter().chain(codecs);
    let filters = |(compression, level)| {
        [Filter::None, Filter::Shuffle].map(|filter| Stages {
            filter: Some(filter),
            compression: Some(compression),
            level,
        })
    };
    [Stages::default()].into_iter().chain(compressions.flat_map(filters))
}

/// The middle of an object's values, as an object of one dimension.
fn part_of<'d>(descriptor: &DataObjectDescriptor, data: &'d [u8]) -> (DataObjectDescriptor, &'d [u8]) {
    let width = descriptor.dtype.byte_width().max(1);
    let len = data.len().min(TRIED) / width * width;
    let start = (data.len() - len) / 2 / width * width;
    let part = data.get(start..start + len).unwrap_or_default();
    let count = if descriptor.dtype == Dtype::Bitmask { part.len() * 8 } else { part.len() / width };
    let plain = DataObjectDescriptor::new(descriptor.dtype, descriptor.byte_order, &[count as u64]);
    let (shape, strides, ndim) = (plain.shape, plain.strides, plain.ndim);
    (DataObjectDescriptor { shape, strides, ndim, masks: None, ..descriptor.clone() }, part)
}
