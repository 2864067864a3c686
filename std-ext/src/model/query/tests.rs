//! Queries by hand, and against a naive evaluation of owned metadata.

use ciborium::Value as Owned;
use proptest::prelude::*;
use tgm_core::Message;

use super::*;
use crate::encode::{MessageBuilder, ObjectBuilder};
use crate::model::types::GlobalMetadata;

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
        "number!=24",
        "number>=24 and number<25",
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
        "number=24",
        "number>24",
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
fn errors_say_what_was_expected_and_where() {
    let expected = "expected KEY=VALUE, KEY!=VALUE, KEY<VALUE, KEY<=VALUE, KEY>VALUE, KEY>=VALUE or KEY?";
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
        ("step<1 and param", "expected a condition behind `and`", 11),
        ("a=1 or b=2", "there is no `or`: KEY=A/B takes several values, and quotes make it a part of one", 4),
        ("a=\"x", "expected a closing quote for the text", 3),
        ("a=\"x\\y\"", "expected \\\" or \\\\", 4),
        ("a=\"x\" y", "expected `and` or the end", 6),
        ("a?b=c", "expected `and` or the end", 2),
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

#[test]
fn keys_are_told_in_order() {
    let query: Query = "b=1 and a.c>2 and b?".parse().unwrap();
    assert_eq!(query.keys().collect::<Vec<_>>(), ["b", "a.c", "b"]);
}

/// A condition as the naive evaluation sees it.
#[derive(Clone, Debug)]
struct Asked {
    key: &'static str,
    operator: &'static str,
    values: Vec<String>,
}

impl Asked {
    fn text(&self) -> String {
        format!("{}{}{}", self.key, self.operator, self.values.join("/"))
    }

    fn holds(&self, metadata: &GlobalMetadata) -> bool {
        let value = metadata.get_value(self.key);
        let (first, is_one) = (&self.values[0], |value| self.values.iter().any(|asked| is(value, asked)));
        match self.operator {
            "?" => value.is_some(),
            "=" => value.is_some_and(is_one),
            "!=" => !value.is_some_and(is_one),
            operator => value.and_then(|value| order(value, first)).is_some_and(|order| match operator {
                "<" => order < 0,
                "<=" => order <= 0,
                ">" => order > 0,
                _ => order >= 0,
            }),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn is(value: &Owned, asked: &str) -> bool {
    let (found, text) = match value {
        Owned::Integer(n) => (number(&i128::from(*n).to_string()), i128::from(*n).to_string()),
        Owned::Float(x) => (Some(*x), format!("{x:?}")),
        Owned::Text(text) => (None, text.clone()),
        other => (None, other.as_bool().unwrap().to_string()),
    };
    match (found, number(asked)) {
        (Some(found), Some(asked)) => (found - asked).abs() < f64::EPSILON,
        _ => fits(&text, asked),
    }
}

fn fits(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((before, after)) => text
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).filter_map(|at| rest.get(at..)).any(|rest| fits(rest, after))),
    }
}

fn order(value: &Owned, asked: &str) -> Option<i32> {
    let sign = |difference: f64| i32::from(difference > 0.0) - i32::from(difference < 0.0);
    match (value, number(asked)) {
        (Owned::Integer(n), Some(asked)) => Some(sign(number(&i128::from(*n).to_string())? - asked)),
        (Owned::Float(x), Some(asked)) => Some(sign(x - asked)),
        (Owned::Text(text), Some(asked)) => Some(sign(number(text)? - asked)),
        (Owned::Text(text), None) => Some(text.as_str().cmp(asked) as i32),
        _ => None,
    }
}

const KEYS: [&str; 3] = ["a", "b.c", "d"];

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{1,3}", "[1-3]{1,2}", "[1-3]\\.[05]", "-?[0-3]", "(sea and ice|a b|é)"]
}

fn value() -> impl Strategy<Value = Owned> {
    prop_oneof![
        (-3..40_i32).prop_map(Owned::from),
        (-6..80_i32).prop_map(|halves| Owned::Float(f64::from(halves) / 2.0)),
        text().prop_map(Owned::Text),
        any::<bool>().prop_map(Owned::from),
    ]
}

/// Values of the keys, some of them missing.
fn entries() -> impl Strategy<Value = Vec<(&'static str, Owned)>> {
    proptest::collection::vec(proptest::option::of(value()), KEYS.len()).prop_map(|values| {
        let entries = ["a", "b", "d"].into_iter().zip(values).filter_map(|(key, value)| Some((key, value?)));
        let nest = |value| Owned::Map(vec![("c".into(), value)]);
        entries.map(|(key, value)| (key, if key == "b" { nest(value) } else { value })).collect()
    })
}

fn asked() -> impl Strategy<Value = Asked> {
    let pattern = prop_oneof![3 => text(), 1 => "[ab12]?\\*[ab12]?\\*?"];
    let alternatives = (prop_oneof![Just("="), Just("!=")], proptest::collection::vec(pattern, 1..4));
    let ordered = (prop_oneof![Just("<"), Just("<="), Just(">"), Just(">=")], proptest::collection::vec(text(), 1));
    let ordered = ordered.prop_filter("one condition", |(_, values)| !values[0].contains(" and "));
    let present = Just(("?", vec![String::new()]));
    let test = prop_oneof![4 => alternatives, 3 => ordered, 1 => present];
    (0..KEYS.len(), test).prop_map(|(key, (operator, values))| Asked { key: KEYS[key], operator, values })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The views and the owned metadata agree, and so do the two evaluations.
    #[test]
    fn filters_hold_where_the_naive_evaluation_does(
        objects in (entries(), entries()),
        annotations in entries(),
        asked in proptest::collection::vec(asked(), 1..4),
    ) {
        let bytes = message([objects.0, objects.1], annotations);
        let owned = crate::decode::decode_metadata(&bytes).unwrap();
        let text = asked.iter().map(Asked::text).collect::<Vec<_>>().join(" and ");
        let expected = asked.iter().all(|asked| asked.holds(&owned));
        prop_assert_eq!(matches(&bytes, &text), expected, "{} {:?}", text, owned);
    }

    #[test]
    fn no_text_is_too_odd_to_be_read(text in "[ab=!<>?/\" \\\\*.1and-]{0,24}") {
        if let Err(error) = text.parse::<Query>() {
            prop_assert!(error.offset() <= text.len());
        }
    }
}
