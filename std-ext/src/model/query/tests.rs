//! Queries against a naive evaluation of owned metadata.

mod alias;
mod joined;

use ciborium::Value as Owned;
use proptest::prelude::*;
use tgm_core::Message;

use super::compare::{Literal, Relation};
use super::expr::{Condition, Expr, Test};
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

fn matches(bytes: &[u8], query: &str) -> bool {
    let query: Query = query.parse().unwrap_or_else(|error| panic!("{query}: {error}"));
    query.matches(&Message::parse(bytes).unwrap().metadata().unwrap()).unwrap()
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
        if self.operator == " in " {
            return format!("{}{}{}..{}", self.key, self.operator, self.values[0], self.values[1]);
        }
        format!("{}{}{}", self.key, self.operator, self.values.join("/"))
    }

    fn holds(&self, metadata: &GlobalMetadata) -> bool {
        let value = metadata.get_value(self.key);
        let (first, is_one) = (&self.values[0], |value| self.values.iter().any(|asked| is(value, asked)));
        match self.operator {
            "?" => value.is_some(),
            "=" => value.is_some_and(is_one),
            "!=" => !value.is_some_and(is_one),
            " in " => value.is_some_and(|value| {
                order(value, first).is_some_and(|order| order >= 0)
                    && order(value, &self.values[1]).is_some_and(|order| order < 0)
            }),
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
    text.parse().ok().or_else(|| {
        let [year, month, day] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
        let two = |part: &str| format!("{part:0>2}");
        (year.len() == 4).then(|| format!("{year}{}{}", two(month), two(day)).parse().ok()).flatten()
    })
}

fn is(value: &Owned, asked: &str) -> bool {
    let (found, text) = match value {
        Owned::Integer(n) => (number(&i128::from(*n).to_string()), i128::from(*n).to_string()),
        Owned::Float(x) => (Some(*x), format!("{x:?}")),
        Owned::Text(text) => (number(text), text.clone()),
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
        (Owned::Text(text), Some(number_asked)) => match number(text) {
            Some(found) => Some(sign(found - number_asked)),
            None => asked.contains('-').then(|| text.as_str().cmp(asked) as i32).filter(|_| asked.len() > 4),
        },
        (Owned::Text(text), None) => Some(text.as_str().cmp(asked) as i32),
        _ => None,
    }
}

const KEYS: [&str; 3] = ["a", "b.c", "d"];

fn text() -> impl Strategy<Value = String> {
    let date = "2026-(0[1-3]|[1-3])-(0[1-3]|[1-3])(T06)?";
    prop_oneof![
        "[ab]{1,3}",
        "[1-3]{1,2}",
        "0[1-3]",
        "[1-3]\\.[05]",
        "-?[0-3]",
        "(sea and ice|a b|é)",
        date,
        "20260[1-3]0[1-3]"
    ]
}

fn value() -> impl Strategy<Value = Owned> {
    prop_oneof![
        (-3..40_i32).prop_map(Owned::from),
        (1..4_i32, 1..4_i32).prop_map(|(month, day)| Owned::from(20_260_000 + 100 * month + day)),
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
    let bound = text().prop_filter("one word", |text| !text.contains(' '));
    let within = (Just(" in "), proptest::collection::vec(bound, 2));
    let present = Just(("?", vec![String::new()]));
    let test = prop_oneof![4 => alternatives, 3 => ordered, 2 => within, 1 => present];
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
