//! Benches: each measures the work, a peer that does the same, and what the machine can do at best, in one run.
//!
//! `cargo bench -p tgm-benches`. Read the ratios; absolute times differ from machine to machine and from run to run.
