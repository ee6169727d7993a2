//! Merge requests of projects.

mod actions;
mod changes;
mod form;
mod list;
mod parts;
mod show;

use super::discussion::handlers;
use crate::table::Pages;
use actions::DiscussedRequest;

pub(super) use list::{RequestRow, query_of, state_name, state_of, tabs};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/merge_requests", list::list);
    pages.get("/{namespace}/{project}/merge_requests/new", form::new);
    pages.post("/{namespace}/{project}/merge_requests", form::create);
    pages.get("/{namespace}/{project}/merge_requests/{iid}.diff", changes::plain_diff);
    pages.get("/{namespace}/{project}/merge_requests/{iid}.patch", changes::email_patches);
    pages.get("/{namespace}/{project}/merge_requests/{iid}", show::show);
    pages.get("/{namespace}/{project}/merge_requests/{iid}/diffs", changes::diffs);
    pages.get("/{namespace}/{project}/merge_requests/{iid}/diffs/comment", changes::comment_form);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/diffs/comment", changes::comment);
    pages.get("/{namespace}/{project}/merge_requests/{iid}/commits", parts::commits);
    pages.get("/{namespace}/{project}/merge_requests/{iid}/pipelines", parts::pipelines);
    pages.get("/{namespace}/{project}/merge_requests/{iid}/builds", parts::builds);
    pages.get("/{namespace}/{project}/merge_requests/{iid}/edit", form::edit);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/edit", form::update);
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/notes",
        handlers::comment::<DiscussedRequest>,
    );
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/notes/{note}",
        handlers::edit_comment::<DiscussedRequest>,
    );
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/notes/{note}/delete",
        handlers::delete_comment::<DiscussedRequest>,
    );
    pages.post("/{namespace}/{project}/merge_requests/{iid}/merge", actions::merge);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/cancel_merge", actions::cancel_merge);
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/notes/{note}/award",
        handlers::award_comment::<DiscussedRequest>,
    );
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/award",
        handlers::award::<DiscussedRequest>,
    );
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/todo",
        handlers::todo::<DiscussedRequest>,
    );
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/subscribe",
        handlers::subscribe::<DiscussedRequest>,
    );
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/unsubscribe",
        handlers::unsubscribe::<DiscussedRequest>,
    );
    pages.post("/{namespace}/{project}/merge_requests/{iid}/delete", actions::delete);
}
