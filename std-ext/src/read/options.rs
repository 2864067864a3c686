//! How a reader fetches: sizes and numbers that suit a kind of source.

/// How a reader fetches: how much it asks for at once, and what it keeps. One of three presets suits a source.
///
/// | source | options | a request costs | kept between calls |
/// |---|---|---|---|
/// | memory | [`Self::memory`] | nothing | 20 MiB |
/// | a local file | [`Self::local`] | microseconds | 20 MiB |
/// | an object store, a server | [`Self::remote`] | 10 to 100 milliseconds | 20 MiB |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bytes of the first request. A source that is not longer is then known whole.
    pub(crate) initial: u64,
    /// Messages up to this length are read whole, whatever part of them is wanted.
    pub(crate) whole_message: u64,
    /// Frames up to this length are read whole, whatever part of them is wanted.
    pub(crate) whole_frame: u64,
    /// Bytes that are read from the end of a frame whose descriptor is wanted.
    pub(crate) descriptor: u64,
    /// Bytes that are read from the start of a message whose metadata and index are wanted.
    pub(crate) header: u64,
    /// The longest gap between two wanted ranges that is fetched with them. `Some(0)` merges ranges that touch; `None`
    /// merges nothing.
    pub(crate) gap: Option<u64>,
    /// The longest gap between parts of an outline, of which each object has two, that is fetched with them.
    pub(crate) outline_gap: u64,
    /// The longest request. Longer ranges are split.
    pub(crate) request: u64,
    /// How many requests may be under way at once.
    pub(crate) parallel: usize,
    /// The longest read-ahead of a scan.
    pub(crate) read_ahead: u64,
    /// How many bytes a scan may read to find the next message among other bytes.
    pub(crate) resync: u64,
    /// How many bytes of requests may be under way at once.
    pub(crate) in_flight: u64,
    /// How many requests one call may make.
    pub(crate) requests: u64,
    /// How many bytes are kept between calls: metadata, indexes, descriptors, and what was read ahead.
    pub(crate) kept: u64,
    /// The longest metadata and index frames that are read.
    pub(crate) max_structure: u64,
}

impl ReadOptions {
    /// For sources that answer at once, such as memory.
    pub const fn memory() -> Self {
        Self {
            initial: 64,
            whole_message: 0,
            whole_frame: 4 << 10,
            descriptor: 1 << 10,
            header: 1 << 10,
            gap: Some(0),
            outline_gap: 0,
            parallel: 1,
            ..Self::remote()
        }
    }

    /// For local files: a read costs microseconds.
    pub const fn local() -> Self {
        Self {
            initial: 4 << 10,
            whole_message: 256 << 10,
            whole_frame: 64 << 10,
            descriptor: 4 << 10,
            header: 4 << 10,
            gap: Some(4 << 10),
            outline_gap: 4 << 10,
            request: 1 << 30,
            parallel: 1,
            read_ahead: 64 << 10,
            resync: u64::MAX,
            in_flight: u64::MAX,
            requests: u64::MAX,
            ..Self::remote()
        }
    }

    /// For object stores and servers: a request costs 10 to 100 milliseconds.
    pub const fn remote() -> Self {
        Self {
            initial: 64 << 10,
            whole_message: 64 << 10,
            whole_frame: 128 << 10,
            descriptor: 4 << 10,
            header: 16 << 10,
            gap: Some(64 << 10),
            outline_gap: 1 << 20,
            request: 8 << 20,
            parallel: 10,
            read_ahead: 8 << 20,
            resync: 1 << 20,
            in_flight: 64 << 20,
            requests: 100_000,
            kept: 20 << 20,
            max_structure: 64 << 20,
        }
    }
}

impl Default for ReadOptions {
    /// The same options as [`Self::remote`].
    fn default() -> Self {
        Self::remote()
    }
}

macro_rules! knobs {
    ($($knob:ident $field:ident: $set:expr,)*) => {
        /// A number of [`ReadOptions`], for measurements and tests.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ReadKnob {
            $(
                #[doc = concat!("`", stringify!($field), "`.")]
                $knob,
            )*
        }

        impl ReadKnob {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$knob,)*];

            /// `options` with another number.
            #[must_use]
            pub fn set(self, value: u64, mut options: ReadOptions) -> ReadOptions {
                match self {
                    $(Self::$knob => options.$field = $set(value),)*
                }
                options
            }
        }
    };
}

knobs! {
    Initial initial: u64::from,
    WholeMessage whole_message: u64::from,
    WholeFrame whole_frame: u64::from,
    Descriptor descriptor: u64::from,
    Header header: u64::from,
    Gap gap: (|gap| (gap < u64::MAX).then_some(gap)),
    Request request: u64::from,
    Parallel parallel: (|count| usize::try_from(count).unwrap_or(usize::MAX)),
    ReadAhead read_ahead: u64::from,
    Resync resync: u64::from,
    InFlight in_flight: u64::from,
    Requests requests: u64::from,
    Kept kept: u64::from,
    MaxStructure max_structure: u64::from,
}
