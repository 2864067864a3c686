//! The results, as text and as JSON.

use serde_json::{Value, json};

use crate::harness::{Clock, Measured, Settings, Verdict, bytes, nanos};

/// Prints a case: its rows beside the first one, and its goals.
pub fn print(case: &Measured) {
    let clock = if case.clock == Clock::Wall { " (wall clock)" } else { "" };
    println!("\n{}: {}{clock}", case.group, case.name);
    let Some(first) = case.rows.first() else { return };
    for row in &case.rows {
        // Rows that only borrow have no rate.
        let rate = Some(case.bytes as f64 / row.nanos).filter(|rate| (1e-3..1e3).contains(rate));
        let rate = rate.map_or_else(String::new, |rate| format!("{rate:.2} GB/s"));
        println!(
            "  {:<30} {:>10} {:>9.2} × {:>11}  ±{:>3.0} %  {:>8} allocs {:>10}",
            row.label,
            nanos(row.nanos),
            row.nanos / first.nanos,
            rate,
            50.0 * (row.most - row.least) / row.nanos,
            trimmed(row.allocations),
            bytes(row.allocated),
        );
    }
    for verdict in case.verdicts() {
        let mark = if verdict.reached { "reached" } else { "MISSED" };
        println!("  {:<4} {}: {} {mark}", verdict.id, verdict.demand, verdict.figure);
    }
}

fn trimmed(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number}") } else { format!("{number:.2}") }
}

/// Prints all goals as a table.
pub fn print_goals(cases: &[Measured]) {
    let mut verdicts: Vec<Verdict> = cases.iter().flat_map(Measured::verdicts).collect();
    verdicts.sort_by_key(|verdict| verdict.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    let reached = verdicts.iter().filter(|verdict| verdict.reached).count();
    println!("\n{reached} of {} demands reached\n", verdicts.len());
    println!("| goal | case | demand | figure | reached |\n|---|---|---|---|---|");
    for v in verdicts {
        let mark = if v.reached { "yes" } else { "**no**" };
        println!("| {} | {} | {} | {} | {mark} |", v.id, v.case, v.demand, v.figure);
    }
}

/// All results, for machines.
pub fn json(cases: &[Measured], settings: &Settings, machine: &str) -> Value {
    let case = |case: &Measured| {
        let rows = case.rows.iter().map(|row| {
            json!({
                "label": row.label, "nanos": row.nanos, "least": row.least, "most": row.most,
                "allocations": row.allocations, "allocated": row.allocated, "peak": row.peak,
            })
        });
        let goals = case.verdicts().map(|verdict| {
            json!({ "id": verdict.id, "demand": verdict.demand, "figure": verdict.figure, "reached": verdict.reached })
        });
        json!({
            "group": case.group, "case": case.name, "bytes": case.bytes,
            "clock": if case.clock == Clock::Wall { "wall" } else { "thread" },
            "rows": rows.collect::<Vec<_>>(), "goals": goals.collect::<Vec<_>>(),
        })
    };
    json!({
        "machine": machine, "quick": settings.quick, "rounds": settings.rounds,
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
    })
}
