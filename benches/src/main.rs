//! Measures tgm beside the reference, the best other peer and the physical limit.
//!
//! `benches/run [--quick] [--json FILE] [--list] [--rounds N] [--cases TEXT] [--rows TEXT] [group …]`
//!
//! It runs all cases, or those with the text in their name; all rows, or those whose label begins with the text, for a
//! profiler to watch. Each group makes its data, checks that all rows give the same answer, and only then measures.

mod alloc;
mod c;
mod data;
mod harness;
mod libraries;
mod report;

mod append;
mod codecs;
mod encode;
mod filter;
mod grib;
mod latency;
mod map;
mod names;
mod open;
mod parts;
mod push;
mod range;
mod scan;
mod shuffle_masks;
mod szip;
mod threads;
mod tool;
mod unpack;
mod validate;
mod values;

use std::process::ExitCode;

use harness::{Case, Measured, Settings};

#[global_allocator]
static COUNTING: alloc::Counting = alloc::Counting;

/// Runs cases and keeps the results.
pub struct Bench {
    /// How much is measured.
    pub settings: Settings,
    group: &'static str,
    measured: Vec<Measured>,
}

impl Bench {
    /// Runs a case and prints it.
    pub fn run(&mut self, case: Case<'_>) {
        let Some(measured) = case.measure(self.group, &self.settings) else { return };
        report::print(&measured);
        self.measured.push(measured);
    }

    /// `full`, or `quick` in quick runs.
    pub fn size(&self, full: usize, quick: usize) -> usize {
        self.settings.size(full, quick)
    }
}

type Group = (&'static str, fn(&mut Bench));

const GROUPS: [Group; 20] = [
    ("open", open::run),
    ("map", map::run),
    ("scan", scan::run),
    ("values", values::run),
    ("unpack", unpack::run),
    ("szip", szip::run),
    ("codecs", codecs::run),
    ("shuffle_masks", shuffle_masks::run),
    ("range", range::run),
    ("parts", parts::run),
    ("encode", encode::run),
    ("append", append::run),
    ("validate", validate::run),
    ("grib", grib::run),
    ("push", push::run),
    ("names", names::run),
    ("filter", filter::run),
    ("tool", tool::run),
    ("latency", latency::run),
    ("threads", threads::run),
];

fn main() -> ExitCode {
    let mut settings = Settings { quick: false, rounds: 9, cases: None, rows: None };
    let (mut json, mut wanted) = (None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // A case of `map` starts this program again with this option.
            "--first-value" => return map::first_value(arguments),
            "--quick" => settings = Settings { quick: true, rounds: settings.rounds.min(7), ..settings },
            "--rounds" => {
                let rounds = arguments.next().and_then(|number| number.parse().ok());
                settings.rounds = rounds.filter(|&rounds| rounds > 0).unwrap_or(settings.rounds);
            }
            "--cases" => settings.cases = arguments.next(),
            "--rows" => settings.rows = arguments.next(),
            "--json" => json = arguments.next(),
            "--list" => {
                for (name, _) in GROUPS {
                    println!("{name}");
                }
                return ExitCode::SUCCESS;
            }
            name if GROUPS.iter().any(|(group, _)| *group == name) => wanted.push(argument),
            other => {
                eprintln!(
                    "{other}: neither a group nor an option (--quick, --json FILE, --list, --rounds N, --cases TEXT, --rows TEXT)"
                );
                return ExitCode::FAILURE;
            }
        }
    }

    let machine = data::machine();
    println!(
        "{machine}\nmedians of {} rounds, rows in turns; ratios compare times with the first row",
        settings.rounds
    );
    let mut bench = Bench { settings, group: "", measured: Vec::new() };
    for (name, run) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            bench.group = name;
            run(&mut bench);
        }
    }
    report::print_goals(&bench.measured);
    if let Some(file) = json {
        let text = format!("{:#}\n", report::json(&bench.measured, &bench.settings, &machine));
        if let Err(error) = std::fs::write(&file, text) {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
