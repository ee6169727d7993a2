//! System hooks.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::hook::HookUrl;
use hexforge_domain::id::SystemHookId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::system_hook::port::SystemHooks;
use hexforge_domain::system_hook::{SystemHook, SystemHookSettings};

use crate::database::schema::system_hooks;
use crate::database::seal::{Purpose, Seals};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::page;

#[derive(Queryable)]
struct SystemHookRow {
    id: i64,
    url: String,
    token: Option<String>,
    push_events: bool,
    tag_push_events: bool,
    enable_ssl_verification: bool,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl SystemHookRow {
    fn read(self, seals: &Seals) -> Result<SystemHook, StoreError> {
        let row = self;
        Ok(SystemHook {
            id: SystemHookId(row.id),
            settings: SystemHookSettings {
                url: HookUrl::stored(seals.open(Purpose::HookUrl, &row.url)?),
                token: seals.open_opt(Purpose::HookToken, row.token.as_deref())?,
                push_events: row.push_events,
                tag_push_events: row.tag_push_events,
                enable_ssl_verification: row.enable_ssl_verification,
            },
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

impl SystemHooks for DieselTx<'_> {
    fn list(&mut self, page: Page) -> Result<Paged<SystemHook>, StoreError> {
        let total: i64 = self.run(|conn| system_hooks::table.count().get_result(conn))?;
        let rows: Vec<SystemHookRow> = self.run(|conn| {
            system_hooks::table
                .order(system_hooks::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .load(conn)
        })?;
        let seals = self.seals;
        let items = self.fail_on_error(rows.into_iter().map(|row| row.read(seals)).collect())?;
        Ok(Paged { items, total: total.unsigned_abs() })
    }

    fn find(&mut self, id: SystemHookId) -> Result<Option<SystemHook>, StoreError> {
        let row: Option<SystemHookRow> =
            self.run(|conn| system_hooks::table.find(id.0).get_result(conn).optional())?;
        let seals = self.seals;
        self.fail_on_error(row.map(|row| row.read(seals)).transpose())
    }

    fn insert(&mut self, new: SystemHookSettings, at: Timestamp) -> Result<SystemHook, StoreError> {
        let url = self.fail_on_error(self.seals.seal(Purpose::HookUrl, new.url.as_str()))?;
        let token =
            self.fail_on_error(self.seals.seal_opt(Purpose::HookToken, new.token.as_ref()))?;
        let values = (
            system_hooks::url.eq(url),
            system_hooks::token.eq(token),
            system_hooks::push_events.eq(new.push_events),
            system_hooks::tag_push_events.eq(new.tag_push_events),
            system_hooks::enable_ssl_verification.eq(new.enable_ssl_verification),
            system_hooks::created_at.eq(to_naive(at)),
            system_hooks::updated_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(system_hooks::table)
                .values(values)
                .returning(system_hooks::id)
                .get_result(conn)
        })?;
        Ok(SystemHook { id: SystemHookId(id), settings: new, created_at: at, updated_at: at })
    }

    fn delete(&mut self, id: SystemHookId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(system_hooks::table.find(id.0)).execute(conn))
    }
}
