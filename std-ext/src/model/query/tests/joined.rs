//! Queries with `or`, `not` and brackets: random ones, evaluated naively, and printed and read again.

use super::*;

/// A query as the naive evaluation sees it.
#[derive(Clone, Debug)]
enum Tree {
    Is(Asked),
    Not(Box<Tree>),
    All(Vec<Tree>),
    Any(Vec<Tree>),
}

impl Tree {
    /// The query with all its brackets.
    fn text(&self) -> String {
        let joined = |inner: &[Tree], word: &str| {
            inner.iter().map(|tree| format!("({})", tree.text())).collect::<Vec<_>>().join(word)
        };
        match self {
            Tree::Is(asked) => asked.text(),
            Tree::Not(inner) => format!("not ({})", inner.text()),
            Tree::All(inner) => joined(inner, " and "),
            Tree::Any(inner) => joined(inner, " or "),
        }
    }

    fn holds(&self, metadata: &GlobalMetadata) -> bool {
        match self {
            Tree::Is(asked) => asked.holds(metadata),
            Tree::Not(inner) => !inner.holds(metadata),
            Tree::All(inner) => inner.iter().all(|tree| tree.holds(metadata)),
            Tree::Any(inner) => inner.iter().any(|tree| tree.holds(metadata)),
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    asked().prop_map(Tree::Is).prop_recursive(3, 12, 3, |inner| {
        let several = proptest::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.prop_map(|tree| Tree::Not(Box::new(tree))),
            several.clone().prop_map(Tree::All),
            several.prop_map(Tree::Any),
        ]
    })
}

/// Values that no metadata here has, but that are hard to print.
fn odd_literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        "[ab =!<>?/\"\\\\*.1()]{0,8}".prop_map(Literal::quoted),
        "-?[0-9]{1,3}(\\.[0-9])?".prop_map(|text| Literal::plain(&text)),
        "[ab]{0,2}\\*[ab]{0,1}".prop_map(|text| Literal::plain(&text)),
    ]
}

fn odd_bound() -> impl Strategy<Value = Literal> {
    odd_literal().prop_filter("no patterns in ranges", |literal| literal.is_text() || literal.looks_like_number())
}

fn odd_expr() -> impl Strategy<Value = Expr> {
    let key = prop_oneof!["[ab. =()\"\\\\<?]{1,6}", Just("not".to_string()), Just("in".to_string())];
    let relation = prop_oneof![Just(Relation::Less), Just(Relation::LessOrEqual)];
    let literals = || proptest::collection::vec(odd_literal(), 1..3);
    let test = prop_oneof![
        Just(Test::Present),
        literals().prop_map(Test::OneOf),
        literals().prop_map(Test::NoneOf),
        (relation.clone(), odd_bound()).prop_map(|(relation, literal)| Test::Ordered(relation, literal)),
        (odd_bound(), relation, odd_bound()).prop_map(|(low, relation, high)| Test::Within(low, relation, high)),
    ];
    let test = test.prop_filter("an order has a value", |test| match test {
        Test::Ordered(_, literal) => !literal.text().trim().is_empty() && !literal.text().contains("and"),
        _ => true,
    });
    let condition = (key, test).prop_map(|(key, test)| Expr::Is(Condition::new(&key, test)));
    condition.prop_recursive(3, 12, 3, |inner| {
        let several = proptest::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.prop_map(|expr| Expr::Not(Box::new(expr))),
            several.clone().prop_map(Expr::All),
            several.prop_map(Expr::Any),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn joined_conditions_hold_where_the_naive_evaluation_does(
        objects in (entries(), entries()),
        annotations in entries(),
        tree in tree(),
    ) {
        let bytes = message([objects.0, objects.1], annotations);
        let owned = crate::decode::decode_metadata(&bytes).unwrap();
        let text = tree.text();
        prop_assert_eq!(matches(&bytes, &text), tree.holds(&owned), "{} {:?}", text, owned);
        // What is printed holds where the query does, and is printed in the same way again.
        let printed = text.parse::<Query>().unwrap().to_string();
        prop_assert_eq!(matches(&bytes, &printed), tree.holds(&owned), "{} {}", text, printed);
        prop_assert_eq!(printed.parse::<Query>().unwrap().to_string(), printed);
    }

    #[test]
    fn what_is_printed_reads_back(mut root in odd_expr()) {
        root.number(0);
        let query = Query { root };
        let text = query.to_string();
        prop_assert_eq!(text.parse::<Query>(), Ok(query), "{}", text);
    }
}
