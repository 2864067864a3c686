//! The objects that a message is made of: values that are still to be encoded, and payload regions of other messages.

use tgm_codec::threads::Threads;

use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::options::EncodeOptions;
use crate::encode::compress::CodecResources;
use crate::encode::object::Object;
use crate::encode::part_error::PartError;
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

/// The objects of a message, each of a part, on several threads if the options say so.
///
/// # Errors
/// The errors of the stages, with the number of the object.
pub(super) fn plan<'a, T: Sync>(
    given: &[T],
    part: impl Fn(&T) -> Part<'a> + Sync,
    options: &EncodeOptions,
) -> Result<Vec<Object<'a>>, PartError> {
    let bytes = given.iter().map(|each| part(each).bytes().len() as u64).sum();
    let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes);
    let threads = threads.map_err(|error| PartError::of_all(error.into()))?;
    let (inner, is_concurrent) = shared(threads, given.len());
    let resources = CodecResources { backend: options.compression_backend, threads: inner };
    threads.map(given, |each| {
        interrupt::check().map_err(PartError::of_all)?;
        let number = || given.iter().position(|other| std::ptr::eq(other, each));
        let planned = part(each).plan(resources);
        let planned = if is_concurrent { planned.and_then(Object::compressed) } else { planned };
        planned.map_err(|error| PartError { object_index: number(), error })
    })
}

/// The threads for one object, and whether objects are encoded at the same time, each on one thread. These cannot be
/// compressed into one buffer. Otherwise one object after the other takes all `threads`.
const fn shared(threads: Threads, objects: usize) -> (Threads, bool) {
    if objects > 1 { (threads.alone(), !threads.is_one()) } else { (threads, false) }
}

impl<'a> Part<'a> {
    const fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Values(_, bytes, _) | Self::Region(_, bytes) => bytes,
        }
    }

    fn plan(&self, resources: CodecResources) -> Result<Object<'a>> {
        match *self {
            Self::Values(descriptor, data, options) => Object::of_values(descriptor, data, options, resources),
            Self::Region(descriptor, region) => Object::taken_over(descriptor, region),
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
            let planned = plan(parts, |part| *part, options).unwrap();
            planned.iter().filter(|object| object.frame_len().is_none()).count()
        };
        assert_eq!(drafts(&[part, part], &one), 2);
        assert_eq!(drafts(&[part, part], &several), if cfg!(feature = "parallel") { 0 } else { 2 });
        assert_eq!(drafts(&[part], &EncodeOptions { parallel_threshold_bytes: Some(0), ..several.clone() }), 1);
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn threads_take_an_object_each_or_work_together_on_one() {
        let shared = |threads, objects| {
            let (inner, is_concurrent) = shared(Threads::resolve(threads, 1, Some(0)).unwrap(), objects);
            (inner.count(), is_concurrent)
        };
        assert_eq!([shared(3, 0), shared(3, 1)], [(3, false), (3, false)]);
        assert_eq!([shared(3, 2), shared(3, 3)], [(1, true), (1, true)]);
        assert_eq!([shared(1, 1), shared(1, 2)], [(1, false), (1, false)]);
    }
}
