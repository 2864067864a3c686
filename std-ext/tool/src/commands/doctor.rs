//! `tgm doctor`: features of this build, each tested.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;
use tgm_std::doctor::{
    CodecAbility, DoctorReport, Encodes, FeatureState, Linkage, SelfTestOutcome, SelfTestResult, codec_abilities,
    run_diagnostics, vector_paths,
};

use crate::args::listing::{Listed, TextFlags};
use crate::commands::convert::format_abilities;
use crate::commands::{Run, examples};
use crate::show::advice::in_our_words;
use crate::show::form::Notation;
use crate::show::output::{Out, Style};

/// List the features and the formats of this build, and test them
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm doctor", "what this build can do, tested")]))]
pub(crate) struct Doctor {
    #[command(flatten)]
    text: TextFlags,
}

impl Run for Doctor {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&[])
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let report = run_diagnostics();
        if self.text.json() {
            let mut document = serde_json::to_value(&report)?;
            if let Some(entries) = document.as_object_mut() {
                entries.insert("codecs".into(), serde_json::to_value(codec_abilities())?);
                let formats = format_abilities().into_iter();
                let formats = formats.map(|it| json!({"name": it.name, "read": it.reads, "write": it.writes}));
                entries.insert("formats".into(), formats.collect());
                entries.insert("vector_paths".into(), serde_json::to_value(vector_paths())?);
            }
            if out.form().notation == Notation::JsonLines {
                writeln!(out, "{document}")?;
            } else {
                writeln!(out, "{document:#}")?;
            }
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
    let paths = vector_paths();
    heading(out, "Build")?;
    for (name, value) in [
        ("version", report.build.version.clone()),
        ("wire version", report.build.wire_version.to_string()),
        ("target", report.build.target.clone()),
        ("profile", report.build.profile.clone()),
        ("vector code", format!("{} (this processor can take {})", paths.used, paths.available.join(", "))),
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
    heading(out, "\nCodecs        decode  encode")?;
    for CodecAbility { name, decode, encode } in codec_abilities() {
        let encodes = match encode {
            Encodes::Yes => "yes",
            Encodes::Lossless => "without loss",
            Encodes::No => "no",
        };
        writeln!(out, "  {name:<12}{:<8}{encodes}", if decode { "yes" } else { "no" })?;
    }
    heading(out, "\nFormats       read    write")?;
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    for it in format_abilities() {
        writeln!(out, "  {:<12}{:<8}{}", it.name, yes(it.reads), yes(it.writes))?;
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
