//! What is told of a change.

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, RefChange, Repository};
use hexforge_domain::push::{Push, PushedCommit, PushedProject, Pusher, RefKind, TOLD_COMMITS};
use hexforge_domain::user::User;

use super::or_zero;
use crate::view::project::PlacedProject;

/// What the repository has to say about a change.
#[derive(Clone)]
pub(super) struct Told {
    before: ObjectId,
    checkout: Option<ObjectId>,
    message: Option<String>,
    commits: Vec<PushedCommit>,
    total: u64,
    /// Those whose messages may speak of issues.
    messages: Vec<Commit>,
}

/// Of so many commits of a branch the messages are read, the newest ones.
const READ_COMMITS: usize = 1000;

/// Looks up what came with a change. What is damaged is passed over: the change is made, and has to be told.
pub(super) fn told(
    repository: &dyn Repository,
    default: Option<&BranchName>,
    change: &RefChange,
) -> Result<Told, GitError> {
    let before = or_zero(change.old);
    let nothing =
        Told { before, checkout: None, message: None, commits: vec![], total: 0, messages: vec![] };
    let Some(new) = change.new else { return Ok(nothing) };
    match looked_up(repository, default, change, new, nothing.clone()) {
        Err(GitError::Corrupt(_)) => Ok(nothing),
        told => told,
    }
}

fn looked_up(
    repository: &dyn Repository,
    default: Option<&BranchName>,
    change: &RefChange,
    new: ObjectId,
    nothing: Told,
) -> Result<Told, GitError> {
    match RefKind::of(&change.name) {
        RefKind::Tag(name) => {
            let tag = repository.tag(&name)?;
            let commits = match &tag {
                Some(tag) => vec![pushed(repository, tag.commit.clone())?],
                None => vec![],
            };
            let checkout = tag.as_ref().map(|tag| tag.commit.id);
            let total = commits.len() as u64;
            let message = tag.and_then(|tag| tag.message);
            Ok(Told { checkout, message, commits, total, ..nothing })
        }
        RefKind::Branch(name) => {
            let hidden = match (change.old, default) {
                (Some(old), _) => vec![old],
                // What the default branch has is nothing new.
                (None, Some(default)) if *default != name => {
                    repository.ref_target(&default.full())?.into_iter().collect()
                }
                (None, _) => vec![],
            };
            // What a repository begins with speaks of what was before it.
            let begins = change.old.is_none() && default == Some(&name);
            let limit = if begins { TOLD_COMMITS } else { READ_COMMITS };
            let (total, messages) = repository.commits_between(&hidden, new, limit)?;
            let newest = messages.len().saturating_sub(TOLD_COMMITS);
            let commits = messages[newest..].iter().cloned();
            let commits = commits.map(|commit| pushed(repository, commit));
            let commits = commits.collect::<Result<_, _>>()?;
            let messages = if begins { vec![] } else { messages };
            Ok(Told { checkout: Some(new), commits, total, messages, ..nothing })
        }
        RefKind::Other => Ok(nothing),
    }
}

impl Told {
    /// The commits whose messages may speak of issues, oldest first; they are given once.
    pub(super) fn take_messages(&mut self) -> Vec<Commit> {
        std::mem::take(&mut self.messages)
    }

    /// With the commit that the ref led to in place of what it held itself.
    pub(super) fn before_peeled(self, repository: &dyn Repository) -> Result<Self, GitError> {
        let commit = match repository.resolve(&self.before.to_string()) {
            Err(GitError::Corrupt(_)) => None,
            commit => commit?,
        };
        Ok(Self { before: commit.unwrap_or(self.before), ..self })
    }
}

fn pushed(repository: &dyn Repository, commit: Commit) -> Result<PushedCommit, GitError> {
    Ok(PushedCommit {
        paths: repository.changed_paths(commit.id)?,
        id: commit.id,
        message: commit.message,
        at: commit.committer.at,
        author_name: commit.author.name,
        author_email: commit.author.email,
    })
}

/// All that is told.
pub(super) fn push(placed: &PlacedProject, user: &User, change: &RefChange, told: Told) -> Push {
    let project = &placed.project;
    Push {
        reference: change.name.clone(),
        before: told.before,
        after: or_zero(change.new),
        checkout: told.checkout,
        message: told.message,
        user: Pusher {
            id: user.id,
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            avatar: user.avatar.clone(),
        },
        project: PushedProject {
            id: project.id,
            name: project.name.as_str().to_owned(),
            description: project.description.as_ref().map(|text| text.as_str().to_owned()),
            avatar: project.avatar.clone(),
            namespace: placed.place.namespace.name.clone(),
            visibility: project.visibility,
            path_with_namespace: placed.place.path_of(project),
            default_branch: project.default_branch.as_ref().map(|name| name.as_str().to_owned()),
        },
        commits: told.commits,
        total_commits: told.total,
    }
}
