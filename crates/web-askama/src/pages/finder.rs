//! Finds files of a revision by their names.

use actix_web::HttpResponse;
use actix_web::http::header::ContentType;
use askama::Template;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::repository::ref_path::Located;
use hexforge_application::repository::{Revision, browse};
use hexforge_domain::repository::FilePaths;
use hexforge_domain::repository::path::shown;
use hexforge_http_edge::conditional::ETag;

use super::conditions::{self, Conditions};
use super::file::{Address, Place, find_place, run_at};
use super::project::{frame_of, missing, other_spelling};
use crate::address;
use crate::error::{PageError, PageResult};
use crate::frame::Frame;
use crate::render;
use crate::visible;
use crate::visit::{Viewer, Visit};

/// The files that a page lists.
const SHOWN: usize = 200;

struct Row {
    path: String,
    address: String,
}

#[derive(Template)]
#[template(path = "find_file.html")]
struct FindFile {
    frame: Frame,
    revision: String,
    search: String,
    rows: Vec<Row>,
    has_more: bool,
}

/// Finds a revision. A path in it is not searched.
async fn find(visit: &Visit, place: Address) -> PageResult<(Viewer, ProjectPage, Located)> {
    let (viewer, Place { project, located }) =
        run_at(visit, move |app, viewer| find_place(app, viewer.actor(), &place)).await?;
    match located.path.is_empty() {
        true => Ok((viewer, project, located)),
        false => Err(PageError::of(missing(), viewer, false)),
    }
}

async fn list(visit: &Visit, viewer: &Viewer, at: Revision) -> PageResult<FilePaths> {
    let work = move || browse::file_paths(&at);
    visit.run_shared(|limiter| &limiter.comparisons, viewer, work).await
}

/// The page, which lists the files whose paths contain all words of the search.
pub(super) async fn page(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, project, located) = find(&visit, Address::of(&visit)).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, .. } = located;
    let conditions = Conditions::of(&visit);
    let tag = conditions.tag(visit.app(), &viewer, &project, &name, at.commit());
    if conditions.has(tag.as_ref()) {
        return Ok(conditions::unchanged(tag));
    }
    let found = list(&visit, &viewer, at).await?;
    let search = visit.query("search").unwrap_or_default().to_owned();
    let base = format!("/{}", project.path());
    let words: Vec<String> = search.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let is_found = |path: &&String| {
        let path = path.to_lowercase();
        words.iter().all(|word| path.contains(word))
    };
    let mut matching = found.paths.iter().filter(is_found);
    let row = |path: &String| Row {
        address: format!("{base}/blob/{}", address::path(format!("{name}/{path}"))),
        path: visible::name(path),
    };
    let rows: Vec<Row> = matching.by_ref().take(SHOWN).map(row).collect();
    let page = FindFile {
        frame: Frame::of_project(&visit, &viewer, "Find file", frame_of(&project, "Files")),
        has_more: found.is_cut || matching.next().is_some(),
        revision: visible::name(&name),
        search,
        rows,
    };
    Ok(conditions::tagged(render::page(&visit, &viewer, &page)?, tag))
}

/// All paths as JSON, for scripts.
pub(super) async fn json(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let Some(rest) = place.rest.strip_suffix(".json").map(str::to_owned) else {
        return Err(visit.not_found().await);
    };
    let place = Address { rest, ..place };
    let (viewer, project, located) = find(&visit, place).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let tag = ETag::of_commits("files", &[located.at.commit()]);
    if visit.if_none_match().has(&tag) {
        return Ok(render::not_modified(&tag));
    }
    let found = list(&visit, &viewer, located.at).await?;
    let paths: Vec<_> = found.paths.iter().map(|path| shown(path)).collect();
    let json =
        serde_json::to_string(&paths).map_err(|error| PageError::internal(&error.to_string()))?;
    let mut response = render::foreign_bytes("application/json");
    tag.put_on(&mut response);
    Ok(response.content_type(ContentType::json()).body(json))
}
