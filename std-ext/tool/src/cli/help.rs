//! The help beyond what the arguments say: commands by task, and examples of each. Man pages have the same text.

use std::fmt::Write as _;

use clap::Command;

/// The commands, by what people want to do.
pub(super) const TASKS: [(&str, &[&str]); 6] = [
    ("Look at files", &["browse", "serve", "ls", "cube", "get", "info", "dump", "frames", "scan", "tail"]),
    ("Look at values", &["cat", "stats", "plot", "compare", "extract", "digest", "bench"]),
    ("Check", &["verify", "validate", "salvage"]),
    ("Write", &["create", "copy", "split", "merge", "set", "repack", "reshuffle", "upgrade"]),
    ("Find fast, other formats", &["catalog", "convert", "zio"]),
    ("This tool", &["doctor", "completions", "man"]),
];

/// Examples of each command, with a note. A test runs them.
const EXAMPLES: [(&str, &[(&str, &str)]); 37] = [
    (
        "ls",
        &[
            ("tgm ls field.tgm", "type, shape and codecs of every object"),
            ("tgm ls -w 'mars.param=2t/tp' --objects -p mars.param,shape,ratio field.tgm", "some keys of some objects"),
            ("tgm ls -B step:desc -n 2 --csv three.tgm", "the two last steps, as CSV"),
        ],
    ),
    (
        "get",
        &[
            ("tgm get -p mars.param,mars.step,shape field.tgm", "a line for each message"),
            ("tgm get --objects -p object,mars.param,ratio field.tgm", "a line for each object"),
            ("tgm get --objects -p object,ratio -w 'ratio>=5' field.tgm", "objects that became much smaller"),
        ],
    ),
    ("browse", &[("tgm browse field.tgm three.tgm", "messages, objects, metadata and pictures; ? shows the keys")]),
    ("serve", &[("tgm serve field.tgm three.tgm", "an address for browsers, xarray.open_zarr and others")]),
    (
        "cube",
        &[
            ("tgm cube steps.tgm", "variables, dimensions, coordinates, and what does not fit"),
            ("tgm cube --json steps.tgm", "the same for programs"),
        ],
    ),
    ("info", &[("tgm info field.tgm three.tgm", "what each file holds")]),
    (
        "dump",
        &[
            ("tgm dump --object 0 field.tgm", "one object and all about its message"),
            ("tgm dump -m 1 --json three.tgm", "one message, for programs"),
        ],
    ),
    ("frames", &[("tgm frames damaged.tgm", "frames, also of damaged messages")]),
    ("scan", &[("tgm scan --csv damaged.tgm", "where messages are, and what lies between them")]),
    (
        "cat",
        &[
            ("tgm cat --slice '0, :5' field.tgm", "the first values"),
            ("tgm cat --nearest 51.5,-0.1 --area 90/0/-90/359 field.tgm", "the value at a place"),
            ("tgm cat --nearest 51.5,-0.1 --over step,number steps.tgm", "and over all steps and members"),
        ],
    ),
    (
        "stats",
        &[
            ("tgm stats --quantiles 0.05,0.5,0.95 field.tgm", "extremes, mean and quantiles"),
            ("tgm stats --object 0 --histogram 5 field.tgm", "how the values of one object are spread"),
            ("tgm stats --over grid steps.tgm", "a line for each field of a dataset"),
        ],
    ),
    (
        "compare",
        &[
            ("tgm compare --tolerance 0.01 field.tgm copy.tgm", "values may differ a little"),
            ("tgm compare --by mars.param --ignore mars.date field.tgm copy.tgm", "objects in any order"),
        ],
    ),
    (
        "extract",
        &[
            ("tgm extract field.tgm -m 0 -o 1 --format npy -O out.npy", "the values of an object, for numpy"),
            ("tgm extract field.tgm --slice '10:20, ::4' -O out.raw", "a part of them"),
            ("tgm extract --cube t2m --sel step=6..12,latitude=40:60 -O box.tgm steps.tgm", "a box over many messages"),
        ],
    ),
    ("digest", &[("tgm digest field.tgm", "fingerprints of values, however they are stored")]),
    (
        "tail",
        &[
            ("tgm tail --idle 0.1 --from-start -p step three.tgm", "a line for each message, as they come"),
            ("tgm tail --idle 0.1 --exec 'tgm ls -' three.tgm", "a command for each"),
        ],
    ),
    ("bench", &[("tgm bench --seconds 0.01 field.tgm", "how fast this file is read and decoded here")]),
    (
        "plot",
        &[
            ("tgm plot --width 60 field.tgm", "a field, in the terminal"),
            ("tgm plot --slice '90, :' field.tgm -O line.svg", "one of its rows, as a picture for a browser"),
            ("tgm plot --histogram field.tgm -O values.png", "how its values are distributed"),
        ],
    ),
    (
        "verify",
        &[
            ("tgm verify field.tgm three.tgm", "whether any byte has changed"),
            ("tgm verify -p mars.param,codec field.tgm", "and which field each message has"),
        ],
    ),
    ("validate", &[("tgm validate --full field.tgm", "everything that is wrong")]),
    (
        "salvage",
        &[
            ("tgm salvage damaged.tgm -o whole.tgm", "what is whole, to another file"),
            ("tgm salvage --in-place damaged.tgm", "the same; the damaged file becomes damaged.tgm.bak"),
        ],
    ),
    (
        "create",
        &[
            ("tgm create values.npy -o out.tgm -s mars.param=2t,mars.step=6", "a message from an array"),
            (
                "tgm create values.npy -o out.tgm --max-error 0.01 --compression szip",
                "packed, with a bound of the error",
            ),
        ],
    ),
    (
        "copy",
        &[
            ("tgm copy -w 'step>=1' three.tgm -O late.tgm", "messages that a filter selects"),
            ("tgm copy three.tgm 'step_[step].tgm'", "a file for each step"),
        ],
    ),
    (
        "split",
        &[
            ("tgm split field.tgm -o part.tgm", "a numbered file for each object"),
            ("tgm split field.tgm -o '[mars.param].tgm'", "files named by metadata"),
        ],
    ),
    ("merge", &[("tgm merge three.tgm field.tgm -o one.tgm", "one message of all objects")]),
    (
        "set",
        &[
            ("tgm set -s mars.step=6,mars.expver:s=0001 field.tgm out.tgm", "a number and a text"),
            ("tgm set --objects -w mars.param=tp -s unit=m -d units field.tgm out.tgm", "of some objects"),
        ],
    ),
    (
        "repack",
        &[
            ("tgm repack --compression zstd --level 9 three.tgm -o small.tgm", "smaller, the same values"),
            (
                "tgm repack --bits 12 --compression none --skip-unsuitable field.tgm -o packed.tgm",
                "packed, where that is possible",
            ),
        ],
    ),
    ("reshuffle", &[("tgm reshuffle field.tgm -o front.tgm", "metadata and index up front")]),
    (
        "convert",
        &[
            ("tgm convert in.grib2 -o out.tgm", "GRIB fields become objects; their bits stay"),
            ("tgm convert in.grib2 --to tgm -o copy.tgm", "the same, with the format said"),
            ("tgm convert table.csv -o table.tgm --compression zstd", "a column becomes an object"),
            ("tgm convert field.tgm -o 'field_[index].npy'", "a file of numpy for each object"),
            ("tgm convert field.tgm -o field.npz --deflate", "all of them in one, with their names"),
            ("tgm convert table.csv --strict -o table.safetensors", "from one format to another, or nothing"),
        ],
    ),
    ("upgrade", &[("tgm upgrade old.tgm -o new.tgm", "version 2 becomes version 3")]),
    (
        "catalog",
        &[
            ("tgm catalog --auto three.tgm", "three.tgm.catalog, for queries that read little"),
            ("tgm catalog --check three.tgm", "whether it is up to date"),
        ],
    ),
    ("zio ls", &[("tgm zio ls field.zio", "messages and their tensors")]),
    ("zio dump", &[("tgm zio dump --json field.zio", "everything about them")]),
    ("zio to-tgm", &[("tgm zio to-tgm field.zio -O out.tgm", "a Tensogram file")]),
    ("zio from-tgm", &[("tgm zio from-tgm field.tgm -O out.zio", "and back")]),
    ("doctor", &[("tgm doctor", "what this build can do, tested")]),
    ("completions", &[("tgm completions bash", "for ~/.local/share/bash-completion/completions/tgm")]),
    ("man", &[("tgm man pages", "a page for each command, into a folder")]),
];

/// Adds the list of commands by task, and the examples.
pub(super) fn extend(mut command: Command) -> Command {
    for (name, examples) in EXAMPLES {
        let text = examples_text(examples);
        command = match name.split_once(' ') {
            Some((group, name)) if has(&command, group) => {
                command.mut_subcommand(group, |group| group.mut_subcommand(name, |inner| inner.after_help(text)))
            }
            None if has(&command, name) => command.mut_subcommand(name, |inner| inner.after_help(text)),
            // Without its feature a command is not there.
            _ => command,
        };
    }
    let tasks = tasks_text(&command);
    command
        .help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}")
        .after_help(tasks)
}

fn has(command: &Command, name: &str) -> bool {
    command.find_subcommand(name).is_some()
}

fn examples_text(examples: &[(&str, &str)]) -> String {
    examples.iter().fold("Examples:".to_string(), |mut text, (line, note)| {
        let _ = write!(text, "\n  # {note}\n  {line}");
        text
    })
}

fn tasks_text(command: &Command) -> String {
    let mut text = String::new();
    for (task, names) in TASKS {
        let _ = writeln!(text, "{task}:");
        for name in names {
            if let Some(about) = command.find_subcommand(name).and_then(Command::get_about) {
                let _ = writeln!(text, "  {name:<12} {about}");
            }
        }
        text.push('\n');
    }
    text + "`tgm help COMMAND` has examples."
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn every_command_has_a_task_and_examples() {
        let command = crate::cli::Cli::command();
        let mut tasks: Vec<_> = TASKS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        tasks.retain(|name| cfg!(feature = "zio") || *name != "zio");
        tasks.retain(|name| cfg!(feature = "browse") || *name != "browse");
        tasks.retain(|name| cfg!(feature = "serve") || *name != "serve");
        tasks.retain(|name| cfg!(feature = "plot") || *name != "plot");
        tasks.sort_unstable();
        let mut names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(tasks, names);
        for name in names {
            let has_examples = EXAMPLES.iter().any(|(of, _)| of.split(' ').next() == Some(name));
            assert!(has_examples, "tgm {name}");
            // The list of commands is not wrapped.
            let about = command.find_subcommand(name).and_then(Command::get_about).unwrap().to_string();
            assert!(about.len() < 85, "tgm {name}: {about}");
        }
        for (name, examples) in EXAMPLES {
            assert!(examples.iter().all(|(line, _)| line.starts_with(&format!("tgm {name}"))), "{name}");
        }
    }
}
