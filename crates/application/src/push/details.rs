//! The data about a push that events and hooks report.

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, RefChange, Repository};
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::push::{
    ChangedPaths, EVENT_COMMITS, HookScope, Push, PushedCommit, PushedProject, Pusher, RefKind,
    truncate, truncated_for_event,
};
use hexforge_domain::user::User;

use super::{ChangeKind, or_zero};
use crate::app::App;

/// The data that is read from the repository about one change.
#[derive(Clone)]
pub(super) struct ChangeDetails {
    before: ObjectId,
    checkout: Option<ObjectId>,
    message: Option<String>,
    commits: Vec<PushedCommit>,
    total: u64,
    /// The commits whose messages may refer to issues.
    messages: Vec<Commit>,
}

/// The number of newest commits of a branch whose messages are read.
const READ_COMMITS: usize = 1000;

/// The number of refs per push for which commits and messages are read. Of further refs only names and object ids are
/// reported.
const MAX_REFS: usize = 200;

/// The bytes of texts and paths that are reported per push. Beyond this limit paths are left out and texts are cut to
/// [`SHORT_MESSAGE`].
const MAX_BYTES: usize = 16 << 20;

/// The time limit for reading the data of one push.
const TIME_LIMIT: TimeDelta = TimeDelta::seconds(60);

/// The length to which texts are cut when the byte limit is used up.
const SHORT_MESSAGE: usize = 500;

/// Reads the data about the changes of one push.
pub(super) fn read_all(
    app: &App,
    repository: &dyn Repository,
    default: Option<&BranchName>,
    kind: ChangeKind,
    changes: &[RefChange],
) -> Result<Vec<(RefChange, ChangeDetails)>, GitError> {
    let until = app.clock.now() + TIME_LIMIT;
    let (refs, bytes) = (MAX_REFS, MAX_BYTES);
    let mut reader = DetailsReader { app, repository, default, until, refs, bytes };
    let is_shown = |change: &&RefChange| match RefKind::of(&change.name) {
        RefKind::Branch(_) | RefKind::Tag(_) => true,
        RefKind::Reserved | RefKind::Other => false,
    };
    let shown = changes.iter().filter(is_shown);
    let details = shown.map(|change| {
        let details = reader.read(change)?;
        let details = match kind {
            ChangeKind::TagRemoval(_) => details.before_peeled(repository)?,
            ChangeKind::Push | ChangeKind::Merge => details,
        };
        Ok((change.clone(), details))
    });
    details.collect()
}

/// The remaining limits while the data of one push is read.
struct DetailsReader<'a> {
    app: &'a App,
    repository: &'a dyn Repository,
    default: Option<&'a BranchName>,
    until: Timestamp,
    refs: usize,
    bytes: usize,
}

impl DetailsReader<'_> {
    /// Reads the data of a change. Corrupt, missing or too large objects leave only the ref name and the object ids.
    fn read(&mut self, change: &RefChange) -> Result<ChangeDetails, GitError> {
        let before = or_zero(change.old);
        let checkout = match RefKind::of(&change.name) {
            RefKind::Branch(_) => change.new,
            RefKind::Tag(_) | RefKind::Reserved | RefKind::Other => None,
        };
        let minimal = ChangeDetails {
            before,
            checkout,
            message: None,
            commits: vec![],
            total: 0,
            messages: vec![],
        };
        let Some(new) = change.new else { return Ok(minimal) };
        if self.refs == 0 || !self.has_time() {
            return Ok(minimal);
        }
        self.refs -= 1;
        match self.read_objects(change, new, minimal.clone()) {
            Err(GitError::Corrupt(_) | GitError::Missing | GitError::TooLarge) => Ok(minimal),
            details => details,
        }
    }

    fn read_objects(
        &mut self,
        change: &RefChange,
        new: ObjectId,
        minimal: ChangeDetails,
    ) -> Result<ChangeDetails, GitError> {
        match RefKind::of(&change.name) {
            RefKind::Tag(name) => {
                let Some(tag) = self.repository.tag(&name)? else { return Ok(minimal) };
                let message = tag.message.map(|text| self.limit_text(text));
                let checkout = Some(tag.commit.id);
                let commits = vec![self.pushed_commit(tag.commit)?];
                Ok(ChangeDetails { checkout, message, commits, total: 1, ..minimal })
            }
            RefKind::Branch(name) => {
                let hidden = match (change.old, self.default) {
                    (Some(old), _) => vec![old],
                    // Commits on the default branch are not new.
                    (None, Some(default)) if *default != name => {
                        self.repository.refs().target(&default.full()).into_iter().collect()
                    }
                    (None, _) => vec![],
                };
                // The first commits of a repository refer to issues from before the project existed, so their messages
                // are not read.
                let begins = change.old.is_none() && self.default == Some(&name);
                let limit = if begins { EVENT_COMMITS } else { READ_COMMITS };
                let (total, messages) = self.repository.commits_between(&hidden, new, limit)?;
                let newest = messages.len().saturating_sub(EVENT_COMMITS);
                let commits =
                    messages[newest..].iter().cloned().map(|commit| self.pushed_commit(commit));
                let commits = commits.collect::<Result<_, _>>()?;
                let messages = if begins { vec![] } else { messages };
                Ok(ChangeDetails { commits, total, messages, ..minimal })
            }
            RefKind::Reserved | RefKind::Other => Ok(minimal),
        }
    }

    fn pushed_commit(&mut self, commit: Commit) -> Result<PushedCommit, GitError> {
        let paths = if self.bytes > 0 && self.has_time() {
            self.repository.changed_paths(commit.id)?
        } else {
            ChangedPaths::default()
        };
        let all = paths.added.iter().chain(&paths.modified).chain(&paths.removed);
        let length = all.map(String::len).sum();
        let paths = if self.take_bytes(length) { paths } else { ChangedPaths::default() };
        Ok(PushedCommit {
            paths,
            id: commit.id,
            message: self.limit_text(commit.message),
            at: commit.committer.at,
            author_name: self.limit_text(commit.author.name),
            author_email: self.limit_text(commit.author.email),
        })
    }

    /// Returns the text, shortened to the remaining limit.
    fn limit_text(&mut self, text: String) -> String {
        let text = truncated_for_event(text);
        if self.take_bytes(text.len()) { text } else { truncate(text, SHORT_MESSAGE) }
    }

    /// Takes bytes from the byte limit. Returns false when too few are left.
    fn take_bytes(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }

    fn has_time(&self) -> bool {
        self.app.clock.now() < self.until
    }
}

impl ChangeDetails {
    /// Takes the commits whose messages may refer to issues, oldest first.
    pub(super) fn take_messages(&mut self) -> Vec<Commit> {
        std::mem::take(&mut self.messages)
    }

    /// Replaces `before` by the commit to which it resolves: an annotated tag is peeled.
    fn before_peeled(self, repository: &dyn Repository) -> Result<Self, GitError> {
        let commit = match repository.resolve(&self.before.to_string()) {
            Err(GitError::Corrupt(_)) => None,
            commit => commit?,
        };
        let before = commit.map_or(self.before, |found| found.commit);
        Ok(Self { before, ..self })
    }
}

/// Builds the push event.
pub(super) fn push_event(
    placed: &ProjectWithNamespace,
    user: &User,
    change: &RefChange,
    details: ChangeDetails,
    reach: HookScope,
) -> Push {
    let project = &placed.project;
    Push {
        reference: change.name.clone(),
        before: details.before,
        after: or_zero(change.new),
        checkout: details.checkout,
        message: details.message,
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
        commits: details.commits,
        total_commits: details.total,
        reach,
    }
}
