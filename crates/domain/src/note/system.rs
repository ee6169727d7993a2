//! System notes: the texts that describe a change of an issue.

use super::NoteBody;
use crate::id::LabelId;
use crate::issue::IssueCommand;

/// A change of an issue that creates a system note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemNote<'a> {
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

impl SystemNote<'_> {
    /// The text of the system note.
    pub fn body(&self) -> NoteBody {
        NoteBody(match self {
            SystemNote::State(IssueCommand::Close) => "closed".to_owned(),
            SystemNote::State(IssueCommand::Reopen) => "reopened".to_owned(),
            SystemNote::ClosedVia(name) => format!("closed via {name}"),
            SystemNote::MentionedIn(name) => format!("mentioned in {name}"),
            SystemNote::Title { from, to } => format!("changed title from **{from}** to **{to}**"),
            SystemNote::Assignee(Some(username)) => format!("assigned to @{username}"),
            SystemNote::Assignee(None) => "removed assignee".to_owned(),
            SystemNote::Milestone(Some(iid)) => format!("changed milestone to %{iid}"),
            SystemNote::Milestone(None) => "removed milestone".to_owned(),
            SystemNote::Labels { added, removed } => describe_labels(added, removed),
            SystemNote::Confidential(true) => "made the issue confidential".to_owned(),
            SystemNote::Confidential(false) => "made the issue visible to everyone".to_owned(),
            SystemNote::MovedTo(name) => format!("moved to {name}"),
            SystemNote::MovedFrom(name) => format!("moved from {name}"),
        })
    }
}

fn describe_labels(added: &[LabelId], removed: &[LabelId]) -> String {
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
        for (note, body) in [
            (SystemNote::State(IssueCommand::Close), "closed"),
            (SystemNote::State(IssueCommand::Reopen), "reopened"),
            (SystemNote::ClosedVia("commit 1a"), "closed via commit 1a"),
            (SystemNote::MentionedIn("issue #1"), "mentioned in issue #1"),
            (SystemNote::Title { from: "a", to: "b" }, "changed title from **a** to **b**"),
            (SystemNote::Assignee(Some("ada")), "assigned to @ada"),
            (SystemNote::Assignee(None), "removed assignee"),
            (SystemNote::Milestone(Some(3)), "changed milestone to %3"),
            (SystemNote::Milestone(None), "removed milestone"),
            (SystemNote::Labels { added: &[one], removed: &[] }, "added ~1 label"),
            (SystemNote::Labels { added: &[one, two], removed: &[] }, "added ~1 ~2 labels"),
            (SystemNote::Labels { added: &[], removed: &[three] }, "removed ~3 label"),
            (
                SystemNote::Labels { added: &[one], removed: &[two] },
                "added ~1 and removed ~2 labels",
            ),
            (SystemNote::Confidential(true), "made the issue confidential"),
            (SystemNote::Confidential(false), "made the issue visible to everyone"),
            (SystemNote::MovedTo("a/b#1"), "moved to a/b#1"),
            (SystemNote::MovedFrom("a/b#1"), "moved from a/b#1"),
        ] {
            assert_eq!(note.body().as_str(), body);
        }
    }
}
