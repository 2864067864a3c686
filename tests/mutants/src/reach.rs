//! Runs single tests, and records which functions each of them calls.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::compile::Program;

/// The longest that a test may take when nothing is changed. Those that take longer count as calling nothing.
const LONGEST: Duration = Duration::from_secs(20);

/// One test, run in a process of its own.
pub struct Test<'p> {
    /// The program that it is in.
    pub program: &'p Program,
    /// Its name there.
    pub name: String,
    /// How long it takes when nothing is changed.
    pub duration: Duration,
    /// The numbers of the functions that it calls.
    pub reached: BTreeSet<usize>,
}

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It took too long, and was stopped.
    Stopped,
}

impl Test<'_> {
    /// Runs the test with one variable set, and stops it after the time `longest`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&self, variable: (&str, &OsStr), longest: Duration) -> Result<Ending> {
        let mut command = Command::new(&self.program.path);
        command.args(["--exact", &self.name]).current_dir(&self.program.folder).env(variable.0, variable.1);
        command.env("CARGO_MANIFEST_DIR", &self.program.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A group of its own, as some tests start programs.
        let mut child = command.process_group(0).spawn()?;
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(if status.success() { Ending::Passed } else { Ending::Failed });
            }
            if start.elapsed() > longest {
                Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
                child.wait()?;
                return Ok(Ending::Stopped);
            }
            thread::sleep((start.elapsed() / 20).clamp(Duration::from_micros(500), Duration::from_millis(20)));
        }
    }
}

/// Calls `task` with every number below `count`, on as many threads as there are processors.
pub fn in_parallel(count: usize, task: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Relaxed);
                    if index >= count {
                        break;
                    }
                    if let Err(error) = task(index) {
                        next.store(count, Relaxed);
                        let text = error.to_string();
                        failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(text);
                    }
                }
            });
        }
    });
    failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), |text| Err(text.into()))
}

/// The tests of these programs. Each is run once, unless `folder` holds a record that is newer than the programs.
///
/// # Errors
/// A test fails although nothing is changed.
pub fn tests<'p>(programs: &'p [Program], folder: &Path) -> Result<Vec<Test<'p>>> {
    fs::create_dir_all(folder)?;
    let mut tests = list(programs)?;
    let record = folder.join("tests.txt");
    if !is_newer(&record, programs) || !recall(&mut tests, &fs::read_to_string(&record)?) {
        tests = run_each(tests, &folder.join("reached"))?;
        fs::write(&record, tests.iter().map(line_of).collect::<String>())?;
    }
    Ok(tests)
}

/// The names of all tests.
fn list(programs: &[Program]) -> Result<Vec<Test<'_>>> {
    let mut all = Vec::new();
    for program in programs {
        let listed = Command::new(&program.path).args(["--list", "--format", "terse"]).output()?;
        let listed = String::from_utf8(listed.stdout)?;
        all.extend(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(|name| Test {
            program,
            name: name.to_owned(),
            duration: Duration::ZERO,
            reached: BTreeSet::new(),
        }));
    }
    Ok(all)
}

/// Runs each test. What it calls is written to a file of `folder` meanwhile.
fn run_each<'p>(tests: Vec<Test<'p>>, folder: &Path) -> Result<Vec<Test<'p>>> {
    fs::create_dir_all(folder)?;
    let tests: Vec<_> = tests.into_iter().map(Mutex::new).collect();
    in_parallel(tests.len(), |index| {
        let mut test = tests[index].lock().map_err(|_| "a thread panicked")?;
        let record = folder.join(index.to_string());
        fs::write(&record, "")?;
        let start = Instant::now();
        let ending = test.run(("TGM_REACHED", record.as_os_str()), LONGEST)?;
        test.duration = start.elapsed();
        match ending {
            Ending::Passed => {}
            Ending::Failed => return Err(format!("{} fails with nothing changed", test.name).into()),
            Ending::Stopped => return Ok(()),
        }
        let recorded = fs::read_to_string(&record)?;
        test.reached = recorded.lines().map(str::parse).collect::<std::result::Result<_, _>>()?;
        Ok(())
    })?;
    tests.into_iter().map(|test| test.into_inner().map_err(|_| "a thread panicked".into())).collect()
}

/// Whether a file was written after the programs were.
fn is_newer(record: &Path, programs: &[Program]) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let latest = programs.iter().map(|program| written(&program.path)).max().flatten();
    written(record).is_some_and(|record| latest.is_some_and(|latest| record > latest))
}

/// A test in the record: seconds, name, and the functions that it calls.
fn line_of(test: &Test<'_>) -> String {
    let reached: Vec<_> = test.reached.iter().map(ToString::to_string).collect();
    format!("{:.3}\t{}\t{}\n", test.duration.as_secs_f64(), test.name, reached.join(" "))
}

/// Fills in what the record says. Returns whether it is of these tests.
fn recall(tests: &mut [Test<'_>], record: &str) -> bool {
    let recall_one = |test: &mut Test<'_>, line: &str| {
        let (seconds, line) = line.split_once('\t')?;
        let (name, reached) = line.split_once('\t')?;
        test.duration = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
        test.reached = reached.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        (name == test.name).then_some(())
    };
    record.lines().count() == tests.len()
        && tests.iter_mut().zip(record.lines()).all(|(test, line)| recall_one(test, line).is_some())
}
