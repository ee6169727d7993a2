//! Pushes in event feeds, in the format of the hooks.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::push::{Push, PushedCommit, RefKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::blocks::{Place, ProjectBlock, RepositoryBlock};
use hexforge_http_edge::links::Links;

/// A push in a response.
#[derive(Serialize, ToSchema)]
pub struct PushJson<'a> {
    object_kind: &'static str,
    event_name: &'static str,
    before: String,
    after: String,
    #[serde(rename = "ref")]
    reference: &'a str,
    checkout_sha: Option<String>,
    message: Option<&'a str>,
    user_id: i64,
    user_name: &'a str,
    user_email: &'a str,
    user_avatar: Option<String>,
    project_id: i64,
    project: ProjectBlock<'a>,
    commits: Vec<CommitBlock<'a>>,
    total_commits_count: u64,
    repository: RepositoryBlock<'a>,
}

#[derive(Serialize, ToSchema)]
struct CommitBlock<'a> {
    id: String,
    message: &'a str,
    timestamp: String,
    url: String,
    author: AuthorBlock<'a>,
    added: &'a [String],
    modified: &'a [String],
    removed: &'a [String],
}

#[derive(Serialize, ToSchema)]
struct AuthorBlock<'a> {
    name: &'a str,
    email: &'a str,
}

impl<'a> PushJson<'a> {
    /// The push, with URLs built by `links`.
    pub fn new(push: &'a Push, links: &Links) -> Self {
        let kind = match RefKind::of(&push.reference) {
            RefKind::Tag(_) => "tag_push",
            RefKind::Branch(_) | RefKind::Reserved | RefKind::Other => "push",
        };
        let project = &push.project;
        let place = Place::from(project);
        let commit =
            |commit| CommitBlock::new(commit, &links.project(&project.path_with_namespace));
        Self {
            object_kind: kind,
            event_name: kind,
            before: push.before.to_string(),
            after: push.after.to_string(),
            reference: &push.reference,
            checkout_sha: push.checkout.as_ref().map(ObjectId::to_string),
            message: push.message.as_deref(),
            user_id: push.user.id.0,
            user_name: &push.user.name,
            user_email: &push.user.email,
            user_avatar: links.avatar_of(
                push.user.id,
                push.user.avatar.as_deref(),
                &push.user.email,
            ),
            project_id: project.id.0,
            project: ProjectBlock::new(place, links),
            commits: push.commits.iter().map(commit).collect(),
            total_commits_count: push.total_commits,
            repository: RepositoryBlock::new(place, links),
        }
    }

    /// The push in the form that system hooks receive: without its commits.
    pub fn for_service(push: &'a Push, links: &Links) -> Self {
        let whole = Self::new(push, links);
        let message = match RefKind::of(&push.reference) {
            RefKind::Tag(_) => Some(""),
            RefKind::Branch(_) | RefKind::Reserved | RefKind::Other => None,
        };
        Self { message, commits: vec![], total_commits_count: 0, ..whole }
    }
}

impl<'a> CommitBlock<'a> {
    fn new(commit: &'a PushedCommit, project: &str) -> Self {
        Self {
            id: commit.id.to_string(),
            message: &commit.message,
            timestamp: commit.at.format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            url: format!("{project}/commit/{}", commit.id),
            author: AuthorBlock { name: &commit.author_name, email: &commit.author_email },
            added: &commit.paths.added,
            modified: &commit.paths.modified,
            removed: &commit.paths.removed,
        }
    }
}
