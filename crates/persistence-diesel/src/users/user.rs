//! User accounts.

use std::cmp::Reverse;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::id::UserId;
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::ShortText;
use hexforge_domain::user::port::Users;
use hexforge_domain::user::{
    Appearance, DisplayName, EmailAddress, NewUser, PasswordHash, Privileges, Profile,
    ProjectsLimit, User, UserFilter, UserState, Username,
};

use crate::database::backend::{self, Backend};
use crate::database::schema::{emails, namespaces, users};
use crate::database::time::{to_naive, to_naive_opt, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::among::AmongValues;
use crate::query::page::CountCost;
use crate::query::search::{self, Search};
use crate::query::sql::Sql;
use crate::removal;

/// A row of `users`, without the password and the search text.
#[derive(Queryable, Selectable, Clone)]
#[diesel(table_name = users)]
pub(crate) struct UserRow {
    id: i64,
    username: String,
    name: String,
    email: String,
    state: String,
    admin: bool,
    external: bool,
    can_create_group: bool,
    projects_limit: i32,
    bio: Option<String>,
    location: Option<String>,
    organization: Option<String>,
    skype: Option<String>,
    linkedin: Option<String>,
    twitter: Option<String>,
    website_url: Option<String>,
    theme_id: i32,
    color_scheme_id: i32,
    avatar: Option<String>,
    two_factor_enabled: bool,
    confirmed_at: Option<NaiveDateTime>,
    last_sign_in_at: Option<NaiveDateTime>,
    current_sign_in_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<UserRow> for User {
    type Error = StoreError;

    fn try_from(row: UserRow) -> Result<Self, StoreError> {
        let text = |text: Option<String>| {
            text.map(|text| ShortText::parse(&text))
                .transpose()
                .map_err(|_| StoreError::Corrupt("profile"))
        };
        Ok(User {
            id: UserId(row.id),
            username: Username::stored(row.username),
            name: DisplayName::stored(row.name),
            email: EmailAddress::stored(row.email),
            state: UserState::parse(&row.state).ok_or(StoreError::Corrupt("user state"))?,
            privileges: Privileges {
                admin: row.admin,
                external: row.external,
                can_create_group: row.can_create_group,
                projects_limit: ProjectsLimit(row.projects_limit),
            },
            profile: Profile {
                bio: text(row.bio)?,
                location: text(row.location)?,
                organization: text(row.organization)?,
                skype: text(row.skype)?,
                linkedin: text(row.linkedin)?,
                twitter: text(row.twitter)?,
                website_url: text(row.website_url)?,
            },
            appearance: Appearance { theme_id: row.theme_id, color_scheme_id: row.color_scheme_id },
            avatar: row.avatar,
            two_factor_enabled: row.two_factor_enabled,
            confirmed_at: to_utc_opt(row.confirmed_at),
            last_sign_in_at: to_utc_opt(row.last_sign_in_at),
            current_sign_in_at: to_utc_opt(row.current_sign_in_at),
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

/// The columns that an update sets: `None` becomes null.
#[derive(AsChangeset, Insertable)]
#[diesel(table_name = users, treat_none_as_null = true)]
struct UserValues<'a> {
    username: &'a str,
    name: &'a str,
    state: &'a str,
    admin: bool,
    external: bool,
    can_create_group: bool,
    projects_limit: i32,
    bio: Option<&'a str>,
    location: Option<&'a str>,
    organization: Option<&'a str>,
    skype: Option<&'a str>,
    linkedin: Option<&'a str>,
    twitter: Option<&'a str>,
    website_url: Option<&'a str>,
    theme_id: i32,
    color_scheme_id: i32,
    avatar: Option<&'a str>,
    two_factor_enabled: bool,
    confirmed_at: Option<NaiveDateTime>,
    last_sign_in_at: Option<NaiveDateTime>,
    current_sign_in_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    search_text: String,
}

impl<'a> From<&'a User> for UserValues<'a> {
    fn from(user: &'a User) -> Self {
        fn text(text: &Option<ShortText>) -> Option<&str> {
            text.as_ref().map(ShortText::as_str)
        }
        Self {
            username: user.username.as_str(),
            name: user.name.as_str(),
            state: user.state.as_str(),
            admin: user.privileges.admin,
            external: user.privileges.external,
            can_create_group: user.privileges.can_create_group,
            projects_limit: user.privileges.projects_limit.0,
            bio: text(&user.profile.bio),
            location: text(&user.profile.location),
            organization: text(&user.profile.organization),
            skype: text(&user.profile.skype),
            linkedin: text(&user.profile.linkedin),
            twitter: text(&user.profile.twitter),
            website_url: text(&user.profile.website_url),
            theme_id: user.appearance.theme_id,
            color_scheme_id: user.appearance.color_scheme_id,
            avatar: user.avatar.as_deref(),
            two_factor_enabled: user.two_factor_enabled,
            confirmed_at: to_naive_opt(user.confirmed_at),
            last_sign_in_at: to_naive_opt(user.last_sign_in_at),
            current_sign_in_at: to_naive_opt(user.current_sign_in_at),
            created_at: to_naive(user.created_at),
            updated_at: to_naive(user.updated_at),
            search_text: search::text(&[
                user.name.as_str(),
                user.email.as_str(),
                user.username.as_str(),
            ]),
        }
    }
}

/// Returns the query for the ids of the users that match a filter, unordered, and the column to order it by.
/// SQLite's full-text index yields rows in that order, so a page of a search costs only a page, even if all users
/// match.
fn matching_users(filter: &UserFilter, backend: Backend) -> (Sql, &'static str) {
    // States and flags are literals, not parameters, so that both planners can use the partial indexes.
    let flags: Vec<Sql> = [
        (filter.active, "users.state = 'active'"),
        (filter.blocked, "users.state <> 'active'"),
        (filter.external, "users.external"),
    ]
    .into_iter()
    .filter(|(wanted, _)| *wanted)
    .map(|(_, sql)| Sql::new(sql))
    .collect();
    let search = Search::new(filter.search.as_deref());
    if let Some(phrase) = search.phrase(backend) {
        let mut conditions = vec![Sql::new("users_search MATCH ").text(phrase)];
        let mut users = Sql::new("SELECT users_search.rowid FROM users_search");
        if !flags.is_empty() {
            users = users.sql(" CROSS JOIN users");
            conditions.push(Sql::new("users.id = users_search.rowid"));
        }
        return (users.filter(conditions.into_iter().chain(flags)), "users_search.rowid");
    }
    let found = search.within("users.search_text");
    (Sql::new("SELECT users.id FROM users").filter(flags.into_iter().chain(found)), "users.id")
}

/// The condition that a row of `projects` is in a user's own namespace.
fn in_personal_namespace_of(user: UserId) -> Sql {
    Sql::new("namespace_id IN (").then(access::personal_namespace_of(user)).sql(")")
}

impl DieselTx<'_> {
    /// Returns the users with these ids, highest id first.
    pub(crate) fn users_by_id(&mut self, ids: &[i64]) -> Result<Vec<User>, StoreError> {
        let mut found = self.cached_rows(
            ids,
            |cache| &mut cache.users,
            |user: &User| user.id.0,
            |tx, ids| {
                let rows: Vec<UserRow> = tx.by_ids(ids, |conn, ids| {
                    let rows = users::table.filter(users::id.among(ids));
                    rows.select(UserRow::as_select()).load(conn)
                })?;
                tx.convert_rows(rows)
            },
        )?;
        found.sort_by_key(|user| Reverse(user.id));
        Ok(found)
    }
}

impl DieselTx<'_> {
    /// Returns the users whose ids a query selects, highest id first.
    pub(crate) fn users_within(&mut self, ids: Sql) -> Result<Vec<User>, StoreError> {
        let rows: Vec<UserRow> = self.run(|conn| {
            users::table.filter(users::id.within(ids)).select(UserRow::as_select()).load(conn)
        })?;
        let mut found: Vec<User> = self.convert_rows(rows)?;
        found.sort_by_key(|user| Reverse(user.id));
        if let Some(cache) = self.cache() {
            cache.users.extend(found.iter().map(|user| (user.id.0, Some(user.clone()))));
        }
        Ok(found)
    }
}

impl Users for DieselTx<'_> {
    fn find(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.cached_row(
            id.0,
            |cache| &mut cache.users,
            |tx| {
                tx.read_row(|conn| {
                    each_backend!(conn, c => users::table
                        .find(id.0)
                        .select(UserRow::as_select())
                        .get_result::<UserRow>(c)
                        .optional())
                })
            },
        )
    }

    fn find_all(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.users_by_id(&ids)
    }

    fn lock(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.read_row(|conn| {
            load_locked!(conn, users::table.find(id.0).select(UserRow::as_select()), UserRow)
        })
    }

    fn lock_to_delete(&mut self, id: UserId) -> Result<(), StoreError> {
        // Locks all rows that the removal touches, in the global lock order.
        self.lock_rows(access::personal_namespace_of(id).sql(" FOR UPDATE"))?;
        let others = removal::created_or_starred_by(id).sql(" OR ").then(removal::has_tasks_of(id));
        self.lock_user_with_projects(
            id,
            &removal::removed_projects_and(in_personal_namespace_of(id), Some(others)),
        )
    }

    fn find_by_username(&mut self, username: &str) -> Result<Option<User>, StoreError> {
        if backend::contains_nul(username) {
            return Ok(None);
        }
        self.read_row(|conn| {
            users::table
                .filter(users::username.eq(username))
                .select(UserRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_by_login(&mut self, login: &str) -> Result<Option<(User, PasswordHash)>, StoreError> {
        if backend::contains_nul(login) {
            return Ok(None);
        }
        let columns = (UserRow::as_select(), users::password_hash);
        let found: Option<(UserRow, String)> = self.run(|conn| {
            if login.contains('@') {
                let address = login.to_lowercase();
                users::table
                    .filter(users::email.eq(address))
                    .select(columns)
                    .get_result(conn)
                    .optional()
            } else {
                let owner = namespaces::table
                    .filter(namespaces::path_folded.eq(login.to_ascii_lowercase()))
                    .select(namespaces::owner_id)
                    .get_result::<Option<i64>>(conn)
                    .optional()?
                    .flatten();
                let Some(owner) = owner else { return Ok(None) };
                users::table.find(owner).select(columns).get_result(conn).optional()
            }
        })?;
        let Some((row, hash)) = found else { return Ok(None) };
        let user = self.fail_on_error(User::try_from(row))?;
        Ok(Some((user, PasswordHash::new(hash))))
    }

    /// Three queries: total, ids, rows. A fourth one reads the change counter if the total is cached. The page is
    /// selected on a narrow index, from the nearer end of the list; full rows are read only for the page.
    fn list(&mut self, filter: &UserFilter, page: Page) -> Result<Paged<User>, StoreError> {
        let (fitting, id) = matching_users(filter, self.backend());
        let name = format!("users {filter:?}");
        let total = self.tracked_total(&name, CountCost::PerRow, &fitting)?;
        let span = self.span(page, total, &name)?;
        let direction = if span.backward { "" } else { " DESC" };
        let ids = self.ids(fitting.sql(" ORDER BY ").sql(id).sql(direction).span(span))?;
        Ok(Paged { items: self.users_by_id(&ids)?, total })
    }

    fn insert(&mut self, new: NewUser) -> Result<User, StoreError> {
        let mut user = User {
            id: UserId(0),
            username: new.username,
            name: new.name,
            email: new.email,
            state: UserState::Active,
            privileges: new.privileges,
            profile: new.profile,
            appearance: Appearance::default(),
            avatar: None,
            two_factor_enabled: false,
            confirmed_at: new.confirmed_at,
            last_sign_in_at: None,
            current_sign_in_at: None,
            created_at: new.at,
            updated_at: new.at,
        };
        let values = (
            UserValues::from(&user),
            users::email.eq(user.email.as_str()),
            users::password_hash.eq(new.password.reveal()),
        );
        self.lock_address(&user.email)?;
        user.id = UserId(self.run(|conn| {
            diesel::insert_into(users::table).values(values).returning(users::id).get_result(conn)
        })?);
        let claim = (
            emails::user_id.eq(user.id.0),
            emails::email.eq(user.email.as_str()),
            emails::is_primary.eq(true),
        );
        self.run(|conn| diesel::insert_into(emails::table).values(claim).execute(conn))?;
        Ok(user)
    }

    fn update(&mut self, user: &User) -> Result<(), StoreError> {
        // A change of the username blocks inserts that reference the user, and such a transaction may be creating a
        // project in the user's namespace. So the namespace is locked first.
        self.lock_rows(
            Sql::new("SELECT id FROM namespaces WHERE owner_id = ")
                .id(user.id.0)
                .sql(" AND path <> ")
                .text(user.username.as_str().to_owned())
                .sql(" FOR UPDATE"),
        )?;
        let values = UserValues::from(user);
        self.write(|conn| diesel::update(users::table.find(user.id.0)).set(values).execute(conn))
    }

    fn set_password(&mut self, id: UserId, hash: &PasswordHash) -> Result<(), StoreError> {
        let value = users::password_hash.eq(hash.reveal());
        self.write(|conn| diesel::update(users::table.find(id.0)).set(value).execute(conn))
    }

    fn delete(&mut self, id: UserId) -> Result<(), StoreError> {
        self.lock_to_delete(id)?;
        self.remove_references_in_projects(id, in_personal_namespace_of(id))?;
        let home = Namespaces::personal(self, id)?;
        let inside = self.first_projects_in(access::personal_namespace_of(id))?;
        if self.run(|conn| diesel::delete(users::table.find(id.0)).execute(conn))? > 0
            && self.remove_below_projects(&inside)?
        {
            if let Some(home) = home {
                self.remove_below_namespace(home.id)?;
            }
            self.remove_below_user(id)?;
        }
        Ok(())
    }
}
