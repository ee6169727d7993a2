//! Requests for access.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::sql_types;
use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::member::port::AccessRequests;
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::User;

use crate::database::schema::{access_requests, users};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;
use crate::users::user::UserRow;

/// The condition that a request asks for access to this group or project.
fn for_source(source: RequestSource) -> Sql {
    match source {
        RequestSource::Group(group) => Sql::new("access_requests.group_id = ").id(group.0),
        RequestSource::Project(project) => Sql::new("access_requests.project_id = ").id(project.0),
    }
}

/// The condition that a request was made by this user.
fn by_user(user: UserId) -> Sql {
    Sql::new("access_requests.user_id = ").id(user.0)
}

impl AccessRequests for DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list(
        &mut self,
        source: RequestSource,
        page: Page,
    ) -> Result<Paged<(User, Timestamp)>, StoreError> {
        let requesters =
            Sql::new("SELECT user_id FROM access_requests").filter([for_source(source)]);
        let (ids, total) = self.page_of(requesters, " ORDER BY user_id DESC", page, || {
            format!("access requests {source:?}")
        })?;
        let rows: Vec<(UserRow, NaiveDateTime)> = self.by_ids(&ids, |conn, ids| {
            let requests = access_requests::table
                .inner_join(users::table)
                .filter(access_requests::user_id.among(ids))
                .order(access_requests::user_id.desc())
                .select((UserRow::as_select(), access_requests::requested_at));
            match source {
                RequestSource::Group(group) => {
                    requests.filter(access_requests::group_id.eq(group.0)).load(conn)
                }
                RequestSource::Project(project) => {
                    requests.filter(access_requests::project_id.eq(project.0)).load(conn)
                }
            }
        })?;
        let items = rows.into_iter().map(|(user, at)| Ok((User::try_from(user)?, to_utc(at))));
        Ok(Paged { items: self.fail_on_error(items.collect())?, total })
    }

    fn find(
        &mut self,
        source: RequestSource,
        user: UserId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let request = Sql::new("SELECT requested_at FROM access_requests")
            .filter([for_source(source), by_user(user)])
            .rows::<sql_types::Timestamp>();
        let found: Option<NaiveDateTime> = self.run(|conn| request.get_result(conn).optional())?;
        Ok(found.map(to_utc))
    }

    fn insert(
        &mut self,
        source: RequestSource,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (group, project) = match source {
            RequestSource::Group(group) => (Some(group.0), None),
            RequestSource::Project(project) => (None, Some(project.0)),
        };
        let values = (
            access_requests::user_id.eq(user.0),
            access_requests::group_id.eq(group),
            access_requests::project_id.eq(project),
            access_requests::requested_at.eq(to_naive(at)),
        );
        self.write(|conn| diesel::insert_into(access_requests::table).values(values).execute(conn))
    }

    fn delete(&mut self, source: RequestSource, user: UserId) -> Result<(), StoreError> {
        // The removal of a user locks the user before its requests, so this does the same.
        self.lock_rows(
            Sql::new("SELECT id FROM users WHERE id = ").id(user.0).sql(" FOR KEY SHARE"),
        )?;
        self.execute(
            Sql::new("DELETE FROM access_requests").filter([for_source(source), by_user(user)]),
        )
    }
}
