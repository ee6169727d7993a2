//! Fake of the milestones.

use super::tx::FakeTx;
use hexforge_domain::id::{MilestoneId, ProjectId};
use hexforge_domain::milestone::port::Milestones;
use hexforge_domain::milestone::{Milestone, MilestoneFilter, MilestoneState, NewMilestone};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl FakeTx {
    fn check_title(&mut self, milestone: &Milestone) -> Result<(), StoreError> {
        let taken = self.tables.milestones.iter().any(|other| {
            other.project == milestone.project
                && other.title == milestone.title
                && other.id != milestone.id
        });
        if taken { self.refuse(StoreError::Duplicate("title")) } else { Ok(()) }
    }
}

impl Milestones for FakeTx {
    fn list(
        &mut self,
        project: ProjectId,
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError> {
        self.list_of(&[project], filter, page)
    }

    fn list_of(
        &mut self,
        projects: &[ProjectId],
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError> {
        let newest_first = self.tables.milestones.iter().rev();
        let fitting = newest_first
            .filter(|milestone| projects.contains(&milestone.project))
            .filter(|milestone| filter.state.is_none_or(|state| milestone.state == state))
            .filter(|m| filter.iids.as_ref().is_none_or(|iids| iids.contains(&m.iid)));
        Ok(page.slice(fitting.cloned().collect()))
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: MilestoneId,
    ) -> Result<Option<Milestone>, StoreError> {
        let mut all = self.tables.milestones.iter();
        Ok(all.find(|milestone| milestone.project == project && milestone.id == id).cloned())
    }

    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Milestone>, StoreError> {
        let mut all = self.tables.milestones.iter();
        Ok(all.find(|m| m.project == project && m.title.as_str() == title).cloned())
    }

    fn find_all(&mut self, ids: &[MilestoneId]) -> Result<Vec<Milestone>, StoreError> {
        let all = self.tables.milestones.iter();
        Ok(all.filter(|milestone| ids.contains(&milestone.id)).cloned().collect())
    }

    fn insert(&mut self, new: NewMilestone) -> Result<Milestone, StoreError> {
        self.require_project(new.project)?;
        let last = self.tables.iids.entry(new.project).or_default();
        last.milestones += 1;
        let iid = last.milestones;
        let milestone = Milestone {
            id: MilestoneId(self.next_id()),
            iid,
            project: new.project,
            title: new.title,
            description: new.description,
            state: MilestoneState::Active,
            start_date: new.start_date,
            due_date: new.due_date,
            created_at: new.at,
            updated_at: new.at,
        };
        self.check_title(&milestone)?;
        self.tables.milestones.push(milestone.clone());
        Ok(milestone)
    }

    fn update(&mut self, milestone: &Milestone) -> Result<(), StoreError> {
        self.check_title(milestone)?;
        if let Some(row) = self.tables.milestones.iter_mut().find(|row| row.id == milestone.id) {
            row.clone_from(milestone);
        }
        Ok(())
    }

    fn delete(&mut self, id: MilestoneId) -> Result<(), StoreError> {
        self.tables.remove_milestone(id);
        Ok(())
    }
}
