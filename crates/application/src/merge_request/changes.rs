//! The changes of a merge request, with the notes on their lines.

use hexforge_domain::paging::Paged;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::project::ProjectRef;

use super::version::OpenVersion;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::merge_request::{self as view, MergeRequestView};
use crate::view::note::{self as note_view, NoteView};

/// The maximum number of notes that the page of the changes shows. The discussion has all of them.
pub const MAX_LINE_NOTES: u32 = 200;

/// A merge request with its newest version and the notes on lines.
pub struct RequestChanges {
    pub view: MergeRequestView,
    pub version: OpenVersion,
    /// The newest notes on lines, oldest first. Their lines may have vanished from the changes since.
    pub line_notes: Vec<NoteView>,
    /// Whether there are older notes on lines.
    pub has_more_line_notes: bool,
}

/// Returns the changes of the merge request with this number in a project. Who may read the request may read its notes:
/// notes on lines are comments, and only notes about mentions have a permission of their own.
pub fn open(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
) -> Result<RequestChanges, Error> {
    let user = access::own_account(actor)?;
    let (view, version, notes) = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let found = tx.merge_requests().find_by_iids(tracker.project.id, &[iid])?.pop();
        let request = found.ok_or(Error::NotFound(Entity::Record))?;
        tracker.require_on(MergeRequestAbility::Read, &request)?;
        let version = tx.merge_requests().newest_version(request.id)?;
        // One more than the page shows, to know whether there are more.
        let notes = tx.notes().on_lines(request.id, MAX_LINE_NOTES + 1)?;
        let notes = note_view::page(tx, Paged { total: notes.len() as u64, items: notes })?;
        Ok::<_, Error>((view::load(tx, user, &tracker.project, request)?, version, notes))
    })?;
    let version = OpenVersion::open(app, actor, view.request.project(), version)?;
    let mut line_notes = notes.items;
    line_notes.truncate(MAX_LINE_NOTES as usize);
    line_notes.reverse();
    let has_more_line_notes = notes.total > u64::from(MAX_LINE_NOTES);
    Ok(RequestChanges { view, version, line_notes, has_more_line_notes })
}
