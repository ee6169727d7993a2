//! Generates issues, labels, notes and events for all projects of a [`world`](super::world), and many for one project.

use hexforge_persistence_diesel::testing::TestDatabase;

use super::bulk::Bulk;
use super::world::USERS;

/// The number of labels per project, and of issues per ordinary project.
const FEW: usize = 4;
/// The number of issues of the measured project.
const MANY: usize = 400;

/// Fills projects 1 to `projects` and the measured project, which is another one. Returns the id of
/// an issue of the latter.
pub fn fill(database: &TestDatabase, projects: usize, measured: i64) -> usize {
    let bulk = Bulk(database);
    let users = projects.max(100);
    let issues = projects * FEW;
    bulk.execute("DELETE FROM iids;");
    let each = Part { first: 1, count: issues, project: format!("i / {FEW} + 1"), iid: FEW, users };
    each.fill(&bulk, projects);
    let one =
        Part { first: issues + 1, count: MANY, project: measured.to_string(), iid: MANY, users };
    one.fill(&bulk, 1);
    bulk.finish();
    issues + 1
}

/// A set of issues with their labels, notes and events. One of four is closed, and each of the four
/// has a different label.
struct Part {
    /// The id of the first issue.
    first: usize,
    count: usize,
    /// An SQL expression for the project of issue `i`.
    project: String,
    /// The number of issues per project.
    iid: usize,
    users: usize,
}

impl Part {
    fn fill(&self, bulk: &Bulk<'_>, projects: usize) {
        let Self { first, count, project, iid, users } = self;
        let at = bulk.moment("i * 7");
        let author = format!("{USERS} + 1 + i % {users}");
        bulk.rows(
            "labels",
            "id, project_id, title, color, open_issues, closed_issues, created_at, updated_at",
            projects * FEW,
            &format!(
                "({project}) * 100 + i % {FEW}, {project}, 'label-' || CAST(i % {FEW} AS TEXT), '#ff0000', \
                 CASE WHEN i % {FEW} = 3 THEN 0 ELSE {n} END, CASE WHEN i % {FEW} = 3 THEN {n} ELSE 0 END, \
                 {at}, {at}",
                n = iid / FEW,
            ),
        );
        bulk.rows(
            "issues",
            "id, project_id, iid, author_id, title, description, state, confidential, user_notes_count, \
             created_at, updated_at",
            *count,
            &format!(
                "{first} + i, {project}, i % {iid} + 1, {author}, \
                 'Something is wrong with ' || CAST(i AS TEXT), 'It does not work', \
                 CASE WHEN i % {FEW} = 3 THEN 'closed' ELSE 'opened' END, FALSE, 1, {at}, {at}"
            ),
        );
        bulk.rows(
            "issue_labels",
            "issue_id, label_id, author_id",
            *count,
            &format!("{first} + i, ({project}) * 100 + i % {FEW}, {author}"),
        );
        bulk.rows(
            "notes",
            "id, project_id, issue_id, author_id, body, system, created_at, updated_at",
            *count,
            &format!(
                "{first} + i, {project}, {first} + i, {author}, 'I saw that too', FALSE, {at}, {at}"
            ),
        );
        bulk.rows(
            "events",
            "id, project_id, author_id, action, target_type, target_id, target_title, issue_id, created_at",
            *count,
            &format!(
                "{first} + 1000 + i, {project}, {author}, 'opened', 'Issue', {first} + i, \
                 'Something is wrong with ' || CAST(i AS TEXT), {first} + i, {at}"
            ),
        );
        // In these rows, `i` counts projects.
        let of_project = if projects == 1 { project.clone() } else { "i + 1".to_owned() };
        bulk.rows(
            "iids",
            "project_id, issues, milestones",
            projects,
            &format!("{of_project}, {iid}, 0"),
        );
        let which =
            if projects == 1 { format!("id = {project}") } else { format!("id <= {projects}") };
        bulk.execute(&format!(
            "UPDATE projects SET open_issues_count = {} WHERE {which};",
            iid - iid / FEW
        ));
    }
}
