//! How a reader fetches: sizes and numbers that suit a kind of source.

/// How a reader fetches. The presets suit memory, local files and object stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bytes of the first request. A source that is not longer is then known whole.
    pub initial: u64,
    /// Messages up to this length are read whole, whatever part of them is wanted.
    pub whole_message: u64,
    /// Frames up to this length are read whole, whatever part of them is wanted.
    pub whole_frame: u64,
    /// Bytes that are read from the end of a frame whose descriptor is wanted.
    pub descriptor: u64,
    /// Bytes that are read from the start of a message whose metadata and index are wanted.
    pub header: u64,
    /// The longest gap between two wanted ranges that is fetched with them. `Some(0)` merges ranges that touch; `None`
    /// merges nothing.
    pub gap: Option<u64>,
    /// The longest request. Longer ranges are split.
    pub request: u64,
    /// How many requests may be under way at once.
    pub parallel: usize,
    /// The longest read-ahead of a scan.
    pub read_ahead: u64,
    /// How many bytes a scan may read to find the next message among other bytes.
    pub resync: u64,
    /// How many bytes of requests may be under way at once.
    pub in_flight: u64,
    /// How many requests one call may make.
    pub requests: u64,
    /// How many bytes are kept between calls: metadata, indexes, descriptors, and what was read ahead.
    pub kept: u64,
    /// The longest metadata and index frames that are read.
    pub max_structure: u64,
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
            request: 8 << 20,
            parallel: 10,
            read_ahead: 8 << 20,
            resync: 1 << 20,
            in_flight: 64 << 20,
            requests: 10_000,
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
