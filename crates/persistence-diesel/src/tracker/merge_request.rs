//! Merge requests, and the counters of labels that change with them.

mod list;
mod row;
mod version;

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{LabelId, MergeRequestId, MergeRequestVersionId, ProjectId, UserId};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::merge_request::port::{BranchEnd, MergeRequests};
use hexforge_domain::merge_request::query::MergeRequestFilter;
use hexforge_domain::merge_request::{
    Ends, MergeRequest, MergeRequestState, MergeStatus, NewMergeRequest, NewVersion, RequestBranch,
    SeenVersions, Version,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::unique::sorted_unique;

use crate::database::schema::{labels, merge_request_labels, merge_requests};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;
use list::OPEN;
use row::{ChangedValues, MergeRequestRow};

/// Like the constant in `issue.rs`, for merge requests.
const NEXT_IID: (&str, &str) = (
    "INSERT INTO iids (project_id, merge_requests) VALUES (",
    ", 1) ON CONFLICT (project_id) DO UPDATE SET merge_requests = iids.merge_requests + 1 \
     RETURNING merge_requests",
);

impl DieselTx<'_> {
    /// Returns the merge requests with these ids, in the order of the ids.
    fn merge_requests_by_id(&mut self, ids: &[i64]) -> Result<Vec<MergeRequest>, StoreError> {
        self.cached_rows(
            ids,
            |cache| &mut cache.merge_requests,
            |request: &MergeRequest| request.id.0,
            |tx, ids| {
                let mut rows: Vec<MergeRequestRow> = tx.by_ids(ids, |conn, ids| {
                    merge_requests::table.filter(merge_requests::id.among(ids)).load(conn)
                })?;
                page::arrange(&mut rows, ids, |row| row.id);
                tx.convert_rows(rows)
            },
        )
    }

    fn merge_request_by_id(
        &mut self,
        id: MergeRequestId,
    ) -> Result<Option<MergeRequest>, StoreError> {
        Ok(self.merge_requests_by_id(&[id.0])?.into_iter().next())
    }

    /// Returns the merge requests that a query selects by id, in its order.
    fn selected_merge_requests(&mut self, query: Sql) -> Result<Vec<MergeRequest>, StoreError> {
        let ids = self.ids(query)?;
        self.merge_requests_by_id(&ids)
    }

    /// Adds to the counter of open merge requests of the labels that a fragment selects: a list of ids or a query.
    fn count_open_requests(&mut self, labels: Sql, more: i32) -> Result<(), StoreError> {
        self.execute(
            Sql::new("UPDATE labels SET open_merge_requests = open_merge_requests + ")
                .number(more)
                .sql(" WHERE id IN (")
                .then(labels)
                .sql(")"),
        )
    }

    /// Deletes all merge requests that match a condition on `merge_requests`, and subtracts the open ones from the
    /// counters of labels.
    pub(crate) fn remove_merge_requests(&mut self, removed: &Sql) -> Result<(), StoreError> {
        let labelled = Sql::new(
            "FROM merge_request_labels AS has JOIN merge_requests ON merge_requests.id = has.merge_request_id WHERE ",
        )
        .sql(OPEN)
        .sql(" AND ")
        .then(removed.clone());
        self.execute(
            Sql::new(
                "UPDATE labels SET open_merge_requests = open_merge_requests - (SELECT count(*) ",
            )
            .then(labelled.clone())
            .sql(" AND +has.label_id = labels.id) WHERE id IN (SELECT has.label_id ")
            .then(labelled)
            .sql(")"),
        )?;
        self.execute(Sql::new("DELETE FROM merge_requests WHERE ").then(removed.clone()))
    }
}

impl MergeRequests for DieselTx<'_> {
    fn find(
        &mut self,
        project: ProjectId,
        id: MergeRequestId,
    ) -> Result<Option<MergeRequest>, StoreError> {
        Ok(self.merge_request_by_id(id)?.filter(|request| request.project() == project))
    }

    fn find_all(&mut self, ids: &[MergeRequestId]) -> Result<Vec<MergeRequest>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.merge_requests_by_id(&ids)
    }

    fn find_by_iids(
        &mut self,
        project: ProjectId,
        iids: &[i64],
    ) -> Result<Vec<MergeRequest>, StoreError> {
        let rows: Vec<MergeRequestRow> = self.by_ids(iids, |conn, iids| {
            merge_requests::table
                .filter(merge_requests::project_id.eq(project.0))
                .filter(merge_requests::iid.among(iids))
                .load(conn)
        })?;
        let found: Vec<MergeRequest> = self.convert_rows(rows)?;
        if let Some(cache) = self.cache() {
            let rows = found.iter().map(|one| (one.id.0, Some(one.clone())));
            cache.merge_requests.extend(rows);
        }
        Ok(found)
    }

    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list(
        &mut self,
        filter: &MergeRequestFilter,
        page: Page,
    ) -> Result<Paged<MergeRequest>, StoreError> {
        let items = self.selected_merge_requests(list::ordered(filter).page(page))?;
        let total = match page::length_at_end(page, items.len()) {
            Some(length) => length,
            None => MergeRequests::count(self, filter)?,
        };
        Ok(Paged { items, total })
    }

    fn count(&mut self, filter: &MergeRequestFilter) -> Result<u64, StoreError> {
        if let Some(counters) = list::total_by_counters(filter) {
            return Ok(self.ids(counters)?.first().copied().unwrap_or_default().unsigned_abs());
        }
        self.total(&format!("merge requests {filter:?}"), &list::matching(filter))
    }

    fn insert(&mut self, new: NewMergeRequest) -> Result<MergeRequest, StoreError> {
        let iid = self.next_iid(new.ends.target_project, NEXT_IID)?;
        let mut request = MergeRequest {
            id: MergeRequestId(0),
            iid,
            ends: new.ends,
            author: new.author,
            assignee: new.assignee,
            milestone: new.milestone,
            updated_by: None,
            title: new.title,
            description: new.description,
            state: MergeRequestState::Opened,
            merge_status: MergeStatus::Unchecked,
            head: None,
            merge_commit: None,
            automatic_merge: None,
            seen: SeenVersions::default(),
            user_notes_count: 0,
            created_at: new.at,
            updated_at: new.at,
        };
        let values = (
            merge_requests::project_id.eq(request.ends.target_project.0),
            merge_requests::iid.eq(iid),
            merge_requests::source_project_id.eq(request.ends.source_project.0),
            merge_requests::source_branch.eq(request.ends.source_branch.as_str()),
            merge_requests::created_at.eq(to_naive(request.created_at)),
            ChangedValues::from(&request),
        );
        request.id = MergeRequestId(self.run(|conn| {
            diesel::insert_into(merge_requests::table)
                .values(values)
                .returning(merge_requests::id)
                .get_result(conn)
        })?);
        Ok(request)
    }

    fn update(&mut self, request: &MergeRequest) -> Result<(), StoreError> {
        let Some(before) = self.merge_request_by_id(request.id)? else { return Ok(()) };
        let row = merge_requests::table.find(request.id.0);
        let values = ChangedValues::from(request);
        self.run(|conn| diesel::update(row).set(values).execute(conn))?;
        let more = match (before.state.is_open(), request.state.is_open()) {
            (true, false) => -1,
            (false, true) => 1,
            (true, true) | (false, false) => return Ok(()),
        };
        let its = Sql::new("SELECT label_id FROM merge_request_labels WHERE merge_request_id = ");
        self.count_open_requests(its.id(request.id.0), more)
    }

    fn delete(&mut self, id: MergeRequestId) -> Result<(), StoreError> {
        self.remove_merge_requests(&Sql::new("merge_requests.id = ").id(id.0))
    }

    fn labels_of(
        &mut self,
        requests: &[MergeRequestId],
    ) -> Result<Vec<(MergeRequestId, LabelId, LabelTitle)>, StoreError> {
        let ids: Vec<i64> = requests.iter().map(|id| id.0).collect();
        let rows: Vec<(i64, i64, String)> = self.by_ids(&ids, |conn, ids| {
            merge_request_labels::table
                .inner_join(labels::table)
                .filter(merge_request_labels::merge_request_id.among(ids))
                .order((merge_request_labels::merge_request_id, labels::title))
                .select((merge_request_labels::merge_request_id, labels::id, labels::title))
                .load(conn)
        })?;
        let label = |(request, label, title)| {
            (MergeRequestId(request), LabelId(label), LabelTitle::stored(title))
        };
        Ok(rows.into_iter().map(label).collect())
    }

    fn set_labels(
        &mut self,
        request: MergeRequestId,
        labels: &[LabelId],
    ) -> Result<(), StoreError> {
        let Some(found) = self.merge_request_by_id(request)? else { return Ok(()) };
        let its = || {
            merge_request_labels::table.filter(merge_request_labels::merge_request_id.eq(request.0))
        };
        let before: Vec<i64> =
            self.run(|conn| its().select(merge_request_labels::label_id).load(conn))?;
        let after = sorted_unique(labels.iter().map(|label| label.0));
        let removed: Vec<i64> = before.iter().filter(|id| !after.contains(id)).copied().collect();
        let added: Vec<i64> = after.into_iter().filter(|id| !before.contains(id)).collect();
        if !removed.is_empty() {
            let rows = its().filter(merge_request_labels::label_id.eq_any(removed.clone()));
            self.run(|conn| diesel::delete(rows).execute(conn))?;
        }
        if !added.is_empty() {
            let row = |label: &i64| {
                (
                    merge_request_labels::merge_request_id.eq(request.0),
                    merge_request_labels::label_id.eq(*label),
                )
            };
            let rows: Vec<_> = added.iter().map(row).collect();
            self.run(|conn| {
                each_backend!(conn, c => diesel::insert_into(merge_request_labels::table)
                    .values(rows)
                    .execute(c))
            })?;
        }
        if found.state.is_open() {
            for (ids, more) in [(removed, -1), (added, 1)] {
                if !ids.is_empty() {
                    self.count_open_requests(Sql::new("").ids(ids), more)?;
                }
            }
        }
        Ok(())
    }

    /// One query. The counts of all requests are counters of labels; those that concern a user are read by the indexes
    /// of the user's open requests.
    fn open_counts(
        &mut self,
        labels: &[LabelId],
        concerning: Option<UserId>,
    ) -> Result<Vec<(LabelId, u32)>, StoreError> {
        if labels.is_empty() {
            return Ok(vec![]);
        }
        let ids: Vec<i64> = labels.iter().map(|label| label.0).collect();
        let query = match concerning {
            None => Sql::new(
                "SELECT id, CAST(open_merge_requests AS BIGINT) FROM labels \
                 WHERE open_merge_requests > 0 AND id IN (",
            )
            .few_ids(&ids)
            .sql(")"),
            Some(user) => list::open_counts_concerning(user, &ids),
        };
        let rows: Vec<(i64, i64)> = self.run(|conn| query.rows::<(BigInt, BigInt)>().load(conn))?;
        let mut counts: HashMap<i64, u32> = HashMap::new();
        for (label, count) in rows {
            *counts.entry(label).or_default() += u32::try_from(count).unwrap_or(u32::MAX);
        }
        Ok(counts.into_iter().map(|(label, count)| (LabelId(label), count)).collect())
    }

    fn open_twin(
        &mut self,
        ends: &Ends,
        except: Option<MergeRequestId>,
    ) -> Result<Option<MergeRequest>, StoreError> {
        let found =
            self.selected_merge_requests(list::twins(ends, except).sql(" ORDER BY id LIMIT 1"))?;
        Ok(found.into_iter().next())
    }

    fn open_at(
        &mut self,
        end: BranchEnd<'_>,
        after: Option<MergeRequestId>,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError> {
        self.selected_merge_requests(list::after(list::open_at(end), after, limit))
    }

    fn open_heads(
        &mut self,
        project: ProjectId,
        branch: &RequestBranch,
        limit: u32,
    ) -> Result<Vec<(MergeRequestId, ObjectId)>, StoreError> {
        let open = list::open_at(BranchEnd::Target(project, branch)).sql(" AND head IS NOT NULL");
        let ids = self.ids(list::after(open, None, limit))?;
        let mut rows: Vec<(i64, Option<Vec<u8>>)> = self.by_ids(&ids, |conn, ids| {
            merge_requests::table
                .filter(merge_requests::id.among(ids))
                .select((merge_requests::id, merge_requests::head))
                .load(conn)
        })?;
        page::arrange(&mut rows, &ids, |row| row.0);
        let heads = rows.into_iter().filter_map(|(id, head)| Some((id, head?)));
        let head = |(id, head): (i64, Vec<u8>)| Ok((MergeRequestId(id), row::object_id(&head)?));
        self.fail_on_error(heads.map(head).collect())
    }

    fn open_from_fork(
        &mut self,
        source: ProjectId,
        after: Option<MergeRequestId>,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError> {
        let elsewhere = Sql::new("project_id <> ").id(source.0);
        let from = list::open(list::is_from(source, elsewhere));
        self.selected_merge_requests(list::after(from, after, limit))
    }

    fn open_automatic(
        &mut self,
        source: ProjectId,
        branch: &RequestBranch,
        head: ObjectId,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError> {
        let waiting = list::open_at(BranchEnd::Source(source, branch))
            .sql(" AND merge_user_id IS NOT NULL AND head = ")
            .bytes(Some(head.as_bytes()));
        self.selected_merge_requests(list::after(waiting, None, limit))
    }

    fn reset_merge_status(
        &mut self,
        project: ProjectId,
        branch: &RequestBranch,
    ) -> Result<bool, StoreError> {
        let mut found = false;
        for end in [BranchEnd::Source(project, branch), BranchEnd::Target(project, branch)] {
            let open = list::open_at(end);
            if self.ids(open.clone().sql(" LIMIT 1"))?.is_empty() {
                continue;
            }
            found = true;
            self.execute(
                Sql::new("UPDATE merge_requests SET merge_status = 'unchecked' WHERE id IN (")
                    .then(open)
                    .sql(" AND merge_status <> 'unchecked')"),
            )?;
        }
        Ok(found)
    }

    fn insert_version(&mut self, new: NewVersion) -> Result<Version, StoreError> {
        self.store_version(new)
    }

    fn versions(&mut self, request: MergeRequestId) -> Result<Vec<Version>, StoreError> {
        self.load_versions(request, None, Page::Whole)
    }

    fn version(
        &mut self,
        request: MergeRequestId,
        id: MergeRequestVersionId,
    ) -> Result<Option<Version>, StoreError> {
        Ok(self.load_versions(request, Some(id), Page::Whole)?.into_iter().next())
    }

    fn newest_version(&mut self, request: MergeRequestId) -> Result<Option<Version>, StoreError> {
        let newest = Page::Numbered { number: 1, size: 1 };
        Ok(self.load_versions(request, None, newest)?.into_iter().next())
    }
}
