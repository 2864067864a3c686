//! Other formats become Tensogram, and Tensogram becomes them again: one module for each format.
//!
//! A conversion keeps encoded bits where the format has a stage for them, and metadata always. What it cannot keep it
//! names, or it is an error.

pub mod grib2;
