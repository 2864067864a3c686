//! Queries by hand: what holds, what is refused and where, and what cannot be meant.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]

use ciborium::Value as Owned;
use tgm_std::core::Message;
use tgm_std::metadata::Query;
use tgm_std::{MessageBuilder, ObjectBuilder};

/// A message with the metadata of two objects, and annotations.
fn message(objects: [Vec<(&str, Owned)>; 2], annotations: Vec<(&str, Owned)>) -> Vec<u8> {
    let object = |entries: Vec<(&str, Owned)>| {
        let object = ObjectBuilder::new(&[1], &[0_u8]).unwrap();
        entries.into_iter().fold(object, |object, (key, value)| object.metadata(key, value))
    };
    let [first, second] = objects.map(object);
    let message = MessageBuilder::new().object(first).object(second);
    annotations.into_iter().fold(message, |message, (key, value)| message.extra(key, value)).encode().unwrap()
}

fn example() -> Vec<u8> {
    let mars = |param: &str| Owned::Map(vec![("param".into(), param.into()), ("levelist".into(), 500.into())]);
    let levels = Owned::Array(vec![1.into(), "a\"b".into(), Owned::Null]);
    message(
        [
            vec![("mars", mars("2t")), ("step", 24.into()), ("number", "024".into()), ("name", "sea and ice".into())],
            vec![("mars", mars("tp")), ("step", 30.5.into()), ("date", "2024-01-31".into()), ("good", true.into())],
        ],
        vec![
            ("levels", levels),
            ("large", Owned::from(u64::MAX)),
            ("odd", Owned::Float(f64::NAN)),
            ("by", "a=b".into()),
            ("run", 20_240_131.into()),
            ("time", "2024-01-31T06".into()),
        ],
    )
}

fn matches(bytes: &[u8], query: &str) -> bool {
    let query: Query = query.parse().unwrap_or_else(|error| panic!("{query}: {error}"));
    query.matches(&Message::parse(bytes).unwrap().metadata().unwrap()).unwrap()
}

#[test]
fn what_holds_for_a_message() {
    let bytes = example();
    for query in [
        "mars.param=2t",
        "mars.param=2t/10u",
        "mars.param = 10u / 2t",
        "mars.param!=tp/10u",
        "mars.param=2*",
        "mars.param=\"2t\"",
        "step=24",
        "step=24.0",
        "step=2.4e1",
        "step=024",
        "step=\"24\"",
        "step=2*",
        "step!=25",
        "step>=24",
        "step>23.5 and step<24.5",
        "step<=24 and mars.param=2t and version=3",
        "step>-1",
        "number=024",
        "number=24",
        "number=24.0",
        "number!=\"24\"",
        "number>=24 and number<25",
        "date=2024-01-31",
        "date=2024-1-31",
        "date=20240131",
        "date>=20240101 and date<20240201",
        "date in 2024-1-1..=2024-1-31",
        "run=2024-01-31",
        "run=\"20240131\"",
        "run>=2024-01-01 and run<2024-02-01",
        "time>=2024-01-31 and time<2024-02-01",
        "date<2024-02-01 and date>=2024-01",
        "name=sea and ice",
        "name=sea and ice and step=24",
        "name=\"sea and ice\" and step=24",
        "name=*ice",
        "name=s*a*d*ice*",
        "good=true",
        "good?",
        "good? and step?",
        "nothing!=*",
        "nothing!=1",
        "step=*",
        "levels=[1,\"a\\\"b\",null]",
        "levels=[1,*",
        "large=18446744073709551615",
        "large>18446744073709551614",
        "large<18446744073709551616",
        "odd?",
        "odd!=0",
        "odd={\"$float\":\"nan\"}",
        "by=a=b",
        "extra.by=a=b",
        "version<4",
    ] {
        assert!(matches(&bytes, query), "{query}");
    }
}

#[test]
fn what_does_not_hold_for_a_message() {
    let bytes = example();
    for query in [
        "mars.param=2",
        "mars.param=2t*x",
        "mars.param=\"2*\"",
        "mars.param!=2t",
        "mars?  and nothing?",
        "mars.param>5",
        "mars.levelist>499.5 and mars.levelist<500",
        "step=2",
        "step=23.999999999999",
        "step>24",
        "step<a",
        "step>a",
        "step!=*",
        "number!=24",
        "number=\"24\"",
        "number>24",
        "date!=20240131",
        "date=2024-31-01",
        "run=2024-02-01",
        "run=\"2024-01-31\"",
        "run=2024-01-31-0",
        "run<2024-01-31",
        "time=2024-01-31",
        "good>0",
        "nothing?",
        "nothing=1",
        "nothing<1",
        "nothing>=1",
        "odd<0",
        "odd>=0",
        "odd=nan",
        "large=18446744073709551616",
        "extra.step?",
        "version=2",
    ] {
        assert!(!matches(&bytes, query), "{query}");
    }
}

#[test]
fn objects_are_asked_one_by_one_and_share_the_annotations() {
    let bytes = example();
    let metadata = Message::parse(&bytes).unwrap().metadata().unwrap();
    let matching = |query: &str| -> Vec<bool> {
        let query: Query = query.parse().unwrap();
        let query = query.for_objects(&metadata).unwrap();
        metadata.objects().map(|object| query.matches(&object.unwrap()).unwrap()).collect()
    };
    assert_eq!(matching("mars.param=tp"), [false, true]);
    assert_eq!(matching("step>24"), [false, true]);
    assert_eq!(matching("good!=*"), [true, false]);
    assert_eq!(matching("by=a=b and version=3"), [true, true]);
    assert_eq!(matching("extra.by? and date?"), [false, true]);
    assert_eq!(matching("extra.step?"), [false, false]);
}

#[test]
fn conditions_are_joined_and_negated() {
    let bytes = example();
    for query in [
        "step=1 or step=24",
        "step=24 or step=1 and good=false",
        "(step=1 or step=24) and good=true",
        "not step=1",
        "not (step=1 or step=2) and not not step=24",
        "mars.param = 2t/10u and step in 0..=24 and not nothing?",
        "step in 24..25",
        "step in 23.5..=24",
        "not step in 0..24",
        "date in 2024-01-01..2024-02-01",
        "date in \"2024-01-31\"..=\"2024-01-31\"",
        "step exists and good exists",
        "(good exists) and (step?)",
        "name=sea and ice or step=1",
        "(name=sea and ice)",
        "name=sea and ice and (step=24 or step=25)",
        "name=sea and ice and not step in 30..40",
        "\"mars.param\"=2t and \"step\" in 0..=24 and \"good\" exists",
        "by=a=b and (by=(x) or by=a*)",
    ] {
        assert!(matches(&bytes, query), "{query}");
    }
    for query in [
        "step=1 or step=2",
        "not step=24",
        "not (step=24 or step=1)",
        "step in 0..24",
        "step in 25..=24",
        "step in a..z",
        "nothing in 0..9",
        "nothing exists",
        "name in a..b",
        "good in 0..=1",
    ] {
        assert!(!matches(&bytes, query), "{query}");
    }
}

#[test]
fn words_of_the_grammar_can_be_keys() {
    let entries = |keys: &[&'static str]| keys.iter().map(|key| (*key, Owned::from(1))).collect();
    let bytes = message([entries(&["not", "in", "exists", "or", "and"]), vec![]], vec![("f(x)", 2.into())]);
    for query in [
        "not=1",
        "not = 1 and in=1 and exists=1",
        "not not=2",
        "not in 1..2",
        "in in 1..2 and exists in 1..2",
        "in exists and exists exists and not exists",
        "or=1 and and=1 or or=2",
        "\"f(x)\"=2",
    ] {
        assert!(matches(&bytes, query), "{query}");
    }
}

/// The parts of a path stand in quotes as in every other place that takes a key.
#[test]
fn parts_of_paths_can_stand_in_quotes() {
    let inner = Owned::Map(vec![("c".into(), 1.into()), ("d=e and f".into(), 2.into())]);
    let outer = Owned::Map(vec![("x y".into(), 3.into()), ("g.h".into(), Owned::Map(vec![("i".into(), 4.into())]))]);
    let bytes = message([vec![("\"a.b\"", inner), ("p", outer)], vec![]], vec![]);
    for query in [
        "\"a.b\".c=1",
        "\"a.b\".c in 1..2 and p.\"g.h\".i>3",
        "\"a.b\".\"d=e and f\" = 2",
        "p.\"x y\"=3 and p.\"g.h\".i?",
        "p.\"x y\"=3 and \"a.b\".c=1 or \"a.b\".none=1",
        "not \"a.b\".c!=1",
        "(\"a.b\".c exists)",
    ] {
        assert!(matches(&bytes, query), "{query}");
        let parsed: Query = query.parse().unwrap();
        assert_eq!(parsed.to_string().parse(), Ok(parsed), "{query}");
    }
    for query in ["\"a.b\".c", "\"a.b.c=1", "\"a.b\"c=1"] {
        assert!(query.parse::<Query>().is_err(), "{query}");
    }
}

#[test]
fn structure_is_asked_for_where_there_is_no_such_metadata() {
    let bytes = message([vec![("filter", "median".into())], vec![]], vec![("ndim", 7.into())]);
    let structured = [
        "dtype=uint8",
        "shape=[1]",
        "shape=[1*",
        "encoding=none and compression=none",
        "objects=2",
        "objects in 1..3",
        "ndim=7",
        "filter=median",
        "dtype?",
        "codec=none and bytes=1 and count=1",
    ];
    for query in structured {
        assert!(matches(&bytes, query), "{query}");
    }
    assert!(!matches(&bytes, "dtype=float32 or objects=1 or filter=none or ndim=1"));
    let metadata = Message::parse(&bytes).unwrap().metadata().unwrap();
    let objects = |query: &str| {
        let mut found = Vec::new();
        query.parse::<Query>().unwrap().objects_of(&metadata, |object| found.push(object)).unwrap();
        found
    };
    assert_eq!(objects("dtype=uint8 and objects=2 and ndim=7"), [0, 1]);
    assert_eq!(objects("filter=median"), [0]);
    assert_eq!(objects("filter=none"), [1]);
    let empty = MessageBuilder::new().encode().unwrap();
    assert!(matches(&empty, "objects=0 and not dtype? and shape!=[1]"));
}

#[test]
fn errors_say_what_was_expected_and_where() {
    let expected =
        "expected KEY=VALUE, KEY!=VALUE, KEY<VALUE, KEY<=VALUE, KEY>VALUE, KEY>=VALUE, KEY in LOW..HIGH or KEY?";
    for (query, what, offset) in [
        ("", expected, 0),
        ("step", expected, 0),
        ("a=1 and b", "", 0),
        ("a? and b", expected, 7),
        ("=3", "expected a key", 0),
        (" !=3", "expected a key", 1),
        ("step and param=3", "expected an operator before `and`", 0),
        ("step>=", "expected a value", 6),
        ("step< ", "expected a value", 5),
        ("step<1/2", "expected one value: only = and != take several, and quotes make / a part of one", 6),
        ("step<1 and param", "expected a condition after `and`", 11),
        ("a=1 or b=2", "", 0),
        ("step or param=3", "expected an operator before `or`", 0),
        ("step<1 or param", "expected a condition after `or`", 10),
        ("(a=1 or b=2", "expected `and`, `or` or `)`", 11),
        ("(a? b", "expected `and`, `or` or `)`", 4),
        ("()", expected, 1),
        ("not", expected, 0),
        ("not ", expected, 4),
        ("a=1 and (b=2 or not c=3))", "expected `and`, `or` or the end", 24),
        ("step in 3", "expected LOW..HIGH or LOW..=HIGH", 8),
        ("step in 3..", "expected a value", 11),
        ("step in ..3", "expected a value", 8),
        ("step in 3..5 6", "expected `and`, `or` or the end", 13),
        ("\"a b\" x", "expected an operator after the key", 6),
        ("a=\"x", "expected a closing quote for the text", 3),
        ("a=\"x\\y\"", "expected \\\" or \\\\", 4),
        ("a=\"x\" y", "expected `and`, `or` or the end", 6),
        ("a?b=c", "expected `and`, `or` or the end", 2),
    ] {
        match query.parse::<Query>() {
            Ok(_) => assert_eq!(what, "", "{query}"),
            Err(error) => {
                assert_eq!(
                    (error.to_string(), error.offset()),
                    (format!("{what} at byte {offset}"), offset),
                    "{query}"
                );
            }
        }
    }
}

/// Habits of other languages and of listings. In quotes they are values.
#[test]
fn what_cannot_be_meant_is_refused() {
    for (query, quoted) in [
        ("a==3", "a=\"=3\""),
        ("a == 3", "a=\"= 3\""),
        ("a=>3", "a=\">3\""),
        ("a=<3", "a=\"<3\""),
        ("a<>3", "a<\">3\""),
        ("a=3 and", "a=\"3 and\""),
        ("a=3 or ", "a=\"3 or \""),
        ("a=3 AND", "a=\"3 AND\""),
        ("a=3 and not", "a=\"3 and not\""),
        ("a=3 and and b=4", "a=\"3 and\" and b=4"),
        ("a=3 & b=4", "a=\"3 & b=4\""),
        ("a=3 | b=4", "a=\"3 | b=4\""),
        ("a!==3", "a!=\"=3\""),
        ("a=1 && b=2", "a=\"1 && b=2\""),
        ("a=1&&b=2", "a=\"1&&b=2\""),
        ("a=1 || b=2", "a=\"1 || b=2\""),
        ("a=1 AND b=2", "a=\"1 AND b=2\""),
        ("a=1 Or b>2", "a=\"1 Or b>2\""),
        ("a=1,b=2", "a=\"1,b=2\""),
        ("a=1, b>=2", "a=\"1, b>=2\""),
        ("a=1;b=2", "a=\"1;b=2\""),
        ("a=x/y,b=2", "a=x/\"y,b=2\""),
        ("(a=1,b=2)", "(a=\"1,b=2\")"),
        ("NOT a=1", "\"NOT a\"=1"),
        ("!a=1", "\"!a\"=1"),
        ("shape=10x20", "shape=[10,20]"),
        ("\"shape\"!=10x20/3", "shape!=[10,20]"),
        ("shape=\"4x5x6\"", "shape=[4,5,6]"),
        ("shape=(4,6)", "shape=[4,6]"),
        ("shape=4,6", "shape=[4,6]"),
        ("shape!=[4, 6]", "shape!=[4,6]"),
        ("shape=[4,6]/24", "shape=[4,6]/[24]"),
        ("dtype=Float32", "dtype=float32"),
        ("dtype=f4", "dtype=float32"),
        ("dtype!=\"<f8\"", "dtype!=float64"),
        ("dtype=float32/double", "dtype=float32/float64"),
        ("dtype=bool", "dtype=bitmask"),
        ("compression=ZSTD", "compression=zstd"),
        ("filter=none/Shuffle", "filter=none/shuffle"),
        ("encoding=Simple_Packing", "encoding=simple_packing"),
    ] {
        let error = query.parse::<Query>().map(|query| query.to_string()).unwrap_err().to_string();
        assert!(error.starts_with("expected"), "{query}: {error}");
        let meant: Query = quoted.parse().unwrap_or_else(|error| panic!("{quoted}: {error}"));
        assert_eq!(meant.to_string().parse(), Ok(meant), "{quoted}");
    }
    // These have a meaning.
    for query in [
        "name=a, b",
        "name=R&D",
        "name=Sea AND ice",
        "a=b=c",
        "a=[1,2]",
        "a=x;y",
        "name=10x20",
        "shape=[10,20]",
        "shape=[]",
        "shape=round",
        "shape=4*",
        "dtype=mine",
        "dtype=F*",
        "filter=Hann",
        "encoding=UTF-8",
        "kind=Float32",
        "a=1|2",
    ] {
        assert!(query.parse::<Query>().is_ok(), "{query}");
    }
}

#[test]
fn keys_are_told_in_order() {
    let query: Query = "b=1 and a.c>2 and b?".parse().unwrap();
    assert_eq!(query.keys().collect::<Vec<_>>(), ["b", "a.c", "b"]);
}

/// A key that is written otherwise is reported, with the keys that may be meant, and what is there is no slip.
#[test]
fn keys_that_may_be_meant_are_proposed() {
    let map = |entries: &[(&str, Owned)]| {
        Owned::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
    };
    let mars = map(&[("param", "2t".into()), ("levelist", 500.into()), ("a.b", 1.into())]);
    let long = "x".repeat(10_000);
    let bytes = message(
        [vec![("name", "t".into())], vec![("mars", mars), ("step", 6.into()), (long.as_str(), 1.into())]],
        vec![("run", 7.into())],
    );
    let metadata = tgm_std::decode_metadata(&bytes).unwrap();
    let hint = |query: &str| query.parse::<Query>().unwrap().hint(&metadata);
    for (query, keys) in [
        ("parm=2t", "no key parm; did you mean mars.param?"),
        ("Step=7", "no key Step; did you mean step?"),
        ("mars.parm=2t and step=6", "no key mars.parm; did you mean mars.param?"),
        ("levelst=500", "no key levelst; did you mean mars.levelist?"),
        ("not extra.runs=1", "no key extra.runs; did you mean run?"),
        ("parm=1 or parm=2", "no key parm; did you mean mars.param?"),
        ("stp=1 or nme=2", "no key stp; did you mean step? They have no key nme; did you mean name?"),
    ] {
        let told = format!("no object matches the query: the metadata have {keys}");
        assert_eq!(hint(query).as_deref(), Some(told.as_str()), "{query}");
    }
    let longer = format!("{long}x=1");
    for query in [
        "step=9",
        "level=850",
        "mars.a.b=2",
        "dtype=int8",
        "version=9",
        "objects=9",
        "elsewhere=1",
        "extra.run=1",
        "x=1",
        &longer,
    ] {
        assert_eq!(hint(query), None, "{query}");
    }
}

/// A value is reported if metadata of this form can never have it.
#[test]
fn values_of_another_form_are_told() {
    let bytes = message(
        [vec![("date", 20_260_115.into()), ("name", "t".into()), ("step", 6.5.into())], vec![]],
        vec![("levels", Owned::Array(vec![1.into()]))],
    );
    let metadata = tgm_std::decode_metadata(&bytes).unwrap();
    let hint = |query: &str| query.parse::<Query>().unwrap().hint(&metadata);
    for (query, told) in [
        ("date=January", "date is 20260115, and January is not of this form"),
        ("date>=2026-13-01", "date is 20260115, and 2026-13-01 is not of this form"),
        ("date in 2026-01-01..soon", "date is 20260115, and soon is not of this form"),
        ("step=long/short", "step is 6.5, and long is not of this form"),
        ("name>5", "name is \"t\", and 5 is not of this form"),
        ("levels<2", "levels is [1], and 2 is not of this form"),
    ] {
        assert_eq!(hint(query), Some(format!("no object matches the query: {told}")), "{query}");
    }
    for query in [
        "date=2026-01-16",
        "date<2026-01-01",
        "date=2026*",
        "step=long/7",
        "name=5",
        "name>\"5\"",
        "levels=2",
        "date!=x",
    ] {
        assert_eq!(hint(query), None, "{query}");
    }
}
