//! Fake of the issues. The note count is computed on each read.

use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::id::{IssueId, LabelId, ProjectId};
use hexforge_domain::issue::port::Issues;
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::issue::{Issue, IssueState, NewIssue};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::project::query::ListAudience;

impl Tables {
    fn issue_with_note_count(&self, issue: &Issue) -> Issue {
        Issue { user_notes_count: self.count_user_notes(issue.id.into()), ..issue.clone() }
    }

    /// Returns whether the clearance allows to see an issue. Issues that are not confidential are
    /// always visible.
    pub fn is_cleared(&self, issue: &Issue, clearance: Clearance, today: NaiveDate) -> bool {
        !issue.confidential
            || match clearance {
                Clearance::All => true,
                Clearance::Nothing => false,
                Clearance::Own(user) => issue.concerns(user),
                Clearance::ByRole(user) => {
                    issue.concerns(user)
                        || self.projects.get(&issue.project).is_some_and(|project| {
                            let role = self.role(project, user, today);
                            role.owner
                                || role.level
                                    >= Some(hexforge_domain::member::AccessLevel::Reporter)
                        })
                }
            }
    }

    fn is_in_scope_of(&self, issue: &Issue, project: &Project, filter: &IssueFilter) -> bool {
        let seen = |viewer: ListAudience| {
            project.features.issues
                && viewer
                    .restricted_to()
                    .is_none_or(|viewer| self.sees(viewer, project, filter.today))
        };
        match filter.scope {
            IssueScope::Project(id) => project.id == id,
            IssueScope::Milestone(id, milestone) => {
                project.id == id && issue.milestone == Some(milestone)
            }
            IssueScope::AuthoredBy(author, viewer) => issue.author == author && seen(viewer),
            IssueScope::AssignedTo(assignee, viewer) => {
                issue.assignee == Some(assignee) && seen(viewer)
            }
            IssueScope::Group(group, viewer) => project.namespace == group && seen(viewer),
        }
    }

    fn titles_of(&self, issue: IssueId) -> Vec<&str> {
        let labels = self.labels.iter().filter(|l| self.issue_labels.contains(&(issue, l.id)));
        labels.map(|label| label.title.as_str()).collect()
    }

    fn matches_filter(&self, issue: &Issue, filter: &IssueFilter) -> bool {
        let Some(project) = self.projects.get(&issue.project) else { return false };
        let titles = self.titles_of(issue.id);
        let has = |title: &String| titles.contains(&title.as_str());
        let milestone = self.milestones.iter().find(|m| Some(m.id) == issue.milestone);
        self.is_in_scope_of(issue, project, filter)
            && self.is_cleared(issue, filter.clearance, filter.today)
            && filter.open.is_none_or(|open| issue.state.is_open() == open)
            && filter.iid.is_none_or(|iid| issue.iid == iid)
            && filter.milestone.as_ref().is_none_or(|title| {
                milestone.is_some_and(|milestone| milestone.title.as_str() == title)
            })
            && filter.author.is_none_or(|author| issue.author == author)
            && filter.assignee.is_none_or(|assignee| issue.assignee == Some(assignee))
            && filter.search.as_deref().is_none_or(|text| contains(issue, text))
            && !filter.without_labels.iter().any(has)
            && match &filter.labels {
                None => true,
                Some(LabelFilter::Any(wanted)) => wanted.iter().any(has),
                Some(LabelFilter::All(wanted)) => wanted.iter().all(has),
            }
    }
}

fn contains(issue: &Issue, text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let description = issue.description.as_ref().map_or("", |text| text.as_str());
    [issue.title.as_str(), description].iter().any(|field| field.to_lowercase().contains(&text))
}

impl Issues for FakeTx {
    fn find(&mut self, project: ProjectId, id: IssueId) -> Result<Option<Issue>, StoreError> {
        let mut all = self.tables.issues.iter();
        let found = all.find(|issue| issue.project == project && issue.id == id);
        Ok(found.map(|issue| self.tables.issue_with_note_count(issue)))
    }

    fn find_all(&mut self, ids: &[IssueId]) -> Result<Vec<Issue>, StoreError> {
        let found = self.tables.issues.iter().filter(|issue| ids.contains(&issue.id));
        Ok(found.map(|issue| self.tables.issue_with_note_count(issue)).collect())
    }

    fn find_by_iids(&mut self, project: ProjectId, iids: &[i64]) -> Result<Vec<Issue>, StoreError> {
        let named = |issue: &&Issue| issue.project == project && iids.contains(&issue.iid);
        let found = self.tables.issues.iter().filter(named);
        Ok(found.map(|issue| self.tables.issue_with_note_count(issue)).collect())
    }

    fn list(&mut self, filter: &IssueFilter, page: Page) -> Result<Paged<Issue>, StoreError> {
        let all = self.tables.issues.iter();
        let mut fitting: Vec<&Issue> =
            all.filter(|issue| self.tables.matches_filter(issue, filter)).collect();
        fitting.sort_by_key(|issue| match filter.order {
            IssueOrder::CreatedAt => (issue.created_at, issue.id),
            IssueOrder::UpdatedAt => (issue.updated_at, issue.id),
        });
        if filter.descending {
            fitting.reverse();
        }
        Ok(page.slice(fitting).map(|issue| self.tables.issue_with_note_count(issue)))
    }

    fn count(&mut self, filter: &IssueFilter) -> Result<u64, StoreError> {
        let all = self.tables.issues.iter();
        Ok(all.filter(|issue| self.tables.matches_filter(issue, filter)).count() as u64)
    }

    fn insert(&mut self, new: NewIssue) -> Result<Issue, StoreError> {
        self.require_project(new.project)?;
        self.require_user(new.author)?;
        if let Some(assignee) = new.assignee {
            self.require_user(assignee)?;
        }
        let last = self.tables.iids.entry(new.project).or_default();
        last.issues += 1;
        let iid = last.issues;
        let issue = Issue {
            id: IssueId(self.next_id()),
            iid,
            project: new.project,
            author: new.author,
            assignee: new.assignee,
            milestone: new.milestone,
            updated_by: None,
            moved_to: None,
            title: new.title,
            description: new.description,
            state: IssueState::Opened,
            confidential: new.confidential,
            due_date: new.due_date,
            user_notes_count: 0,
            created_at: new.created_at,
            updated_at: new.at,
        };
        self.tables.issues.push(issue.clone());
        Ok(issue)
    }

    fn update(&mut self, issue: &Issue) -> Result<(), StoreError> {
        if let Some(row) = self.tables.issues.iter_mut().find(|row| row.id == issue.id) {
            *row = Issue { project: row.project, iid: row.iid, ..issue.clone() };
        }
        Ok(())
    }

    fn delete(&mut self, id: IssueId) -> Result<(), StoreError> {
        self.tables.remove_issue(id);
        Ok(())
    }

    fn labels_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, LabelId, LabelTitle)>, StoreError> {
        let mut found = Vec::new();
        for (issue, label) in &self.tables.issue_labels {
            let row = self.tables.labels.iter().find(|row| row.id == *label);
            if let Some(row) = row.filter(|_| issues.contains(issue)) {
                found.push((*issue, *label, row.title.clone()));
            }
        }
        found.sort_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
        Ok(found)
    }

    fn set_labels(&mut self, issue: IssueId, labels: &[LabelId]) -> Result<(), StoreError> {
        self.tables.issue_labels.retain(|(other, _)| *other != issue);
        self.tables.issue_labels.extend(labels.iter().map(|label| (issue, *label)));
        Ok(())
    }
}
