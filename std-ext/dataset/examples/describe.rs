//! Says what archives hold as a dataset, as `ncdump -h` does for NetCDF, and reads a series of its first variable:
//! `cargo run --release -p tgm-dataset --example describe -- FILE...`
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::time::Instant;

use tgm_dataset::{Indices, OpenOptions, on_all_cores, open};
use tgm_std::Result;

fn main() -> Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let dataset = open(&paths, &OpenOptions::default())?;
    println!("opened in {:.3} s", start.elapsed().as_secs_f64());
    for it in &dataset.coordinates {
        println!("  {}({}): {} values", it.name, it.dims.join(", "), it.values.len());
    }
    for it in &dataset.variables {
        let lens: Vec<String> = it.dims.iter().zip(&it.shape).map(|(dim, len)| format!("{dim} = {len}")).collect();
        let dtype = it.dtype().map_or("text", |dtype| dtype.name());
        println!(
            "  {dtype} {}({}): {} objects, {} holes",
            it.name,
            lens.join(", "),
            it.object_count(),
            it.hole_count()
        );
    }
    for it in &dataset.left_out {
        println!("  left out: {it}");
    }
    let first = dataset.variables.iter().find(|it| it.dtype().is_some_and(|dtype| dtype.byte_width() > 0));
    if let Some(variable) = first {
        // All of the longest dimension, and the first index of the others.
        let longest = variable.shape.iter().max().copied().unwrap_or(0);
        let all = Indices::List((0..longest).collect());
        let mut picks: Vec<Indices> = variable.shape.iter().map(|_| Indices::Index(0)).collect();
        if let Some(pick) = picks.iter_mut().zip(&variable.shape).find(|(_, len)| **len == longest) {
            *pick.0 = all;
        }
        let width = variable.dtype().map_or(0, |dtype| dtype.byte_width());
        let mut out = vec![0; usize::try_from(longest).unwrap_or(0) * width];
        let start = Instant::now();
        dataset.read_into(&variable.name, &picks, &on_all_cores(), &mut out)?;
        println!("{} values of {} in {:.3} s", longest, variable.name, start.elapsed().as_secs_f64());
    }
    Ok(())
}
