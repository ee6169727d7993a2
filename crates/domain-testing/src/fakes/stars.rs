//! Fake of the stars. The star count of a project is computed on each read.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Starred;
use hexforge_domain::project::port::Stars;

impl Stars for FakeTx {
    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Starred, StoreError> {
        let starred = self.tables.stars.contains(&(project, user));
        Ok(if starred { Starred::Yes } else { Starred::No })
    }

    fn put(
        &mut self,
        project: ProjectId,
        user: UserId,
        starred: Starred,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        match starred {
            Starred::Yes => {
                self.require_user(user)?;
                self.require_project(project)?;
                self.tables.stars.insert((project, user));
            }
            Starred::No => {
                self.tables.stars.remove(&(project, user));
            }
        }
        if let Some(row) = self.tables.projects.get_mut(&project) {
            row.updated_at = at;
        }
        Ok(())
    }
}
