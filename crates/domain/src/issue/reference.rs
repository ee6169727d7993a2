//! Finds references to issues and merge requests in a text: `#7`, `ada/ship!7`, or the full URL of a page.

/// A reference to an issue or merge request, as written in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The full path of the project, `namespace/project`. `None` refers to the project that the
    /// text belongs to.
    pub project: Option<String>,
    /// What the reference names.
    pub kind: ReferenceKind,
    /// The number of the issue or merge request in that project.
    pub iid: i64,
}

/// What a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// An issue: `#7`.
    Issue,
    /// A merge request: `!7`.
    MergeRequest,
}

impl ReferenceKind {
    const ALL: [ReferenceKind; 2] = [Self::Issue, Self::MergeRequest];

    /// The character before the number.
    pub fn sign(self) -> char {
        match self {
            ReferenceKind::Issue => '#',
            ReferenceKind::MergeRequest => '!',
        }
    }

    /// The part of the URL between the path of the project and the number.
    pub fn folder(self) -> &'static str {
        match self {
            ReferenceKind::Issue => "/issues/",
            ReferenceKind::MergeRequest => "/merge_requests/",
        }
    }
}

/// The maximum number of references that are read from a text.
pub const MAX_REFERENCES: usize = 50;

/// The maximum length of the path of a namespace or project.
const LONGEST: usize = 255;

/// The maximum length of the full path of a project.
pub(super) const LONGEST_PATH: usize = 2 * LONGEST + 1;

/// Returns the issues and merge requests that a text references, each once. Runs in linear time. `address` is the base
/// URL of this service without a trailing slash.
pub fn references(text: &str, address: &str) -> Vec<Reference> {
    scan(text, &['&'], |rest| reference_at(rest, address))
}

/// Returns what `parse` finds at the starts of words, each once. Nothing starts after one of the `barriers`. `parse`
/// returns what it found at the start of a text, with its length in bytes.
pub(super) fn scan<T: PartialEq>(
    text: &str,
    barriers: &[char],
    parse: impl Fn(&str) -> Option<(T, usize)>,
) -> Vec<T> {
    let mut found = Vec::new();
    let (mut at, mut before) = (0, None);
    while let Some(c) = text[at..].chars().next() {
        let is_barrier = |before: char| is_path_char(before) || barriers.contains(&before);
        let may_start = !before.is_some_and(is_barrier);
        let parsed = if may_start { parse(&text[at..]) } else { None };
        match parsed {
            Some((reference, length)) => {
                at += length;
                before = text[..at].chars().next_back();
                if !found.contains(&reference) {
                    found.push(reference);
                }
                if found.len() == MAX_REFERENCES {
                    break;
                }
            }
            None => {
                at += c.len_utf8();
                before = Some(c);
            }
        }
    }
    found
}

/// Parses a reference at the start of a text; returns it with its length in bytes.
pub(super) fn reference_at(text: &str, address: &str) -> Option<(Reference, usize)> {
    if let Some(path) = text.strip_prefix(address)
        && !address.is_empty()
    {
        let path = path.strip_prefix('/')?;
        let (project, after) = project_at(path)?;
        let in_folder = |kind: ReferenceKind| Some((kind, after.strip_prefix(kind.folder())?));
        let (kind, number_text) = ReferenceKind::ALL.into_iter().find_map(in_folder)?;
        let (iid, length) = number_at(number_text)?;
        let end = text.len() - number_text.len() + length;
        return Some((Reference { project: Some(project), kind, iid }, end));
    }
    let path_ends = text.find(|c| !is_path_char(c)).filter(|end| *end <= LONGEST_PATH)?;
    let (path, after) = text.split_at(path_ends);
    let after_sign = |kind: ReferenceKind| Some((kind, after.strip_prefix(kind.sign())?));
    let (kind, number_text) = ReferenceKind::ALL.into_iter().find_map(after_sign)?;
    let project = match path {
        "" => None,
        path => match project_at(path)? {
            (project, "") => Some(project),
            _ => return None,
        },
    };
    let (iid, length) = number_at(number_text)?;
    Some((Reference { project, kind, iid }, path_ends + 1 + length))
}

/// Parses `namespace/project` at the start of a text; returns it with the remaining text.
pub(super) fn project_at(text: &str) -> Option<(String, &str)> {
    let part = |text: &str| {
        let end = text.find(|c| c == '/' || !is_path_char(c)).unwrap_or(text.len());
        (1..=LONGEST).contains(&end).then_some(end)
    };
    let namespace = part(text)?;
    let rest = text[namespace..].strip_prefix('/')?;
    let end = namespace + 1 + part(rest)?;
    Some((text[..end].to_owned(), &text[end..]))
}

/// Parses the number at the start of a text; returns it with its length. A number that
/// continues with letters is none: `#428BCA` is a colour.
fn number_at(text: &str) -> Option<(i64, usize)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let continues = text[end..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if continues || end > 18 {
        return None;
    }
    Some((text[..end].parse().ok()?, end))
}

pub(super) fn is_path_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "https://forge.test";

    fn named(text: &str) -> Vec<String> {
        let show = |reference: Reference| {
            let (sign, project) = (reference.kind.sign(), reference.project.unwrap_or_default());
            format!("{project}{sign}{}", reference.iid)
        };
        references(text, HOME).into_iter().map(show).collect()
    }

    #[test]
    fn issues_are_named_by_number_path_or_address() {
        for (text, expected) in [
            ("", vec![]),
            ("see #7.", vec!["#7"]),
            ("(#7), #8 and #7", vec!["#7", "#8"]),
            ("ada/ship#7", vec!["ada/ship#7"]),
            ("x:ada/my.ship-2_0#7!", vec!["ada/my.ship-2_0#7"]),
            ("https://forge.test/ada/ship/issues/7", vec!["ada/ship#7"]),
            ("<https://forge.test/ada/ship/issues/7#note_3>", vec!["ada/ship#7"]),
            ("https://forge.test/ada/ship/issues/7, #8", vec!["ada/ship#7", "#8"]),
            ("https://forge.test/ada/ship/merge_requests/7", vec!["ada/ship!7"]),
            ("!7, #7 and ada/ship!8", vec!["!7", "#7", "ada/ship!8"]),
            ("Hey!7 a!b !x done!", vec![]),
            ("https://forge.test/ada/issues/7", vec![]),
            ("https://other.test/ada/ship/issues/7", vec![]),
            ("C#7 ship#7 a/b/c#7 /ship#7 ada/#7", vec![]),
            ("#428BCA #7x #7_ #7ü", vec![]),
            ("&#39; &amp;#7", vec!["#7"]),
            ("# 7 ## #", vec![]),
            ("##7", vec!["#7"]),
            ("#9999999999999999999", vec![]),
            ("ü#7", vec!["#7"]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn hostile_texts_take_no_longer_than_others() {
        let hostile = [
            "#".repeat(1_000_000),
            "a/".repeat(500_000),
            "a#".repeat(500_000),
            "https://forge.test/".repeat(50_000),
            "https://forge.test/a/b/issues/".repeat(30_000),
            "1".repeat(1_000_000),
        ];
        for text in hostile {
            assert_eq!(named(&text), Vec::<String>::new());
        }
        assert_eq!(named(&format!("{}#7", "a".repeat(1_000_000))), Vec::<String>::new());
        let many: Vec<String> = (0..80).map(|number| format!("#{number}")).collect();
        assert_eq!(named(&many.join(" ")).len(), MAX_REFERENCES);
    }
}
