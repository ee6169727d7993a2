//! The rules that a merge request as a whole has to satisfy.

use super::{Ends, MergeRequest};
use crate::id::ProjectId;

/// Why a merge request cannot be created or changed. The texts are those of the API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    /// Source and target are the same branch.
    #[error("You can not use same project/branch for source and target")]
    SameBranch,
    /// The target is another project, from which the source project was not forked.
    #[error("Source project is not a fork of the target project")]
    NotAFork,
    /// An open merge request has the same source project, source branch and target branch.
    #[error("Cannot Create: This merge request already exists: [{}]", quoted(.title))]
    Twin {
        /// The title of the other request.
        title: String,
    },
}

impl Ends {
    /// Checks the relation of both branches. `forked_from` is the project from which the source project was forked.
    pub fn check(&self, forked_from: Option<ProjectId>) -> Result<(), InvalidRequest> {
        if !self.is_from_fork() {
            let same = self.source_branch == self.target_branch;
            return if same { Err(InvalidRequest::SameBranch) } else { Ok(()) };
        }
        if forked_from == Some(self.target_project) {
            Ok(())
        } else {
            Err(InvalidRequest::NotAFork)
        }
    }
}

impl From<&MergeRequest> for InvalidRequest {
    /// The error when this request is the open twin of another one.
    fn from(twin: &MergeRequest) -> Self {
        InvalidRequest::Twin { title: twin.title.as_str().to_owned() }
    }
}

/// Quotes a title as the original service did, which printed a list of texts of its programming language.
fn quoted(title: &str) -> String {
    let mut quoted = String::with_capacity(title.len() + 2);
    quoted.push('"');
    for c in title.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge_request::RequestBranch;

    fn ends(source: (i64, &str), target: (i64, &str)) -> Ends {
        let branch = |name: &str| RequestBranch::stored(name.to_owned());
        Ends {
            source_project: ProjectId(source.0),
            source_branch: branch(source.1),
            target_project: ProjectId(target.0),
            target_branch: branch(target.1),
        }
    }

    #[test]
    fn branches_differ_and_forks_target_their_origin() {
        use InvalidRequest::{NotAFork, SameBranch};
        for (source, target, forked_from, expected) in [
            ((1, "a"), (1, "b"), None, Ok(())),
            ((1, "a"), (1, "a"), None, Err(SameBranch)),
            ((2, "a"), (1, "a"), Some(1), Ok(())),
            ((2, "a"), (1, "b"), None, Err(NotAFork)),
            ((1, "a"), (2, "b"), None, Err(NotAFork)),
            ((2, "a"), (3, "b"), Some(1), Err(NotAFork)),
        ] {
            let found = ends(source, target).check(forked_from.map(ProjectId));
            assert_eq!(found, expected, "{source:?} {target:?} {forked_from:?}");
        }
    }

    #[test]
    fn a_twin_is_named_by_its_title() {
        for (title, text) in [
            ("x", r#"Cannot Create: This merge request already exists: ["x"]"#),
            (r#"a "b" \"#, r#"Cannot Create: This merge request already exists: ["a \"b\" \\"]"#),
        ] {
            assert_eq!(InvalidRequest::Twin { title: title.to_owned() }.to_string(), text);
        }
    }
}
