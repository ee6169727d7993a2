//! Subscriptions, participants and awards of issues and merge requests.

use std::collections::HashMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use hexforge_domain::Timestamp;
use hexforge_domain::id::{AwardId, IssueId, MergeRequestId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::award::{Award, EmojiName, THUMBS_UP, Votes};
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;

use crate::database::schema::{
    awards, issue_participants, issue_subscriptions, merge_request_participants,
    merge_request_subscriptions, users,
};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

/// The ids of issues and of merge requests, which are in different tables.
struct IssuableIds {
    issues: Vec<i64>,
    merge_requests: Vec<i64>,
}

impl IssuableIds {
    fn of(issuables: &[Issuable]) -> Self {
        let issues = issuables.iter().filter_map(|on| on.issue()).map(|id| id.0);
        let merge_requests = issuables.iter().filter_map(|on| on.merge_request()).map(|id| id.0);
        Self { issues: issues.collect(), merge_requests: merge_requests.collect() }
    }
}

fn issue(id: i64) -> Issuable {
    Issuable::Issue(IssueId(id))
}

fn merge_request(id: i64) -> Issuable {
    Issuable::MergeRequest(MergeRequestId(id))
}

impl DieselTx<'_> {
    /// Adds the votes on the rows that a column of `awards` refers to.
    fn add_votes(
        &mut self,
        column: &'static str,
        ids: Vec<i64>,
        issuable: fn(i64) -> Issuable,
        votes: &mut HashMap<Issuable, Votes>,
    ) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        let query = Sql::new("SELECT ")
            .sql(column)
            .sql(", name, count(*) FROM awards WHERE ")
            .sql(column)
            .sql(" IN (")
            .ids(ids)
            .sql(") AND name IN ('thumbsup', 'thumbsdown') GROUP BY ")
            .sql(column)
            .sql(", name");
        let rows: Vec<(i64, String, i64)> =
            self.run(|conn| query.rows::<(BigInt, Text, BigInt)>().load(conn))?;
        for (id, name, count) in rows {
            let votes = votes.entry(issuable(id)).or_default();
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            *(if name == THUMBS_UP { &mut votes.up } else { &mut votes.down }) = count;
        }
        Ok(())
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
        let issues: Vec<i64> = self.by_ids(&ids.issues, |conn, ids| {
            issue_participants::table
                .filter(issue_participants::user_id.eq(user.0))
                .filter(issue_participants::issue_id.among(ids))
                .select(issue_participants::issue_id)
                .load(conn)
        })?;
        let merge_requests: Vec<i64> = self.by_ids(&ids.merge_requests, |conn, ids| {
            merge_request_participants::table
                .filter(merge_request_participants::user_id.eq(user.0))
                .filter(merge_request_participants::merge_request_id.among(ids))
                .select(merge_request_participants::merge_request_id)
                .load(conn)
        })?;
        let merge_requests = merge_requests.into_iter().map(merge_request);
        Ok(issues.into_iter().map(issue).chain(merge_requests).collect())
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

    fn award(
        &mut self,
        to: Issuable,
        user: UserId,
        name: &EmojiName,
        at: Timestamp,
    ) -> Result<Award, StoreError> {
        let issue_id = to.issue().map(|id| id.0);
        let merge_request_id = to.merge_request().map(|id| id.0);
        let row = (
            awards::issue_id.eq(issue_id),
            awards::merge_request_id.eq(merge_request_id),
            awards::user_id.eq(user.0),
            awards::name.eq(name.as_str()),
            awards::created_at.eq(to_naive(at)),
        );
        self.run(|conn| {
            each_backend!(conn, c => diesel::insert_into(awards::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(c))
        })?;
        let same =
            awards::table.filter(awards::name.eq(name.as_str()).and(awards::user_id.eq(user.0)));
        let columns = (awards::id, awards::created_at);
        let (id, created_at): (i64, NaiveDateTime) = match to {
            Issuable::Issue(issue) => {
                let given = same.filter(awards::issue_id.eq(issue.0)).select(columns);
                self.run(|conn| given.get_result(conn))?
            }
            Issuable::MergeRequest(request) => {
                let given = same.filter(awards::merge_request_id.eq(request.0)).select(columns);
                self.run(|conn| given.get_result(conn))?
            }
        };
        let created_at = to_utc(created_at);
        Ok(Award { id: AwardId(id), on: to, user, name: name.clone(), created_at })
    }

    /// One query for issues and one for merge requests, if there are any.
    fn votes(&mut self, on: &[Issuable]) -> Result<Vec<(Issuable, Votes)>, StoreError> {
        let ids = IssuableIds::of(on);
        let mut votes = HashMap::new();
        self.add_votes("issue_id", ids.issues, issue, &mut votes)?;
        self.add_votes("merge_request_id", ids.merge_requests, merge_request, &mut votes)?;
        Ok(votes.into_iter().collect())
    }
}
