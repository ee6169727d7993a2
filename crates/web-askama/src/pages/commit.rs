//! One commit with its changes.

mod comments;
mod parts;
mod signature;

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::commit::comment;
use hexforge_application::commit::signature::{self as commit_signature, CommitSignature};
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository::browse::{self, ContainingRefs};
use hexforge_application::repository::{self, Readable, Revision, commits};
use hexforge_application::view::note::NoteView;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::Commit;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::Comparison;
use hexforge_http_edge::conditional::ETag;

use super::conditions::{self, Conditions};
use super::project::{CommitLine, frame_of, missing, other_spelling};
use crate::address;
use crate::diff::{self, DiffHtml, DiffOptions, DiffView, LineNote};
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::Frame;
use crate::markdown::CleanHtml;
use crate::moment::Moment;
use crate::prose::{Prose, ProseRenderer};
use crate::render;
use crate::table::Pages;
use crate::visible;
use crate::visit::{Viewer, Visit};
use comments::Comment;
use signature::SignatureShown;
pub(super) use signature::format_name;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/commit/{sha}/branches", parts::branches);
    pages.get("/{namespace}/{project}/commit/{sha}/builds", parts::builds);
    pages.get("/{namespace}/{project}/commit/{sha}/comment", comments::form);
    pages.post("/{namespace}/{project}/commit/{sha}/comment", comments::create);
    pages.get("/{namespace}/{project}/commit/{sha}.diff", plain_diff);
    pages.get("/{namespace}/{project}/commit/{sha}.patch", email_patch);
    pages.get("/{namespace}/{project}/commit/{sha}", show);
}

/// The comments that are shown.
const NOTES: u64 = 100;

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
    title: CleanHtml,
    message: Option<CleanHtml>,
    email: String,
    /// The committer and the date, if they differ from those of the author.
    committer: Option<(String, Moment)>,
    parents: Vec<String>,
    signature: Option<SignatureShown>,
    branches: Vec<RefLink>,
    tags: Vec<RefLink>,
    has_more_refs: bool,
    /// The state of its pipelines.
    status: Option<&'static str>,
    diff: DiffHtml,
    notes: Vec<Comment>,
    more_notes: u64,
    may_comment: bool,
    text: String,
    faults: Faults,
}

/// The commit that an address names.
pub(super) struct Found {
    pub(super) project: ProjectPage,
    pub(super) readable: Readable,
    pub(super) at: Revision,
    pub(super) status: Option<Status>,
}

impl Found {
    /// Finds the commit. A name that is not an id is not one of a commit.
    pub(super) fn read(app: &App, actor: Actor, place: &Named) -> Result<Self, Error> {
        let Named { project: named, client, sha } = place;
        let project = project_page::get(app, actor, named)?;
        let readable = repository::readable(app, actor, *client, named)?;
        let is_id = (7..=40).contains(&sha.len()) && sha.bytes().all(|one| one.is_ascii_hexdigit());
        if !is_id {
            return Err(missing());
        }
        let at = repository::revision(app, &readable, sha)?.ok_or_else(missing)?;
        let status = match project.may_build(CiAbility::ReadPipelines) {
            true => commits::status(app, &readable, &at)?,
            false => None,
        };
        Ok(Self { project, readable, at, status })
    }
}

/// The project and the commit in an address.
#[derive(Clone)]
pub(super) struct Named {
    project: ProjectRef,
    client: Option<IpAddr>,
    sha: String,
}

impl Named {
    pub(super) fn of(visit: &Visit) -> Self {
        Self { project: visit.project(), client: visit.address(), sha: visit.param("sha") }
    }
}

async fn find(visit: &Visit) -> PageResult<(Viewer, Found)> {
    let named = Named::of(visit);
    visit.run(move |app, viewer| Found::read(app, viewer.actor(), &named)).await
}

/// What a page of a commit reads from the database.
enum Read {
    Commit(Box<(Found, Texts, Option<ETag>)>),
    Unchanged(Option<ETag>),
}

/// The texts of a commit with their links, and the comments.
struct Texts {
    commit: Commit,
    title: CleanHtml,
    message: Option<CleanHtml>,
    notes: Vec<(NoteView, Prose)>,
    total: u64,
    signature: Option<CommitSignature>,
}

impl Texts {
    fn read(
        app: &App,
        actor: Actor,
        found: &Found,
        (commit, signature): (Commit, Option<CommitSignature>),
        notes: Paged<NoteView>,
    ) -> Result<Self, Error> {
        let path = found.project.path();
        let named = ProjectRef::Id(found.readable.project_id());
        let mut texts = vec![commit.message.as_str()];
        texts.extend(notes.items.iter().map(|view| view.note.body.as_str()));
        let mut renderer = match ProseRenderer::new(app, actor, &named, &path, &texts) {
            Err(Error::Unauthenticated) => ProseRenderer::new(app, actor, &named, &path, &[])?,
            renderer => renderer?,
        };
        let title = commit.title();
        let title = if title.trim().is_empty() { "(no message)" } else { title.as_str() };
        let message = commit.message.split_once('\n').map_or("", |(_, rest)| rest).trim();
        let total = notes.total;
        let notes = notes.items.into_iter();
        Ok(Self {
            title: renderer.link(&visible::line(title)),
            message: (!message.is_empty()).then(|| renderer.link(message)),
            notes: notes
                .map(|view| {
                    let body = renderer.render(view.note.body.as_str());
                    (view, body)
                })
                .collect(),
            total,
            signature,
            commit,
        })
    }
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    show_with(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_with(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let (named, conditions) = (Named::of(visit), Conditions::of(visit));
    let read = move |app: &App, viewer: &Viewer| {
        let found = Found::read(app, viewer.actor(), &named)?;
        let page = Page::Numbered { number: 1, size: NOTES };
        let notes = match comment::list(app, &found.readable, &found.at, page) {
            // Comments are shown to those who are signed in, as the API does.
            Err(Error::Unauthenticated) => Paged { items: vec![], total: 0 },
            notes => notes?,
        };
        let id = found.at.commit();
        let refs = browse::refs_state(&found.at);
        let commit = commits::one(&found.at)?;
        let signature = commit_signature::check(app, &found.at, &commit)?;
        let others = format!("{:?} {notes:?} {signature:?}", found.status).into_bytes();
        let others = [others, refs].concat();
        let name = id.to_string();
        let tag = conditions.tag_with(app, viewer, &found.project, (&name, id), &others);
        if conditions.has(tag.as_ref()) {
            return Ok(Read::Unchanged(tag));
        }
        let texts = Texts::read(app, viewer.actor(), &found, (commit, signature), notes)?;
        Ok(Read::Commit(Box::new((found, texts, tag))))
    };
    let (viewer, (found, texts, tag)) = match visit.run(read).await? {
        (viewer, Read::Commit(read)) => (viewer, *read),
        (_, Read::Unchanged(tag)) => return Ok(conditions::unchanged(tag)),
    };
    let Found { project, at, status: pipelines, .. } = found;
    if let Some(redirect) = other_spelling(visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let may_comment = project.may_comment_on_commits();
    let mut options = DiffOptions::of(visit).with_files_at(&base, at.commit());
    if may_comment {
        let form = format!("{base}/commit/{}/comment", at.commit());
        options = options.with_comments_on_changed_lines_at(form);
    }
    let Texts { commit, title, message, notes, total, signature } = texts;
    let what = visible::line(&commit.title());
    let frame = Frame::of_project(visit, &viewer, &what, frame_of(&project, "Commits"));
    // The discussion is on the same page.
    let on_line = |(view, body): &(NoteView, Prose)| LineNote::new(view, body.clone(), &frame, "");
    let on_lines: Vec<LineNote> = notes.iter().filter_map(on_line).collect();
    let read = move || {
        let view = commits::get(&at, None)?;
        let changes = commits::changes(&at)?;
        let options = options.with_content(|path, max| repository::head_at(&at, path, max))?;
        let diff = DiffView::of_comparison(&changes, &options).with_notes(on_lines);
        let diff = diff.with_stats(changes.diffs.len(), &view.stats).to_html()?;
        Ok::<_, Error>((diff, browse::refs_containing(&at)?))
    };
    let (diff, refs) = visit.run_shared(|limiter| &limiter.comparisons, &viewer, read).await?;
    let has_refs = refs.is_some();
    let ContainingRefs { branches, tags, is_cut } = refs.unwrap_or_default();
    let (author, committer) = (&commit.author, &commit.committer);
    let is_same = author.name == committer.name && author.email == committer.email;
    let committer = (!is_same).then(|| {
        let who = format!("{} <{}>", committer.name, committer.email);
        (visible::name(&who), frame.moment(committer.at))
    });
    let shown = notes.len() as u64;
    let page = CommitPage {
        line: CommitLine::new(&commit, &frame),
        title,
        message,
        email: visible::name(&commit.author.email),
        committer,
        parents: commit.parents.iter().map(ToString::to_string).collect(),
        signature: signature.map(SignatureShown::from),
        has_more_refs: !has_refs
            || is_cut
            || branches.len() > SHOWN_REFS
            || tags.len() > SHOWN_REFS,
        branches: ref_links(&base, "commits", branches, SHOWN_REFS),
        tags: ref_links(&base, "tags", tags, SHOWN_REFS),
        status: pipelines.map(Status::as_str),
        diff,
        notes: notes.into_iter().map(|(view, body)| Comment::new(&view, body, &frame)).collect(),
        more_notes: total.saturating_sub(shown),
        may_comment,
        text: visit.form().raw("note").to_owned(),
        faults,
        base,
        frame,
    };
    Ok(conditions::tagged(render::page_with(status, visit, &viewer, &page), tag))
}

fn ref_links(base: &str, page: &str, names: Vec<String>, most: usize) -> Vec<RefLink> {
    let link = |name: String| RefLink {
        address: format!("{base}/{page}/{}", address::path(&name)),
        name: visible::name(&name),
    };
    names.into_iter().take(most).map(link).collect()
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
    let (viewer, Found { project, at, .. }) = find(&visit).await?;
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
        Ok::<_, Error>((write(&commits::one(&at)?, &changes), changes.overflow))
    };
    let (text, is_incomplete) =
        visit.run_shared(|limiter| &limiter.comparisons, &viewer, read).await?;
    let mut response = render::foreign_bytes("text/plain; charset=utf-8");
    if !is_incomplete {
        tag.put_on(&mut response);
    }
    Ok(response.body(text))
}
