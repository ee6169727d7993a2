//! System notes: the texts that describe a change of an issue.

use super::NoteBody;
use crate::id::LabelId;
use crate::issue::IssueCommand;

/// A change of an issue that creates a system note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark<'a> {
    /// The issue was closed or reopened.
    State(IssueCommand),
    /// The issue was closed by a commit; the text names the commit.
    ClosedVia(&'a str),
    /// The issue was mentioned; the text names the mentioning issue or commit.
    MentionedIn(&'a str),
    /// The title was changed.
    Title {
        /// The previous title.
        from: &'a str,
        /// The new title.
        to: &'a str,
    },
    /// The issue was assigned to the user with this username; `None` removed the assignee.
    Assignee(Option<&'a str>),
    /// The milestone with this number was set; `None` removed the milestone.
    Milestone(Option<i64>),
    /// Labels were added and removed.
    Labels {
        /// The added labels.
        added: &'a [LabelId],
        /// The removed labels.
        removed: &'a [LabelId],
    },
    /// The issue became confidential (`true`) or visible to everyone (`false`).
    Confidential(bool),
    /// The issue was moved to another project; the text is the reference of the new issue.
    MovedTo(&'a str),
    /// The issue was moved from another project; the text is the reference of the old issue.
    MovedFrom(&'a str),
}

impl Remark<'_> {
    /// The text of the system note.
    pub fn body(&self) -> NoteBody {
        NoteBody(match self {
            Remark::State(IssueCommand::Close) => "closed".to_owned(),
            Remark::State(IssueCommand::Reopen) => "reopened".to_owned(),
            Remark::ClosedVia(name) => format!("closed via {name}"),
            Remark::MentionedIn(name) => format!("mentioned in {name}"),
            Remark::Title { from, to } => format!("changed title from **{from}** to **{to}**"),
            Remark::Assignee(Some(username)) => format!("assigned to @{username}"),
            Remark::Assignee(None) => "removed assignee".to_owned(),
            Remark::Milestone(Some(iid)) => format!("changed milestone to %{iid}"),
            Remark::Milestone(None) => "removed milestone".to_owned(),
            Remark::Labels { added, removed } => labels(added, removed),
            Remark::Confidential(true) => "made the issue confidential".to_owned(),
            Remark::Confidential(false) => "made the issue visible to everyone".to_owned(),
            Remark::MovedTo(name) => format!("moved to {name}"),
            Remark::MovedFrom(name) => format!("moved from {name}"),
        })
    }
}

fn labels(added: &[LabelId], removed: &[LabelId]) -> String {
    let names = |labels: &[LabelId]| -> String {
        labels.iter().map(|label| format!("~{label}")).collect::<Vec<_>>().join(" ")
    };
    let changes = match (added, removed) {
        ([], removed) => format!("removed {}", names(removed)),
        (added, []) => format!("added {}", names(added)),
        (added, removed) => format!("added {} and removed {}", names(added), names(removed)),
    };
    let word = if added.len() + removed.len() == 1 { "label" } else { "labels" };
    format!("{changes} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_has_its_words() {
        let [one, two, three] = [1, 2, 3].map(LabelId);
        for (remark, body) in [
            (Remark::State(IssueCommand::Close), "closed"),
            (Remark::State(IssueCommand::Reopen), "reopened"),
            (Remark::ClosedVia("commit 1a"), "closed via commit 1a"),
            (Remark::MentionedIn("issue #1"), "mentioned in issue #1"),
            (Remark::Title { from: "a", to: "b" }, "changed title from **a** to **b**"),
            (Remark::Assignee(Some("ada")), "assigned to @ada"),
            (Remark::Assignee(None), "removed assignee"),
            (Remark::Milestone(Some(3)), "changed milestone to %3"),
            (Remark::Milestone(None), "removed milestone"),
            (Remark::Labels { added: &[one], removed: &[] }, "added ~1 label"),
            (Remark::Labels { added: &[one, two], removed: &[] }, "added ~1 ~2 labels"),
            (Remark::Labels { added: &[], removed: &[three] }, "removed ~3 label"),
            (Remark::Labels { added: &[one], removed: &[two] }, "added ~1 and removed ~2 labels"),
            (Remark::Confidential(true), "made the issue confidential"),
            (Remark::Confidential(false), "made the issue visible to everyone"),
            (Remark::MovedTo("a/b#1"), "moved to a/b#1"),
            (Remark::MovedFrom("a/b#1"), "moved from a/b#1"),
        ] {
            assert_eq!(remark.body().as_str(), body);
        }
    }
}
