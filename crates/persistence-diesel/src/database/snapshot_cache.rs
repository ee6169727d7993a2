//! A cache of the rows that the reads of one snapshot have loaded.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::{Project, ProjectHeader, ProjectRef};
use hexforge_domain::refs::RepositoryState;
use hexforge_domain::user::User;

use crate::database::tx::{DieselTx, Extent};

/// Rows by id; `None` for a row that does not exist.
pub(crate) type Rows<T> = HashMap<i64, Option<T>>;

/// The rows that the reads of a snapshot have loaded. A second read of a row takes no query.
#[derive(Default)]
pub(crate) struct SnapshotCache {
    pub extent: Option<Extent>,
    pub users: Rows<User>,
    pub namespaces: Rows<Namespace>,
    pub projects: Rows<Project>,
    pub headers: Rows<ProjectHeader>,
    pub repositories: Rows<RepositoryState>,
    pub issues: Rows<Issue>,
    pub merge_requests: Rows<MergeRequest>,
    pub roles: HashMap<(ProjectId, UserId, NaiveDate), ProjectRole>,
    pub settings_version: Option<i64>,
    /// The ids of namespaces by their folded paths.
    pub namespace_paths: HashMap<String, i64>,
    /// The ids of projects by the paths by which they were looked up.
    paths: HashMap<(String, String), i64>,
}

impl SnapshotCache {
    /// Keeps the rows that exist. Others may be inserted before the next read, and lists may change.
    pub fn forget_absences(&mut self) {
        fn keep_existing<T>(rows: &mut Rows<T>) {
            rows.retain(|_, row| row.is_some());
        }
        self.extent = None;
        keep_existing(&mut self.users);
        keep_existing(&mut self.namespaces);
        keep_existing(&mut self.projects);
        keep_existing(&mut self.headers);
        keep_existing(&mut self.repositories);
        keep_existing(&mut self.issues);
        keep_existing(&mut self.merge_requests);
    }

    /// Returns the id of a project that was looked up by the same reference.
    pub fn project_id(&self, reference: &ProjectRef) -> Option<i64> {
        match reference {
            ProjectRef::Id(id) => Some(id.0),
            ProjectRef::Path { namespace, path } => {
                self.paths.get(&(namespace.clone(), path.clone())).copied()
            }
        }
    }

    /// Stores which project was found by a reference.
    pub fn remember_project(&mut self, reference: &ProjectRef, id: ProjectId) {
        if let ProjectRef::Path { namespace, path } = reference {
            self.paths.insert((namespace.clone(), path.clone()), id.0);
        }
    }
}

impl DieselTx<'_> {
    /// Returns the rows with these ids, each once and in the order of the ids. In a snapshot, `load` is called only
    /// with ids that it was not called with before.
    pub fn cached_rows<T: Clone>(
        &mut self,
        ids: &[i64],
        rows: fn(&mut SnapshotCache) -> &mut Rows<T>,
        id_of: fn(&T) -> i64,
        load: impl FnOnce(&mut Self, &[i64]) -> Result<Vec<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let Some(cache) = self.cache() else { return load(self, ids) };
        let cached = rows(cache);
        let mut seen = HashSet::with_capacity(ids.len());
        let ids: Vec<i64> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
        let missing = ids.iter().copied().filter(|id| !cached.contains_key(id));
        let missing: Vec<i64> = missing.collect();
        if !missing.is_empty() {
            let found = load(self, &missing)?;
            if let Some(cached) = self.cache().map(rows) {
                cached.extend(missing.into_iter().map(|id| (id, None)));
                cached.extend(found.into_iter().map(|row| (id_of(&row), Some(row))));
            }
        }
        let cached = self.cache().map(rows);
        Ok(cached.map_or_else(Vec::new, |cached| {
            ids.iter().filter_map(|id| cached.get(id)?.clone()).collect()
        }))
    }

    /// Like [`cached_rows`](Self::cached_rows), for one row.
    pub fn cached_row<T: Clone>(
        &mut self,
        id: i64,
        rows: fn(&mut SnapshotCache) -> &mut Rows<T>,
        load: impl FnOnce(&mut Self) -> Result<Option<T>, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if let Some(found) = self.cache().and_then(|cache| rows(cache).get(&id)) {
            return Ok(found.clone());
        }
        let found = load(self)?;
        if let Some(cache) = self.cache() {
            rows(cache).insert(id, found.clone());
        }
        Ok(found)
    }
}
