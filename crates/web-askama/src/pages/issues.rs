//! Issues of projects.

mod actions;
mod form;
mod list;
mod show;

use super::discussion::handlers;
use crate::table::Pages;
use actions::DiscussedIssue;

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
    pages.post("/{namespace}/{project}/issues/{iid}/notes", handlers::comment::<DiscussedIssue>);
    pages.post(
        "/{namespace}/{project}/issues/{iid}/notes/{note}",
        handlers::edit_comment::<DiscussedIssue>,
    );
    pages.post(
        "/{namespace}/{project}/issues/{iid}/notes/{note}/delete",
        handlers::delete_comment::<DiscussedIssue>,
    );
    pages.post(
        "/{namespace}/{project}/issues/{iid}/notes/{note}/award",
        handlers::award_comment::<DiscussedIssue>,
    );
    pages.post("/{namespace}/{project}/issues/{iid}/award", handlers::award::<DiscussedIssue>);
    pages.post("/{namespace}/{project}/issues/{iid}/todo", handlers::todo::<DiscussedIssue>);
    pages.post(
        "/{namespace}/{project}/issues/{iid}/subscribe",
        handlers::subscribe::<DiscussedIssue>,
    );
    pages.post(
        "/{namespace}/{project}/issues/{iid}/unsubscribe",
        handlers::unsubscribe::<DiscussedIssue>,
    );
    pages.post("/{namespace}/{project}/issues/{iid}/move", actions::move_issue);
    pages.post("/{namespace}/{project}/issues/{iid}/delete", actions::delete);
}
