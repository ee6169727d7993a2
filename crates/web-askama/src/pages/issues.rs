//! Issues of projects.

mod actions;
mod form;
mod list;
mod show;

use crate::table::Pages;

pub(super) use list::{IssueRow, query_of, state_of, tabs};
pub(super) use show::CommentForm;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/issues", list::list);
    pages.get("/{namespace}/{project}/issues.atom", list::feed);
    pages.get("/{namespace}/{project}/issues/new", form::new);
    pages.post("/{namespace}/{project}/issues/bulk", list::change_several);
    pages.post("/{namespace}/{project}/issues", form::create);
    pages.get("/{namespace}/{project}/issues/{iid}", show::show);
    pages.get("/{namespace}/{project}/issues/{iid}/edit", form::edit);
    pages.post("/{namespace}/{project}/issues/{iid}/edit", form::update);
    pages.post("/{namespace}/{project}/issues/{iid}/notes", actions::comment);
    pages.post("/{namespace}/{project}/issues/{iid}/notes/{note}", actions::edit_comment);
    pages.post("/{namespace}/{project}/issues/{iid}/notes/{note}/delete", actions::delete_comment);
    pages.post("/{namespace}/{project}/issues/{iid}/notes/{note}/award", actions::award_comment);
    pages.post("/{namespace}/{project}/issues/{iid}/award", actions::award);
    pages.post("/{namespace}/{project}/issues/{iid}/todo", actions::todo);
    pages.post("/{namespace}/{project}/issues/{iid}/subscribe", actions::subscribe);
    pages.post("/{namespace}/{project}/issues/{iid}/unsubscribe", actions::unsubscribe);
    pages.post("/{namespace}/{project}/issues/{iid}/move", actions::move_issue);
    pages.post("/{namespace}/{project}/issues/{iid}/delete", actions::delete);
}
