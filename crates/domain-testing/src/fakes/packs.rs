//! Fake of the pack rows.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::port::Packs;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::store::StoreError;
use std::collections::BTreeSet;

#[derive(Clone, PartialEq)]
pub(super) struct PackRow {
    /// `None` after the project was deleted.
    pub project: Option<ProjectId>,
    pub pack: Pack,
    pub retired: Option<Timestamp>,
}

impl FakeTx {
    /// Increments the packs version, which invalidates cached lists of packs.
    fn raise_packs_version(&mut self, project: ProjectId) {
        if let Some(state) = self.tables.repositories.get_mut(&project) {
            state.packs_version += 1;
        }
    }
}

impl Packs for FakeTx {
    fn live(&mut self, project: ProjectId) -> Result<Vec<Pack>, StoreError> {
        let all = self.tables.packs.iter();
        let live = all.filter(|row| row.project == Some(project) && row.retired.is_none());
        Ok(live.map(|row| row.pack).collect())
    }

    fn add(
        &mut self,
        project: ProjectId,
        packs: &[Pack],
        _at: Timestamp,
    ) -> Result<(), StoreError> {
        for pack in packs {
            if self.tables.condemned_packs.contains_key(&pack.name) {
                return self.refuse(StoreError::Busy);
            }
            let mut rows = self.tables.packs.iter_mut();
            let same =
                |row: &&mut PackRow| row.project == Some(project) && row.pack.name == pack.name;
            match rows.find(same) {
                Some(row) => row.retired = None,
                None => {
                    let row = PackRow { project: Some(project), pack: *pack, retired: None };
                    self.tables.packs.push(row);
                }
            }
        }
        self.raise_packs_version(project);
        Ok(())
    }

    fn retire(
        &mut self,
        project: ProjectId,
        packs: &[PackName],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let rows = self.tables.packs.iter_mut().filter(|row| row.project == Some(project));
        for row in rows.filter(|row| packs.contains(&row.pack.name)) {
            row.retired.get_or_insert(at);
        }
        self.raise_packs_version(project);
        Ok(())
    }

    fn forget_retired(
        &mut self,
        now: Timestamp,
        before: Timestamp,
        limit: u32,
    ) -> Result<u32, StoreError> {
        for row in self.tables.packs.iter_mut().filter(|row| row.project.is_none()) {
            row.retired.get_or_insert(now);
        }
        let mut removed = 0;
        self.tables.packs.retain(|row| {
            let goes = removed < limit && row.retired.is_some_and(|retired| retired < before);
            removed += u32::from(goes);
            !goes
        });
        Ok(removed)
    }

    fn names_after(
        &mut self,
        name: Option<PackName>,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError> {
        let names: BTreeSet<PackName> = self.tables.packs.iter().map(|row| row.pack.name).collect();
        let follows = |other: &PackName| name.is_none_or(|name| *other > name);
        Ok(names.into_iter().filter(follows).take(limit as usize).collect())
    }

    fn without_row(&mut self, packs: &[PackName]) -> Result<Vec<PackName>, StoreError> {
        let used: BTreeSet<PackName> = self.tables.packs.iter().map(|row| row.pack.name).collect();
        let asked: BTreeSet<PackName> = packs.iter().copied().collect();
        Ok(asked.difference(&used).copied().collect())
    }

    fn condemn(
        &mut self,
        packs: &[PackName],
        at: Timestamp,
        abandoned: Timestamp,
    ) -> Result<Vec<PackName>, StoreError> {
        let mut unused = Packs::without_row(self, packs)?;
        let condemned = &self.tables.condemned_packs;
        unused.retain(|name| condemned.get(name).is_none_or(|since| *since < abandoned));
        self.tables.condemned_packs.extend(unused.iter().map(|name| (*name, at)));
        Ok(unused)
    }

    fn condemned_before(
        &mut self,
        moment: Timestamp,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError> {
        let old = self.tables.condemned_packs.iter().filter(|(_, at)| **at < moment);
        Ok(old.map(|(name, _)| *name).take(limit as usize).collect())
    }

    fn release(&mut self, packs: &[PackName], at: Timestamp) -> Result<(), StoreError> {
        let is_meant = |name: &PackName, since: Timestamp| packs.contains(name) && since == at;
        self.tables.condemned_packs.retain(|name, since| !is_meant(name, *since));
        Ok(())
    }
}
