//! Names that exist for programs written for the crate `tensogram`.

mod framing;
mod pipeline;
mod wire;
