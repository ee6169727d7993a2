//! Fake of the group labels.

use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{LabelId, NamespaceId, ProjectId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::label::port::GroupLabels;
use hexforge_domain::label::{GroupLabel, Label, LabelCounts, NewLabel, VisibleCounts};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::ListAudience;

impl Tables {
    fn projects_in(&self, group: NamespaceId) -> Vec<ProjectId> {
        let inside = self.projects.values().filter(|project| project.namespace == group);
        inside.map(|project| project.id).collect()
    }

    fn labels_of_group(&self, group: NamespaceId) -> Vec<GroupLabel> {
        let own = self.group_labels.iter().filter(|label| label.group == group);
        let mut labels: Vec<GroupLabel> = own.cloned().collect();
        labels.sort_by(|a, b| a.title.cmp(&b.title));
        labels
    }

    fn is_used(&self, label: &Label) -> bool {
        self.label_with_counts(label).counts != LabelCounts::default()
            || self.merge_request_labels.iter().any(|(_, used)| *used == label.id)
            || self.board_lists.iter().any(|list| list.label == label.id)
    }
}

impl FakeTx {
    fn is_title_taken(&self, label: &GroupLabel) -> bool {
        let projects = self.tables.projects_in(label.group);
        let own = |other: &Label| {
            other.title == label.title
                && other.of_group != Some(label.id)
                && projects.contains(&other.project)
        };
        let beside = |other: &GroupLabel| {
            other.group == label.group && other.title == label.title && other.id != label.id
        };
        self.tables.labels.iter().any(own) || self.tables.group_labels.iter().any(beside)
    }
}

impl GroupLabels for FakeTx {
    fn list(&mut self, group: NamespaceId, page: Page) -> Result<Paged<GroupLabel>, StoreError> {
        Ok(page.slice(self.tables.labels_of_group(group)))
    }

    fn find_by_title(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<Option<GroupLabel>, StoreError> {
        let labels = self.tables.labels_of_group(group);
        Ok(labels.into_iter().find(|label| label.title.as_str() == title))
    }

    fn insert(&mut self, group: NamespaceId, new: NewLabel) -> Result<GroupLabel, StoreError> {
        self.require_namespace(group)?;
        if GroupLabels::find_by_title(self, group, new.title.as_str())?.is_some() {
            return self.refuse(StoreError::Duplicate("title"));
        }
        let label = GroupLabel {
            id: LabelId(self.next_id()),
            group,
            title: new.title,
            color: new.color,
            description: new.description,
        };
        self.tables.group_labels.push(label.clone());
        for project in self.tables.projects_in(group) {
            self.adapt_to_group(project)?;
        }
        Ok(label)
    }

    fn update(&mut self, label: &GroupLabel, _: Timestamp) -> Result<(), StoreError> {
        let before = self.tables.group_labels.iter().find(|row| row.id == label.id);
        let renamed = before.is_some_and(|before| before.title != label.title);
        if renamed && self.is_title_taken(label) {
            return self.refuse(StoreError::Duplicate("title"));
        }
        for row in self.tables.group_labels.iter_mut().filter(|row| row.id == label.id) {
            *row = label.clone();
        }
        for row in self.tables.labels.iter_mut().filter(|row| row.of_group == Some(label.id)) {
            row.title = label.title.clone();
            row.color = label.color.clone();
            row.description = label.description.clone();
        }
        for project in self.tables.projects_in(label.group) {
            self.adapt_to_group(project)?;
        }
        Ok(())
    }

    fn is_title_used_in_projects(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<bool, StoreError> {
        let projects = self.tables.projects_in(group);
        Ok(self.tables.labels.iter().any(|label| {
            label.of_group.is_none()
                && label.title.as_str() == title
                && projects.contains(&label.project)
        }))
    }

    fn delete(&mut self, id: LabelId) -> Result<(), StoreError> {
        let copies = self.tables.labels.iter().filter(|label| label.of_group == Some(id));
        for copy in copies.map(|label| label.id).collect::<Vec<_>>() {
            self.tables.remove_label(copy);
        }
        self.tables.group_labels.retain(|label| label.id != id);
        Ok(())
    }

    fn adapt_to_group(&mut self, project: ProjectId) -> Result<(), StoreError> {
        let Some(group) = self.tables.projects.get(&project).map(|found| found.namespace) else {
            return Ok(());
        };
        let known: Vec<GroupLabel> = self.tables.labels_of_group(group);
        let foreign = |label: &Label| {
            let here = label.of_group.is_some_and(|id| known.iter().any(|known| known.id == id));
            label.project == project && label.of_group.is_some() && !here
        };
        let left: Vec<Label> =
            self.tables.labels.iter().filter(|label| foreign(label)).cloned().collect();
        for label in left {
            if self.tables.is_used(&label) {
                for row in self.tables.labels.iter_mut().filter(|row| row.id == label.id) {
                    row.of_group = None;
                }
            } else {
                self.tables.remove_label(label.id);
            }
        }
        for label in known {
            let has = |own: &Label| own.project == project && own.title == label.title;
            if !self.tables.labels.iter().any(has) {
                let id = LabelId(self.next_id());
                self.tables.labels.push(Label {
                    id,
                    project,
                    of_group: Some(label.id),
                    title: label.title,
                    color: label.color,
                    description: label.description,
                    priority: None,
                    counts: LabelCounts::default(),
                });
            }
        }
        Ok(())
    }

    fn counts(
        &mut self,
        labels: &[LabelId],
        viewer: ListAudience,
        today: NaiveDate,
    ) -> Result<Vec<(LabelId, VisibleCounts)>, StoreError> {
        let tables = &self.tables;
        let viewer = viewer.restricted_to();
        let clearance = viewer.map_or(Clearance::All, |viewer| Clearance::ByRole(viewer.user));
        let of = |id: LabelId| {
            let mut counts = VisibleCounts::default();
            for copy in tables.labels.iter().filter(|label| label.of_group == Some(id)) {
                let Some(project) = tables.projects.get(&copy.project) else { continue };
                let open = viewer.is_none_or(|viewer| tables.sees(viewer, project, today));
                if !open || !project.features.issues {
                    continue;
                }
                let seen = tables.issues_with(copy.id);
                for issue in seen.filter(|issue| tables.is_cleared(issue, clearance, today)) {
                    let open = issue.state.is_open();
                    *(if open { &mut counts.open } else { &mut counts.closed }) += 1;
                }
            }
            (id, counts)
        };
        Ok(labels.iter().map(|id| of(*id)).collect())
    }
}
