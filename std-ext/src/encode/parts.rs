//! The objects that a message is made of: values that are still to be encoded, and payload regions of other messages.

use tgm_codec::threads::Threads;

use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::options::EncodeOptions;
use crate::encode::compress::CodecResources;
use crate::encode::object::{Object, Planned};
use crate::encode::part_error::PartError;
use crate::encode::sharing::Sharing;
use crate::model::types::DataObjectDescriptor;

/// An object of a message that is to be written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// The bytes of the elements, in row-major order and in the descriptor's byte order. They go through the pipeline
    /// of the descriptor. The options apply to this object alone, for example to its NaN and infinities.
    Values(&'a DataObjectDescriptor, &'a [u8], &'a EncodeOptions),
    /// The descriptor and the payload region of an object that was read, masks included. They are taken over as they
    /// are.
    Region(&'a DataObjectDescriptor, &'a [u8]),
}

/// The objects of a message, on several threads if the options say so.
///
/// # Errors
/// The errors of the stages, with the number of the object.
pub(super) fn plan_parts<'a>(parts: &[Part<'a>], options: &EncodeOptions) -> Result<Vec<Planned<'a>>, PartError> {
    plan(parts, |part| *part, options)
}

/// [`plan_parts`] of what is a part each, with its errors.
pub(super) fn plan<'a, T: Sync>(
    given: &[T],
    part: impl Fn(&T) -> Part<'a> + Sync,
    options: &EncodeOptions,
) -> Result<Vec<Planned<'a>>, PartError> {
    let bytes = given.iter().map(|each| part(each).bytes().len() as u64).sum();
    let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes);
    let threads = threads.map_err(|error| PartError::of_all(error.into()))?;
    let Sharing { inner, is_concurrent } = Sharing::new(threads, given.len());
    let resources = CodecResources { backend: options.compression_backend, threads: inner };
    threads.map(given, |each| {
        interrupt::check().map_err(PartError::of_all)?;
        let number = || given.iter().position(|other| std::ptr::eq(other, each));
        part(each).plan(resources, is_concurrent).map_err(|error| PartError { object_index: number(), error })
    })
}

impl<'a> Part<'a> {
    const fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Values(_, bytes, _) | Self::Region(_, bytes) => bytes,
        }
    }

    /// The object. If not `compressed` now, it is compressed when it is written.
    fn plan(&self, resources: CodecResources, compressed: bool) -> Result<Planned<'a>> {
        match *self {
            Self::Values(descriptor, data, options) if compressed => {
                Object::encode(descriptor, data, options, resources).map(Planned::Object)
            }
            Self::Values(descriptor, data, options) => Planned::new(descriptor, data, options, resources),
            Self::Region(descriptor, region) => Object::taken_over(descriptor, region).map(Planned::Object),
        }
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::IntoBytes as _;

    use super::*;
    use crate::ObjectBuilder;

    /// A compressed object takes a buffer of its own, unless it is compressed where it is written.
    #[test]
    fn only_objects_that_threads_encode_at_the_same_time_take_buffers_of_their_own() {
        let values = [1.5_f32; 64];
        let object = ObjectBuilder::new(&[64], &values).unwrap().szip();
        let options = |threads| {
            let bytes = 2 * values.as_bytes().len();
            EncodeOptions { threads, parallel_threshold_bytes: Some(bytes), ..EncodeOptions::default() }
        };
        let (one, several) = (options(1), options(3));
        let part = Part::Values(object.descriptor(), values.as_bytes(), &one);
        let drafts = |parts: &[Part<'_>], options| {
            let planned = plan_parts(parts, options).unwrap();
            planned.iter().filter(|object| matches!(object, Planned::Draft(_))).count()
        };
        assert_eq!(drafts(&[part, part], &one), 2);
        assert_eq!(drafts(&[part, part], &several), if cfg!(feature = "parallel") { 0 } else { 2 });
        assert_eq!(drafts(&[part], &EncodeOptions { parallel_threshold_bytes: Some(0), ..several.clone() }), 1);
    }
}
