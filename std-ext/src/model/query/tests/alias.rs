//! Parameters by short name, number, and `PARAMETER.TABLE`.

use super::*;

fn map(entries: &[(&str, Owned)]) -> Owned {
    Owned::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
}

/// Metadata as they are written in the wild, by a name.
fn object(name: &str) -> Vec<(&'static str, Owned)> {
    let mars = |param: Owned| ("mars", map(&[("param", param)]));
    let grib = |entries: &[(&str, i32)]| {
        ("grib", map(&entries.iter().map(|(key, number)| (*key, Owned::from(*number))).collect::<Vec<_>>()))
    };
    match name {
        "edition 2" => vec![mars("2t".into()), grib(&[("paramId", 167)])],
        "edition 1" => {
            vec![mars("2t".into()), grib(&[("paramId", 167), ("table2Version", 128), ("indicatorOfParameter", 167)])]
        }
        "table 140" => vec![mars("swh".into()), grib(&[("paramId", 140_229)])],
        "no id" => vec![mars("~".into()), grib(&[("table2Version", 128), ("indicatorOfParameter", 167)])],
        "other table" => vec![mars("~".into()), grib(&[("table2Version", 129), ("indicatorOfParameter", 167)])],
        "number" => vec![mars(167.into())],
        "text" => vec![mars("167".into())],
        "with table" => vec![mars("167.128".into())],
        "bare id" => vec![mars(140_229.into()), grib(&[("paramId", 140_229)])],
        "both" => vec![mars(168.into()), grib(&[("paramId", 167)])],
        "own" => vec![("param", "tp".into()), ("paramId", 1.into()), ("shortName", "x".into()), mars("2t".into())],
        _ => Vec::new(),
    }
}

const NAMES: [&str; 12] = [
    "edition 2",
    "edition 1",
    "table 140",
    "no id",
    "other table",
    "number",
    "text",
    "with table",
    "bare id",
    "both",
    "own",
    "nothing",
];

/// Which metadata a query selects. All ways of asking agree.
fn selected(query: &str) -> Vec<&'static str> {
    let parsed: Query = query.parse().unwrap();
    let holds = |name: &&&'static str| {
        let alone = message([object(name), Vec::new()], Vec::new());
        let of_annotations = message([Vec::new(), Vec::new()], object(name));
        let found = matches(&alone, query);
        assert_eq!(matches(&of_annotations, query), found, "{query} {name}");
        for (bytes, is_second_like_it) in [(&alone, false), (&of_annotations, true)] {
            let bytes = Message::parse(bytes).unwrap();
            let mut objects = Vec::new();
            parsed.objects_of(&bytes.metadata().unwrap(), |object| objects.push(object)).unwrap();
            assert_eq!(objects.contains(&0), found, "{query} {name}");
            assert!(!is_second_like_it || objects.contains(&1) == found, "{query} {name}");
        }
        found
    };
    let found: Vec<_> = NAMES.iter().filter(holds).copied().collect();
    assert_eq!(parsed.to_string().parse::<Query>(), Ok(parsed), "{query}");
    found
}

#[test]
fn parameters_are_found_by_name_number_and_table() {
    for (query, expected) in [
        ("mars.param=2t", &["edition 2", "edition 1", "own"][..]),
        ("mars.param=167", &["edition 2", "edition 1", "number", "text"]),
        ("mars.param=167.128", &["edition 2", "edition 1", "no id", "number", "text", "with table"]),
        ("mars.param=229.140", &["table 140", "bare id"]),
        ("mars.param=167.129", &["other table"]),
        ("mars.param=140229/~", &["table 140", "no id", "other table", "bare id"]),
        ("mars.param=168", &["both"]),
        ("mars.param=\"167\"", &["number", "text"]),
        ("mars.param=16*", &["number", "text", "with table", "both"]),
        ("mars.param>=167.5", &["bare id", "both"]),
        ("param=2t", &["edition 2", "edition 1"]),
        ("param=tp", &["own"]),
        ("param=167", &["edition 2", "edition 1", "number", "text"]),
        ("param in 167..168", &["number", "text", "with table"]),
        ("shortName=2t/x", &["edition 2", "edition 1", "own"]),
        ("shortName=167", &["number", "text"]),
        ("paramId=167", &["edition 2", "edition 1", "both"]),
        ("paramId>=1 and paramId<168", &["edition 2", "edition 1", "both", "own"]),
        ("paramId?", &["edition 2", "edition 1", "table 140", "bare id", "both", "own"]),
        ("extra.param=2t or grib.paramId=1", &[]),
    ] {
        assert_eq!(selected(query), expected, "{query}");
    }
}

#[test]
fn negations_select_all_others() {
    for key in ["mars.param", "param", "shortName", "paramId"] {
        for values in ["167", "2t", "167.128", "2t/167/229.140", "16*", "*"] {
            let (found, others) = (selected(&format!("{key}={values}")), selected(&format!("{key}!={values}")));
            assert_eq!(others, selected(&format!("not {key}={values}")), "{key} {values}");
            assert!(NAMES.iter().all(|name| found.contains(name) != others.contains(name)), "{key} {values}");
        }
    }
}

#[test]
fn keys_are_those_that_were_asked() {
    let query: Query = "param=167 and step=3 and not mars.param=2t/167.128".parse().unwrap();
    assert_eq!(query.keys().collect::<Vec<_>>(), ["param", "step", "mars.param"]);
    let metadata = crate::decode::decode_metadata(&message([object("edition 1"), Vec::new()], Vec::new())).unwrap();
    assert_eq!("param=tp".parse::<Query>().unwrap().hint(&metadata), None);
}

/// The titles of listings, and other keys of MARS as people type them.
#[test]
fn keys_as_people_type_them_are_those_of_mars_unless_an_object_has_its_own() {
    let mars = |entries: &[(&str, Owned)]| vec![("mars", map(entries))];
    let of_mars = mars(&[
        ("param", "t".into()),
        ("levelist", 500.into()),
        ("levtype", "pl".into()),
        ("date", 20_240_101.into()),
        ("time", 1200.into()),
        ("step", 6.into()),
        ("number", 3.into()),
    ]);
    let bytes = message([of_mars, vec![]], vec![]);
    for query in [
        "name=t",
        "level=500",
        "levelist=500",
        "levtype=pl",
        "date=2024-01-01",
        "time=1200",
        "step=6",
        "step in 5..7",
        "number=3",
        "number?",
        "level>=500 and level<501",
        "not level=850 and level!=850",
    ] {
        assert!(matches(&bytes, query), "{query}");
        assert!(!matches(&bytes, &format!("not ({query})")), "{query}");
    }
    // Its own key counts first, then that of MARS, then others.
    let own =
        vec![("step", 1.into()), ("levelist", 7.into()), ("mars", map(&[("step", 6.into()), ("levelist", 8.into())]))];
    let bytes = message([own, vec![]], vec![]);
    for (query, holds) in
        [("step=1", true), ("step=6", false), ("level=8", true), ("level=7", false), ("levelist=7", true)]
    {
        assert_eq!(matches(&bytes, query), holds, "{query}");
    }
    assert!(!matches(&bytes, "name?") && !matches(&bytes, "number?") && matches(&bytes, "number!=1"));
}
