//! Browser sessions.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::browser_session::port::BrowserSessions;
use hexforge_domain::browser_session::{
    BrowserSession, MAX_SESSIONS, NewBrowserSession, SessionHolder,
};
use hexforge_domain::id::{BrowserSessionId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::token::TokenHash;

use crate::application_settings::ROW;
use crate::database::backend;
use crate::database::schema::{application_settings, browser_sessions, users};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;
use crate::users::user::UserRow;

/// A row of `browser_sessions`, without the hash.
#[derive(Queryable, Selectable)]
#[diesel(table_name = browser_sessions)]
struct SessionRow {
    id: i64,
    user_id: i64,
    created_at: NaiveDateTime,
    last_used_at: NaiveDateTime,
    address: Option<String>,
    browser: String,
    remembered: bool,
}

impl TryFrom<SessionRow> for BrowserSession {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        let address = row.address.map(|address| address.parse()).transpose();
        Ok(BrowserSession {
            id: BrowserSessionId(row.id),
            user: UserId(row.user_id),
            created_at: to_utc(row.created_at),
            last_used_at: to_utc(row.last_used_at),
            address: address.map_err(|_| StoreError::Corrupt("address of a session"))?,
            browser: row.browser,
            remembered: row.remembered,
        })
    }
}

/// The columns of a session and its user, and the version of the settings.
type HolderRow = (SessionRow, UserRow, Option<i64>);

impl BrowserSessions for DieselTx<'_> {
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<SessionHolder>, StoreError> {
        let settings = application_settings::table.find(ROW);
        let settings_version = settings.select(application_settings::version).single_value();
        let found: Option<HolderRow> = self.run(|conn| {
            each_backend!(conn, c => browser_sessions::table
                .inner_join(users::table)
                .filter(browser_sessions::hash.eq(&hash.0[..]))
                .select((SessionRow::as_select(), UserRow::as_select(), settings_version))
                .get_result(c)
                .optional())
        })?;
        let holder = found.map(|(session, user, settings_version)| {
            Ok(SessionHolder {
                session: session.try_into()?,
                user: user.try_into()?,
                settings_version: settings_version
                    .ok_or(StoreError::Corrupt("application settings"))?,
            })
        });
        let holder = self.fail_on_error(holder.transpose())?;
        if let (Some(holder), Some(cache)) = (&holder, self.cache()) {
            let SessionHolder { user, settings_version, .. } = holder;
            cache.settings_version = Some(*settings_version);
            cache.users.insert(user.id.0, Some(user.clone()));
        }
        Ok(holder)
    }

    fn list(&mut self, user: UserId) -> Result<Vec<BrowserSession>, StoreError> {
        self.read_rows(|conn| {
            browser_sessions::table
                .filter(browser_sessions::user_id.eq(user.0))
                .order((browser_sessions::last_used_at.desc(), browser_sessions::id.desc()))
                .select(SessionRow::as_select())
                .load(conn)
        })
    }

    fn insert(&mut self, new: NewBrowserSession) -> Result<BrowserSession, StoreError> {
        let kept = i64::try_from(MAX_SESSIONS).unwrap_or(i64::MAX) - 1;
        let surplus = Sql::new("SELECT id FROM browser_sessions WHERE user_id = ")
            .id(new.user.0)
            .sql(" ORDER BY last_used_at DESC, id DESC LIMIT ")
            .id(kept)
            .sql(" OFFSET ")
            .id(kept);
        let delete = Sql::new("DELETE FROM browser_sessions WHERE id IN (").then(surplus);
        self.execute(delete.sql(")"))?;
        let values = (
            browser_sessions::user_id.eq(new.user.0),
            browser_sessions::hash.eq(&new.hash.0[..]),
            browser_sessions::created_at.eq(to_naive(new.at)),
            browser_sessions::last_used_at.eq(to_naive(new.at)),
            browser_sessions::address.eq(new.address.map(|address| address.to_string())),
            browser_sessions::browser.eq(&new.browser),
            browser_sessions::remembered.eq(new.remembered),
        );
        let id = self.run(|conn| {
            diesel::insert_into(browser_sessions::table)
                .values(values)
                .returning(browser_sessions::id)
                .get_result(conn)
        })?;
        Ok(BrowserSession {
            id: BrowserSessionId(id),
            user: new.user,
            created_at: new.at,
            last_used_at: new.at,
            address: new.address,
            browser: new.browser,
            remembered: new.remembered,
        })
    }

    fn touch(&mut self, id: BrowserSessionId, at: Timestamp) -> Result<(), StoreError> {
        let earlier = browser_sessions::last_used_at.lt(to_naive(at));
        let session = browser_sessions::table.find(id.0).filter(earlier);
        let value = browser_sessions::last_used_at.eq(to_naive(at));
        self.write(|conn| diesel::update(session).set(value).execute(conn))
    }

    fn remove(&mut self, user: UserId, id: BrowserSessionId) -> Result<bool, StoreError> {
        let own = browser_sessions::user_id.eq(user.0);
        let session = browser_sessions::table.find(id.0).filter(own);
        let removed = self.run(|conn| diesel::delete(session).execute(conn))?;
        Ok(removed > 0)
    }

    fn remove_by_hash(&mut self, hash: &TokenHash) -> Result<(), StoreError> {
        let session = browser_sessions::table.filter(browser_sessions::hash.eq(&hash.0[..]));
        self.write(|conn| diesel::delete(session).execute(conn))
    }

    fn remove_all_of(
        &mut self,
        user: UserId,
        except: Option<BrowserSessionId>,
    ) -> Result<(), StoreError> {
        let all = Sql::new("DELETE FROM browser_sessions WHERE user_id = ").id(user.0);
        self.execute(match except {
            Some(id) => all.sql(" AND id <> ").id(id.0),
            None => all,
        })
    }

    fn remove_unused(
        &mut self,
        remembered: bool,
        by: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let unused =
            Sql::new("SELECT task.id FROM browser_sessions AS task WHERE task.remembered = ")
                .sql(if remembered { "TRUE" } else { "FALSE" })
                .sql(" AND task.last_used_at <= ")
                .moment(to_naive(by))
                .sql(" ORDER BY task.last_used_at, task.id LIMIT ")
                .id(limit.into())
                .sql(backend::skip_locked_clause(self.backend()));
        let ids = self.ids(unused)?;
        let count = ids.len();
        if count > 0 {
            self.execute(Sql::new("DELETE FROM browser_sessions WHERE id IN (").ids(ids).sql(")"))?;
        }
        Ok(count)
    }
}
