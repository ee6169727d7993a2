//! Applies the issue references in pushed commit messages: closes issues, and adds a note to issues that are only
//! mentioned.

use std::collections::{HashMap, HashSet};

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{MergeRequestId, ProjectId, UserId};
use hexforge_domain::issue::closing::closed_issues;
use hexforge_domain::issue::reference::{Reference, references};
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::user::email::EmailAddress;

use super::details::ChangeDetails;
use crate::access::Requester;
use crate::error::Error;
use crate::issue::mentions::{self, Mention, MentionPlace, PushedTo, ReferencedProjects};

/// The number of issue references after which further messages of a push are ignored.
const MAX_REFERENCES: usize = 500;

/// A commit message that refers to issues.
struct ReferringCommit {
    commit: ObjectId,
    /// The full name of the ref that it was pushed to.
    reference: String,
    author_email: String,
    closes: Vec<Reference>,
    mentions: Vec<Reference>,
}

/// All issue references in the messages of a push.
#[derive(Default)]
pub(super) struct IssueReferences(Vec<ReferringCommit>);

/// Collects the issue references of pushed commits. Only commits on the default branch close issues.
pub(super) fn collect(
    changed: &mut [(RefChange, ChangeDetails)],
    default: Option<&BranchName>,
    address: &str,
) -> IssueReferences {
    let default = default.map(BranchName::full);
    let is_default = |change: &RefChange| Some(&change.name) == default.as_ref();
    // The default branch comes first: a commit on several branches is read once, where it may close issues.
    let mut order: Vec<&mut (RefChange, ChangeDetails)> = changed.iter_mut().collect();
    order.sort_by_key(|(change, _)| !is_default(change));
    let (mut read, mut count, mut commits) = (HashSet::new(), 0, Vec::new());
    for (change, details) in order {
        for commit in details.take_messages() {
            if count >= MAX_REFERENCES || !read.insert(commit.id) {
                continue;
            }
            let referring = referring_commit(commit, change, is_default(change), address);
            let found = referring.closes.len() + referring.mentions.len();
            count += found;
            if found > 0 {
                commits.push(referring);
            }
        }
    }
    IssueReferences(commits)
}

fn referring_commit(
    commit: Commit,
    change: &RefChange,
    may_close: bool,
    address: &str,
) -> ReferringCommit {
    let closes = if may_close { closed_issues(&commit.message, address) } else { vec![] };
    let mut mentions = references(&commit.message, address);
    mentions.retain(|reference| !closes.contains(reference));
    let (reference, author_email) = (change.name.clone(), commit.author.email);
    ReferringCommit { commit: commit.id, reference, author_email, closes, mentions }
}

impl IssueReferences {
    /// The references of the commits of a merge request, which closes its issues itself, not under the names of its
    /// commits.
    pub(super) fn without_closing(mut self) -> Self {
        for referring in &mut self.0 {
            referring.closes.clear();
        }
        self
    }

    /// Locks the project of the push together with the projects of the referenced issues, and of the issues that merge
    /// requests close.
    pub(super) fn locked(
        self,
        tx: &mut dyn Tx,
        requester: Requester,
        project: ProjectId,
        closed_by_requests: impl Iterator<Item = Reference>,
    ) -> Result<(Option<Project>, LockedReferences), Error> {
        let named =
            self.0.iter().flat_map(|referring| referring.closes.iter().chain(&referring.mentions));
        let named: Vec<Reference> = named.cloned().chain(closed_by_requests).collect();
        let (project, others) = ReferencedProjects::lock(tx, requester, project, &named)?;
        Ok((project, LockedReferences { commits: self, others, requester }))
    }
}

/// The [`IssueReferences`] of a push whose projects are locked.
pub(super) struct LockedReferences {
    commits: IssueReferences,
    others: ReferencedProjects,
    requester: Requester,
}

impl LockedReferences {
    /// The locked projects.
    pub(super) fn projects(&self) -> &ReferencedProjects {
        &self.others
    }

    /// Closes the issues and writes the mentions that the messages refer to, as far as the pusher has permission. The
    /// push merges the `merged` requests, whose own commits do not mention them.
    pub(super) fn apply(
        &self,
        tx: &mut dyn Tx,
        (pusher, project): (UserId, &Project),
        merged: &[MergeRequestId],
        at: Timestamp,
    ) -> Result<(), Error> {
        let Self { commits: IssueReferences(commits), others, requester } = self;
        if commits.is_empty() {
            return Ok(());
        }
        let home = mentions::visible_tracker(tx, *requester, project.clone())?;
        let mut authors = HashMap::new();
        for referring in commits {
            let email = referring.author_email.as_str();
            let author = match authors.get(email) {
                Some(author) => *author,
                None => {
                    let author = find_author(tx, email)?.unwrap_or(pusher);
                    *authors.entry(email).or_insert(author)
                }
            };
            let push = PushedTo { reference: &referring.reference, merged };
            let place = MentionPlace::Commit(referring.commit, Some(push));
            let mention = Mention { place, project, author, at };
            for reference in &referring.closes {
                if let Some(tracker) = others.tracker_of(home.as_ref(), reference) {
                    mention.close_issue(tx, tracker, reference.iid)?;
                }
            }
            mention.write_notes(tx, home.as_ref(), others, &referring.mentions)?;
        }
        Ok(())
    }
}

/// Returns the user with the e-mail address of a commit's author.
fn find_author(tx: &mut dyn Tx, email: &str) -> Result<Option<UserId>, StoreError> {
    let Ok(address) = EmailAddress::parse(email) else { return Ok(None) };
    Ok(tx.emails().holder(&address)?.map(|holder| holder.user))
}
