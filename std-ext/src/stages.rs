//! Single stages of the pipeline, without a message around them.
//!
//! | stage | module |
//! |---|---|
//! | encoding `simple_packing` | [`simple_packing`] |
//! | filter `shuffle` | [`shuffle`] |
//! | all stages of an object together | [`pipeline`] |

pub mod pipeline;
pub mod shuffle;
pub mod simple_packing;
#[doc(hidden)]
pub mod single;
