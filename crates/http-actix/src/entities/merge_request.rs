//! Merge requests and their versions.

use hexforge_application::view::merge_request::MergeRequestView;
use hexforge_application::view::note::NoteView;
use hexforge_domain::commit::Commit;
use hexforge_domain::merge_request::{Version, wip};
use hexforge_domain::repository::FileDiff;
use hexforge_domain::text::LongText;
use hexforge_domain::user::User;
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::CommitJson;
use super::milestone::MilestoneJson;
use super::repository::FileDiffJson;
use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A merge request in a response.
#[derive(Serialize, ToSchema)]
pub struct MergeRequestJson<'a> {
    id: i64,
    iid: i64,
    project_id: i64,
    title: &'a str,
    description: Option<&'a str>,
    state: &'static str,
    created_at: Iso,
    updated_at: Iso,
    target_branch: &'a str,
    source_branch: &'a str,
    upvotes: u32,
    downvotes: u32,
    author: UserSummaryJson<'a>,
    assignee: Option<UserSummaryJson<'a>>,
    source_project_id: i64,
    target_project_id: i64,
    labels: &'a [String],
    work_in_progress: bool,
    milestone: Option<MilestoneJson<'a>>,
    merge_when_build_succeeds: bool,
    merge_status: &'static str,
    sha: Option<String>,
    merge_commit_sha: Option<String>,
    subscribed: bool,
    user_notes_count: u32,
    should_remove_source_branch: Option<bool>,
    /// Always null.
    force_remove_source_branch: Option<bool>,
    web_url: String,
}

impl<'a> MergeRequestJson<'a> {
    /// The merge request, with URLs built by `links`.
    pub fn new(view: &'a MergeRequestView, links: &'a Links) -> Self {
        let request = &view.request;
        let automatic = request.automatic_merge.as_ref();
        let page = format!("/{}/merge_requests/{}", view.project_path, request.iid);
        Self {
            id: request.id.0,
            iid: request.iid,
            project_id: request.project().0,
            title: request.title.as_str(),
            description: request.description.as_ref().map(LongText::as_str),
            state: request.state.as_str(),
            created_at: Iso(request.created_at),
            updated_at: Iso(request.updated_at),
            target_branch: request.ends.target_branch.as_str(),
            source_branch: request.ends.source_branch.as_str(),
            upvotes: view.votes.up,
            downvotes: view.votes.down,
            author: UserSummaryJson::new(&view.author, links),
            assignee: view.assignee.as_ref().map(|user| UserSummaryJson::new(user, links)),
            source_project_id: request.ends.source_project.0,
            target_project_id: request.ends.target_project.0,
            labels: &view.labels,
            work_in_progress: wip::is_work_in_progress(request.title.as_str()),
            milestone: view.milestone.as_ref().map(MilestoneJson::from),
            merge_when_build_succeeds: automatic.is_some(),
            merge_status: request.merge_status.as_str(),
            sha: request.head.map(|id| id.to_string()),
            merge_commit_sha: request.merge_commit.map(|id| id.to_string()),
            subscribed: view.subscribed,
            user_notes_count: request.user_notes_count,
            should_remove_source_branch: automatic
                .and_then(|automatic| automatic.remove_source_branch),
            force_remove_source_branch: None,
            web_url: links.to(&page),
        }
    }
}

/// A merge request with its changes.
#[derive(Serialize, ToSchema)]
pub struct MergeRequestChangesJson<'a> {
    #[serde(flatten)]
    request: MergeRequestJson<'a>,
    changes: Vec<FileDiffJson<'a>>,
}

impl<'a> MergeRequestChangesJson<'a> {
    /// The merge request with the changes of its newest version.
    pub fn new(view: &'a MergeRequestView, diffs: &'a [FileDiff], links: &'a Links) -> Self {
        let changes = diffs.iter().map(FileDiffJson::from).collect();
        Self { request: MergeRequestJson::new(view, links), changes }
    }
}

/// A version of a merge request.
#[derive(Serialize, ToSchema)]
pub struct VersionJson {
    id: i64,
    head_commit_sha: Option<String>,
    base_commit_sha: Option<String>,
    start_commit_sha: Option<String>,
    created_at: Iso,
    merge_request_id: i64,
    state: &'static str,
    /// The number of changed files; `1000+` if there are more.
    real_size: Option<String>,
}

impl From<&Version> for VersionJson {
    fn from(version: &Version) -> Self {
        let commits = &version.commits;
        Self {
            id: version.id.0,
            head_commit_sha: commits.head.map(|id| id.to_string()),
            base_commit_sha: commits.base.map(|id| id.to_string()),
            start_commit_sha: commits.start.map(|id| id.to_string()),
            created_at: Iso(version.created_at),
            merge_request_id: version.request.0,
            state: version.state(),
            real_size: version.size.map(|size| size.to_string()),
        }
    }
}

/// A version with its commits and changes.
#[derive(Serialize, ToSchema)]
pub struct VersionDetailJson<'a> {
    #[serde(flatten)]
    version: VersionJson,
    commits: Vec<CommitJson>,
    diffs: Vec<FileDiffJson<'a>>,
}

impl<'a> VersionDetailJson<'a> {
    /// The version with what was read from the repository.
    pub fn new(version: &Version, commits: &[Commit], diffs: &'a [FileDiff]) -> Self {
        Self {
            version: VersionJson::from(version),
            commits: commits.iter().map(CommitJson::from).collect(),
            diffs: diffs.iter().map(FileDiffJson::from).collect(),
        }
    }
}

/// A comment on a merge request: the old form of notes.
#[derive(Serialize, ToSchema)]
pub struct MergeRequestCommentJson<'a> {
    note: &'a str,
    author: UserSummaryJson<'a>,
}

impl<'a> MergeRequestCommentJson<'a> {
    /// The comment, with URLs built by `links`.
    pub fn new(view: &'a NoteView, links: &'a Links) -> Self {
        Self::of_text(view.note.body.as_str(), &view.author, links)
    }

    /// A text for which no note is stored: an emoji, or commands only.
    pub fn of_text(note: &'a str, author: &'a User, links: &'a Links) -> Self {
        Self { note, author: UserSummaryJson::new(author, links) }
    }
}
