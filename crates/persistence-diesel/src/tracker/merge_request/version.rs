//! The versions of merge requests.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::id::{MergeRequestId, MergeRequestVersionId};
use hexforge_domain::merge_request::version::{FileCount, VersionCommits};
use hexforge_domain::merge_request::{NewVersion, Version};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;

use super::row::object_id;
use crate::database::schema::{merge_request_versions, merge_requests};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::page;

#[derive(Queryable)]
struct VersionRow {
    id: i64,
    merge_request_id: i64,
    head_commit: Option<Vec<u8>>,
    start_commit: Option<Vec<u8>>,
    base_commit: Option<Vec<u8>>,
    size: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<VersionRow> for Version {
    type Error = StoreError;

    fn try_from(row: VersionRow) -> Result<Self, StoreError> {
        let commit = |bytes: Option<Vec<u8>>| bytes.as_deref().map(object_id).transpose();
        let size = |text: String| FileCount::parse(&text).ok_or(StoreError::Corrupt("file count"));
        Ok(Version {
            id: MergeRequestVersionId(row.id),
            request: MergeRequestId(row.merge_request_id),
            commits: VersionCommits {
                head: commit(row.head_commit)?,
                start: commit(row.start_commit)?,
                base: commit(row.base_commit)?,
            },
            size: row.size.map(size).transpose()?,
            created_at: to_utc(row.created_at),
        })
    }
}

impl DieselTx<'_> {
    /// Inserts a version, and stores its head as the head of the merge request.
    pub(super) fn store_version(&mut self, new: NewVersion) -> Result<Version, StoreError> {
        let NewVersion { request, commits, size, at } = new;
        let bytes =
            |id: Option<hexforge_domain::commit::ObjectId>| id.map(|id| id.as_bytes().to_vec());
        let values = (
            merge_request_versions::merge_request_id.eq(request.0),
            merge_request_versions::head_commit.eq(bytes(commits.head)),
            merge_request_versions::start_commit.eq(bytes(commits.start)),
            merge_request_versions::base_commit.eq(bytes(commits.base)),
            merge_request_versions::size.eq(size.map(|size| size.to_string())),
            merge_request_versions::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(merge_request_versions::table)
                .values(values)
                .returning(merge_request_versions::id)
                .get_result(conn)
        })?;
        let row = merge_requests::table.find(request.0);
        let head = merge_requests::head.eq(bytes(commits.head));
        self.run(|conn| diesel::update(row).set(head).execute(conn))?;
        Ok(Version { id: MergeRequestVersionId(id), request, commits, size, created_at: at })
    }

    /// Returns the versions of a merge request, newest first, or only the one with this id.
    pub(super) fn load_versions(
        &mut self,
        request: MergeRequestId,
        id: Option<MergeRequestVersionId>,
        page: Page,
    ) -> Result<Vec<Version>, StoreError> {
        let rows = merge_request_versions::table
            .filter(merge_request_versions::merge_request_id.eq(request.0));
        self.read_rows(|conn| match id {
            Some(id) => rows.filter(merge_request_versions::id.eq(id.0)).load::<VersionRow>(conn),
            None => rows
                .order(merge_request_versions::id.desc())
                .limit(page::limit(page))
                .load::<VersionRow>(conn),
        })
    }
}
