//! Records changes of merge requests: system notes and hook events.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::EventAction;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::note::{NewNote, Note};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::merge_request::{
    HookedRequest, MergeRequestAction, MergeRequestEvent, MergeRequestRow, RequestNoteEvent,
};
use hexforge_domain::outbox::project::{NoteRow, ProjectEvent};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;

use super::RequestEditor;
use crate::issue::activity::{self, EventSubject, person};
use crate::view::project as project_view;

impl RequestEditor<'_> {
    /// Adds a system note about a change of a merge request.
    pub(crate) fn add_note(
        self,
        tx: &mut dyn Tx,
        request: &MergeRequest,
        note: &SystemNote<'_>,
    ) -> Result<(), StoreError> {
        let new = NewNote {
            project: request.project(),
            on: request.id.into(),
            position: None,
            author: self.user,
            body: note.body(),
            system: true,
            source: None,
            created_at: self.now,
            at: self.now,
        };
        tx.notes().insert(new).map(drop)
    }

    /// Writes the activity event about a merge request.
    pub(crate) fn record_event(
        self,
        tx: &mut dyn Tx,
        request: &MergeRequest,
        action: EventAction,
    ) -> Result<(), StoreError> {
        let about = EventSubject::MergeRequest(request);
        activity::record_event(tx, self.user, action, about, self.now)
    }

    /// Records a hook event for a change of a merge request. `old_head` is the previous tip of the source branch, if
    /// the change is a push.
    pub(crate) fn record_hook_event(
        self,
        tx: &mut dyn Tx,
        request: &MergeRequest,
        action: MergeRequestAction,
        old_head: Option<ObjectId>,
    ) -> Result<(), StoreError> {
        let user = person(tx, self.user)?;
        let assignee = match request.assignee {
            Some(assignee) => Some(person(tx, assignee)?),
            None => None,
        };
        let request = self.hooked(tx, request)?;
        let event = MergeRequestEvent { action, user, request, assignee, old_head };
        let event = SystemEvent::InProject(Box::new(ProjectEvent::MergeRequest(event)));
        tx.outbox().record(&event, self.now)
    }

    /// Records a hook event for a new note on a merge request.
    pub(crate) fn record_note_hook_event(
        self,
        tx: &mut dyn Tx,
        request: &MergeRequest,
        note: &Note,
    ) -> Result<(), StoreError> {
        let user = person(tx, note.author)?;
        let (note, request) = (NoteRow::from(note), self.hooked(tx, request)?);
        let event = ProjectEvent::NoteOnMergeRequest(RequestNoteEvent { user, note, request });
        tx.outbox().record(&SystemEvent::InProject(Box::new(event)), self.now)
    }

    /// Returns a merge request with its projects as hook payloads show it.
    fn hooked(self, tx: &mut dyn Tx, request: &MergeRequest) -> Result<HookedRequest, StoreError> {
        let target = project_view::with_namespace(tx, self.project.clone())?.card();
        let source = if request.ends.is_from_fork() {
            match tx.projects().find(&ProjectRef::Id(request.ends.source_project))? {
                Some(source) => Some(project_view::with_namespace(tx, source)?.card()),
                None => None,
            }
        } else {
            Some(target.clone())
        };
        let last_commit = self.head.last_commit(request)?;
        Ok(HookedRequest { row: MergeRequestRow::from(request), source, target, last_commit })
    }
}
