//! Branches.

pub mod port;
pub mod protection;

pub use crate::ref_name::BranchName;
pub use protection::Protection;

use crate::commit::Commit;

/// A branch and the commit to which it points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The name without `refs/heads/`.
    pub name: BranchName,
    /// The commit at the tip.
    pub commit: Commit,
}

/// The default branch of a repository. If there is only one branch, that one. Otherwise the branch to which HEAD
/// points, else `master`, else the first by name. `names` are sorted by their bytes.
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
