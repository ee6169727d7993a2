//! What visitors do on the page of an issue.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::issue::{self, movement, page};
use hexforge_application::project::page as project_page;
use hexforge_domain::id::IssueId;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::show::{Typed, show_with};
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::pages::discussion::handlers::{DiscussedPage, TypedComment};
use crate::pages::tracker::number;
use crate::render;
use crate::visit::Visit;

/// The page of an issue, for the forms that merge requests have too.
pub(super) struct DiscussedIssue;

impl DiscussedPage for DiscussedIssue {
    fn address(visit: &Visit) -> String {
        let [namespace, project, iid] =
            ["namespace", "project", "iid"].map(|name| visit.param(name));
        address::path(format!("/{namespace}/{project}/issues/{iid}"))
    }

    fn find_id(app: &App, actor: Actor, named: &ProjectRef, iid: i64) -> Result<Issuable, Error> {
        page::find_id(app, actor, named, iid).map(Issuable::Issue)
    }

    async fn show_again(
        visit: &Visit,
        status: StatusCode,
        comment: TypedComment,
    ) -> PageResult<HttpResponse> {
        show_with(visit, status, Typed { comment, ..Typed::default() }).await
    }
}

/// Moves the issue to another project, which is given by its path.
pub(super) async fn move_issue(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let target = visit.form().text("to_project").trim_matches('/').to_owned();
    let typed = Typed { move_to: target.clone(), ..Typed::default() };
    let refused = |faults| {
        let typed = Typed { move_faults: faults, ..typed };
        show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed)
    };
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id: IssueId = page::find_id(app, actor, &named, iid)?;
            let found = match project_page::get(app, actor, &ProjectRef::parse(&target)) {
                Ok(found) => found,
                Err(Error::NotFound(_) | Error::Forbidden(_) | Error::Unauthenticated) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            movement::apply(app, actor, &named, id, Some(found.placed.project.id.0)).map(Some)
        })
        .await?;
    match done {
        Ok(Some(view)) => {
            let address = format!("/{}/issues/{}", view.project_path, view.issue.iid);
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Ok(None) => refused(Faults::of_field("to_project", "doesn't exist")).await,
        Err(faults) => refused(faults).await,
    }
}

pub(super) async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (_, view) = visit
        .run_signed_in(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            issue::delete(app, signed_in.actor, &named, id)
        })
        .await?;
    let address = format!("/{}/issues", view.project_path);
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
