//! Refs that only the service itself writes.

use crate::commit::ObjectId;

/// The folder of the heads of merge requests: `refs/merge-requests/<iid>/head`. Clients may fetch them.
pub const MERGE_REQUESTS: &str = "refs/merge-requests/";

/// The folder of refs that keep commits of merge requests and builds, whatever happens to branches. Clients do not see
/// them.
pub const KEEP_AROUND: &str = "refs/keep-around/";

/// The ref that keeps a commit.
pub fn kept_ref(commit: ObjectId) -> String {
    format!("{KEEP_AROUND}{commit}")
}

/// The ref by which a running build sees its commit. It is never stored.
pub fn build_ref(commit: ObjectId) -> String {
    format!("refs/builds/{commit}")
}

/// Returns whether only the service itself may create, change or delete a ref of this name.
pub fn is_reserved(name: &str) -> bool {
    is_hidden(name) || name.starts_with(MERGE_REQUESTS)
}

/// Returns whether a ref of this name is hidden from clients.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with(KEEP_AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_refs_are_reserved_and_some_of_them_are_hidden() {
        for (name, reserved, hidden) in [
            ("refs/merge-requests/1/head", true, false),
            ("refs/keep-around/1", true, true),
            (&kept_ref(ObjectId::ZERO), true, true),
            ("refs/heads/merge-requests/1/head", false, false),
            ("refs/heads/keep-around/1", false, false),
            ("refs/keep-around-not/1", false, false),
            ("refs/merge-requests", false, false),
            ("refs/notes/commits", false, false),
        ] {
            assert_eq!((is_reserved(name), is_hidden(name)), (reserved, hidden), "{name}");
        }
    }
}
