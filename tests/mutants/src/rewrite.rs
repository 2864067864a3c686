//! Writes a file with all of its changes, each after its number.
//!
//! ```text
//! fn f() -> T { body }     becomes     fn f() -> T { match crate::mutant::on(3) {
//!                                          17 => { body with change 17 }
//!                                          18 => { body with change 18 }
//!                                          _ => { body }
//!                                      } }
//! ```
//!
//! Bodies are copied as text. So nothing needs to know types, and each change compiles as if it were alone.
//!
//! Copies of a body that returns `impl Trait` would have different types. There, each changed expression has its own `match`.

use std::ops::Range;

use crate::find::{Change, Function};
use crate::source::File;

/// A file with its changes, and where each of them stands.
#[derive(Default)]
pub struct Rewritten {
    /// The text.
    pub text: String,
    /// The bytes of the body with a change, and the number of the change.
    pub places: Vec<(Range<usize>, usize)>,
    /// The bytes of a function, and the numbers of the changes that replace its whole body.
    pub functions: Vec<(Range<usize>, Vec<usize>)>,
}

/// Writes `file`, whose first function and change have these numbers. Changes that are `left_out` are not written.
pub fn rewrite(file: &File, function: usize, change: usize, left_out: &dyn Fn(usize) -> bool) -> Rewritten {
    let mut to = Rewritten::default();
    let (mut from, mut number) = (0, change);
    for (function, index) in file.functions.iter().zip(function..) {
        let start = to.text.len();
        to.text.push_str(&without_inline(part(&file.text, from..function.body.start)));
        from = function.body.end;
        let changes = function.changes.iter().zip(number..).filter(|(_, number)| !left_out(*number));
        let changes: Vec<_> = changes.collect();
        if function.returns_hidden_type {
            push_in_place(&mut to, &file.text, function.body.clone(), index, &changes);
        } else {
            push_function(&mut to, &file.text, function, index, &changes);
        }
        let whole = changes.iter().filter(|(change, _)| change.range == function.body);
        to.functions.push((start..to.text.len(), whole.map(|(_, number)| *number).collect()));
        number += function.changes.len();
    }
    to.text.push_str(part(&file.text, from..file.text.len()));
    to
}

/// Code between functions. Long as they are now, they would take minutes to compile wherever they are called.
fn without_inline(text: &str) -> String {
    text.replace("#[inline]", "").replace("#[inline(always)]", "")
}

/// Writes a function with a copy of its body for each change.
fn push_function(to: &mut Rewritten, text: &str, function: &Function, index: usize, changes: &[(&Change, usize)]) {
    to.text.extend(["{ match crate::mutant::on(", &index.to_string(), ") {\n"]);
    for (change, number) in changes {
        push_arm(to, *number, &changed(text, function, change));
    }
    to.text.extend(["_ => ", part(text, function.body.clone()), "\n} }"]);
}

/// Writes a part of a function in which every expression that has changes asks for them. Within it, only the original asks on.
fn push_in_place(to: &mut Rewritten, text: &str, range: Range<usize>, index: usize, changes: &[(&Change, usize)]) {
    let mut from = range.start;
    // The first of those that are not within another one.
    let first = |from: usize| {
        let ahead = changes.iter().map(|(change, _)| change.range.clone()).filter(|changed| changed.start >= from);
        ahead.min_by_key(|changed| (changed.start, usize::MAX - changed.end))
    };
    while let Some(outer) = first(from) {
        to.text.extend([part(text, from..outer.start), "(match crate::mutant::on(", &index.to_string(), ") {\n"]);
        let is_inside = |change: &Change| outer.start <= change.range.start && change.range.end <= outer.end;
        let (here, rest): (Vec<_>, Vec<_>) = changes.iter().partition(|(change, _)| change.range == outer);
        for (change, number) in here {
            push_arm(to, number, &format!("{{ {} }}", change.text));
        }
        to.text.push_str("_ => ");
        let inner: Vec<_> = rest.into_iter().filter(|(change, _)| is_inside(change)).collect();
        push_in_place(to, text, outer.clone(), index, &inner);
        to.text.push_str(",\n})");
        from = outer.end;
    }
    to.text.push_str(part(text, from..range.end));
}

fn push_arm(to: &mut Rewritten, number: usize, body: &str) {
    to.text.extend([&number.to_string(), " => "]);
    let start = to.text.len();
    to.text.push_str(body);
    to.places.push((start..to.text.len(), number));
    to.text.push('\n');
}

/// The body of a function with one change.
fn changed(text: &str, function: &Function, change: &Change) -> String {
    let before = part(text, function.body.start..change.range.start);
    let after = part(text, change.range.end..function.body.end);
    format!("{before}{}{after}", change.text)
}

fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::functions;

    fn file(text: &str) -> File {
        let parsed = syn::parse_file(text).expect("Rust");
        File { path: String::new(), text: text.to_owned(), first_item: 0, functions: functions(text, &parsed) }
    }

    #[test]
    fn each_change_has_a_body_of_its_own() {
        let written = rewrite(&file("fn f(a: u8) -> u8 { a % 2 }"), 5, 7, &|number| number == 8);
        let expected = "fn f(a: u8) -> u8 { match crate::mutant::on(5) {\n7 => { 0 }\n9 => { (a / 2) }\n\
            10 => { (a + 2) }\n_ => { a % 2 }\n} }";
        assert_eq!(written.text, expected);
        let places: Vec<_> =
            written.places.iter().map(|(range, number)| (&written.text[range.clone()], *number)).collect();
        assert_eq!(places, [("{ 0 }", 7), ("{ (a / 2) }", 9), ("{ (a + 2) }", 10)]);
    }

    #[test]
    fn a_hidden_type_is_changed_in_place() {
        let text = "fn f(a: u8, b: u8) -> impl Fn() -> bool { move || a == !b && a != b }";
        let written = rewrite(&file(text), 5, 7, &|number| number == 7);
        let expected = "fn f(a: u8, b: u8) -> impl Fn() -> bool { move || (match crate::mutant::on(5) {\n8 => { (a != (!b)) }\n\
            _ => a == (match crate::mutant::on(5) {\n9 => { b }\n_ => !b,\n}),\n}) && (match crate::mutant::on(5) {\n\
            10 => { (a == b) }\n_ => a != b,\n}) }";
        assert_eq!(written.text, expected);
    }

    #[test]
    fn an_operator_keeps_its_operands() {
        let file = file("fn f(a: u8, b: u8) { drop(a * b - 1) }");
        let all: Vec<_> =
            file.functions[0].changes.iter().map(|change| changed(&file.text, &file.functions[0], change)).collect();
        assert!(all.contains(&"{ drop(((a * b) + 1)) }".to_owned()), "{all:?}");
        assert!(all.contains(&"{ drop((a + b) - 1) }".to_owned()), "{all:?}");
    }

    #[test]
    fn unsafe_code_is_not_changed() {
        let text = "fn f() -> u8 { unsafe { g() } } unsafe fn g() -> u8 { 1 } fn h() -> u8 { 1 }";
        let names: Vec<_> = file(text).functions.iter().map(|f| f.name.clone()).collect();
        assert_eq!(names, ["h"]);
    }

    #[test]
    fn tests_constants_and_debug_are_not_changed() {
        let text = "const A: u8 = 1 + 1; #[cfg(test)] mod tests { fn f() -> u8 { 1 } } #[test] fn g() {}
            #[cfg(not(feature = \"f\"))] fn k() -> u8 { 1 }
            impl Debug for T { fn fmt(&self) -> bool { 1 == 1 } } fn h() { const { 1 + 1 }; [0; 1 + 1]; }";
        let names: Vec<_> = file(text).functions.iter().map(|f| (f.name.clone(), f.changes.len())).collect();
        assert_eq!(names, [("h".to_owned(), 1)]);
    }

    #[test]
    fn an_arm_is_removed_only_before_a_wildcard() {
        let changes = |text| {
            let file = file(text);
            let changes = file.functions.iter().flat_map(|f| &f.changes).map(|change| change.what.clone());
            changes.collect::<Vec<_>>()
        };
        assert_eq!(
            changes("fn f() { match a { 1 => {} 2 if b => {}, _ => {} } }"),
            ["body → ()", "arm 1 → removed", "arm 2 → removed", "2 if b → true", "2 if b → false"]
        );
        assert_eq!(changes("fn f() { match a { true => {} false => {} } }"), ["body → ()"]);
    }
}
