//! What the service writes down on an issue when somebody changes it.

use super::NoteBody;
use crate::id::LabelId;
use crate::issue::IssueCommand;

/// A change that leaves a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark<'a> {
    /// It was closed or reopened.
    State(IssueCommand),
    /// It was closed by what has this name.
    ClosedVia(&'a str),
    /// It was mentioned in what has this name.
    MentionedIn(&'a str),
    /// It has another title.
    Title {
        /// The title before.
        from: &'a str,
        /// The title now.
        to: &'a str,
    },
    /// The user of this name is to do it, or nobody.
    Assignee(Option<&'a str>),
    /// It has to be done for the milestone of this number, or for none.
    Milestone(Option<i64>),
    /// It got and lost labels.
    Labels {
        /// Those it got.
        added: &'a [LabelId],
        /// Those it lost.
        removed: &'a [LabelId],
    },
    /// It became confidential, or is so no more.
    Confidential(bool),
    /// It went to another project and has this name there.
    MovedTo(&'a str),
    /// It came from another project and had this name there.
    MovedFrom(&'a str),
}

impl Remark<'_> {
    /// What the note says.
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
