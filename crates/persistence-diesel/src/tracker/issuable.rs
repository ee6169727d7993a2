//! Subscriptions and participants of issues and merge requests.

use diesel::prelude::*;
use hexforge_domain::id::{IssueId, MergeRequestId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;

use crate::database::schema::{
    issue_participants, issue_subscriptions, merge_request_participants,
    merge_request_subscriptions, users,
};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

/// The ids of issues and of merge requests, which are in different tables.
pub(super) struct IssuableIds {
    pub issues: Vec<i64>,
    pub merge_requests: Vec<i64>,
}

impl IssuableIds {
    pub fn of(issuables: &[Issuable]) -> Self {
        let issues = issuables.iter().filter_map(|on| on.issue()).map(|id| id.0);
        let merge_requests = issuables.iter().filter_map(|on| on.merge_request()).map(|id| id.0);
        Self { issues: issues.collect(), merge_requests: merge_requests.collect() }
    }
}

pub(super) fn issue(id: i64) -> Issuable {
    Issuable::Issue(IssueId(id))
}

pub(super) fn merge_request(id: i64) -> Issuable {
    Issuable::MergeRequest(MergeRequestId(id))
}

impl DieselTx<'_> {
    /// Returns those of these ids whose row in a table of participants, or in `awards`, refers to the user.
    fn participated(
        &mut self,
        table: &'static str,
        column: &'static str,
        ids: &[i64],
        user: UserId,
    ) -> Result<Vec<i64>, StoreError> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let rows_of = |query: Sql, table| {
            let query = query.sql("SELECT ").sql(column).sql(" FROM ").sql(table);
            let query = query.sql(" WHERE user_id = ").id(user.0).sql(" AND ").sql(column);
            query.sql(" IN (").few_ids(ids).sql(")")
        };
        let query = rows_of(Sql::new(""), table).sql(" UNION ");
        self.ids(rows_of(query, "awards"))
    }
}

impl Issuables for DieselTx<'_> {
    /// One query for issues and one for merge requests, if there are any.
    fn subscriptions(
        &mut self,
        user: UserId,
        to: &[Issuable],
    ) -> Result<Vec<(Issuable, Subscribed)>, StoreError> {
        let ids = IssuableIds::of(to);
        let of_issues: Vec<(i64, bool)> = self.by_ids(&ids.issues, |conn, ids| {
            issue_subscriptions::table
                .filter(issue_subscriptions::user_id.eq(user.0))
                .filter(issue_subscriptions::issue_id.among(ids))
                .select((issue_subscriptions::issue_id, issue_subscriptions::subscribed))
                .load(conn)
        })?;
        let of_merge_requests: Vec<(i64, bool)> =
            self.by_ids(&ids.merge_requests, |conn, ids| {
                merge_request_subscriptions::table
                    .filter(merge_request_subscriptions::user_id.eq(user.0))
                    .filter(merge_request_subscriptions::merge_request_id.among(ids))
                    .select((
                        merge_request_subscriptions::merge_request_id,
                        merge_request_subscriptions::subscribed,
                    ))
                    .load(conn)
            })?;
        let of_issues = of_issues.into_iter().map(|(id, chosen)| (issue(id), chosen));
        let of_merge_requests =
            of_merge_requests.into_iter().map(|(id, chosen)| (merge_request(id), chosen));
        let all = of_issues.chain(of_merge_requests);
        Ok(all.map(|(on, chosen)| (on, Subscribed::from_bool(chosen))).collect())
    }

    fn subscribe(
        &mut self,
        to: Issuable,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError> {
        match to {
            Issuable::Issue(issue) => {
                let row = issue_subscriptions::table.find((issue.0, user.0));
                self.run(|conn| diesel::delete(row).execute(conn))?;
                let values = (
                    issue_subscriptions::issue_id.eq(issue.0),
                    issue_subscriptions::user_id.eq(user.0),
                    issue_subscriptions::subscribed.eq(subscribed.as_bool()),
                );
                self.write(|conn| {
                    diesel::insert_into(issue_subscriptions::table).values(values).execute(conn)
                })
            }
            Issuable::MergeRequest(request) => {
                let row = merge_request_subscriptions::table.find((request.0, user.0));
                self.run(|conn| diesel::delete(row).execute(conn))?;
                let values = (
                    merge_request_subscriptions::merge_request_id.eq(request.0),
                    merge_request_subscriptions::user_id.eq(user.0),
                    merge_request_subscriptions::subscribed.eq(subscribed.as_bool()),
                );
                self.write(|conn| {
                    diesel::insert_into(merge_request_subscriptions::table)
                        .values(values)
                        .execute(conn)
                })
            }
        }
    }

    /// One query for issues and one for merge requests, if there are any.
    fn participations(
        &mut self,
        user: UserId,
        among: &[Issuable],
    ) -> Result<Vec<Issuable>, StoreError> {
        let ids = IssuableIds::of(among);
        let issues = self.participated("issue_participants", "issue_id", &ids.issues, user)?;
        let (table, column) = ("merge_request_participants", "merge_request_id");
        let merge_requests = self.participated(table, column, &ids.merge_requests, user)?;
        let merge_requests = merge_requests.into_iter().map(merge_request);
        Ok(issues.into_iter().map(issue).chain(merge_requests).collect())
    }

    fn participants(&mut self, on: Issuable, limit: u32) -> Result<Vec<UserId>, StoreError> {
        let (column, table) = match on {
            Issuable::Issue(_) => ("issue_id = ", "issue_participants"),
            Issuable::MergeRequest(_) => ("merge_request_id = ", "merge_request_participants"),
        };
        let users_in = |query: Sql, table| {
            let query = query.sql("SELECT user_id FROM ").sql(table);
            query.sql(" WHERE ").sql(column).id(on.id())
        };
        let query = users_in(users_in(Sql::new(""), table).sql(" UNION "), "awards");
        let users = self.ids(query.sql(" ORDER BY user_id LIMIT ").id(i64::from(limit)))?;
        Ok(users.into_iter().map(UserId).collect())
    }

    fn participate(&mut self, on: Issuable, user: UserId) -> Result<(), StoreError> {
        match on {
            Issuable::Issue(issue) => {
                let row = (
                    issue_participants::issue_id.eq(issue.0),
                    issue_participants::user_id.eq(user.0),
                );
                self.write(|conn| {
                    each_backend!(conn, c => diesel::insert_into(issue_participants::table)
                        .values(row)
                        .on_conflict_do_nothing()
                        .execute(c))
                })
            }
            Issuable::MergeRequest(request) => {
                let row = (
                    merge_request_participants::merge_request_id.eq(request.0),
                    merge_request_participants::user_id.eq(user.0),
                );
                self.write(|conn| {
                    each_backend!(conn, c => diesel::insert_into(merge_request_participants::table)
                        .values(row)
                        .on_conflict_do_nothing()
                        .execute(c))
                })
            }
        }
    }

    fn mention(&mut self, on: Issuable, usernames: &[&str]) -> Result<(), StoreError> {
        if usernames.is_empty() {
            return Ok(());
        }
        let user_ids: Vec<i64> = self.run(|conn| {
            users::table.filter(users::username.eq_any(usernames)).select(users::id).load(conn)
        })?;
        for user in user_ids {
            self.participate(on, UserId(user))?;
        }
        Ok(())
    }
}
