//! The outbox: the kind of each event in one column, its JSON in another.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::OutboxId;
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::outbox::project::ProjectEvent;
use hexforge_domain::outbox::{OutboxBatch, OutboxEntry, ProjectFacts, SystemEvent};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend;
use crate::database::json::{from_text, to_text};
use crate::database::schema::outbox;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::hooks::outbox_system::MovedProject;
use crate::query::sql::Sql;

impl Outbox for DieselTx<'_> {
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError> {
        let (kind, payload) = to_row(event);
        let values = (
            outbox::kind.eq(kind),
            outbox::payload.eq(payload),
            outbox::created_at.eq(to_naive(at)),
        );
        self.run(|conn| diesel::insert_into(outbox::table).values(values).execute(conn))?;
        self.has_outbox_rows = true;
        Ok(())
    }

    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError> {
        let rows: Vec<(i64, String, String, NaiveDateTime)> =
            self.run(|conn| outbox::table.order(outbox::id).limit(i64::from(limit)).load(conn))?;
        let mut entries = Vec::with_capacity(rows.len());
        for (id, kind, payload, at) in rows {
            let event = from_row(&kind, &payload).ok_or(StoreError::Corrupt("outbox entry"));
            let event = self.fail_on_error(event)?;
            entries.push(OutboxEntry { id: OutboxId(id), event, at: to_utc(at) });
        }
        Ok(entries)
    }

    fn any(&mut self) -> Result<bool, StoreError> {
        let first: Option<i64> =
            self.run(|conn| outbox::table.select(outbox::id).limit(1).get_result(conn).optional())?;
        Ok(first.is_some())
    }

    fn next(&mut self, behind: Option<OutboxId>, limit: u32) -> Result<OutboxBatch, StoreError> {
        // An advisory lock serializes readers. Otherwise two of them would handle the same entries.
        self.run(|conn| backend::lock_name(conn, "outbox"))?;
        let behind = behind.map_or(0, |id| id.0);
        let rows: Vec<(i64, String, String, NaiveDateTime)> = self.run(|conn| {
            outbox::table
                .filter(outbox::id.gt(behind))
                .order(outbox::id)
                .limit(i64::from(limit))
                .load(conn)
        })?;
        let last = rows.last().map(|(id, ..)| OutboxId(*id));
        let read = |(id, kind, payload, at): (i64, String, String, NaiveDateTime)| {
            let event = from_row(&kind, &payload)?;
            Some(OutboxEntry { id: OutboxId(id), event, at: to_utc(at) })
        };
        Ok(OutboxBatch { entries: rows.into_iter().filter_map(read).collect(), last })
    }

    fn remove(&mut self, ids: &[OutboxId]) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = ids.iter().map(|id| id.0).collect();
        self.execute(Sql::new("DELETE FROM outbox WHERE id IN (").ids(ids).sql(")"))
    }
}

/// Returns the kind and the JSON payload of an event.
fn to_row(event: &SystemEvent) -> (&'static str, String) {
    let moved = |project: &ProjectFacts, before: &String| {
        to_text(&MovedProject { project: project.clone(), before: before.clone() })
    };
    match event {
        SystemEvent::UserCreated(user) => ("user_create", to_text(user)),
        SystemEvent::UserDestroyed(user) => ("user_destroy", to_text(user)),
        SystemEvent::KeyCreated(key) => ("key_create", to_text(key)),
        SystemEvent::KeyDestroyed(key) => ("key_destroy", to_text(key)),
        SystemEvent::DeployKeyCreated(key) => ("deploykey_create", to_text(key)),
        SystemEvent::DeployKeyDestroyed(key) => ("deploykey_destroy", to_text(key)),
        SystemEvent::ProjectCreated(project) => ("project_create", to_text(project)),
        SystemEvent::ProjectDestroyed(project) => ("project_destroy", to_text(project)),
        SystemEvent::ProjectRenamed(project, before) => ("project_rename", moved(project, before)),
        SystemEvent::ProjectTransferred(project, before) => {
            ("project_transfer", moved(project, before))
        }
        SystemEvent::TeamMemberAdded(team) => ("user_add_to_team", to_text(team)),
        SystemEvent::TeamMemberRemoved(team) => ("user_remove_from_team", to_text(team)),
        SystemEvent::GroupCreated(group) => ("group_create", to_text(group)),
        SystemEvent::GroupDestroyed(group) => ("group_destroy", to_text(group)),
        SystemEvent::GroupMemberAdded(member) => ("user_add_to_group", to_text(member)),
        SystemEvent::GroupMemberRemoved(member) => ("user_remove_from_group", to_text(member)),
        SystemEvent::Pushed(push) => ("push", to_text(&**push)),
        SystemEvent::InProject(event) => match &**event {
            ProjectEvent::Issue(news) => ("issue", to_text(news)),
            ProjectEvent::NoteOnIssue(news) => ("note_on_issue", to_text(news)),
            ProjectEvent::MergeRequest(news) => ("merge_request", to_text(news)),
            ProjectEvent::NoteOnMergeRequest(news) => ("note_on_merge_request", to_text(news)),
            ProjectEvent::NoteOnCommit(news) => ("note_on_commit", to_text(news)),
            ProjectEvent::NoteOnSnippet(news) => ("note_on_snippet", to_text(news)),
            ProjectEvent::Build(news) => ("build", to_text(news)),
            ProjectEvent::Pipeline(news) => ("pipeline", to_text(news)),
        },
    }
}

fn from_row(kind: &str, payload: &str) -> Option<SystemEvent> {
    let in_project = |event| SystemEvent::InProject(Box::new(event));
    Some(match kind {
        "user_create" => SystemEvent::UserCreated(from_text(payload)?),
        "user_destroy" => SystemEvent::UserDestroyed(from_text(payload)?),
        "key_create" => SystemEvent::KeyCreated(from_text(payload)?),
        "key_destroy" => SystemEvent::KeyDestroyed(from_text(payload)?),
        "deploykey_create" => SystemEvent::DeployKeyCreated(from_text(payload)?),
        "deploykey_destroy" => SystemEvent::DeployKeyDestroyed(from_text(payload)?),
        "project_create" => SystemEvent::ProjectCreated(from_text(payload)?),
        "project_destroy" => SystemEvent::ProjectDestroyed(from_text(payload)?),
        "project_rename" => {
            let MovedProject { project, before } = from_text(payload)?;
            SystemEvent::ProjectRenamed(project, before)
        }
        "project_transfer" => {
            let MovedProject { project, before } = from_text(payload)?;
            SystemEvent::ProjectTransferred(project, before)
        }
        "user_add_to_team" => SystemEvent::TeamMemberAdded(from_text(payload)?),
        "user_remove_from_team" => SystemEvent::TeamMemberRemoved(from_text(payload)?),
        "group_create" => SystemEvent::GroupCreated(from_text(payload)?),
        "group_destroy" => SystemEvent::GroupDestroyed(from_text(payload)?),
        "user_add_to_group" => SystemEvent::GroupMemberAdded(from_text(payload)?),
        "user_remove_from_group" => SystemEvent::GroupMemberRemoved(from_text(payload)?),
        "push" => SystemEvent::Pushed(Box::new(from_text(payload)?)),
        "issue" => in_project(ProjectEvent::Issue(from_text(payload)?)),
        "note_on_issue" => in_project(ProjectEvent::NoteOnIssue(from_text(payload)?)),
        "merge_request" => in_project(ProjectEvent::MergeRequest(from_text(payload)?)),
        "note_on_merge_request" => {
            in_project(ProjectEvent::NoteOnMergeRequest(from_text(payload)?))
        }
        "note_on_commit" => in_project(ProjectEvent::NoteOnCommit(from_text(payload)?)),
        "note_on_snippet" => in_project(ProjectEvent::NoteOnSnippet(from_text(payload)?)),
        "build" => in_project(ProjectEvent::Build(from_text(payload)?)),
        "pipeline" => in_project(ProjectEvent::Pipeline(from_text(payload)?)),
        _ => return None,
    })
}
