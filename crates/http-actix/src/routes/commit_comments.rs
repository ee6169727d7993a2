//! Comments on commits. Permission to read the code is checked before the parameters.

use actix_web::{HttpResponse, web};
use hexforge_application::commit::comment::{self, CommentFields, LineFields};
use hexforge_application::error::{Entity, Error};
use hexforge_application::repository;
use hexforge_domain::repository::LineSide;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::comment::CommentJson;
use crate::error::{ApiError, ApiResult};
use crate::openapi::Param;
use crate::params::{Parameter, Parameters, Reader, declared, nested, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let all = "/projects/{id}/repository/commits/{sha}/comments";
    let list = call::get(all, "Lists the comments on a commit, oldest first", list);
    calls.add(list.list::<CommentJson<'_>>());
    let create = call::post(all, "Comments on a commit, or on a line of its diff", create);
    calls.add(create.created::<CommentJson<'_>>());
}

parameters! {
    struct NewComment {
        sha: String = declared::commit_in_path("sha"),
        note: String = declared::text("note", limit::LONG).needed(),
        line: Line = nested::<Line>(),
    }
}

/// The line of the diff, if a path is given. Without a path its other parameters are ignored.
struct Line(Option<LineFields>);

const SIDES: &[&str] = &["new", "old"];

impl Parameters for Line {
    fn read(from: &mut Reader<'_>) -> Self {
        let path = declared::text("path", limit::LOOKUP).read(from);
        let Some(path) = path.filter(|path| !path.trim().is_empty()) else { return Self(None) };
        from.require("line");
        let number = declared::integer("line").read(from);
        let side = match declared::one_of("line_type", SIDES).read(from) {
            Some("old") => LineSide::Old,
            Some(_) | None => LineSide::New,
        };
        Self(number.map(|number| LineFields { path, number, side }))
    }

    fn describe(to: &mut Vec<Param>) {
        declared::text("path", limit::LOOKUP).describe(to);
        declared::integer("line").describe(to);
        declared::one_of("line_type", SIDES).describe(to);
    }
}

async fn list(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), address) = (path.into_inner(), api.peer());
    let page = api.page();
    let notes = api
        .run_unread(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            let at = repository::revision(app, &project, &sha)?;
            let at = at.ok_or(Error::NotFound(Entity::Commit))?;
            Ok(comment::list(app, &project, &at, page)?)
        })
        .await?;
    respond::paged(&api, page, notes.as_ref().map(|view| CommentJson::new(view, api.links())))
}

async fn create(api: Api<NewComment>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let address = api.peer();
    let (actor, project, at, fields) = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let NewComment { sha, note, line: Line(line) } = unread.read()?;
            let at = repository::revision(app, &project, &sha)?;
            let at = at.ok_or(Error::NotFound(Entity::Commit))?;
            Ok((actor, project, at, CommentFields { note, line }))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let found = move || {
        let line = comment::find_line(&at, fields.line.as_ref())?;
        Ok((at, line, fields))
    };
    let (at, line, fields) = api.run_permitted(permit, found).await?;
    let made = api
        .run_unread(move |app, _, _| {
            comment::create(app, &project, &at, line.as_ref(), &fields)
                .map_err(|error| ApiError::sentence("Failed to save note", error))
        })
        .await?;
    respond::created(CommentJson::new(&made, api.links()))
}
