//! Searches by title across projects.

use hexforge_domain::issue::query::Clearance;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::search::{SearchedKind, Searches, TitleSearch};

use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::search::Search;
use crate::query::sql::Sql;

impl Searches for DieselTx<'_> {
    fn by_title(&mut self, search: &TitleSearch) -> Result<Vec<i64>, StoreError> {
        self.ids(selected(search))
    }
}

/// Selects the ids of what is found. `CROSS JOIN` fixes the join order: the rows are read newest first.
fn selected(search: &TitleSearch) -> Sql {
    let TitleSearch { kind, viewer, clearance, today, .. } = *search;
    // Merge requests need the projects in which the reader sees the code, also for administrators.
    let reported = match kind {
        SearchedKind::MergeRequests => Clearance::ByRole(viewer.user),
        SearchedKind::Issues | SearchedKind::Milestones => clearance,
    };
    let ctes = [Some(access::authorized_cte(viewer, today)), access::reported_cte(reported, today)];
    let text = Search::new(Some(&search.text));
    let in_project = |column: &'static str| {
        search.project.map(|project| Sql::new(column).sql(" = ").id(project.0))
    };
    let (select, conditions, order) = match kind {
        SearchedKind::Issues => (
            "SELECT issues.id FROM issues CROSS JOIN projects",
            [
                Some(Sql::new("projects.id = issues.project_id AND projects.issues_enabled")),
                in_project("issues.project_id"),
                text.within("lower(issues.title)"),
                Some(access::visible(viewer)),
                access::may_see_issue(clearance),
            ],
            " ORDER BY issues.id DESC LIMIT ",
        ),
        SearchedKind::MergeRequests => (
            "SELECT merge_requests.id FROM merge_requests CROSS JOIN projects",
            [
                Some(Sql::new("projects.id = merge_requests.project_id")),
                in_project("merge_requests.project_id"),
                text.within("lower(merge_requests.title)"),
                Some(access::visible(viewer)),
                Some(access::may_see_merge_request(viewer)),
            ],
            " ORDER BY merge_requests.id DESC LIMIT ",
        ),
        SearchedKind::Milestones => (
            "SELECT milestones.id FROM milestones CROSS JOIN projects",
            [
                Some(Sql::new(
                    "projects.id = milestones.project_id \
                     AND (projects.issues_enabled OR projects.merge_requests_enabled)",
                )),
                in_project("milestones.project_id"),
                text.within("lower(milestones.title)"),
                Some(access::visible(viewer)),
                None,
            ],
            " ORDER BY milestones.id DESC LIMIT ",
        ),
    };
    Sql::with(ctes.into_iter().flatten())
        .sql(select)
        .filter(conditions.into_iter().flatten())
        .sql(order)
        .id(search.limit.into())
}
