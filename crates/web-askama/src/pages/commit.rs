//! One commit with its changes.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository::browse::{self, ContainingRefs};
use hexforge_application::repository::{self, Revision, commits};
use hexforge_domain::commit::Commit;
use hexforge_domain::repository::Comparison;
use hexforge_http_edge::conditional::ETag;
use std::sync::Arc;

use super::project::{CommitLine, frame_of, missing, other_spelling};
use crate::address;
use crate::diff::{self, DiffHtml, DiffOptions, DiffView};
use crate::error::PageResult;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::render;
use crate::visit::{Viewer, Visit};

/// The branches and tags that are shown.
const SHOWN_REFS: usize = 20;

/// A link to a branch or tag.
struct RefLink {
    name: String,
    address: String,
}

#[derive(Template)]
#[template(path = "commit.html")]
struct CommitPage {
    frame: Frame,
    base: String,
    line: CommitLine,
    message: String,
    email: String,
    /// The committer and the date, if they differ from those of the author.
    committer: Option<(String, Moment)>,
    parents: Vec<String>,
    branches: Vec<RefLink>,
    tags: Vec<RefLink>,
    has_more_refs: bool,
    diff: DiffHtml,
}

/// The commit that an address names.
struct Found {
    project: ProjectPage,
    at: Revision,
    status: Option<hexforge_domain::ci::status::Status>,
}

async fn find(visit: &Visit) -> PageResult<(Viewer, Found)> {
    let (named, client, sha) = (visit.project(), visit.address(), visit.param("sha"));
    let is_id = (7..=40).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            if !is_id {
                return Err(missing());
            }
            let at = repository::revision(app, &readable, &sha)?.ok_or_else(missing)?;
            let status = commits::status(app, &readable, &at)?;
            Ok(Found { project, at, status })
        })
        .await
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Found { project, at, status }) = find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let options = DiffOptions::of(&visit).with_files_at(&base, at.commit());
    let read = move || {
        let view = commits::get(&at, status)?;
        let changes = commits::changes(&at)?;
        let diff = DiffView::of_comparison(&changes, &options);
        let diff = diff.with_stats(changes.diffs.len(), &view.stats).to_html()?;
        Ok::<_, Error>((view.commit, diff, browse::refs_containing(&at)?))
    };
    let (commit, diff, refs) =
        visit.run_shared(|limiter| &limiter.comparisons, &viewer, read).await?;
    let title = commit.title();
    let frame = Frame::of_project(&visit, &viewer, &title, frame_of(&project, "Commits"));
    let ContainingRefs { branches, tags, is_cut } = refs.unwrap_or_default();
    let message = commit.message.split_once('\n').map_or("", |(_, rest)| rest).trim();
    let is_same = commit.author.name == commit.committer.name;
    let committer =
        (!is_same).then(|| (commit.committer.name.clone(), frame.moment(commit.committer.at)));
    let page = CommitPage {
        line: CommitLine::new(&commit, &frame),
        message: message.to_owned(),
        email: commit.author.email.clone(),
        committer,
        parents: commit.parents.iter().map(ToString::to_string).collect(),
        has_more_refs: is_cut || branches.len() > SHOWN_REFS || tags.len() > SHOWN_REFS,
        branches: ref_links(&base, "commits", branches),
        tags: ref_links(&base, "tags", tags),
        diff,
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

fn ref_links(base: &str, page: &str, names: Vec<String>) -> Vec<RefLink> {
    let link =
        |name: String| RefLink { address: format!("{base}/{page}/{}", address::path(&name)), name };
    names.into_iter().take(SHOWN_REFS).map(link).collect()
}

/// The changes as text.
pub(super) async fn plain_diff(visit: Visit) -> PageResult<HttpResponse> {
    as_text(visit, |_, changes| diff::plain_diff(&changes.diffs)).await
}

/// The commit as an e-mail for `git am`.
pub(super) async fn email_patch(visit: Visit) -> PageResult<HttpResponse> {
    as_text(visit, |commit, changes| diff::write_email(commit, &changes.diffs)).await
}

async fn as_text(
    visit: Visit,
    write: fn(&Commit, &Arc<Comparison>) -> String,
) -> PageResult<HttpResponse> {
    let (viewer, Found { project, at, status }) = find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let tag =
        ETag::of_commits(visit.request().path().rsplit('.').next().unwrap_or(""), &[at.commit()]);
    if visit.if_none_match().has(&tag) {
        return Ok(render::not_modified(&tag));
    }
    let read = move || {
        let changes = commits::changes(&at)?;
        Ok::<_, Error>((write(&commits::get(&at, status)?.commit, &changes), changes.overflow))
    };
    let (text, is_incomplete) =
        visit.run_shared(|limiter| &limiter.comparisons, &viewer, read).await?;
    let mut response = render::foreign_bytes("text/plain; charset=utf-8");
    if !is_incomplete {
        tag.put_on(&mut response);
    }
    Ok(response.body(text))
}
