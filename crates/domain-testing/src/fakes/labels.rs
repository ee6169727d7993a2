//! Fake of the labels. The issue counts are computed on each read.

use super::tx::{FakeTx, Tables};
use hexforge_domain::Timestamp;
use hexforge_domain::id::{LabelId, ProjectId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::label::port::Labels;
use hexforge_domain::label::{Label, LabelCounts, LabelTitle, NewLabel, VisibleCounts};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;

impl Tables {
    pub fn issues_with(&self, label: LabelId) -> impl Iterator<Item = &Issue> {
        let has = move |issue: &&Issue| self.issue_labels.contains(&(issue.id, label));
        self.issues.iter().filter(has)
    }

    pub fn label_with_counts(&self, label: &Label) -> Label {
        let mut counts = LabelCounts::default();
        for issue in self.issues_with(label.id) {
            let count = match (issue.state.is_open(), issue.confidential) {
                (true, false) => &mut counts.open,
                (false, false) => &mut counts.closed,
                (true, true) => &mut counts.open_confidential,
                (false, true) => &mut counts.closed_confidential,
            };
            *count += 1;
        }
        Label { counts, ..label.clone() }
    }

    /// Returns the labels of a project, ordered by title.
    fn labels_of(&self, project: ProjectId) -> Vec<Label> {
        let own = self.labels.iter().filter(|label| label.project == project);
        let mut labels: Vec<Label> = own.map(|label| self.label_with_counts(label)).collect();
        labels.sort_by(|a, b| a.title.cmp(&b.title));
        labels
    }
}

impl Labels for FakeTx {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Label>, StoreError> {
        Ok(page.slice(self.tables.labels_of(project)))
    }

    fn list_of(&mut self, projects: &[ProjectId], limit: u32) -> Result<Vec<Label>, StoreError> {
        let of_each = projects.iter().flat_map(|project| self.tables.labels_of(*project));
        let mut labels: Vec<Label> = of_each.collect();
        labels.sort_by(|a, b| (&a.title, a.id).cmp(&(&b.title, b.id)));
        labels.truncate(limit as usize);
        Ok(labels)
    }

    fn find(&mut self, project: ProjectId, id: LabelId) -> Result<Option<Label>, StoreError> {
        let mut labels = self.tables.labels_of(project).into_iter();
        Ok(labels.find(|label| label.shown_id() == id))
    }

    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Label>, StoreError> {
        Ok(self.tables.labels_of(project).into_iter().find(|label| label.title.as_str() == title))
    }

    fn find_by_titles(
        &mut self,
        project: ProjectId,
        titles: &[LabelTitle],
    ) -> Result<Vec<Label>, StoreError> {
        let mut labels = self.tables.labels_of(project);
        labels.retain(|label| titles.contains(&label.title));
        Ok(labels)
    }

    fn find_all(&mut self, ids: &[LabelId]) -> Result<Vec<Label>, StoreError> {
        let found = self.tables.labels.iter().filter(|label| ids.contains(&label.id));
        Ok(found.map(|label| self.tables.label_with_counts(label)).collect())
    }

    fn insert_all(
        &mut self,
        project: ProjectId,
        new: Vec<NewLabel>,
    ) -> Result<Vec<Label>, StoreError> {
        self.require_project(project)?;
        let mut made = Vec::new();
        for new in new {
            if Labels::find_by_title(self, project, new.title.as_str())?.is_some() {
                return self.refuse(StoreError::Duplicate("title"));
            }
            let label = Label {
                id: LabelId(self.next_id()),
                project,
                of_group: None,
                title: new.title,
                color: new.color,
                description: new.description,
                priority: new.priority,
                counts: LabelCounts::default(),
            };
            self.tables.labels.push(label.clone());
            made.push(label);
        }
        made.sort_by(|a, b| a.title.as_str().cmp(b.title.as_str()));
        Ok(made)
    }

    fn update(&mut self, label: &Label, _: Timestamp) -> Result<(), StoreError> {
        let same = Labels::find_by_title(self, label.project, label.title.as_str())?;
        if same.is_some_and(|same| same.id != label.id) {
            return self.refuse(StoreError::Duplicate("title"));
        }
        if let Some(row) = self.tables.labels.iter_mut().find(|row| row.id == label.id) {
            *row = Label { counts: LabelCounts::default(), ..label.clone() };
        }
        Ok(())
    }

    fn delete(&mut self, id: LabelId) -> Result<(), StoreError> {
        self.tables.remove_label(id);
        Ok(())
    }

    fn subscribed(&mut self, user: UserId, labels: &[LabelId]) -> Result<Vec<LabelId>, StoreError> {
        let hears = |label: &&LabelId| self.tables.label_subscriptions.contains(&(**label, user));
        Ok(labels.iter().filter(hears).copied().collect())
    }

    fn subscribe(
        &mut self,
        label: LabelId,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError> {
        self.require_user(user)?;
        match subscribed {
            Subscribed::Yes => self.tables.label_subscriptions.insert((label, user)),
            Subscribed::No => self.tables.label_subscriptions.remove(&(label, user)),
        };
        Ok(())
    }

    fn count_confidential(
        &mut self,
        project: ProjectId,
        user: UserId,
        labels: &[LabelId],
    ) -> Result<Vec<(LabelId, VisibleCounts)>, StoreError> {
        let of = |label: LabelId| {
            let mut counts = VisibleCounts::default();
            let with = self.tables.issues_with(label);
            for issue in with.filter(|i| i.project == project && i.confidential && i.concerns(user))
            {
                *(if issue.state.is_open() { &mut counts.open } else { &mut counts.closed }) += 1;
            }
            (label, counts)
        };
        Ok(labels.iter().map(|label| of(*label)).collect())
    }
}
