//! The outbox.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{KeyId, OutboxId, UserId};
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::outbox::{KeyFacts, OutboxEntry, SystemEvent, UserFacts};
use hexforge_domain::ports::store::StoreError;
use serde_json::{Value, json};

use crate::schema::outbox;
use crate::time::{moment, stored};
use crate::tx::DieselTx;

impl Outbox for DieselTx<'_> {
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError> {
        let (kind, payload) = to_row(event);
        let values = (
            outbox::kind.eq(kind),
            outbox::payload.eq(payload.to_string()),
            outbox::created_at.eq(stored(at)),
        );
        self.run(|conn| diesel::insert_into(outbox::table).values(values).execute(conn))?;
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
}

fn to_row(event: &SystemEvent) -> (&'static str, Value) {
    match event {
        SystemEvent::UserCreated(user) => ("user_create", user_to_json(user)),
        SystemEvent::UserDestroyed(user) => ("user_destroy", user_to_json(user)),
        SystemEvent::KeyCreated(key) => ("key_create", key_to_json(key)),
        SystemEvent::KeyDestroyed(key) => ("key_destroy", key_to_json(key)),
    }
}

fn from_row(kind: &str, payload: &str) -> Option<SystemEvent> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    Some(match kind {
        "user_create" => SystemEvent::UserCreated(user_from_json(&payload)?),
        "user_destroy" => SystemEvent::UserDestroyed(user_from_json(&payload)?),
        "key_create" => SystemEvent::KeyCreated(key_from_json(&payload)?),
        "key_destroy" => SystemEvent::KeyDestroyed(key_from_json(&payload)?),
        _ => return None,
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

fn text(payload: &Value, field: &str) -> Option<String> {
    payload[field].as_str().map(str::to_owned)
}

fn micros(payload: &Value, field: &str) -> Option<Timestamp> {
    Timestamp::from_timestamp_micros(payload[field].as_i64()?)
}
