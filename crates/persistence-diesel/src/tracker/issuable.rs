//! Subscriptions and participants of issues and merge requests.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use hexforge_domain::award::emoji::{THUMBS_DOWN, THUMBS_UP};
use hexforge_domain::id::{IssueId, MergeRequestId, UserId};
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::issuable::{Issuable, IssuableDetails};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;

use crate::database::schema::{
    issue_participants, issue_subscriptions, merge_request_participants,
    merge_request_subscriptions, users,
};
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;

/// The kinds of rows in the answer to a query for [`Issuables::details`].
const LABEL: i32 = 0;
const SUBSCRIPTION: i32 = 1;
const PARTICIPATION: i32 = 2;
const VOTES: i32 = 3;

/// A row of the query for [`Issuables::details`]: its kind, the id of the issue or merge request, a number and a text.
type DetailRow = (i32, i64, i64, Option<String>);

/// The parts of the query for [`Issuables::details`], each from the column after the kind to the list of ids.
struct DetailTables {
    issuable: fn(i64) -> Issuable,
    labels: &'static str,
    /// Like the next two parts, up to the user.
    subscriptions: &'static str,
    participants: &'static str,
    awards: &'static str,
    /// What follows the user.
    among: &'static str,
    /// A subquery for each vote: by the frequency of the most given emoji, PostgreSQL would read all awards of an issue
    /// that has many.
    votes: &'static str,
}

const OF_ISSUES: DetailTables = DetailTables {
    issuable: |id| Issuable::Issue(IssueId(id)),
    labels: ", has.issue_id, has.label_id, labels.title FROM issue_labels AS has \
             JOIN labels ON labels.id = has.label_id WHERE has.issue_id IN (",
    subscriptions: ", issue_id, CAST(CASE WHEN subscribed THEN 1 ELSE 0 END AS BIGINT), NULL \
                    FROM issue_subscriptions WHERE user_id = ",
    participants: ", issue_id, CAST(0 AS BIGINT), NULL FROM issue_participants WHERE user_id = ",
    awards: ", issue_id, CAST(0 AS BIGINT), NULL FROM awards WHERE user_id = ",
    among: " AND issue_id IN (",
    votes: ", issues.id, (SELECT count(*) FROM awards \
            WHERE awards.issue_id = issues.id AND awards.name = vote.name), vote.name \
            FROM issues CROSS JOIN (SELECT 'thumbsup' AS name UNION ALL SELECT 'thumbsdown') AS vote \
            WHERE issues.id IN (",
};

const OF_REQUESTS: DetailTables = DetailTables {
    issuable: |id| Issuable::MergeRequest(MergeRequestId(id)),
    labels: ", has.merge_request_id, has.label_id, labels.title \
             FROM merge_request_labels AS has JOIN labels ON labels.id = has.label_id \
             WHERE has.merge_request_id IN (",
    subscriptions: ", merge_request_id, CAST(CASE WHEN subscribed THEN 1 ELSE 0 END AS BIGINT), NULL \
                    FROM merge_request_subscriptions WHERE user_id = ",
    participants: ", merge_request_id, CAST(0 AS BIGINT), NULL \
                   FROM merge_request_participants WHERE user_id = ",
    awards: ", merge_request_id, CAST(0 AS BIGINT), NULL FROM awards WHERE user_id = ",
    among: " AND merge_request_id IN (",
    votes: ", merge_requests.id, (SELECT count(*) FROM awards \
            WHERE awards.merge_request_id = merge_requests.id AND awards.name = vote.name), vote.name \
            FROM merge_requests \
            CROSS JOIN (SELECT 'thumbsup' AS name UNION ALL SELECT 'thumbsdown') AS vote \
            WHERE merge_requests.id IN (",
};

impl DetailTables {
    /// Selects all details.
    fn details(&self, reader: UserId, ids: &[i64]) -> Sql {
        let labels = Sql::new("SELECT ").number(LABEL).sql(self.labels).few_ids(ids);
        let rows = labels.sql(") UNION ALL ").then(self.subscription(reader, ids));
        rows.sql(" UNION ALL SELECT ").number(VOTES).sql(self.votes).few_ids(ids).sql(")")
    }

    /// Selects the explicit choices and the participation of a user.
    fn subscription(&self, user: UserId, ids: &[i64]) -> Sql {
        let rows_of =
            |query: Sql, table| query.sql(table).id(user.0).sql(self.among).few_ids(ids).sql(")");
        let chosen = rows_of(Sql::new("SELECT ").number(SUBSCRIPTION), self.subscriptions);
        let noted = chosen.sql(" UNION ALL SELECT ").number(PARTICIPATION);
        let noted = rows_of(noted, self.participants);
        let awarded = noted.sql(" UNION ALL SELECT DISTINCT ").number(PARTICIPATION);
        rows_of(awarded, self.awards)
    }
}

impl DieselTx<'_> {
    /// Loads the rows that a query selects from these tables, and adds them to the details of their issue or merge
    /// request. Labels come in any order.
    fn add_details(
        &mut self,
        tables: &DetailTables,
        query: Sql,
        found: &mut HashMap<Issuable, IssuableDetails>,
    ) -> Result<(), StoreError> {
        let rows: Vec<DetailRow> =
            self.run(|conn| query.rows::<(Integer, BigInt, BigInt, Nullable<Text>)>().load(conn))?;
        for (kind, id, number, text) in rows {
            let details = found.entry((tables.issuable)(id)).or_default();
            let count = || u32::try_from(number).unwrap_or(u32::MAX);
            match (kind, text.as_deref()) {
                (LABEL, Some(title)) => details.labels.push(LabelTitle::stored(title.to_owned())),
                (SUBSCRIPTION, None) => {
                    details.subscription = Some(Subscribed::from_bool(number == 1));
                }
                (PARTICIPATION, None) => details.participates = true,
                (VOTES, Some(THUMBS_UP)) => details.votes.up = count(),
                (VOTES, Some(THUMBS_DOWN)) => details.votes.down = count(),
                (_, _) => return Err(self.fail(StoreError::Corrupt("details of an issue"))),
            }
        }
        Ok(())
    }
}

impl Issuables for DieselTx<'_> {
    /// One query for issues and one for merge requests, if there are any.
    fn details(
        &mut self,
        reader: UserId,
        of: &[Issuable],
    ) -> Result<Vec<(Issuable, IssuableDetails)>, StoreError> {
        let issues: Vec<i64> = of.iter().filter_map(|on| Some(on.issue()?.0)).collect();
        let requests: Vec<i64> = of.iter().filter_map(|on| Some(on.merge_request()?.0)).collect();
        let mut found = HashMap::new();
        for (tables, ids) in [(&OF_ISSUES, issues), (&OF_REQUESTS, requests)] {
            if !ids.is_empty() {
                self.add_details(tables, tables.details(reader, &ids), &mut found)?;
            }
        }
        for details in found.values_mut() {
            details.labels.sort();
        }
        Ok(found.into_iter().collect())
    }

    fn subscription(
        &mut self,
        user: UserId,
        to: Issuable,
    ) -> Result<Option<Subscribed>, StoreError> {
        let tables = match to {
            Issuable::Issue(_) => &OF_ISSUES,
            Issuable::MergeRequest(_) => &OF_REQUESTS,
        };
        let mut found = HashMap::new();
        self.add_details(tables, tables.subscription(user, &[to.id()]), &mut found)?;
        let details = found.remove(&to).unwrap_or_default();
        Ok(details.subscription.or_else(|| details.participates.then_some(Subscribed::Yes)))
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
