//! The port to the stored merge requests.

use super::query::MergeRequestFilter;
use super::{Ends, MergeRequest, NewMergeRequest, NewVersion, RequestBranch, Version};
use crate::commit::ObjectId;
use crate::id::{LabelId, MergeRequestId, MergeRequestVersionId, ProjectId, UserId};
use crate::label::LabelTitle;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The merge requests of all projects. A request belongs to its target project. The caller locks that project before a
/// change.
///
/// Rows that go with a request: its versions, label links, subscriptions, participants, awards, notes, and the events
/// about it and its notes. A request goes with its target project, its author and its assignee; it loses a deleted
/// label, milestone, editor, and the automatic merge of a deleted user. It outlives its source project.
pub trait MergeRequests {
    /// Returns the request with this id if it belongs to the target project.
    fn find(
        &mut self,
        project: ProjectId,
        id: MergeRequestId,
    ) -> Result<Option<MergeRequest>, StoreError>;

    /// Returns the requests with these ids, in no particular order.
    fn find_all(&mut self, ids: &[MergeRequestId]) -> Result<Vec<MergeRequest>, StoreError>;

    /// Returns the requests with these numbers in a target project, in no particular order.
    fn find_by_iids(
        &mut self,
        project: ProjectId,
        iids: &[i64],
    ) -> Result<Vec<MergeRequest>, StoreError>;

    /// Returns a page of the requests that match the filter.
    fn list(
        &mut self,
        filter: &MergeRequestFilter,
        page: Page,
    ) -> Result<Paged<MergeRequest>, StoreError>;

    /// Returns the number of requests that match the filter.
    fn count(&mut self, filter: &MergeRequestFilter) -> Result<u64, StoreError>;

    /// Creates an open request without a version, with the next number of its target project. Numbers of deleted
    /// requests are not reused. The merge status is unchecked.
    fn insert(&mut self, new: NewMergeRequest) -> Result<MergeRequest, StoreError>;

    /// Stores every field except the note count, the source project, the source branch, the target project, the number
    /// and the creation time.
    fn update(&mut self, request: &MergeRequest) -> Result<(), StoreError>;

    /// Deletes a request with all rows that go with it. Does nothing if it does not exist.
    fn delete(&mut self, id: MergeRequestId) -> Result<(), StoreError>;

    /// Returns the labels of several requests, ordered by request, then by the bytes of the title.
    fn labels_of(
        &mut self,
        requests: &[MergeRequestId],
    ) -> Result<Vec<(MergeRequestId, LabelId, LabelTitle)>, StoreError>;

    /// Replaces the labels of a request.
    fn set_labels(&mut self, request: MergeRequestId, labels: &[LabelId])
    -> Result<(), StoreError>;

    /// Returns the number of open requests with each of these labels. With `concerning`, only requests of which the user
    /// is author or assignee count. Labels without open requests may be left out.
    fn open_counts(
        &mut self,
        labels: &[LabelId],
        concerning: Option<UserId>,
    ) -> Result<Vec<(LabelId, u32)>, StoreError>;

    /// Returns the oldest open request with the same source project, source branch, target project and target branch,
    /// other than `except`.
    fn open_twin(
        &mut self,
        ends: &Ends,
        except: Option<MergeRequestId>,
    ) -> Result<Option<MergeRequest>, StoreError>;

    /// Returns up to `limit` open requests with a branch at one of their ends and an id above `after`, ordered by id.
    /// Requests whose source project is gone are left out.
    fn open_at(
        &mut self,
        end: BranchEnd<'_>,
        after: Option<MergeRequestId>,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError>;

    /// Returns the heads of up to `limit` open requests into a target branch, ordered by id. Requests without a head are
    /// left out.
    fn open_heads(
        &mut self,
        project: ProjectId,
        branch: &RequestBranch,
        limit: u32,
    ) -> Result<Vec<(MergeRequestId, ObjectId)>, StoreError>;

    /// Returns up to `limit` open requests from a source project to other projects with an id above `after`, ordered by
    /// id.
    fn open_from_fork(
        &mut self,
        source: ProjectId,
        after: Option<MergeRequestId>,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError>;

    /// Returns up to `limit` open requests with an automatic merge that have this head, source project and source
    /// branch, ordered by id.
    fn open_automatic(
        &mut self,
        source: ProjectId,
        branch: &RequestBranch,
        head: ObjectId,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError>;

    /// Sets the merge status of all open requests with the branch at either end to unchecked. Does not change the update
    /// time. Returns whether any open request has the branch at either end. Cost: one statement, which writes only rows
    /// whose status was checked.
    fn reset_merge_status(
        &mut self,
        project: ProjectId,
        branch: &RequestBranch,
    ) -> Result<bool, StoreError>;

    /// Adds a version, and stores its head as the head of the request.
    fn insert_version(&mut self, new: NewVersion) -> Result<Version, StoreError>;

    /// Returns all versions of a request, newest first.
    fn versions(&mut self, request: MergeRequestId) -> Result<Vec<Version>, StoreError>;

    /// Returns the version with this id if it belongs to the request.
    fn version(
        &mut self,
        request: MergeRequestId,
        id: MergeRequestVersionId,
    ) -> Result<Option<Version>, StoreError>;

    /// Returns the newest version of a request.
    fn newest_version(&mut self, request: MergeRequestId) -> Result<Option<Version>, StoreError>;
}

/// A branch at one end of merge requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchEnd<'a> {
    /// Requests that merge this branch of this project.
    Source(ProjectId, &'a RequestBranch),
    /// Requests that merge into this branch of this project.
    Target(ProjectId, &'a RequestBranch),
}
