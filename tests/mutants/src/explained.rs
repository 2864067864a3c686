//! Changes that no test can notice, or that none needs to notice, each with the reason.
//!
//! The file has paragraphs. A paragraph begins with its reason, in lines that begin with `#`. Each other line is a change as it
//! is printed, without the number of its line.
//!
//! A reason that begins with [`SAME`] marks changes that nobody can notice: results, time and memory stay the same. They are
//! counted apart.

use std::collections::{BTreeMap, BTreeSet};

/// How a reason begins if its changes make no difference.
const SAME: &str = "The same program: ";

/// Reasons, by the keys of changes.
pub struct Explained<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Explained<'t> {
    /// Reads the file's text.
    ///
    /// # Errors
    /// A change has no reason, or has two.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        let mut reasons = BTreeMap::new();
        for paragraph in text.split("\n\n") {
            let mut reason = None;
            for line in paragraph.lines().map(str::trim).filter(|line| !line.is_empty()) {
                if let Some(text) = line.strip_prefix('#') {
                    reason = reason.or(Some(text.trim()));
                } else if reasons.insert(line, reason.ok_or_else(|| format!("no reason: {line}"))?).is_some() {
                    return Err(format!("explained twice: {line}"));
                }
            }
        }
        Ok(Self(reasons))
    }

    /// Whether a change is explained.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Whether a change is explained to make no difference to anybody.
    pub fn is_same(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|reason| reason.starts_with(SAME))
    }

    /// Explanations of changes that are not there.
    pub fn outdated(&self, keys: &BTreeSet<&str>) -> impl Iterator<Item = &'t str> {
        self.0.keys().copied().filter(|key| !keys.contains(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_counts_for_its_paragraph() {
        let explained = Explained::parse("# Slow\n# way.\na b: 1\na b: 2\n\n# Other.\nc d: 3\n").expect("well-formed");
        assert!(explained.has("a b: 2") && explained.has("c d: 3") && !explained.has("d"));
        assert!(explained.outdated(&BTreeSet::from(["a b: 1", "c d: 3"])).eq(["a b: 2"]));
    }

    #[test]
    fn what_makes_no_difference_says_so_first() {
        let explained =
            Explained::parse("# The same program: a\n# sum.\na b: 1\n\n# Not the same program: slow.\na b: 2\n");
        let explained = explained.expect("well-formed");
        assert!(explained.is_same("a b: 1") && !explained.is_same("a b: 2") && !explained.is_same("a b: 3"));
    }

    #[test]
    fn a_change_needs_one_reason() {
        assert!(Explained::parse("a b: 1\n").is_err());
        assert!(Explained::parse("# One.\n\na b: 1\n").is_err());
        assert!(Explained::parse("# One.\na b: 1\n\n# Two.\na b: 1\n").is_err());
    }
}
