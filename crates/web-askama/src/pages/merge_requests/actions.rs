//! What visitors do on the page of a merge request.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::merge_request::merge::{self as merging, MergeWishes};
use hexforge_application::merge_request::{self, automatic, page};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::LongText;

use super::show::{Typed, show_with};
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::pages::discussion::handlers::{DiscussedPage, TypedComment};
use crate::pages::tracker::number;
use crate::render;
use crate::visit::Visit;

/// The page of a merge request, for the forms that issues have too.
pub(super) struct DiscussedRequest;

impl DiscussedPage for DiscussedRequest {
    fn address(visit: &Visit) -> String {
        let [namespace, project, iid] =
            ["namespace", "project", "iid"].map(|name| visit.param(name));
        address::path(format!("/{namespace}/{project}/merge_requests/{iid}"))
    }

    fn find_id(app: &App, actor: Actor, named: &ProjectRef, iid: i64) -> Result<Issuable, Error> {
        page::find_id(app, actor, named, iid).map(Issuable::MergeRequest)
    }

    async fn show_again(
        visit: &Visit,
        status: StatusCode,
        comment: TypedComment,
    ) -> PageResult<HttpResponse> {
        show_with(visit, status, Typed { comment, ..Typed::default() }).await
    }
}

fn saved(visit: &Visit) -> HttpResponse {
    render::see_other_with(visit, &DiscussedRequest::address(visit), Notice::Saved)
}

/// Merges the request, or remembers to merge it when its pipeline succeeds.
pub(super) async fn merge(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let form = visit.form();
    let message = form.raw("merge_commit_message").to_owned();
    let (remove, wait) =
        (form.is_set("should_remove_source_branch"), form.is_set("merge_when_build_succeeds"));
    let sha = Some(form.text("sha").to_owned()).filter(|sha| !sha.is_empty());
    let typed = Typed { message: Some(message.clone()), ..Typed::default() };
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id = page::find_id(app, actor, &named, iid)?;
            let too_long = |problem| FieldErrors::single("merge_commit_message", problem);
            let given = Some(message.as_str()).filter(|text| !text.trim().is_empty());
            let wishes = MergeWishes {
                message: given.map(LongText::parse).transpose().map_err(too_long)?,
                remove_source_branch: Some(remove),
                when_build_succeeds: wait,
                sha: sha.clone(),
            };
            merging::merge(app, actor, &named, id, &wishes)
        })
        .await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => {
            let typed = Typed { merge_faults: faults, ..typed };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Cancels the merge that waits for a pipeline.
pub(super) async fn cancel_merge(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            automatic::cancel(app, signed_in.actor, &named, id)
        })
        .await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => {
            let typed = Typed { merge_faults: faults, ..Typed::default() };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

pub(super) async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (_, view) = visit
        .run_signed_in(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            merge_request::delete(app, signed_in.actor, &named, id)
        })
        .await?;
    let address = format!("/{}/merge_requests", view.project_path);
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
