//! Fake of the searches by title.

use super::tx::FakeTx;
use hexforge_domain::id::ProjectId;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::search::{SearchedKind, Searches, TitleSearch};

impl Searches for FakeTx {
    fn by_title(&mut self, search: &TitleSearch) -> Result<Vec<i64>, StoreError> {
        let (tables, text) = (&self.tables, search.text.to_ascii_lowercase());
        let TitleSearch { viewer, clearance, today, .. } = *search;
        let is_found = |project: ProjectId, title: &str, is_enabled: fn(&Project) -> bool| {
            let seen = tables
                .projects
                .get(&project)
                .is_some_and(|project| is_enabled(project) && tables.sees(viewer, project, today));
            let is_asked = search.project.is_none_or(|asked| asked == project);
            seen && is_asked && title.to_ascii_lowercase().contains(&text)
        };
        let mut found: Vec<i64> = match search.kind {
            SearchedKind::Issues => (tables.issues.iter())
                .filter(|issue| {
                    is_found(issue.project, issue.title.as_str(), |p| p.features.issues)
                        && tables.is_cleared(issue, clearance, today)
                })
                .map(|issue| issue.id.0)
                .collect(),
            SearchedKind::MergeRequests => (tables.merge_requests.iter())
                .filter(|request| {
                    let project = request.ends.target_project;
                    let sees_code = tables.projects.get(&project).is_some_and(|project| {
                        tables.sees_code(project, NoteReader { viewer, today })
                    });
                    let is_concerned =
                        request.author == viewer.user || request.assignee == Some(viewer.user);
                    is_found(project, request.title.as_str(), |p| p.features.merge_requests)
                        && (sees_code || is_concerned)
                })
                .map(|request| request.id.0)
                .collect(),
            SearchedKind::Milestones => (tables.milestones.iter())
                .filter(|milestone| {
                    let is_enabled = |p: &Project| p.features.issues || p.features.merge_requests;
                    is_found(milestone.project, milestone.title.as_str(), is_enabled)
                })
                .map(|milestone| milestone.id.0)
                .collect(),
        };
        found.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        found.truncate(search.limit as usize);
        Ok(found)
    }
}
