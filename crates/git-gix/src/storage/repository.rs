//! A repository opened for one request.

use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs::Snapshot;

use crate::history::compare::AncestorCache;
use crate::storage::open::OpenRepository;
use crate::storage::store::Shared;

/// The repository of a project. It has no [`RepositoryHandle`] until the first objects are stored.
pub(crate) struct GixRepository {
    shared: Arc<Shared>,
    project: ProjectId,
    refs: Arc<Snapshot>,
    caller: Caller,
    handle: Option<RepositoryHandle>,
    ancestry: AncestorCache,
}

/// An open repository and a handle that this request owns.
pub(crate) struct RepositoryHandle {
    open: Arc<OpenRepository>,
    repo: Option<gix::Repository>,
}

impl GixRepository {
    pub(crate) fn open(
        shared: Arc<Shared>,
        project: ProjectId,
        refs: Arc<Snapshot>,
        caller: Caller,
    ) -> Result<Self, GitError> {
        let open = shared.open(project, &refs)?;
        let handle = open.map(|open| RepositoryHandle { repo: Some(open.handle()), open });
        Ok(Self { shared, project, refs, caller, handle, ancestry: AncestorCache::default() })
    }

    pub(crate) fn handle(&self) -> Option<&RepositoryHandle> {
        self.handle.as_ref()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn ancestry(&self) -> &AncestorCache {
        &self.ancestry
    }

    pub(crate) fn project(&self) -> ProjectId {
        self.project
    }

    /// The refs snapshot with which the repository was opened.
    pub(crate) fn refs(&self) -> &Arc<Snapshot> {
        &self.refs
    }

    /// The caller on whose behalf the repository was opened.
    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }
}

impl RepositoryHandle {
    pub(crate) fn repo(&self) -> &gix::Repository {
        self.repo.as_ref().expect("the handle is given back only when this is dropped")
    }

    pub(crate) fn open(&self) -> &Arc<OpenRepository> {
        &self.open
    }
}

impl Drop for RepositoryHandle {
    fn drop(&mut self) {
        if let Some(repo) = self.repo.take() {
            self.open.return_handle(repo);
        }
    }
}
