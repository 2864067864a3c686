//! The methods of readers and files that put questions.

/// The methods that put one of these questions to a message, for an `impl` block of a type that has a method `ask`. The
/// names stand in the order of the methods. For methods that do not block, `[async await]` comes before them.
macro_rules! question_methods {
    (
        $([$async:ident $await:ident])? $ask:ident,
        $decode_metadata:ident, $decode_descriptors:ident, $decode_range:ident, $select:ident $(,)?
    ) => {
        /// The metadata of the first metadata frame of message `index`.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_metadata`](crate::decode::decode_metadata).
        pub $($async)? fn $decode_metadata(&self, index: usize) -> $crate::base::error::Result<$crate::model::types::GlobalMetadata> {
            self.$ask(index, $crate::read::question::about::FirstMetadata)$(.$await)?
        }

        /// The metadata of message `index`, and the descriptors of its objects.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_descriptors`](crate::decode::decode_descriptors).
        pub $($async)? fn $decode_descriptors(
            &self,
            index: usize,
        ) -> $crate::base::error::Result<($crate::model::types::GlobalMetadata, Vec<$crate::model::types::DataObjectDescriptor>)> {
            self.$ask(index, $crate::read::question::about::Descriptors)$(.$await)?
        }

        /// Ranges of the values of object `object` of message `index`, each a first element and a count.
        ///
        /// With `verify_hash` all of the object's frame is read, because its digest covers all of it.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_range`](crate::decode_range).
        pub $($async)? fn $decode_range(
            &self,
            index: usize,
            object: usize,
            ranges: &[(u64, u64)],
            options: &$crate::base::options::DecodeOptions,
        ) -> $crate::base::error::Result<($crate::model::types::DataObjectDescriptor, Vec<Vec<u8>>)> {
            let (choice, options) = (ranges.to_vec(), options.clone());
            let question = $crate::read::question::object::Chosen { index: object, choice, options };
            self.$ask(index, question)$(.$await)?
        }

        /// The values that `picks` take of object `object` of message `index`, one pick for each dimension:
        /// [`Read::select`](crate::Read::select). If the frame is long and its compression has parts, only the parts that
        /// hold these values are read.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`Read::bytes`](crate::Read::bytes).
        pub $($async)? fn $select(
            &self,
            index: usize,
            object: usize,
            picks: &[tgm_core::selection::Pick],
            options: &$crate::base::options::DecodeOptions,
        ) -> $crate::base::error::Result<($crate::model::types::DataObjectDescriptor, $crate::decode::select::Selected<'static>)> {
            let (choice, options) = (picks.to_vec(), options.clone());
            let question = $crate::read::question::object::Chosen { index: object, choice, options };
            self.$ask(index, question)$(.$await)?
        }
    };
}
pub(crate) use question_methods;

/// The method that asks for an object, as [`question_methods`] makes the others.
macro_rules! object_method {
    ($([$async:ident $await:ident])? $ask:ident, $decode_object:ident $(,)?) => {
        /// Object `object` of message `index`.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_object`](crate::decode_object).
        pub $($async)? fn $decode_object(
            &self,
            index: usize,
            object: usize,
            options: &$crate::base::options::DecodeOptions,
        ) -> $crate::base::error::Result<($crate::model::types::GlobalMetadata, $crate::model::types::DataObjectDescriptor, Vec<u8>)> {
            let question = $crate::read::question::object::Object { index: object, options: options.clone() };
            self.$ask(index, question)$(.$await)?
        }
    };
}
pub(crate) use object_method;
