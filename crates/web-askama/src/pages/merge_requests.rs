//! Merge requests of projects.

mod actions;
mod changes;
mod form;
mod list;
mod parts;
mod show;

use crate::table::Pages;

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
    pages.post("/{namespace}/{project}/merge_requests/{iid}/notes", actions::comment);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/notes/{note}", actions::edit_comment);
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/notes/{note}/delete",
        actions::delete_comment,
    );
    pages.post("/{namespace}/{project}/merge_requests/{iid}/merge", actions::merge);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/cancel_merge", actions::cancel_merge);
    pages.post(
        "/{namespace}/{project}/merge_requests/{iid}/notes/{note}/award",
        actions::award_comment,
    );
    pages.post("/{namespace}/{project}/merge_requests/{iid}/award", actions::award);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/todo", actions::todo);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/subscribe", actions::subscribe);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/unsubscribe", actions::unsubscribe);
    pages.post("/{namespace}/{project}/merge_requests/{iid}/delete", actions::delete);
}
