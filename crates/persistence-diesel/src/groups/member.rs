//! Memberships in groups and projects. Both are stored alike.

use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::mention::ALL_MEMBERS;
use hexforge_domain::member::port::{GroupMembers, ProjectMembers};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::notification::NotificationLevel;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use crate::database::schema::{group_members, project_members, users};
use crate::database::tx::DieselTx;
use crate::query::access::{self, RoleRow};
use crate::query::among::AmongValues;
use crate::query::search::Search;
use crate::query::sql::Sql;
use crate::users::user::UserRow;

/// User id, access level, notification level, expiry date.
type MemberRow = (i64, i32, i32, Option<NaiveDate>);

pub(crate) fn to_access_level(level: i32) -> Result<AccessLevel, StoreError> {
    AccessLevel::from_level(i64::from(level)).ok_or(StoreError::Corrupt("access level"))
}

pub(crate) fn to_notification_level(number: i32) -> Result<NotificationLevel, StoreError> {
    NotificationLevel::from_number(number).ok_or(StoreError::Corrupt("notification level"))
}

fn to_membership((user, level, notification_level, expires_at): MemberRow) -> MembershipResult {
    Ok(Membership {
        user: UserId(user),
        level: to_access_level(level)?,
        notification_level: to_notification_level(notification_level)?,
        expires_at,
    })
}

type MembershipResult = Result<Membership, StoreError>;

/// The methods that both ports share. Parameters: the table, its column for the group or project, that column's
/// type in the domain, and the table it references.
macro_rules! memberships {
    ($table:ident, $of:ident, $id:ident, $source:literal) => {
        /// Two queries, and one for the total unless the page shows the end of the list.
        fn list(
            &mut self,
            of: $id,
            query: Option<&str>,
            page: Page,
        ) -> Result<Paged<(User, Membership)>, StoreError> {
            const MEMBERS: &str = concat!("SELECT user_id FROM ", stringify!($table));
            const OF: &str = concat!(stringify!($of), " = ");
            let name = format!(concat!(stringify!($table), " {} {:?}"), of, query);
            let mut members = Sql::new(MEMBERS);
            let mut conditions = vec![Sql::new(OF).id(of.0)];
            if let Some(found) = Search::new(query).within("users.search_text") {
                members = members.sql(" CROSS JOIN users");
                conditions.extend([Sql::new("users.id = user_id"), found]);
            }
            let members = members.filter(conditions);
            let (ids, total) =
                self.page_of(members, " ORDER BY user_id DESC", page, || name)?;
            let rows: Vec<(UserRow, MemberRow)> = self.by_ids(&ids, |conn, ids| {
                $table::table
                    .inner_join(users::table)
                    .filter($table::$of.eq(of.0))
                    .filter($table::user_id.among(ids))
                    .order($table::user_id.desc())
                    .select((UserRow::as_select(), memberships!(columns $table)))
                    .load(conn)
            })?;
            let items = rows.into_iter().map(|(user, row)| Ok((User::try_from(user)?, to_membership(row)?)));
            Ok(Paged { items: self.fail_on_error(items.collect())?, total })
        }

        fn find(&mut self, of: $id, user: UserId) -> Result<Option<Membership>, StoreError> {
            let row: Option<MemberRow> = self.run(|conn| {
                $table::table
                    .find((of.0, user.0))
                    .select(memberships!(columns $table))
                    .get_result(conn)
                    .optional()
            })?;
            self.fail_on_error(row.map(to_membership).transpose())
        }

        fn of_user(
            &mut self,
            user: UserId,
            of: &[$id],
        ) -> Result<Vec<($id, Membership)>, StoreError> {
            let ids = sorted_unique(of.iter().map(|id| id.0));
            let rows: Vec<(i64, MemberRow)> = self.by_ids(&ids, |conn, ids| {
                $table::table
                    .filter($table::user_id.eq(user.0))
                    .filter($table::$of.among(ids))
                    .order($table::$of)
                    .select(($table::$of, memberships!(columns $table)))
                    .load(conn)
            })?;
            let found = rows.into_iter().map(|(id, row)| Ok(($id(id), to_membership(row)?)));
            self.fail_on_error(found.collect())
        }

        fn all_of_user(&mut self, user: UserId) -> Result<Vec<($id, Membership)>, StoreError> {
            let rows: Vec<(i64, MemberRow)> = self.run(|conn| {
                $table::table
                    .filter($table::user_id.eq(user.0))
                    .order($table::$of)
                    .select(($table::$of, memberships!(columns $table)))
                    .load(conn)
            })?;
            let found = rows.into_iter().map(|(id, row)| Ok(($id(id), to_membership(row)?)));
            self.fail_on_error(found.collect())
        }

        fn expired(
            &mut self,
            today: NaiveDate,
            limit: u32,
        ) -> Result<Vec<($id, Membership)>, StoreError> {
            let rows: Vec<(i64, MemberRow)> = self.run(|conn| {
                $table::table
                    .filter($table::expires_at.le(today))
                    .order(($table::expires_at, $table::$of, $table::user_id))
                    .limit(i64::from(limit))
                    .select(($table::$of, memberships!(columns $table)))
                    .load(conn)
            })?;
            let found = rows.into_iter().map(|(id, row)| Ok(($id(id), to_membership(row)?)));
            self.fail_on_error(found.collect())
        }

        fn insert(&mut self, of: $id, member: Membership) -> Result<(), StoreError> {
            let values = (
                $table::$of.eq(of.0),
                $table::user_id.eq(member.user.0),
                $table::access_level.eq(member.level.level()),
                $table::notification_level.eq(member.notification_level.number()),
                $table::expires_at.eq(member.expires_at),
            );
            self.write(|conn| diesel::insert_into($table::table).values(values).execute(conn))
        }

        fn update(&mut self, of: $id, member: Membership) -> Result<(), StoreError> {
            memberships!(lock self, $source, of, member.user)?;
            let values = (
                $table::access_level.eq(member.level.level()),
                $table::notification_level.eq(member.notification_level.number()),
                $table::expires_at.eq(member.expires_at),
            );
            let row = $table::table.find((of.0, member.user.0));
            self.write(|conn| diesel::update(row).set(values).execute(conn))
        }

        fn delete(&mut self, of: $id, user: UserId) -> Result<(), StoreError> {
            memberships!(lock self, $source, of, user)?;
            let row = $table::table.find((of.0, user.0));
            self.write(|conn| diesel::delete(row).execute(conn))
        }
    };
    (columns $table:ident) => {
        ($table::user_id, $table::access_level, $table::notification_level, $table::expires_at)
    };
    // The removal of a project, group or user locks that row before the memberships, so a change of a membership
    // does the same.
    (lock $tx:ident, $source:literal, $of:ident, $user:expr) => {
        $tx.lock_rows(
            Sql::new(concat!("SELECT source.id FROM ", $source, " AS source, users WHERE source.id = "))
                .id($of.0)
                .sql(" AND users.id = ")
                .id($user.0)
                .sql(" FOR KEY SHARE"),
        )
    };
}

impl GroupMembers for DieselTx<'_> {
    memberships!(group_members, group_id, NamespaceId, "namespaces");

    fn solely_owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Vec<NamespaceId>, StoreError> {
        let alone = access::groups_owned_by(user, today)
            .sql(
                " AND NOT EXISTS (SELECT 1 FROM group_members AS others \
                 WHERE others.group_id = group_members.group_id AND others.user_id <> ",
            )
            .id(user.0)
            .sql(" AND others.access_level = ")
            .id(i64::from(AccessLevel::Owner.level()))
            .sql(" AND ")
            .then(access::is_in_force("others.expires_at", today))
            .sql(") ORDER BY group_id");
        Ok(self.ids(alone)?.into_iter().map(NamespaceId).collect())
    }

    fn count_owners(&mut self, group: NamespaceId, today: NaiveDate) -> Result<u64, StoreError> {
        let owners: i64 = self.run(|conn| {
            group_members::table
                .filter(group_members::group_id.eq(group.0))
                .filter(group_members::access_level.eq(AccessLevel::Owner.level()))
                .filter(group_members::expires_at.is_null().or(group_members::expires_at.gt(today)))
                .count()
                .get_result(conn)
        })?;
        Ok(owners.unsigned_abs())
    }
}

impl ProjectMembers for DieselTx<'_> {
    memberships!(project_members, project_id, ProjectId, "projects");

    /// One query, and one for the total unless the page shows the end of the list.
    fn team(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<User>, StoreError> {
        let name = format!("team {project} {today} {query:?}");
        let mut team =
            Sql::new("SELECT team.id FROM (").then(access::team(project, today)).sql(") AS team");
        if let Some(found) = Search::new(query).within("users.search_text") {
            team = team.sql(" CROSS JOIN users").filter([Sql::new("users.id = team.id"), found]);
        }
        let shown = team.clone().sql(" ORDER BY team.id DESC").page(page);
        let items = self.users_within(shown)?;
        let total = self.total_beside(page, items.len(), || name, &team)?;
        Ok(Paged { items, total })
    }

    /// Three queries: the ids, the users, their rights.
    fn mentioned(
        &mut self,
        project: ProjectId,
        names: &[&str],
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(User, ProjectRole)>, StoreError> {
        if names.is_empty() {
            return Ok(vec![]);
        }
        let texts = |sql: Sql, fold: fn(&str) -> String| {
            let mut separator = " IN (";
            let list = names.iter().fold(sql, |sql, name| {
                sql.sql(std::mem::replace(&mut separator, ", ")).text(fold(name))
            });
            list.sql(")")
        };
        let users =
            texts(Sql::new("SELECT users.id AS id FROM users WHERE users.username"), str::to_owned);
        let groups = users.sql(
            " UNION SELECT members.user_id FROM namespaces JOIN group_members AS members \
             ON members.group_id = namespaces.id WHERE namespaces.path_folded",
        );
        let mut all = texts(groups, str::to_ascii_lowercase).sql(" AND ");
        all = all.then(access::is_in_force("members.expires_at", today));
        if names.contains(&ALL_MEMBERS) {
            all = all.sql(" UNION ").then(access::team(project, today));
        }
        let some = Sql::new("SELECT mentioned.id FROM (").then(all);
        let ids =
            self.ids(some.sql(") AS mentioned ORDER BY mentioned.id LIMIT ").id(i64::from(limit)))?;
        let users = self.users_by_id(&ids)?;
        let is_one = |column: &'static str| Sql::new(column).sql(" IN (").few_ids(&ids).sql(")");
        let query = access::roles(project, is_one, today);
        let rows: Vec<RoleRow> =
            self.run(|conn| query.rows::<(BigInt, Integer, Bool)>().load(conn))?;
        let with_role = |user: User| {
            let of_user = rows.iter().filter(|(id, ..)| *id == user.id.0);
            let role = access::combine_roles(of_user);
            (user, role)
        };
        Ok(users.into_iter().rev().map(with_role).collect())
    }
}
