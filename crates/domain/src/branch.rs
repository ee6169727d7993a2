//! Branches.

pub mod port;
pub mod protection;

pub use crate::ref_name::BranchName;
pub use protection::Protection;

use crate::commit::Commit;

/// A branch and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its name.
    pub name: BranchName,
    /// Its newest commit.
    pub commit: Commit,
}

/// The branch that a repository shows when none is asked for: the only one there is; else the one that
/// HEAD names, `master`, or the first by name. `names` are in the order of their bytes.
pub fn default_branch<'a>(
    names: impl IntoIterator<Item = &'a str>,
    head: Option<&str>,
) -> Option<&'a str> {
    let (mut first, mut only, mut at_head, mut master) = (None, true, None, None);
    for name in names {
        only = first.is_none();
        first = first.or(Some(name));
        if Some(name) == head {
            at_head = Some(name);
        }
        if name == "master" {
            master = Some(name);
        }
    }
    if only { first } else { at_head.or(master).or(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_branch_is_the_only_one_heads_master_or_the_first() {
        for (names, head, expected) in [
            (&[][..], Some("master"), None),
            (&["x"][..], Some("master"), Some("x")),
            (&["a", "b"][..], Some("b"), Some("b")),
            (&["a", "master"][..], Some("gone"), Some("master")),
            (&["a", "master"][..], None, Some("master")),
            (&["a", "b"][..], Some("gone"), Some("a")),
        ] {
            assert_eq!(default_branch(names.iter().copied(), head), expected, "{names:?} {head:?}");
        }
    }
}
