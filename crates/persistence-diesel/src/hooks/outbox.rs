//! The outbox.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{KeyId, NamespaceId, OutboxId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::outbox::{
    GroupFacts, GroupMemberFacts, KeyFacts, MemberFacts, OutboxBatch, OutboxEntry, ProjectFacts,
    SystemEvent, TeamFacts, UserFacts,
};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::visibility::Visibility;
use serde_json::{Value, json};

use crate::database::backend;
use crate::database::schema::outbox;
use crate::database::time::{moment, stored};
use crate::database::tx::DieselTx;
use crate::hooks::outbox_project;
use crate::query::sql::Sql;
use crate::repositories::push;

impl Outbox for DieselTx<'_> {
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError> {
        let (kind, payload) = to_row(event);
        let values = (
            outbox::kind.eq(kind),
            outbox::payload.eq(payload.to_string()),
            outbox::created_at.eq(stored(at)),
        );
        self.run(|conn| diesel::insert_into(outbox::table).values(values).execute(conn))?;
        self.told = true;
        Ok(())
    }

    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError> {
        let rows: Vec<(i64, String, String, NaiveDateTime)> =
            self.run(|conn| outbox::table.order(outbox::id).limit(i64::from(limit)).load(conn))?;
        let mut entries = Vec::with_capacity(rows.len());
        for (id, kind, payload, at) in rows {
            let event = from_row(&kind, &payload)
                .ok_or(StoreError::Corrupt("outbox entry"))
                .map_err(|error| self.fail(error))?;
            entries.push(OutboxEntry { id: OutboxId(id), event, at: moment(at) });
        }
        Ok(entries)
    }

    fn any(&mut self) -> Result<bool, StoreError> {
        let first: Option<i64> =
            self.run(|conn| outbox::table.select(outbox::id).limit(1).get_result(conn).optional())?;
        Ok(first.is_some())
    }

    fn next(&mut self, behind: Option<OutboxId>, limit: u32) -> Result<OutboxBatch, StoreError> {
        // One after the other: each would else tell the same.
        self.run(|conn| backend::hold(conn, "outbox"))?;
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
            Some(OutboxEntry { id: OutboxId(id), event, at: moment(at) })
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

fn to_row(event: &SystemEvent) -> (&'static str, Value) {
    match event {
        SystemEvent::UserCreated(user) => ("user_create", user_to_json(user)),
        SystemEvent::UserDestroyed(user) => ("user_destroy", user_to_json(user)),
        SystemEvent::KeyCreated(key) => ("key_create", key_to_json(key)),
        SystemEvent::KeyDestroyed(key) => ("key_destroy", key_to_json(key)),
        SystemEvent::ProjectCreated(project) => ("project_create", project_to_json(project)),
        SystemEvent::ProjectDestroyed(project) => ("project_destroy", project_to_json(project)),
        SystemEvent::ProjectRenamed(project, before) => {
            ("project_rename", json!({ "project": project_to_json(project), "before": before }))
        }
        SystemEvent::ProjectTransferred(project, before) => {
            ("project_transfer", json!({ "project": project_to_json(project), "before": before }))
        }
        SystemEvent::TeamMemberAdded(team) => ("user_add_to_team", team_to_json(team)),
        SystemEvent::TeamMemberRemoved(team) => ("user_remove_from_team", team_to_json(team)),
        SystemEvent::GroupCreated(group) => ("group_create", group_to_json(group)),
        SystemEvent::GroupDestroyed(group) => ("group_destroy", group_to_json(group)),
        SystemEvent::GroupMemberAdded(member) => {
            ("user_add_to_group", group_member_to_json(member))
        }
        SystemEvent::GroupMemberRemoved(member) => {
            ("user_remove_from_group", group_member_to_json(member))
        }
        SystemEvent::Pushed(push) => ("push", push::to_json(push)),
        SystemEvent::InProject(event) => outbox_project::to_row(event),
    }
}

fn from_row(kind: &str, payload: &str) -> Option<SystemEvent> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    let moved = || Some((project_from_json(&payload["project"])?, text(&payload, "before")?));
    Some(match kind {
        "user_create" => SystemEvent::UserCreated(user_from_json(&payload)?),
        "user_destroy" => SystemEvent::UserDestroyed(user_from_json(&payload)?),
        "key_create" => SystemEvent::KeyCreated(key_from_json(&payload)?),
        "key_destroy" => SystemEvent::KeyDestroyed(key_from_json(&payload)?),
        "project_create" => SystemEvent::ProjectCreated(project_from_json(&payload)?),
        "project_destroy" => SystemEvent::ProjectDestroyed(project_from_json(&payload)?),
        "project_rename" => {
            let (project, before) = moved()?;
            SystemEvent::ProjectRenamed(project, before)
        }
        "project_transfer" => {
            let (project, before) = moved()?;
            SystemEvent::ProjectTransferred(project, before)
        }
        "user_add_to_team" => SystemEvent::TeamMemberAdded(team_from_json(&payload)?),
        "user_remove_from_team" => SystemEvent::TeamMemberRemoved(team_from_json(&payload)?),
        "group_create" => SystemEvent::GroupCreated(group_from_json(&payload)?),
        "group_destroy" => SystemEvent::GroupDestroyed(group_from_json(&payload)?),
        "user_add_to_group" => SystemEvent::GroupMemberAdded(group_member_from_json(&payload)?),
        "user_remove_from_group" => {
            SystemEvent::GroupMemberRemoved(group_member_from_json(&payload)?)
        }
        "push" => SystemEvent::Pushed(Box::new(push::from_json(&payload)?)),
        kind => SystemEvent::InProject(Box::new(outbox_project::from_row(kind, &payload)?)),
    })
}

fn user_to_json(user: &UserFacts) -> Value {
    json!({
        "id": user.id.0,
        "username": user.username,
        "name": user.name,
        "email": user.email,
        "created_at": user.created_at.timestamp_micros(),
        "updated_at": user.updated_at.timestamp_micros(),
    })
}

fn user_from_json(payload: &Value) -> Option<UserFacts> {
    Some(UserFacts {
        id: UserId(payload["id"].as_i64()?),
        username: text(payload, "username")?,
        name: text(payload, "name")?,
        email: text(payload, "email")?,
        created_at: micros(payload, "created_at")?,
        updated_at: micros(payload, "updated_at")?,
    })
}

fn key_to_json(key: &KeyFacts) -> Value {
    json!({
        "id": key.id.0,
        "key": key.key,
        "username": key.username,
        "created_at": key.created_at.timestamp_micros(),
    })
}

fn key_from_json(payload: &Value) -> Option<KeyFacts> {
    Some(KeyFacts {
        id: KeyId(payload["id"].as_i64()?),
        key: text(payload, "key")?,
        username: text(payload, "username")?,
        created_at: micros(payload, "created_at")?,
    })
}

fn project_to_json(project: &ProjectFacts) -> Value {
    json!({
        "id": project.id.0,
        "name": project.name,
        "path": project.path,
        "path_with_namespace": project.path_with_namespace,
        "owner_name": project.owner_name,
        "owner_email": project.owner_email,
        "visibility_level": project.visibility.level(),
        "created_at": project.created_at.timestamp_micros(),
        "updated_at": project.updated_at.timestamp_micros(),
    })
}

fn project_from_json(payload: &Value) -> Option<ProjectFacts> {
    Some(ProjectFacts {
        id: ProjectId(payload["id"].as_i64()?),
        name: text(payload, "name")?,
        path: text(payload, "path")?,
        path_with_namespace: text(payload, "path_with_namespace")?,
        owner_name: text(payload, "owner_name")?,
        owner_email: text(payload, "owner_email")?,
        visibility: Visibility::from_level(payload["visibility_level"].as_i64()?)?,
        created_at: micros(payload, "created_at")?,
        updated_at: micros(payload, "updated_at")?,
    })
}

fn member_to_json(member: &MemberFacts) -> Value {
    json!({
        "user_id": member.user.0,
        "username": member.username,
        "name": member.name,
        "email": member.email,
        "access_level": member.access.level(),
        "at": member.at.timestamp_micros(),
    })
}

fn member_from_json(payload: &Value) -> Option<MemberFacts> {
    Some(MemberFacts {
        user: UserId(payload["user_id"].as_i64()?),
        username: text(payload, "username")?,
        name: text(payload, "name")?,
        email: text(payload, "email")?,
        access: AccessLevel::from_level(payload["access_level"].as_i64()?)?,
        at: micros(payload, "at")?,
    })
}

fn team_to_json(team: &TeamFacts) -> Value {
    json!({ "project": project_to_json(&team.project), "member": member_to_json(&team.member) })
}

fn team_from_json(payload: &Value) -> Option<TeamFacts> {
    Some(TeamFacts {
        project: project_from_json(&payload["project"])?,
        member: member_from_json(&payload["member"])?,
    })
}

fn group_to_json(group: &GroupFacts) -> Value {
    json!({
        "id": group.id.0,
        "name": group.name,
        "path": group.path,
        "created_at": group.created_at.timestamp_micros(),
        "updated_at": group.updated_at.timestamp_micros(),
    })
}

fn group_from_json(payload: &Value) -> Option<GroupFacts> {
    Some(GroupFacts {
        id: NamespaceId(payload["id"].as_i64()?),
        name: text(payload, "name")?,
        path: text(payload, "path")?,
        created_at: micros(payload, "created_at")?,
        updated_at: micros(payload, "updated_at")?,
    })
}

fn group_member_to_json(member: &GroupMemberFacts) -> Value {
    json!({ "group": group_to_json(&member.group), "member": member_to_json(&member.member) })
}

fn group_member_from_json(payload: &Value) -> Option<GroupMemberFacts> {
    Some(GroupMemberFacts {
        group: group_from_json(&payload["group"])?,
        member: member_from_json(&payload["member"])?,
    })
}

pub(crate) fn text(payload: &Value, field: &str) -> Option<String> {
    payload[field].as_str().map(str::to_owned)
}

pub(crate) fn micros(payload: &Value, field: &str) -> Option<Timestamp> {
    Timestamp::from_timestamp_micros(payload[field].as_i64()?)
}
