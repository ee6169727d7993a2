//! Broadcast messages.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::broadcast::port::Broadcasts;
use hexforge_domain::broadcast::{Broadcast, BroadcastContent, BroadcastText};
use hexforge_domain::id::BroadcastId;
use hexforge_domain::label::Color;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::schema::broadcast_messages;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::page;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct BroadcastRow {
    id: i64,
    message: String,
    starts_at: NaiveDateTime,
    ends_at: NaiveDateTime,
    color: String,
    font: String,
}

impl From<BroadcastRow> for Broadcast {
    fn from(row: BroadcastRow) -> Self {
        Broadcast {
            id: BroadcastId(row.id),
            content: BroadcastContent {
                message: BroadcastText::stored(row.message),
                starts_at: to_utc(row.starts_at),
                ends_at: to_utc(row.ends_at),
                color: Color::stored(row.color),
                font: Color::stored(row.font),
            },
        }
    }
}

/// The columns of a message, with their values.
macro_rules! values {
    ($content:expr) => {
        (
            broadcast_messages::message.eq($content.message.as_str()),
            broadcast_messages::starts_at.eq(to_naive($content.starts_at)),
            broadcast_messages::ends_at.eq(to_naive($content.ends_at)),
            broadcast_messages::color.eq($content.color.as_str()),
            broadcast_messages::font.eq($content.font.as_str()),
        )
    };
}

impl Broadcasts for DieselTx<'_> {
    fn list(&mut self, page: Page) -> Result<Paged<Broadcast>, StoreError> {
        let total = self.total("broadcasts", &Sql::new("SELECT id FROM broadcast_messages"))?;
        let rows: Vec<BroadcastRow> = self.run(|conn| {
            broadcast_messages::table
                .order(broadcast_messages::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .load(conn)
        })?;
        Ok(Paged { items: rows.into_iter().map(Broadcast::from).collect(), total })
    }

    fn find(&mut self, id: BroadcastId) -> Result<Option<Broadcast>, StoreError> {
        let row: Option<BroadcastRow> =
            self.run(|conn| broadcast_messages::table.find(id.0).get_result(conn).optional())?;
        Ok(row.map(Broadcast::from))
    }

    fn lock(&mut self, id: BroadcastId) -> Result<Option<Broadcast>, StoreError> {
        let row = Sql::new("SELECT id FROM broadcast_messages WHERE id = ").id(id.0);
        self.lock_rows(row.sql(" FOR UPDATE"))?;
        Broadcasts::find(self, id)
    }

    fn insert(&mut self, new: BroadcastContent) -> Result<Broadcast, StoreError> {
        let values = values!(new);
        let id = self.run(|conn| {
            diesel::insert_into(broadcast_messages::table)
                .values(values)
                .returning(broadcast_messages::id)
                .get_result(conn)
        })?;
        Ok(Broadcast { id: BroadcastId(id), content: new })
    }

    fn update(&mut self, message: &Broadcast) -> Result<(), StoreError> {
        let row = broadcast_messages::table.find(message.id.0);
        let values = values!(message.content);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    fn delete(&mut self, id: BroadcastId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(broadcast_messages::table.find(id.0)).execute(conn))
    }
}
