//! `tgm doctor`: features of this build, each tested.

use std::io::{self, Write};

use clap::Args;
use tgm_std::doctor::{DoctorReport, FeatureState, Linkage, SelfTestOutcome, SelfTestResult, run_diagnostics};

use crate::commands::Run;
use crate::show::advice::in_our_words;
use crate::show::output::{Out, Style};

/// List the features of this build, and test them
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Print one JSON document
    #[arg(short, long)]
    json: bool,
}

impl Run for Doctor {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let report = run_diagnostics();
        if self.json {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)?;
        } else {
            print(&report, out)?;
        }
        if report.self_test.iter().any(SelfTestResult::is_failed) {
            out.fail();
        }
        Ok(())
    }
}

fn print(report: &DoctorReport, out: &mut Out) -> io::Result<()> {
    heading(out, "Build")?;
    for (name, value) in [
        ("version", report.build.version.clone()),
        ("wire version", report.build.wire_version.to_string()),
        ("target", report.build.target.clone()),
        ("profile", report.build.profile.clone()),
    ] {
        writeln!(out, "  {name:<14}{value}")?;
    }
    heading(out, "\nFeatures")?;
    for feature in &report.features {
        write!(out, "  {:<14}", feature.name)?;
        match &feature.state {
            FeatureState::Off => writeln!(out, "off")?,
            FeatureState::On { backend, linkage, version } => {
                let kind = if *linkage == Linkage::Ffi { "C" } else { "Rust" };
                let version = version.as_ref().map_or(String::new(), |version| format!(" {version}"));
                writeln!(out, "on   {backend}{version} ({kind})")?;
            }
        }
    }
    heading(out, "\nSelf test")?;
    for result in &report.self_test {
        write!(out, "  {:<32}", result.label)?;
        match &result.outcome {
            SelfTestOutcome::Ok => out.styled(Style::Good, "ok")?,
            SelfTestOutcome::Failed { error } => {
                out.styled(Style::Bad, &format!("FAILED ({})", in_our_words(error)))?;
            }
            SelfTestOutcome::Skipped { reason } => write!(out, "skipped ({reason})")?,
        }
        writeln!(out)?;
    }
    let is_ill = report.self_test.iter().any(SelfTestResult::is_failed);
    write!(out, "\nStatus: ")?;
    let (style, status) = if is_ill { (Style::Bad, "UNHEALTHY") } else { (Style::Good, "HEALTHY") };
    out.styled(style, status)?;
    writeln!(out)
}

fn heading(out: &mut Out, text: &str) -> io::Result<()> {
    out.styled(Style::Heading, text)?;
    writeln!(out)
}
