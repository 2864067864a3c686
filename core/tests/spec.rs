//! The pages of the specification against what cites them, and against a real file.
//!
//! Comments cite sections as `FORMAT §1.9`, and rows of a section's table as `FORMAT §1.10 row 21`. Further sections of the
//! same page follow without its name. These tests read the workspace's sources, so they need the whole checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The pages, by the names that citations have.
const PAGES: [(&str, &str); 4] = [
    ("FORMAT", "core/doc/FORMAT.md"),
    ("PIPELINE", "core/doc/PIPELINE.md"),
    ("ZIO", "std-ext/zio/doc/FORMAT.md"),
    ("COMPAT", "std-ext/doc/COMPAT.md"),
];

/// Where this workspace's sources are.
const SOURCES: [&str; 6] = ["core", "std-ext", "tests", "fuzz", "benches", "README.md"];
/// Folders in them that hold other things.
const FOREIGN: [&str; 4] = ["target", "vendor", "artifacts", "coverage"];

/// How many words may stand between the sections of one list: "PIPELINE §6.3 (masks) and §6.4 (restoration)".
const WORDS_IN_A_LIST: usize = 8;

/// The numbers of a page's sections, each with the numbers of its rows.
type Sections = BTreeMap<String, BTreeSet<u32>>;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The number that a heading begins with.
fn section_number(line: &str) -> Option<String> {
    let title = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "))?;
    let number = title.split(' ').next()?.trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| number.to_string())
}

/// The number in the first cell of a table's row.
fn row_number(line: &str) -> Option<u32> {
    line.strip_prefix("| ")?.split(" |").next()?.parse().ok()
}

fn sections(page: &str) -> Sections {
    let mut sections = Sections::new();
    let mut current = None;
    for line in page.lines() {
        if let Some(number) = section_number(line) {
            assert!(sections.insert(number.clone(), BTreeSet::new()).is_none(), "section {number} stands twice");
            current = Some(number);
        } else if let (Some(section), Some(row)) = (&current, row_number(line)) {
            sections.get_mut(section).unwrap().insert(row);
        }
    }
    sections
}

fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = SOURCES.iter().map(|name| workspace().join(name)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            open.extend(entries.filter(|path| FOREIGN.iter().all(|name| !path.ends_with(name))));
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A citation, and the line it begins on.
struct Citation {
    line: usize,
    /// `None` if no page is named.
    page: Option<String>,
    section: String,
    rows: Vec<u32>,
}

/// The words of a text without the marks of comments, each with its line.
fn words(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(index, line)| {
            let line = line.trim_start().trim_start_matches("///").trim_start_matches("//!").trim_start_matches("//");
            line.split_whitespace().map(move |word| (index + 1, word))
        })
        .collect()
}

/// The section that a word cites.
fn cited(word: &str) -> Option<String> {
    let (_, number) = word.split_once('§')?;
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    let number = number[..end].trim_end_matches('.');
    (!number.is_empty()).then(|| number.to_string())
}

/// A word that may be the name of a page.
fn page_name(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_name = word.len() >= 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    is_name.then(|| word.to_string())
}

/// The rows named after a citation: "row 3", "rows 1 to 6", "rows 2 and 3".
fn rows<'a>(mut words: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let mut rows = Vec::new();
    if !matches!(words.next(), Some("row" | "rows")) {
        return rows;
    }
    for word in words.filter(|word| !matches!(*word, "to" | "and")) {
        let Ok(row) = word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse() else { break };
        rows.push(row);
        if word.ends_with(|c: char| !c.is_ascii_digit()) {
            break;
        }
    }
    rows
}

/// All citations of a text. In a page, `own` is its name, and sections without a name are its own.
fn citations(text: &str, own: Option<&str>) -> Vec<Citation> {
    let words = words(text);
    let mut found = Vec::new();
    // Where the last citation stands, and its page. No page for documents that are not ours.
    let mut last: Option<(usize, Option<String>)> = None;
    for (index, (line, word)) in words.iter().enumerate() {
        let Some(section) = cited(word) else { continue };
        let before = |back: usize| index.checked_sub(back).map_or("", |at| words[at].1);
        let continues = |since: usize| match own {
            None => index - since <= WORDS_IN_A_LIST,
            Some(_) => words[since + 1..index].iter().all(|(_, word)| matches!(*word, "to" | "and")),
        };
        let page = match &last {
            _ if before(2).ends_with("RFC") => None,
            _ if page_name(before(1)).is_some() => page_name(before(1)),
            Some((since, None)) if continues(*since) => None,
            Some((since, page)) if continues(*since) => page.clone(),
            _ => Some(own.unwrap_or_default().to_string()),
        };
        if let Some(page) = &page {
            let rows = rows(words[index + 1..].iter().map(|(_, word)| *word));
            let page = (!page.is_empty()).then(|| page.clone());
            found.push(Citation { line: *line, page, section, rows });
        }
        last = Some((index, page));
    }
    found
}

#[test]
fn every_citation_leads_to_a_section() {
    let pages: BTreeMap<&str, Sections> = PAGES.iter().map(|(name, path)| (*name, sections(&read(path)))).collect();
    let root = workspace();
    let (mut count, mut lost) = (0, String::new());
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap();
        let own = PAGES.iter().find(|(_, page)| name == Path::new(page)).map(|(name, _)| *name);
        for citation in citations(&text, own) {
            count += 1;
            let (at, Citation { line, section, .. }) = (name.display(), &citation);
            let Some(page) = &citation.page else {
                writeln!(lost, "{at}:{line}: §{section} of which page?").unwrap();
                continue;
            };
            match pages.get(page.as_str()).map(|sections| sections.get(section)) {
                None => writeln!(lost, "{at}:{line}: there is no page {page}").unwrap(),
                Some(None) => writeln!(lost, "{at}:{line}: {page} has no section {section}").unwrap(),
                Some(Some(rows)) => {
                    for row in citation.rows.iter().filter(|row| !rows.contains(row)) {
                        writeln!(lost, "{at}:{line}: {page} §{section} has no row {row}").unwrap();
                    }
                }
            }
        }
    }
    assert!(lost.is_empty(), "citations that lead nowhere:\n{lost}");
    assert!(count > 250, "only {count} citations were found: are the sources where this test looks?");
}

#[test]
fn citations_are_read_as_people_write_them() {
    // The mark is put in here, so that this file does not cite what the examples cite.
    let read = |text: &str, own| -> Vec<String> {
        let show = |c: Citation| format!("{} {} {:?}", c.page.unwrap_or_default(), c.section, c.rows);
        citations(&text.replace('$', "§"), own).into_iter().map(show).collect()
    };
    assert_eq!(read("//! (FORMAT $1.2 to $1.9).", None), ["FORMAT 1.2 []", "FORMAT 1.9 []"]);
    assert_eq!(read("FORMAT $3.3, $2 rows 2 and 3.", None), ["FORMAT 3.3 []", "FORMAT 2 [2, 3]"]);
    assert_eq!(read("FORMAT $1.10 rows 1 to 6. 7", None), ["FORMAT 1.10 [1, 6]"]);
    assert_eq!(read("/// (PIPELINE\n/// $5.4)", None), ["PIPELINE 5.4 []"]);
    assert_eq!(read("FORMAT $4.2; PIPELINE $2 (x), $6 (y)", None), ["FORMAT 4.2 []", "PIPELINE 2 []", "PIPELINE 6 []"]);
    assert_eq!(read("RFC 8949 $3.2.3, $4.2.1", None), [""; 0]);
    assert_eq!(read("as $7 says", None), [" 7 []"]);
    let own = read("PIPELINE $5.8 and $6; see $2 row 4", Some("FORMAT"));
    assert_eq!(own, ["PIPELINE 5.8 []", "PIPELINE 6 []", "FORMAT 2 [4]"]);
}

/// The bytes and the elements that FORMAT §10 prints.
fn worked_example() -> (Vec<u8>, Vec<u16>) {
    let page = read("core/doc/FORMAT.md");
    let (_, example) = page.split_once("\n## 10. ").expect("the page has the example");
    let mut bytes = Vec::new();
    for line in example.lines() {
        let Some(offset) = row_number(line) else { continue };
        assert_eq!(offset as usize, bytes.len(), "the row's offset is where the row above ends: {line}");
        let hex = line.split('`').nth(1).expect("a row has its bytes in code");
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits");
        bytes.extend((0..hex.len()).step_by(2).map(digits));
    }
    let (_, elements) = example.split_once("The elements are ").expect("the page lists the elements");
    let elements = elements.split('.').next().unwrap().split(',').map(|element| element.trim().parse().unwrap());
    (bytes, elements.collect())
}

#[test]
fn samples_are_files_of_the_test_data() {
    let folders = ["codecs", "dtypes", "layout", "preceder", "simple_packing", "streaming"];
    for entry in fs::read_dir(workspace().join("core/samples")).unwrap() {
        let sample = entry.unwrap().path();
        let name = sample.file_name().unwrap();
        let mut originals = folders.iter().map(|folder| workspace().join("tests/data").join(folder).join(name));
        let original = originals.find(|path| path.is_file()).unwrap_or_else(|| panic!("{name:?} has no original"));
        assert_eq!(fs::read(&sample).unwrap(), fs::read(original).unwrap(), "{name:?}");
    }
}

#[test]
fn the_worked_example_is_the_file() {
    let file = fs::read(workspace().join("tests/data/dtypes/uint16-big.tgm")).unwrap();
    let (example, _) = worked_example();
    let first_difference = example.iter().zip(&file).position(|(ours, theirs)| ours != theirs);
    assert_eq!((first_difference, example.len()), (None, file.len()));
}

#[test]
fn the_worked_example_reads_as_the_page_says() {
    let (bytes, elements) = worked_example();
    let message = tgm_core::Message::parse(&bytes).unwrap();
    let values: Vec<u16> = message.object(0).unwrap().view::<u16>().unwrap().iter().collect();
    assert_eq!(values, elements);
    #[cfg(feature = "hash")]
    {
        use tgm_core::hash::{HashPresence, Verdict};
        let verified = message.verify(HashPresence::Flagged);
        let verdicts: Vec<Verdict> = verified.map(|frame| frame.unwrap().verdict).collect();
        assert_eq!(verdicts, [Verdict::Good; 4]);
    }
}
