//! The stages of the pipeline, one by one.

use std::collections::BTreeMap;
use std::hint::black_box;

use tgm_core::descriptor::{Encoding, Filter, Key};
use tgm_core::object::DataObject;
use tgm_std::stages::{pipeline, shuffle, simple_packing, single};
use tgm_std::{DataObjectDescriptor, DecodeOptions, EncodeOptions, TensogramError};

use super::{Bench, Stage};
use crate::show::advice::in_our_words;

/// An object, and the descriptor with which it is encoded again.
pub(super) struct Sample<'a> {
    object: DataObject<'a>,
    descriptor: DataObjectDescriptor,
    has_masks: bool,
}

impl<'a> Sample<'a> {
    /// The object with a descriptor without what encoding adds.
    pub(super) fn new(object: &DataObject<'a>, mut descriptor: DataObjectDescriptor) -> Self {
        descriptor.params.remove(Key::SzipBlockOffsets.name());
        let has_masks = descriptor.masks.take().is_some();
        Self { object: *object, descriptor, has_masks }
    }

    fn element_size(&self) -> Result<usize, TensogramError> {
        addressable(self.object.descriptor().shuffle_element_size()?)
    }

    /// The values of packed ones.
    fn unpack(&self, packed: &[u8]) -> Result<Vec<f64>, TensogramError> {
        let descriptor = self.object.descriptor();
        let count = addressable(descriptor.element_count())?;
        simple_packing::decode(packed, count, &descriptor.packing()?)
    }
}

fn addressable(count: u64) -> Result<usize, TensogramError> {
    let too_many = |_| TensogramError::Encoding(format!("{count} values are too many for this machine").into());
    usize::try_from(count).map_err(too_many)
}

fn is_compressed(sample: &Sample<'_>) -> bool {
    sample.descriptor.compression != "none"
}

fn is_shuffled(sample: &Sample<'_>) -> bool {
    sample.object.descriptor().filter().known() == Some(Filter::Shuffle)
}

fn is_packed(sample: &Sample<'_>) -> bool {
    sample.object.descriptor().encoding().known() == Some(Encoding::SimplePacking)
}

/// An object between its stages, in the order of encoding.
struct Between<'s, 'a> {
    sample: &'s Sample<'a>,
    /// The decoded values.
    values: Vec<u8>,
    /// What the filter is given: packed values, or the values.
    unfiltered: Vec<u8>,
    /// Values as numbers, if they are packed.
    numbers: Vec<f64>,
    /// What the compressor is given.
    stored: Vec<u8>,
}

impl<'s, 'a> Between<'s, 'a> {
    fn new(sample: &'s Sample<'a>, options: &DecodeOptions) -> Result<Self, TensogramError> {
        let values = tgm_std::codec::memory::owned(tgm_std::read(&sample.object).options(options).bytes()?)?;
        let stored = if is_compressed(sample) {
            single::decompress(&sample.object, options)?
        } else {
            sample.object.payload().to_vec()
        };
        let unfiltered =
            if is_shuffled(sample) { shuffle::unshuffle(&stored, sample.element_size()?)? } else { Vec::new() };
        let packed = if is_shuffled(sample) { &unfiltered } else { &stored };
        let numbers = if is_packed(sample) { sample.unpack(packed)? } else { Vec::new() };
        Ok(Self { sample, values, unfiltered, numbers, stored })
    }

    fn packed(&self) -> &[u8] {
        if is_shuffled(self.sample) { &self.unfiltered } else { &self.stored }
    }
}

/// The stages of one codec that are measured so far.
struct Measured<'b> {
    bench: &'b Bench,
    codec: &'b str,
    bytes: u64,
    stages: Vec<Stage>,
}

impl Measured<'_> {
    /// Measures a stage of `count` objects; none of 0 objects. `what` is empty for all stages together. Returns whether
    /// the stage can be measured.
    fn add(
        &mut self,
        (way, what): (&str, &str),
        count: usize,
        work: &mut dyn FnMut() -> Result<(), TensogramError>,
    ) -> bool {
        if count == 0 {
            return true;
        }
        let colon = if what.is_empty() { "" } else { ": " };
        let time = self.bench.best(work).map_err(in_our_words);
        let can = time.is_ok();
        self.stages.push(Stage { name: format!("{way} {}{colon}{what}", self.codec), count, bytes: self.bytes, time });
        can
    }

    /// [`Self::add`] for the objects that have the stage.
    fn add_for(
        &mut self,
        name: (&str, &str),
        objects: &[Between<'_, '_>],
        has: impl Fn(&Sample<'_>) -> bool,
        work: impl Fn(&Between<'_, '_>) -> Result<(), TensogramError>,
    ) -> bool {
        let of: Vec<_> = objects.iter().filter(|object| has(object.sample)).collect();
        self.add(name, of.len(), &mut || of.iter().try_for_each(|object| work(object)))
    }
}

impl Bench {
    /// Decoding and encoding of the objects of one codec: all stages together, then each by itself.
    ///
    /// # Errors
    /// The errors of decoding. If the objects cannot be encoded again, the stage says why.
    pub(super) fn of_codec(&self, codec: &str, samples: &[Sample<'_>]) -> Result<Vec<Stage>, TensogramError> {
        let options = self.decoding.options();
        let mut bytes = 0;
        for sample in samples {
            bytes += sample.object.descriptor().decoded_len()?;
        }
        let objects = samples.iter().map(|sample| Between::new(sample, &options)).collect::<Result<Vec<_>, _>>()?;
        let mut measured = Measured { bench: self, codec, bytes, stages: Vec::new() };
        decode_stages(&mut measured, &objects, &options);
        let encode =
            EncodeOptions { allow_nan: true, allow_inf: true, threads: options.threads, ..EncodeOptions::default() };
        encode_stages(&mut measured, &objects, &encode);
        Ok(measured.stages)
    }
}

fn decode_stages(measured: &mut Measured<'_>, objects: &[Between<'_, '_>], options: &DecodeOptions) {
    let way = |what| ("decode", what);
    measured.add_for(
        way(""),
        objects,
        |_| true,
        |object| {
            // Values that are stored as they are cost nothing until they are copied.
            black_box(tgm_std::codec::memory::owned(tgm_std::read(&object.sample.object).options(options).bytes()?)?);
            Ok(())
        },
    );
    measured.add_for(way("compression"), objects, is_compressed, |object| {
        black_box(single::decompress(&object.sample.object, options)?);
        Ok(())
    });
    measured.add_for(way("filter"), objects, is_shuffled, |object| {
        black_box(shuffle::unshuffle(&object.stored, object.sample.element_size()?)?);
        Ok(())
    });
    measured.add_for(way("encoding"), objects, is_packed, |object| {
        black_box(object.sample.unpack(object.packed())?);
        Ok(())
    });
    // Masked values are restored in one place again and again.
    let masked = objects.iter().filter(|object| object.sample.has_masks);
    let mut restored: Vec<_> = masked.map(|object| (object.sample, object.values.clone())).collect();
    measured.add(way("masks"), restored.len(), &mut || {
        restored.iter_mut().try_for_each(|(sample, values)| {
            let order = sample.object.descriptor().byte_order();
            single::restore(&sample.object, order, options, black_box(values))
        })
    });
}

fn encode_stages(measured: &mut Measured<'_>, objects: &[Between<'_, '_>], options: &EncodeOptions) {
    let way = |what| ("encode", what);
    let can_encode = measured.add_for(
        way(""),
        objects,
        |_| true,
        |object| {
            black_box(pipeline::encode_pipeline(&object.sample.descriptor, &object.values, options)?);
            Ok(())
        },
    );
    if !can_encode {
        return;
    }
    measured.add_for(
        way("masks"),
        objects,
        |sample| sample.has_masks,
        |object| {
            let [encoding, filter, compression] = [(); 3].map(|()| "none".to_string());
            let (params, plain) = (BTreeMap::new(), object.sample.descriptor.clone());
            let plain = DataObjectDescriptor { encoding, filter, compression, params, ..plain };
            black_box(pipeline::encode_pipeline(&plain, &object.values, options)?);
            Ok(())
        },
    );
    measured.add_for(way("encoding"), objects, is_packed, |object| {
        black_box(simple_packing::encode(&object.numbers, &object.sample.object.descriptor().packing()?)?);
        Ok(())
    });
    measured.add_for(way("filter"), objects, is_shuffled, |object| {
        black_box(shuffle::shuffle(&object.unfiltered, object.sample.element_size()?)?);
        Ok(())
    });
    measured.add_for(way("compression"), objects, is_compressed, |object| {
        black_box(single::compress(&object.sample.descriptor, &object.stored, options)?);
        Ok(())
    });
}
