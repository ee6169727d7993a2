//! Fake of the merge requests. The note count is computed on each read.

use super::tx::{FakeTx, Tables};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{LabelId, MergeRequestId, MergeRequestVersionId, ProjectId, UserId};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::merge_request::port::{BranchEnd, MergeRequests};
use hexforge_domain::merge_request::query::{
    MergeRequestFilter, MergeRequestOrder, RequestConditions, RequestScope, StateFilter,
};
use hexforge_domain::merge_request::{
    Ends, MergeRequest, MergeRequestState, MergeStatus, NewMergeRequest, NewVersion, RequestBranch,
    SeenVersions, Version,
};
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::project::query::ListAudience;
use std::collections::BTreeMap;

impl Tables {
    fn request_with_note_count(&self, request: &MergeRequest) -> MergeRequest {
        let user_notes_count = self.count_user_notes(request.id.into());
        MergeRequest { user_notes_count, ..request.clone() }
    }

    /// Returns the open requests that match a condition with an id above `after`, ordered by id.
    fn open_requests(
        &self,
        after: Option<MergeRequestId>,
        limit: u32,
        matches: impl Fn(&MergeRequest) -> bool,
    ) -> Vec<MergeRequest> {
        let open = self.merge_requests.iter().filter(|request| request.state.is_open());
        let found = open.filter(|request| Some(request.id) > after && matches(request));
        let mut found: Vec<_> = found.map(|found| self.request_with_note_count(found)).collect();
        found.sort_by_key(|request| request.id);
        found.truncate(limit as usize);
        found
    }
}

impl Tables {
    fn matches_request_filter(&self, request: &MergeRequest, filter: &MergeRequestFilter) -> bool {
        let has_state = match filter.states {
            StateFilter::Open => request.state.is_open(),
            StateFilter::Closed => request.state == MergeRequestState::Closed,
            StateFilter::Merged => request.state == MergeRequestState::Merged,
            StateFilter::All => true,
        };
        let sees = |audience: ListAudience, today| {
            self.projects.get(&request.project()).is_some_and(|project| {
                let viewer = audience.restricted_to();
                project.features.merge_requests
                    && viewer.is_none_or(|viewer| self.sees(viewer, project, today))
            })
        };
        let is_in_scope = match filter.scope {
            RequestScope::Project(project) => request.project() == project,
            RequestScope::AssignedTo(user, audience, today) => {
                request.assignee == Some(user) && sees(audience, today)
            }
            RequestScope::AuthoredBy(user, audience, today) => {
                request.author == user && sees(audience, today)
            }
            RequestScope::Group(group, audience, today) => {
                let project = self.projects.get(&request.project());
                let is_readable = |project| {
                    audience.restricted_to().is_none_or(|viewer| {
                        request.concerns(viewer.user)
                            || self.sees_code(project, NoteReader { viewer, today })
                    })
                };
                project.is_some_and(|project| project.namespace == group && is_readable(project))
                    && sees(audience, today)
            }
        };
        is_in_scope
            && has_state
            && filter.iids.as_ref().is_none_or(|iids| iids.contains(&request.iid))
            && self.meets_conditions(request, &filter.conditions)
    }

    fn meets_conditions(&self, request: &MergeRequest, conditions: &RequestConditions) -> bool {
        let has_label = |title: &String| {
            let labels = self.labels.iter().filter(|label| label.title.as_str() == title);
            let mut ids = labels.map(|label| label.id);
            ids.any(|label| self.merge_request_labels.contains(&(request.id, label)))
        };
        let milestone = self.milestones.iter().find(|one| Some(one.id) == request.milestone);
        let contains = |text: &str| {
            let text = text.trim().to_lowercase();
            let description = request.description.as_ref().map_or("", |text| text.as_str());
            let fields = [request.title.as_str(), description];
            fields.iter().any(|field| field.to_lowercase().contains(&text))
        };
        conditions.author.is_none_or(|author| request.author == author)
            && conditions.assignee.is_none_or(|assignee| request.assignee == Some(assignee))
            && conditions.labels.iter().all(has_label)
            && conditions.search.as_deref().is_none_or(contains)
            && conditions.milestone.as_ref().is_none_or(|title| {
                milestone.is_some_and(|milestone| milestone.title.as_str() == title)
            })
    }
}

/// Returns whether a request has the branch, and its source project exists.
fn is_at(
    projects: &BTreeMap<ProjectId, Project>,
    request: &MergeRequest,
    end: BranchEnd<'_>,
) -> bool {
    let ends = &request.ends;
    let exists = projects.contains_key(&ends.source_project);
    exists
        && match end {
            BranchEnd::Source(project, branch) => {
                ends.source_project == project && ends.source_branch == *branch
            }
            BranchEnd::Target(project, branch) => {
                ends.target_project == project && ends.target_branch == *branch
            }
        }
}

impl MergeRequests for FakeTx {
    fn find(
        &mut self,
        project: ProjectId,
        id: MergeRequestId,
    ) -> Result<Option<MergeRequest>, StoreError> {
        let found = MergeRequests::find_all(self, &[id])?;
        Ok(found.into_iter().find(|request| request.project() == project))
    }

    fn find_all(&mut self, ids: &[MergeRequestId]) -> Result<Vec<MergeRequest>, StoreError> {
        let found = self.tables.merge_requests.iter().filter(|request| ids.contains(&request.id));
        Ok(found.map(|request| self.tables.request_with_note_count(request)).collect())
    }

    fn find_by_iids(
        &mut self,
        project: ProjectId,
        iids: &[i64],
    ) -> Result<Vec<MergeRequest>, StoreError> {
        let all = self.tables.merge_requests.iter();
        let found = all.filter(|found| found.project() == project && iids.contains(&found.iid));
        Ok(found.map(|request| self.tables.request_with_note_count(request)).collect())
    }

    fn list(
        &mut self,
        filter: &MergeRequestFilter,
        page: Page,
    ) -> Result<Paged<MergeRequest>, StoreError> {
        let all = self.tables.merge_requests.iter();
        let matches = |request: &&MergeRequest| self.tables.matches_request_filter(request, filter);
        let mut fitting: Vec<_> = all.filter(matches).collect();
        fitting.sort_by_key(|request| match filter.order {
            MergeRequestOrder::CreatedAt => (request.created_at, request.id),
            MergeRequestOrder::UpdatedAt => (request.updated_at, request.id),
        });
        if filter.descending {
            fitting.reverse();
        }
        Ok(page.slice(fitting).map(|request| self.tables.request_with_note_count(request)))
    }

    fn count(&mut self, filter: &MergeRequestFilter) -> Result<u64, StoreError> {
        let all = self.tables.merge_requests.iter();
        let matches = |request: &&MergeRequest| self.tables.matches_request_filter(request, filter);
        Ok(all.filter(matches).count() as u64)
    }

    fn insert(&mut self, new: NewMergeRequest) -> Result<MergeRequest, StoreError> {
        self.require_project(new.ends.target_project)?;
        self.require_user(new.author)?;
        if let Some(assignee) = new.assignee {
            self.require_user(assignee)?;
        }
        let last = self.tables.iids.entry(new.ends.target_project).or_default();
        last.merge_requests += 1;
        let iid = last.merge_requests;
        let request = MergeRequest {
            id: MergeRequestId(self.next_id()),
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
        self.tables.merge_requests.push(request.clone());
        Ok(request)
    }

    fn update(&mut self, request: &MergeRequest) -> Result<(), StoreError> {
        let found = self.tables.merge_requests.iter_mut().find(|row| row.id == request.id);
        if let Some(row) = found {
            let target_branch = request.ends.target_branch.clone();
            *row = MergeRequest {
                iid: row.iid,
                ends: Ends { target_branch, ..row.ends.clone() },
                created_at: row.created_at,
                ..request.clone()
            };
        }
        Ok(())
    }

    fn delete(&mut self, id: MergeRequestId) -> Result<(), StoreError> {
        self.tables.remove_merge_request(id);
        Ok(())
    }

    fn labels_of(
        &mut self,
        requests: &[MergeRequestId],
    ) -> Result<Vec<(MergeRequestId, LabelId, LabelTitle)>, StoreError> {
        let mut found = Vec::new();
        for (request, label) in &self.tables.merge_request_labels {
            let row = self.tables.labels.iter().find(|row| row.id == *label);
            if let Some(row) = row.filter(|_| requests.contains(request)) {
                found.push((*request, *label, row.title.clone()));
            }
        }
        found.sort_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
        Ok(found)
    }

    fn set_labels(
        &mut self,
        request: MergeRequestId,
        labels: &[LabelId],
    ) -> Result<(), StoreError> {
        self.tables.merge_request_labels.retain(|(other, _)| *other != request);
        self.tables.merge_request_labels.extend(labels.iter().map(|label| (request, *label)));
        Ok(())
    }

    fn open_counts(
        &mut self,
        labels: &[LabelId],
        concerning: Option<UserId>,
    ) -> Result<Vec<(LabelId, u32)>, StoreError> {
        let open = self.tables.open_requests(None, u32::MAX, |request| {
            concerning.is_none_or(|user| request.concerns(user))
        });
        let links = &self.tables.merge_request_labels;
        let count = |label: &LabelId| {
            let with = open.iter().filter(|request| links.contains(&(request.id, *label)));
            (*label, u32::try_from(with.count()).unwrap_or(u32::MAX))
        };
        Ok(labels.iter().map(count).collect())
    }

    fn open_twin(
        &mut self,
        ends: &Ends,
        except: Option<MergeRequestId>,
    ) -> Result<Option<MergeRequest>, StoreError> {
        let is_twin = |request: &MergeRequest| request.ends == *ends && Some(request.id) != except;
        Ok(self.tables.open_requests(None, 1, is_twin).pop())
    }

    fn open_at(
        &mut self,
        end: BranchEnd<'_>,
        after: Option<MergeRequestId>,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError> {
        Ok(self
            .tables
            .open_requests(after, limit, |request| is_at(&self.tables.projects, request, end)))
    }

    fn open_heads(
        &mut self,
        project: ProjectId,
        branch: &RequestBranch,
        limit: u32,
    ) -> Result<Vec<(MergeRequestId, ObjectId)>, StoreError> {
        let end = BranchEnd::Target(project, branch);
        let has_head = |request: &MergeRequest| {
            is_at(&self.tables.projects, request, end) && request.head.is_some()
        };
        let found = self.tables.open_requests(None, limit, has_head).into_iter();
        Ok(found.filter_map(|request| Some((request.id, request.head?))).collect())
    }

    fn open_from_fork(
        &mut self,
        source: ProjectId,
        after: Option<MergeRequestId>,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError> {
        Ok(self.tables.open_requests(after, limit, |request| {
            request.ends.source_project == source && request.ends.is_from_fork()
        }))
    }

    fn open_automatic(
        &mut self,
        source: ProjectId,
        branch: &RequestBranch,
        head: ObjectId,
        limit: u32,
    ) -> Result<Vec<MergeRequest>, StoreError> {
        Ok(self.tables.open_requests(None, limit, |request| {
            is_at(&self.tables.projects, request, BranchEnd::Source(source, branch))
                && request.head == Some(head)
                && request.automatic_merge.is_some()
        }))
    }

    fn reset_merge_status(
        &mut self,
        project: ProjectId,
        branch: &RequestBranch,
    ) -> Result<bool, StoreError> {
        let mut found = false;
        for request in &mut self.tables.merge_requests {
            let has_branch =
                is_at(&self.tables.projects, request, BranchEnd::Source(project, branch))
                    || is_at(&self.tables.projects, request, BranchEnd::Target(project, branch));
            if has_branch && request.state.is_open() {
                request.merge_status = MergeStatus::Unchecked;
                found = true;
            }
        }
        Ok(found)
    }

    fn insert_version(&mut self, new: NewVersion) -> Result<Version, StoreError> {
        self.require_issuable(new.request.into())?;
        let version = Version {
            id: MergeRequestVersionId(self.next_id()),
            request: new.request,
            commits: new.commits,
            size: new.size,
            created_at: new.at,
        };
        self.tables.versions.push(version.clone());
        for request in &mut self.tables.merge_requests {
            if request.id == new.request {
                request.head = new.commits.head;
            }
        }
        Ok(version)
    }

    fn versions(&mut self, request: MergeRequestId) -> Result<Vec<Version>, StoreError> {
        let newest_first = self.tables.versions.iter().rev();
        Ok(newest_first.filter(|version| version.request == request).cloned().collect())
    }

    fn version(
        &mut self,
        request: MergeRequestId,
        id: MergeRequestVersionId,
    ) -> Result<Option<Version>, StoreError> {
        Ok(self.versions(request)?.into_iter().find(|version| version.id == id))
    }

    fn newest_version(&mut self, request: MergeRequestId) -> Result<Option<Version>, StoreError> {
        Ok(self.versions(request)?.into_iter().next())
    }
}
