//! Access tokens.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{TokenId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::token::port::Tokens;
use hexforge_domain::token::{NewToken, Token, TokenHash, TokenHolder, TokenKind, TokenLife};
use hexforge_domain::user::{Privileges, ProjectsLimit, UserState};

use crate::application_settings::ROW;
use crate::database::schema::{application_settings, tokens, users};
use crate::database::time::{to_naive, to_naive_opt, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::page;
use crate::query::sql::Sql;

/// The columns that authentication needs. The row is narrow because every request reads it.
#[derive(Queryable)]
struct HolderRow {
    id: i64,
    kind: String,
    expires_at: Option<NaiveDateTime>,
    revoked_at: Option<NaiveDateTime>,
    user_id: i64,
    state: String,
    admin: bool,
    external: bool,
    can_create_group: bool,
    projects_limit: i32,
    settings_version: Option<i64>,
}

impl TryFrom<HolderRow> for TokenHolder {
    type Error = StoreError;

    fn try_from(row: HolderRow) -> Result<Self, StoreError> {
        Ok(TokenHolder {
            token: TokenId(row.id),
            kind: parse_kind(&row.kind)?,
            life: to_life(row.expires_at, row.revoked_at),
            user: UserId(row.user_id),
            state: UserState::parse(&row.state).ok_or(StoreError::Corrupt("user state"))?,
            privileges: Privileges {
                admin: row.admin,
                external: row.external,
                can_create_group: row.can_create_group,
                projects_limit: ProjectsLimit(row.projects_limit),
            },
            settings_version: row
                .settings_version
                .ok_or(StoreError::Corrupt("application settings"))?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = tokens)]
struct TokenRow {
    id: i64,
    user_id: i64,
    kind: String,
    name: String,
    created_at: NaiveDateTime,
    expires_at: Option<NaiveDateTime>,
    revoked_at: Option<NaiveDateTime>,
}

impl TryFrom<TokenRow> for Token {
    type Error = StoreError;

    fn try_from(row: TokenRow) -> Result<Self, StoreError> {
        Ok(Token {
            id: TokenId(row.id),
            user: UserId(row.user_id),
            kind: parse_kind(&row.kind)?,
            name: row.name,
            life: to_life(row.expires_at, row.revoked_at),
            created_at: to_utc(row.created_at),
        })
    }
}

fn parse_kind(word: &str) -> Result<TokenKind, StoreError> {
    TokenKind::parse(word).ok_or(StoreError::Corrupt("token kind"))
}

fn to_life(expires_at: Option<NaiveDateTime>, revoked_at: Option<NaiveDateTime>) -> TokenLife {
    TokenLife { expires_at: to_utc_opt(expires_at), revoked_at: to_utc_opt(revoked_at) }
}

impl Tokens for DieselTx<'_> {
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<TokenHolder>, StoreError> {
        let settings = application_settings::table.find(ROW);
        let settings_version = settings.select(application_settings::version).single_value();
        self.read_row(|conn| {
            each_backend!(conn, c => tokens::table
                .inner_join(users::table)
                .filter(tokens::hash.eq(&hash.0[..]))
                .select((
                    tokens::id,
                    tokens::kind,
                    tokens::expires_at,
                    tokens::revoked_at,
                    users::id,
                    users::state,
                    users::admin,
                    users::external,
                    users::can_create_group,
                    users::projects_limit,
                    settings_version,
                ))
                .get_result::<HolderRow>(c)
                .optional())
        })
    }

    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Token>, StoreError> {
        let all = Sql::new("SELECT id FROM tokens WHERE user_id = ").id(user.0);
        let total = self.total(&format!("tokens of {user}"), &all)?;
        let items = self.read_rows(|conn| {
            tokens::table
                .filter(tokens::user_id.eq(user.0))
                .order(tokens::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .select(TokenRow::as_select())
                .load(conn)
        })?;
        Ok(Paged { items, total })
    }

    fn active_personal(
        &mut self,
        user: UserId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Token>, StoreError> {
        let is_unexpired = tokens::expires_at.is_null().or(tokens::expires_at.gt(to_naive(now)));
        self.read_rows(|conn| {
            tokens::table
                .filter(tokens::user_id.eq(user.0))
                .filter(tokens::kind.eq(TokenKind::Personal.as_str()))
                .filter(tokens::revoked_at.is_null())
                .filter(is_unexpired)
                .order(tokens::id.desc())
                .limit(limit.into())
                .select(TokenRow::as_select())
                .load(conn)
        })
    }

    fn insert(&mut self, new: NewToken) -> Result<Token, StoreError> {
        let values = (
            tokens::user_id.eq(new.user.0),
            tokens::kind.eq(new.kind.as_str()),
            tokens::name.eq(&new.name),
            tokens::hash.eq(&new.hash.0[..]),
            tokens::created_at.eq(to_naive(new.at)),
            tokens::expires_at.eq(to_naive_opt(new.expires_at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(tokens::table).values(values).returning(tokens::id).get_result(conn)
        })?;
        Ok(Token {
            id: TokenId(id),
            user: new.user,
            kind: new.kind,
            name: new.name,
            life: TokenLife { expires_at: new.expires_at, revoked_at: None },
            created_at: new.at,
        })
    }

    fn find(&mut self, id: TokenId) -> Result<Option<Token>, StoreError> {
        self.read_row(|conn| {
            tokens::table.find(id.0).select(TokenRow::as_select()).get_result(conn).optional()
        })
    }

    fn extend(&mut self, id: TokenId, expires_at: Timestamp) -> Result<(), StoreError> {
        let alive = tokens::table.find(id.0).filter(tokens::revoked_at.is_null());
        let value = tokens::expires_at.eq(to_naive(expires_at));
        self.write(|conn| diesel::update(alive).set(value).execute(conn))
    }

    fn revoke_sessions(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError> {
        let sessions = tokens::table
            .filter(tokens::user_id.eq(user.0))
            .filter(tokens::kind.eq(TokenKind::Private.as_str()))
            .filter(tokens::expires_at.is_not_null())
            .filter(tokens::revoked_at.is_null());
        let value = tokens::revoked_at.eq(to_naive(at));
        self.write(|conn| diesel::update(sessions).set(value).execute(conn))
    }

    fn ended_sessions(&mut self, by: Timestamp, limit: u32) -> Result<Vec<TokenId>, StoreError> {
        // The kind is a literal, so that the planner can use the partial index.
        let ended = Sql::new("SELECT id FROM tokens WHERE kind = 'private' AND expires_at <= ")
            .moment(to_naive(by))
            .sql(" ORDER BY expires_at, id LIMIT ")
            .id(limit.into());
        Ok(self.ids(ended)?.into_iter().map(TokenId).collect())
    }

    fn remove(&mut self, ids: &[TokenId]) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = ids.iter().map(|id| id.0).collect();
        self.execute(Sql::new("DELETE FROM tokens WHERE id IN (").ids(ids).sql(")"))
    }

    fn revoke(&mut self, id: TokenId, at: Timestamp) -> Result<bool, StoreError> {
        let alive = tokens::table.find(id.0).filter(tokens::revoked_at.is_null());
        let value = tokens::revoked_at.eq(to_naive(at));
        let revoked = self.run(|conn| diesel::update(alive).set(value).execute(conn))?;
        Ok(revoked > 0)
    }
}
