//! The headers and the library agree: the same functions, with the same types.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A function as C declares it: its result, and the types of its parameters.
type Signature = (String, Vec<String>);

/// Types of Rust by their names in C.
const NAMES: &[(&str, &str)] = &[
    ("u8", "uint8_t"),
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("i32", "int32_t"),
    ("i64", "int64_t"),
    ("f32", "float"),
    ("f64", "double"),
    ("usize", "size_t"),
    ("bool", "bool"),
    ("c_char", "char"),
    ("Code", "tgm_error"),
    ("TgmBytes", "tgm_bytes_t"),
    ("TgmValue", "tgm_value_t"),
    ("Message", "tgm_message_t"),
    ("Metadata", "tgm_metadata_t"),
    ("File", "tgm_file_t"),
    ("ScanResult", "tgm_scan_result_t"),
    ("ScanEntry", "tgm_scan_entry_t"),
    ("BufferIter", "tgm_buffer_iter_t"),
    ("FileIter", "tgm_file_iter_t"),
    ("ObjectsIter", "tgm_object_iter_t"),
    ("Encoder", "tgm_streaming_encoder_t"),
    ("ArchiveHandle", "tgm_archive_t"),
    ("ObjectHandle", "tgm_object_t"),
    ("WriterHandle", "tgm_writer_t"),
    ("Facts", "tgm_object_facts_t"),
    ("ReadRequest", "tgm_read_t"),
    ("ReadFn", "tgm_read_fn"),
    ("ObjectRef", "tgm_object_ref_t"),
    ("ObjectList", "tgm_object_list_t"),
    ("CatalogHandle", "tgm_catalog_t"),
    ("DatasetHandle", "tgm_dataset_t"),
    ("DatasetOptionsStruct", "tgm_dataset_options_t"),
    ("EncodeMaskOptions", "TgmEncodeMaskOptions"),
    ("DecodeMaskOptions", "TgmDecodeMaskOptions"),
    ("EncodeOptionsStruct", "tgm_encode_options_t"),
    ("ObjectInput", "tgm_object_input_t"),
    ("WriteFn", "tgm_write_fn"),
    ("c_void", "void"),
    ("DecodeOptionsStruct", "tgm_decode_options_t"),
    ("Builder", "tgm_metadata_builder_t"),
    ("ManagedTensor", "struct DLManagedTensorVersioned"),
    ("Flag", "bool"),
    ("Token", "tgm_cancellation_token_t"),
    ("AsyncTask", "tgm_async_task_t"),
    ("AsyncFile", "tgm_async_file_t"),
    ("AsyncEncoder", "tgm_async_streaming_encoder_t"),
    ("CompletionFn", "tgm_completion_fn"),
    ("CountStatus", "TgmObjectCountStatus"),
];

/// A type of Rust as C writes it, without blanks before stars.
fn in_c(rust: &str) -> String {
    let pointer = |pointee: &str, is_const: bool| match (in_c(pointee), is_const) {
        (pointee, false) => format!("{pointee}*"),
        (pointee, true) if pointee.ends_with('*') => format!("{pointee}const*"),
        (pointee, true) => format!("const {pointee}*"),
    };
    if let Some(pointee) = rust.strip_prefix("*const ") {
        return pointer(pointee, true);
    }
    if let Some(pointee) = rust.strip_prefix("*mut ") {
        return pointer(pointee, false);
    }
    let name = NAMES.iter().find(|(name, _)| *name == rust);
    name.unwrap_or_else(|| panic!("the type {rust} has no name in C")).1.to_string()
}

/// The texts of all files in a folder and in the folders of it.
fn sources(folder: &Path) -> Vec<String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![fs::read_to_string(path).unwrap()] })
        .collect()
}

/// The functions that the sources export.
fn exported() -> BTreeMap<String, Signature> {
    let mut functions = BTreeMap::new();
    for source in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        for part in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (name, rest) = part.split_once("extern \"C\" fn ").unwrap().1.split_once('(').unwrap();
            let (parameters, rest) = rest.split_once(')').unwrap();
            let result = rest.split_once('{').unwrap().0.trim().strip_prefix("-> ").map_or("void".into(), in_c);
            let parameters = parameters.split(',').map(str::trim).filter(|p| !p.is_empty());
            let parameters = parameters.map(|p| in_c(p.split_once(": ").unwrap().1)).collect();
            functions.insert(name.to_string(), (result, parameters));
        }
    }
    functions
}

/// A file of this crate.
fn text_of(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The functions that both headers declare.
fn declared() -> BTreeMap<String, Signature> {
    let mut functions = declared_in("include/tensogram.h");
    functions.extend(declared_in("include/tgm.h"));
    functions
}

/// The functions that a header declares.
fn declared_in(header: &str) -> BTreeMap<String, Signature> {
    let header = text_of(header).replace("\\\n", " ");
    let code: String = header.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
    let code: String =
        code.lines().filter(|line| !line.starts_with('#')).fold(String::new(), |all, line| all + line + " ");
    let mut functions = BTreeMap::new();
    for statement in code.split(';').filter(|statement| !statement.contains("typedef") && statement.contains("tgm_")) {
        let Some((front, parameters)) = statement.split_once('(') else { continue };
        let front = front.rsplit(['{', '}']).next().unwrap().trim();
        let (result, name) = front.split_at(front.rfind([' ', '*']).unwrap() + 1);
        let result = tight(result);
        let parameters = parameters.split(')').next().unwrap().split(',').map(str::trim).filter(|p| *p != "void");
        let parameters = parameters.map(|p| tight(&p[..=p.rfind([' ', '*']).unwrap()])).collect();
        functions.insert(name.to_string(), (result, parameters));
    }
    functions
}

/// A type of C without blanks around its stars.
fn tight(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(" *", "*").replace("* ", "*").trim().to_string()
}

#[test]
fn every_exported_function_is_declared_with_its_types_and_no_other() {
    let (mut exported, declared) = (exported(), declared());
    // The one function whose result is an enum in C and an integer in Rust.
    exported.get_mut("tgm_value_get_type").unwrap().0 = "tgm_value_type".into();
    let missing: Vec<_> = exported.keys().filter(|name| !declared.contains_key(*name)).collect();
    assert!(missing.is_empty(), "not declared: {missing:?}");
    let unknown: Vec<_> = declared.keys().filter(|name| !exported.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "not exported: {unknown:?}");
    for (name, signature) in &declared {
        assert_eq!(signature, &exported[name], "{name}");
    }
}

/// The functions of the reference, the synchronous ones and then the asynchronous ones, as the header declares them.
const REFERENCE: &str = include_str!("reference_functions.txt");
/// Our own, since version 0.1.
const OWN: &str = include_str!("own_functions.txt");

/// Programs are compiled with what the lists say, so none of it may be lost or changed. `TGM_RENEW=1` adds what is new to the
/// list of ours.
#[test]
fn no_function_is_lost_or_changed() {
    let in_c =
        |(name, (result, parameters)): (&String, &Signature)| format!("{result} {name}({})", parameters.join(", "));
    let lines = |functions: BTreeMap<String, Signature>| functions.iter().map(in_c).collect::<BTreeSet<String>>();
    let declared = lines(declared());
    assert_eq!(REFERENCE.lines().count(), 97 + 38);
    let reference: BTreeSet<String> = REFERENCE.lines().map(String::from).collect();
    assert_eq!(lines(declared_in("include/tensogram.h")), reference, "ours are in tgm.h");
    let own: BTreeSet<String> = OWN.lines().map(String::from).collect();
    let lost: Vec<_> = reference.union(&own).filter(|line| !declared.contains(*line)).collect();
    assert!(lost.is_empty(), "lost or changed: {lost:#?}");
    let new: Vec<&String> = declared.difference(&reference).filter(|line| !own.contains(*line)).collect();
    if std::env::var_os("TGM_RENEW").is_some() {
        let all: BTreeSet<&str> = own.iter().chain(new).map(String::as_str).collect();
        let text = all.into_iter().fold(String::new(), |text, line| text + line + "\n");
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own_functions.txt"), text).unwrap();
        return;
    }
    assert!(new.is_empty(), "not in own_functions.txt: {new:#?}");
}

#[test]
fn the_header_has_the_version_of_the_library() {
    let header = text_of("include/tgm.h");
    let number = |name: &str| {
        let (_, rest) = header.split_once(&format!("#define TGM_VERSION_{name} ")).unwrap();
        rest.lines().next().unwrap().to_string()
    };
    let version = ["MAJOR", "MINOR", "PATCH"].map(number).join(".");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

/// The name at the end of a text.
fn function(text: &str) -> Option<&str> {
    let name = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    Some(&text[name.len()..]).filter(|name| !name.is_empty())
}

#[test]
fn calls_with_options_are_in_the_table_of_tests() {
    let table = text_of("tests/options.cpp");
    let listed = |name: &str| {
        ["{\"", "::"].iter().any(|before| {
            let entry = format!("{before}{name}");
            table.match_indices(&entry).any(|(at, _)| table[at + entry.len()..].starts_with(['"', ' ']))
        })
    };
    let of_c =
        ["const tgm_decode_options_t *options", "const tgm_encode_options_t *options", "const tgm_read_t *request"];
    let of_cpp = ["const decode_options &options", "const encode_options &options"];
    for (header, marks, least) in [
        ("include/tgm.h", &of_c[..], 14),
        ("include/tgm_read.hpp", &of_cpp, 0),
        ("include/tgm_write.hpp", &of_cpp, 5),
        ("include/tgm_async.hpp", &of_cpp, 4),
    ] {
        let text = text_of(header);
        let mut names = BTreeSet::new();
        for mark in marks {
            // What ends there is a field of a struct.
            for (at, _) in text.match_indices(mark).filter(|(at, _)| !text[at + mark.len()..].starts_with(';')) {
                let open = text[..at].rfind('(').unwrap();
                names.extend(function(&text[..open]));
            }
        }
        // A helper of the others; nothing is decoded; what has to be decoded is refused.
        for other in ["made", "tgm_read_size", "tgm_read_view", "tgm_dataset_read_size"] {
            names.remove(other);
        }
        assert!(names.len() >= least, "{header}: {names:?}");
        let missing: Vec<_> = names.into_iter().filter(|name| !listed(name)).collect();
        assert!(missing.is_empty(), "{header}: {missing:?} are not in tests/options.cpp");
    }
}
