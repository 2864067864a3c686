//! `-w`, `-p` and `get`: metadata by dotted keys.

use serde_json::json;

use crate::corpus::data;
use crate::tool::tgm;

const SURFACE: &str = "realistic/surface-181x360.tgm";

/// The first column of a table's rows, its title left out.
fn first_column(table: &str) -> Vec<&str> {
    table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn get_prints_a_line_a_message() {
    let run = tgm(["get", "-p", "mars.param,mars.step,version,extra.source", &data(SURFACE)]).good();
    assert_eq!(run.text(), "2t 24 3 synthetic\n");
    let run = tgm(["get", "--json", "-p", "mars.step", "-p", "source", &data(SURFACE)]).good();
    assert_eq!(run.json()["messages"][0]["values"], json!({"mars.step": 24, "source": "synthetic"}));
}

#[test]
fn get_is_ls_with_values() {
    let path = data("multi/three.tgm");
    for flags in
        [&["-p", "step,shape"][..], &["-p", "step", "-B", "step:desc"], &["--objects", "-p", "step,ratio", "--json"]]
    {
        let [get, ls] = [&["get"][..], &["ls", "--values"]]
            .map(|command| tgm(command.iter().chain(flags).copied().chain([&*path])));
        assert_eq!((get.code, get.text()), (ls.code, ls.text()), "{flags:?}");
        assert!(!get.text().is_empty(), "{flags:?}");
    }
}

#[test]
fn a_missing_key_is_named_and_the_other_messages_are_printed() {
    let run =
        tgm(["get", "-p", "mars.param", &data("realistic/pl-levels.tgm"), &data("multi/three.tgm"), &data(SURFACE)]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.text(), "z\n2t\n");
    assert!(run.stderr.contains("message 2: key not found: mars.param"), "{}", run.stderr);
}

#[test]
fn where_chooses_messages_by_the_text_of_values() {
    let chosen = |clauses: &[&str]| {
        let path = data("multi/three.tgm");
        let wheres = clauses.iter().flat_map(|clause| ["-w", clause]);
        let run = tgm(["ls", &path].into_iter().chain(wheres)).good();
        first_column(run.text()).iter().map(|text| text.parse::<u32>().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&["step=0/2"]), [0, 2]);
    assert_eq!(chosen(&["step!=0/2"]), [1]);
    assert_eq!(chosen(&["nothing!=1"]), [0, 1, 2]);
    assert_eq!(chosen(&["version=3", "step!=1"]), [0, 2]);
    assert_eq!(chosen(&["version=2"]), [0_u32; 0]);
    assert_eq!(chosen(&["step>=1"]), [1, 2]);
    assert_eq!(chosen(&["step>=1 and step<2"]), [1]);
    assert_eq!(chosen(&["step>=1", "step!=1.0"]), [2]);
    assert_eq!(chosen(&["step? and nothing!=*"]), [0, 1, 2]);
    for nowhere in ["nothing=1", "nothing?"] {
        let run = tgm(["ls", &data("multi/three.tgm"), "-w", nowhere]);
        assert_eq!(run.code, Some(1), "{nowhere}");
        assert!(run.stderr.contains("0 of 3 match the filter: none has the key nothing"), "{}", run.stderr);
    }
}

#[test]
fn where_can_look_at_each_object() {
    let run =
        tgm(["ls", "--objects", "-w", "mars.param=tp/lsm", "-p", "mars.param,units,source", &data(SURFACE)]).good();
    let rows: Vec<Vec<_>> = run.text().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows,
        [
            vec!["message", "object", "mars.param", "units", "source"],
            vec!["0", "1", "tp", "m", "synthetic"],
            vec!["0", "2", "lsm", "N/A", "synthetic"],
        ]
    );
}

#[test]
fn keys_of_ls_are_a_row_a_message_with_missing_ones_marked_or_left_out() {
    let run = tgm(["ls", "-p", "mars.param,nope", &data(SURFACE)]).good();
    let rows: Vec<Vec<_>> = run.text().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows, [["message", "mars.param", "nope"], ["0", "2t", "N/A"]]);
    let run = tgm(["ls", "-j", "-p", "mars.param,nope", &data(SURFACE)]).good();
    assert_eq!(run.json()["messages"][0]["values"], json!({"mars.param": "2t"}));
}

#[test]
fn keys_of_dump_are_whole_values() {
    let run = tgm(["dump", "-j", "-p", "mars,nope", &data(SURFACE)]).good();
    let message = &run.json()["messages"][0];
    assert_eq!(message["values"]["mars"]["levtype"], "sfc");
    assert!(message.get("objects").is_none() && message["values"].get("nope").is_none());
}

#[test]
fn clauses_that_make_no_sense_are_usage_errors() {
    for arguments in [["ls", "-w", "step"], ["ls", "-w", "=3"], ["get", "-p", "step"]] {
        let run = tgm(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    }
    let run = tgm(["ls", "-w", "step>=1 and step", &data(SURFACE)]);
    assert!(run.stderr.contains("expected a condition after `and` at byte 12"), "{}", run.stderr);
    assert_eq!(tgm(["get", &data(SURFACE)]).code, Some(2));
    assert_eq!(tgm(["nonsense"]).code, Some(2));
}

/// A key with dots of its own is asked for, listed, filtered, set and deleted by one rule: quoted, or as it is.
#[test]
#[cfg(feature = "safetensors")]
fn a_key_with_dots_is_one_key_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let header =
        r#"{"__metadata__":{"modelspec.architecture":"x"},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[7]].concat();
    let (given, file, set, gone) = (path("a.safetensors"), path("a.tgm"), path("b.tgm"), path("c.tgm"));
    std::fs::write(&given, bytes).unwrap();
    tgm(["convert", &given, "-o", &file]).good();
    for key in ["modelspec.architecture", "\"modelspec.architecture\"", "extra.modelspec.architecture"] {
        assert_eq!(tgm(["get", "-p", key, &file]).good().text().trim(), "x", "{key}");
        assert!(tgm(["ls", "-p", key, &file]).good().text().contains('x'), "{key}");
        assert_eq!(tgm(["get", "-w", &format!("{key}=x"), "-p", key, &file]).good().text().trim(), "x", "{key}");
    }
    tgm(["set", "-s", "extra.modelspec.architecture=y", &file, &set]).good();
    assert_eq!(tgm(["get", "-p", "modelspec.architecture", &set]).good().text().trim(), "y");
    assert!(!tgm(["dump", &set]).good().text().contains("\"x\""));
    tgm(["set", "-d", "extra.\"modelspec.architecture\"", &set, &gone]).good();
    assert_eq!(tgm(["get", "-p", "modelspec.architecture", &gone]).code, Some(1));
    let listed = path("listed");
    tgm(["catalog", "-k", "modelspec.architecture", &file, "-o", &listed]).good();
    tgm(["ls", "-w", "modelspec.architecture=x", "--catalog", &listed, &file]).good();
}

/// Nothing is looked at that cannot be printed.
#[test]
fn a_missing_key_is_reported_for_the_rows_that_are_asked_for() {
    let path = data("multi/many.tgm");
    for more in [&[][..], &["--csv"], &["--objects"], &["--objects", "--csv"]] {
        for count in ["1", "2"] {
            let run = tgm([&["get", "-p", "nokey", "-n", count], more, &[&path]].concat());
            assert_eq!(run.code, Some(1), "{more:?}");
            let told = run.stderr.lines().filter(|line| line.contains("key not found: nokey")).count();
            assert_eq!(told.to_string(), count, "{more:?}: {}", run.stderr);
        }
    }
}
