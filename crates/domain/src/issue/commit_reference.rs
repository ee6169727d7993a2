//! Finds references to commits in a text: an id or its beginning, `ada/ship@1a2b3c4`, or the full URL of a page.

use super::reference::{LONGEST_PATH, is_path_char, project_at, scan};

/// A reference to a commit, as written in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitReference {
    /// The full path of the project, `namespace/project`. `None` refers to the project that the
    /// text belongs to.
    pub project: Option<String>,
    /// The id of the commit or its beginning, in lower case.
    pub id: String,
}

/// The number of digits of a reference. Shorter words are too often something else.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=40;

/// Returns the commits that a text references, each once and at most
/// [`MAX_REFERENCES`](super::reference::MAX_REFERENCES). The commits need not exist. Runs in linear time. `address` is
/// the base URL of this service without a trailing slash.
pub fn commit_references(text: &str, address: &str) -> Vec<CommitReference> {
    scan(text, &['&', '@', '#'], |rest| commit_at(rest, address))
}

/// Parses a reference at the start of a text; returns it with its length in bytes.
pub(super) fn commit_at(text: &str, address: &str) -> Option<(CommitReference, usize)> {
    if let Some(path) = text.strip_prefix(address)
        && !address.is_empty()
    {
        let (project, after) = project_at(path.strip_prefix('/')?)?;
        let digits = after.strip_prefix("/commit/")?;
        let id = id_at(digits)?;
        let length = text.len() - digits.len() + id.len();
        return Some((CommitReference { project: Some(project), id }, length));
    }
    if let Some(id) = id_at(text) {
        let length = id.len();
        return Some((CommitReference { project: None, id }, length));
    }
    let path_ends = text.find(|c| !is_path_char(c)).filter(|end| *end <= LONGEST_PATH)?;
    let (path, after) = text.split_at(path_ends);
    let (project, "") = project_at(path)? else { return None };
    let id = id_at(after.strip_prefix('@')?)?;
    let length = path_ends + 1 + id.len();
    Some((CommitReference { project: Some(project), id }, length))
}

/// Parses the id at the start of a text. It must be a whole word.
fn id_at(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@');
    if !DIGITS.contains(&end) || text[end..].starts_with(continues) {
        return None;
    }
    Some(text[..end].to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::super::reference::MAX_REFERENCES;
    use super::*;

    const HOME: &str = "https://forge.test";

    fn named(text: &str) -> Vec<String> {
        let show = |reference: CommitReference| match reference.project {
            Some(project) => format!("{project}@{}", reference.id),
            None => reference.id,
        };
        commit_references(text, HOME).into_iter().map(show).collect()
    }

    #[test]
    fn commits_are_named_by_id_path_or_address() {
        let whole = "0123456789abcdef0123456789abcdef01234567";
        for (text, expected) in [
            ("", vec![]),
            ("see 1a2b3c4.", vec!["1a2b3c4"]),
            ("(1A2B3C4), `1a2b3c4` 1234567", vec!["1a2b3c4", "1234567"]),
            (whole, vec![whole]),
            ("1a2b3c", vec![]),
            ("0123456789abcdef0123456789abcdef012345678", vec![]),
            ("ada/ship@1a2b3c4", vec!["ada/ship@1a2b3c4"]),
            ("x:ada/my.ship-2_0@1a2b3c4!", vec!["ada/my.ship-2_0@1a2b3c4"]),
            ("ada@1a2b3c4 @1a2b3c4 a/b/c@1a2b3c4", vec![]),
            ("https://forge.test/ada/ship/commit/1a2b3c4", vec!["ada/ship@1a2b3c4"]),
            ("<https://forge.test/ada/ship/commit/1a2b3c4#note_3>", vec!["ada/ship@1a2b3c4"]),
            ("https://forge.test/ada/ship/blob/1a2b3c4", vec![]),
            ("https://other.test/ada/ship/commit/1a2b3c4", vec![]),
            ("1a2b3c4x 1a2b3c4_ 1a2b3c4-5 1a2b3c4/x x1a2b3c4 #1a2b3c4", vec![]),
            ("1a2b3c4ü", vec![]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn hostile_texts_take_no_longer_than_others() {
        for text in [
            "a".repeat(1_000_000),
            "a/".repeat(500_000),
            "a@".repeat(500_000),
            "https://forge.test/a/b/commit/".repeat(30_000),
            "aaaaaa ".repeat(100_000),
        ] {
            assert_eq!(named(&text), Vec::<String>::new());
        }
        let many: Vec<String> = (0..80).map(|number| format!("{number:07x}")).collect();
        assert_eq!(named(&many.join(" ")).len(), MAX_REFERENCES);
    }
}
