//! System notes: the texts that describe a change of an issue or merge request.

use super::NoteBody;
use super::pushed_commits::PushedCommits;
use super::task_list::TaskChange;
use super::title_diff::mark_changes;
use crate::commit::ObjectId;
use crate::id::LabelId;
use crate::issue::IssueCommand;

/// A change of an issue or merge request that creates a system note.
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
    /// The merge request was merged.
    Merged,
    /// The title of the merge request was marked as work in progress (`true`), or the mark was removed (`false`).
    WorkInProgress(bool),
    /// The target branch of the merge request was changed.
    TargetBranch {
        /// The previous branch.
        from: &'a str,
        /// The new branch.
        to: &'a str,
    },
    /// The source branch of the merge request was deleted.
    SourceDeleted(&'a str),
    /// The source branch of the merge request was created again.
    SourceRestored(&'a str),
    /// Commits were pushed to the source branch of the merge request.
    Commits(PushedCommits<'a>),
    /// The merge request will be merged when the pipeline of this commit succeeds.
    AutomaticMerge(ObjectId),
    /// The automatic merge was canceled.
    AutomaticMergeCanceled,
    /// An item of a task list in the description was ticked or unticked.
    Task(TaskChange<'a>),
}

impl SystemNote<'_> {
    /// The text of the system note.
    pub fn body(&self) -> NoteBody {
        NoteBody(match self {
            SystemNote::State(IssueCommand::Close) => "closed".to_owned(),
            SystemNote::State(IssueCommand::Reopen) => "reopened".to_owned(),
            SystemNote::ClosedVia(name) => format!("closed via {name}"),
            SystemNote::MentionedIn(name) => format!("mentioned in {name}"),
            SystemNote::Title { from, to } => {
                let (from, to) = mark_changes(from, to);
                format!("changed title from **{from}** to **{to}**")
            }
            SystemNote::Assignee(Some(username)) => format!("assigned to @{username}"),
            SystemNote::Assignee(None) => "removed assignee".to_owned(),
            SystemNote::Milestone(Some(iid)) => format!("changed milestone to %{iid}"),
            SystemNote::Milestone(None) => "removed milestone".to_owned(),
            SystemNote::Labels { added, removed } => describe_labels(added, removed),
            SystemNote::Confidential(true) => "made the issue confidential".to_owned(),
            SystemNote::Confidential(false) => "made the issue visible to everyone".to_owned(),
            SystemNote::MovedTo(name) => format!("moved to {name}"),
            SystemNote::MovedFrom(name) => format!("moved from {name}"),
            SystemNote::Merged => "merged".to_owned(),
            SystemNote::WorkInProgress(true) => "marked as a **Work In Progress**".to_owned(),
            SystemNote::WorkInProgress(false) => "unmarked as a Work In Progress".to_owned(),
            SystemNote::TargetBranch { from, to } => {
                format!("changed target branch from `{from}` to `{to}`")
            }
            SystemNote::SourceDeleted(branch) => format!("deleted source branch `{branch}`"),
            SystemNote::SourceRestored(branch) => format!("restored source branch `{branch}`"),
            SystemNote::Commits(pushed) => pushed.describe(),
            SystemNote::AutomaticMerge(head) => {
                format!("enabled an automatic merge when the build for {head} succeeds")
            }
            SystemNote::AutomaticMergeCanceled => "canceled the automatic merge".to_owned(),
            SystemNote::Task(TaskChange { text, complete }) => {
                let state = if *complete { "completed" } else { "incomplete" };
                format!("marked the task **{text}** as {state}")
            }
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
            (
                SystemNote::Title { from: "Old title", to: "New title" },
                "changed title from **{-Old-} title** to **{+New+} title**",
            ),
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
            (SystemNote::Merged, "merged"),
            (SystemNote::WorkInProgress(true), "marked as a **Work In Progress**"),
            (SystemNote::WorkInProgress(false), "unmarked as a Work In Progress"),
            (
                SystemNote::TargetBranch { from: "master", to: "stable" },
                "changed target branch from `master` to `stable`",
            ),
            (SystemNote::SourceDeleted("x"), "deleted source branch `x`"),
            (SystemNote::SourceRestored("x"), "restored source branch `x`"),
            (
                SystemNote::AutomaticMerge(ObjectId::ZERO),
                "enabled an automatic merge when the build for \
                 0000000000000000000000000000000000000000 succeeds",
            ),
            (SystemNote::AutomaticMergeCanceled, "canceled the automatic merge"),
            (
                SystemNote::Task(TaskChange { text: "paint", complete: true }),
                "marked the task **paint** as completed",
            ),
            (
                SystemNote::Task(TaskChange { text: "paint", complete: false }),
                "marked the task **paint** as incomplete",
            ),
        ] {
            assert_eq!(note.body().as_str(), body);
        }
    }
}
