//! Protected branches.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::branch::protect::{self, DeveloperFields};
use hexforge_application::error::Error;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::repository;
use hexforge_domain::branch::protection::Protection;

use super::super::project::other_spelling;
use super::{administered, after_button, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const PAGE: &str = "protected_branches";

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/protected_branches", show);
    pages.post("/{namespace}/{project}/protected_branches", protect_branch);
    pages.post("/{namespace}/{project}/protected_branches/remove", unprotect);
}

/// A protection in the table.
struct Row {
    number: usize,
    name: String,
    merge: &'static str,
    push: &'static str,
    merge_choices: Vec<Choice>,
    push_choices: Vec<Choice>,
}

#[derive(Template)]
#[template(path = "protected_branches.html")]
struct ProtectedPage {
    frame: Frame,
    base: String,
    faults: Faults,
    branches: Vec<Choice>,
    merge: Vec<Choice>,
    push: Vec<Choice>,
    rows: Vec<Row>,
}

/// The project, its branches, and its protections.
type Loaded = (ProjectPage, Vec<String>, Vec<Protection>);

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let (named, client) = (visit.project(), visit.address());
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            let protections = protect::list(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            let at = repository::revision_or_default(app, &readable, None)?;
            let names = at.map(|at| repository::branch_names(&at)).unwrap_or_default();
            Ok((project, names, protections))
        })
        .await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    Ok(page(&visit, &viewer, StatusCode::OK, loaded, Faults::default()))
}

fn who(is_for_developers: bool) -> &'static str {
    if is_for_developers { "Developers and masters" } else { "Masters" }
}

/// The value of a choice.
fn word_of(is_for_developers: bool) -> &'static str {
    if is_for_developers { "developers" } else { "masters" }
}

/// The choices of who may push or merge.
fn levels(chosen: &str) -> Vec<Choice> {
    let choice = |value: &str, label| Choice::new(value, label, chosen == value);
    [false, true].map(|developers| choice(word_of(developers), who(developers))).into()
}

fn page(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, names, protections): Loaded,
    faults: Faults,
) -> HttpResponse {
    let form = visit.form();
    let chosen = form.text("branch");
    let is_protected = |name: &str| protections.iter().any(|known| known.pattern == name);
    let open: Vec<String> = names.into_iter().filter(|name| !is_protected(name)).collect();
    let level = |name: &str| form.given(name).unwrap_or("masters").to_owned();
    let page = ProtectedPage {
        frame: frame(visit, viewer, &project, "Protected branches"),
        base: format!("/{}", project.path()),
        faults,
        branches: Choice::branches(&open, chosen),
        merge: levels(&level("merge")),
        push: levels(&level("push")),
        rows: protections
            .iter()
            .enumerate()
            .map(|(number, known)| Row {
                number,
                name: known.pattern.clone(),
                merge: who(known.developers.merge),
                push: who(known.developers.push),
                merge_choices: levels(word_of(known.developers.merge)),
                push_choices: levels(word_of(known.developers.push)),
            })
            .collect(),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn protect_branch(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form());
    let branch = form.text("branch").to_owned();
    let is_for_developers = |name: &str| Some(form.text(name) == "developers");
    let rights =
        DeveloperFields { push: is_for_developers("push"), merge: is_for_developers("merge") };
    let (_, done) = visit
        .submit(move |app, signed_in| {
            administered(app, signed_in.actor, &named)?;
            match protect::protect(app, signed_in.actor, &named, &branch, rights) {
                Ok(_) => Ok(Ok(())),
                Err(Error::NotFound(_) | Error::Missing(_)) => {
                    Ok(Err(Faults::of_field("branch", "doesn't exist")))
                }
                Err(error) => Err(error),
            }
        })
        .await?;
    match done.and_then(|done| done) {
        Ok(()) => to_page(&visit, PAGE, Notice::Saved),
        Err(faults) => {
            let (viewer, loaded) = load(&visit).await?;
            Ok(page(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, faults))
        }
    }
}

async fn unprotect(visit: Visit) -> PageResult<HttpResponse> {
    let (named, branch) = (visit.project(), visit.form().text("branch").to_owned());
    let (_, done) = visit
        .submit(move |app, signed_in| protect::remove(app, signed_in.actor, &named, &branch))
        .await?;
    after_button(&visit, PAGE, done, Notice::Saved)
}
