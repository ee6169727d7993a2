//! Fake of the shares.

use super::tx::FakeTx;
use hexforge_domain::id::{NamespaceId, ProjectId, ShareId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::port::Shares;
use hexforge_domain::project::share::{NewShare, Share};

impl FakeTx {
    /// Returns a share with the current name of its group.
    fn with_group_name(&self, id: ShareId, share: NewShare) -> Share {
        let group = self.tables.namespaces.iter().find(|group| group.id == share.group);
        Share { id, share, group_name: group.map(|group| group.name.clone()).unwrap_or_default() }
    }
}

impl Shares for FakeTx {
    fn of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<Share>, StoreError> {
        let all = self.tables.shares.iter();
        let of_these = all.filter(|(_, share)| projects.contains(&share.project));
        let mut found: Vec<Share> =
            of_these.map(|(id, share)| self.with_group_name(*id, *share)).collect();
        found.sort_by_key(|share| (share.share.project, share.id));
        Ok(found)
    }

    fn insert(&mut self, new: NewShare) -> Result<Share, StoreError> {
        self.require_project(new.project)?;
        self.require_namespace(new.group)?;
        let mut all = self.tables.shares.iter().map(|(_, share)| share);
        if all.any(|share| share.project == new.project && share.group == new.group) {
            return self.refuse(StoreError::Duplicate("share"));
        }
        let id = ShareId(self.next_id());
        self.tables.shares.push((id, new));
        Ok(self.with_group_name(id, new))
    }

    fn delete(&mut self, project: ProjectId, group: NamespaceId) -> Result<(), StoreError> {
        let all = &mut self.tables.shares;
        all.retain(|(_, share)| share.project != project || share.group != group);
        Ok(())
    }
}
