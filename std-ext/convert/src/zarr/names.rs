//! Names of directories.

use super::DESCRIPTION;

/// The longest name of a directory in bytes, with room for a number. Systems have 255.
const MAX: usize = 220;

/// A part of a path that is a name of one directory.
pub(super) fn safe(part: &str) -> String {
    let is_dots = part.chars().all(|char| char == '.');
    let replaced = |char: char| if char.is_control() || matches!(char, '\\' | ':') { '_' } else { char };
    let mut text: String = part.chars().take(MAX).map(replaced).collect();
    text.truncate(text.floor_char_boundary(MAX));
    if is_dots || text.starts_with("__") || text == DESCRIPTION {
        format!("_{}", text.replace('.', "_").trim_start_matches('_'))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    #[test]
    fn names_stay_within_the_store_and_apart() {
        let mut names = Names::new(safe);
        for (wanted, taken) in [
            ("2t", "2t"),
            ("2t", "2t_1"),
            ("2t/x", "2t_x"),
            ("g/a", "g/a"),
            ("g", "g_1"),
            ("../../etc/passwd", "_/_/etc/passwd"),
            ("/abs//path/", "abs/path"),
            ("", "array"),
            ("__x", "_x"),
            ("zarr.json", "_zarr_json"),
            ("a\\b\n", "a_b_"),
        ] {
            assert_eq!(names.take(wanted), taken, "{wanted:?}");
        }
        assert_eq!(names.groups().collect::<Vec<_>>(), ["_", "_/_", "_/_/etc", "abs", "g"]);
    }
}
