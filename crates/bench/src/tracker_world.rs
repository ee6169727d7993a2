//! Generates a group of projects with very many issues, half of them in one project.

use anyhow::{Context, Result, ensure};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;
use serde_json::Value;

use super::bulk::Bulk;
use super::seed;
use hexforge_tests::program::{Program, ROOT};

/// The number of projects, of users, and of labels per project, equal in every world.
const PROJECTS: usize = 50;
const PEOPLE: usize = 200;
const LABELS: usize = 20;
/// The number of notes of the measured issue, and of issues with the rare label or milestone.
const FEW: usize = 60;

const PASSWORD: &str = "correct horse battery";

/// The ids and tokens that requests use.
pub struct World {
    /// The group.
    pub group: i64,
    /// The project that has half of the issues, and its board.
    pub project: i64,
    pub board: i64,
    /// An issue with notes.
    pub issue: i64,
    /// A milestone of one in ten issues, and a milestone of few issues.
    pub milestones: [i64; 2],
    /// The author of one in two hundred issues, and of the first ones.
    pub author: i64,
    /// Names and tokens: an administrator, a reporter of the group, and an author who is not a member of the group.
    pub people: Vec<(&'static str, String)>,
}

/// Generates a world with `issues` issues and five times as many events.
pub fn fill(program: &Program, database: &TestDatabase, issues: usize) -> Result<World> {
    let (reporter, reporter_token) = sign_up(program, "reporter")?;
    let (author, author_token) = sign_up(program, "author")?;
    seed::users(&database.open(Options::default()), PEOPLE)?;
    let group = post(program, "/groups", &[("name", "makers"), ("path", "makers")])?;
    let id = group.to_string();
    let member = [("user_id", reporter.to_string()), ("access_level", "20".to_owned())];
    let member = member.each_ref().map(|(name, value)| (*name, value.as_str()));
    program
        .request("POST", &format!("/groups/{group}/members"))
        .token(ROOT)
        .form(&member)
        .send()
        .expect(201);
    let mut projects = Vec::new();
    for number in 0..PROJECTS {
        let name = format!("project-{number}");
        let form = [("name", name.as_str()), ("namespace_id", &id), ("public", "true")];
        projects.push(post(program, "/projects", &form)?);
    }
    let first = projects[0];
    let boards = format!("/projects/{first}/boards");
    let made = program.request("GET", &boards).token(ROOT).send().expect(200);
    let board = made[0]["id"].as_i64().context("the project has no board")?;
    let path = format!("/projects/{first}/milestones");
    let big = post(program, &path, &[("title", "big")])?;
    let small = post(program, &path, &[("title", "small")])?;
    let people =
        vec![("root", ROOT.to_owned()), ("reporter", reporter_token), ("author", author_token)];
    let milestones = [big, small];
    let world = World { group, project: first, board, issue: 1, milestones, author, people };
    insert_rows(database, &world, issues);
    for number in 0..5 {
        let label = label_id(first, number).to_string();
        let lists = format!("{boards}/{board}/lists");
        program
            .request("POST", &lists)
            .token(ROOT)
            .form(&[("label_id", &label)])
            .send()
            .expect(200);
    }
    Ok(world)
}

/// The id of a label, computed from its project.
fn label_id(project: i64, number: usize) -> i64 {
    project * 1000 + i64::try_from(number).unwrap_or_default()
}

/// Inserts all large tables. Issue ids begin with 1; issues with odd ids belong to the first project.
fn insert_rows(database: &TestDatabase, world: &World, issues: usize) {
    let bulk = Bulk(database);
    let (first, author) = (world.project, world.author);
    let [big, small] = world.milestones;
    let at = bulk.moment("i * 7");
    let (open, secret) = ("i / 2 % 3 <> 0", "i / 2 % 50 = 7");
    // The ids of the projects are consecutive.
    let project =
        format!("(CASE WHEN i % 2 = 0 THEN {first} ELSE {first} + i / 2 % {PROJECTS} END)");
    // The author wrote one in two hundred issues, and enough of the first ones to fill pages; the
    // others have authors in turn.
    let writer = format!(
        "(CASE WHEN i / 2 % 200 = 3 OR i < 200 THEN {author} ELSE {author} + 1 + i / 2 % {PEOPLE} END)"
    );
    bulk.rows(
        "labels",
        "id, project_id, title, color, created_at, updated_at",
        PROJECTS * LABELS,
        &format!(
            "({first} + i / {LABELS}) * 1000 + i % {LABELS}, {first} + i / {LABELS}, \
             'label-' || CAST(i % {LABELS} AS TEXT), '#ff0000', {at}, {at}"
        ),
    );
    bulk.rows(
        "issues",
        "id, project_id, iid, author_id, assignee_id, milestone_id, title, description, state, confidential, \
         user_notes_count, created_at, updated_at",
        issues,
        &format!(
            "i + 1, {project}, i + 1, {writer}, \
             CASE WHEN i % 3 = 0 THEN {author} + 1 + i % {PEOPLE} END, \
             CASE WHEN i % 2 <> 0 THEN NULL WHEN i / 2 % 10 = 1 THEN {big} WHEN i / 2 < {FEW} THEN {small} END, \
             'Something is wrong with ' || CAST(i AS TEXT), 'It does not work', \
             CASE WHEN {open} THEN 'opened' ELSE 'closed' END, {secret}, 1, {at}, {}",
            bulk.moment("(i * 7919 % 1000003) * 7")
        ),
    );
    // Each issue has one of many labels; some also have the common or the rare one.
    bulk.rows(
        "issue_labels",
        "issue_id, label_id, author_id",
        issues,
        &format!("i + 1, {project} * 1000 + 2 + i / 2 % {}, {writer}", LABELS - 2),
    );
    bulk.execute(&format!(
        "INSERT INTO issue_labels (issue_id, label_id, author_id) \
         SELECT id, project_id * 1000, author_id FROM issues WHERE id % 4 = 1; \
         INSERT INTO issue_labels (issue_id, label_id, author_id) \
         SELECT id, project_id * 1000 + 1, author_id FROM issues WHERE id % 2 = 1 AND id / 2 < {FEW};"
    ));
    bulk.rows(
        "notes",
        "id, project_id, issue_id, author_id, body, system, created_at, updated_at",
        issues,
        &format!("i + 1, {project}, i + 1, {writer}, 'I saw that too', FALSE, {at}, {at}"),
    );
    bulk.rows(
        "notes",
        "id, project_id, issue_id, author_id, body, system, created_at, updated_at",
        FEW,
        &format!("{issues} + 1 + i, {first}, 1, {author}, 'And here is why', FALSE, {at}, {at}"),
    );
    // Five events per issue.
    bulk.execute(
        "INSERT INTO events (id, project_id, author_id, action, target_type, target_id, target_title, \
             issue_id, created_at) \
         SELECT issues.id * 5 + many.n + 1000, project_id, author_id, \
             CASE WHEN many.n = 0 THEN 'opened' WHEN many.n = 4 THEN 'closed' ELSE 'commented on' END, \
             CASE WHEN many.n IN (0, 4) THEN 'Issue' ELSE 'Note' END, issues.id, title, issues.id, created_at \
         FROM issues CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
             UNION ALL SELECT 4) AS many;",
    );
    // PostgreSQL needs statistics of the inserted rows for the counting queries below.
    database.gather_statistics();
    let counted = |open: bool, secret: bool| {
        format!(
            "(SELECT count(*) FROM issue_labels JOIN issues ON issues.id = issue_labels.issue_id \
              WHERE issue_labels.label_id = labels.id AND issues.state {} 'closed' AND {} issues.confidential)",
            if open { "<>" } else { "=" },
            if secret { "" } else { "NOT" },
        )
    };
    // Triggers do not run while PostgreSQL is filled, so the counters are computed here.
    let for_milestone = |open: bool, secret: bool| {
        format!(
            "(SELECT count(*) FROM issues WHERE issues.milestone_id = milestones.id \
              AND issues.state {} 'closed' AND {} issues.confidential)",
            if open { "<>" } else { "=" },
            if secret { "" } else { "NOT" },
        )
    };
    bulk.execute(&format!(
        "UPDATE milestones SET open_issues = {}, closed_issues = {}, open_confidential = {}, \
             closed_confidential = {};",
        for_milestone(true, false),
        for_milestone(false, false),
        for_milestone(true, true),
        for_milestone(false, true),
    ));
    bulk.execute(&format!(
        "UPDATE labels SET open_issues = {}, closed_issues = {}, open_confidential = {}, \
             closed_confidential = {}; \
         UPDATE projects SET open_issues_count = (SELECT count(*) FROM issues \
             WHERE issues.project_id = projects.id AND issues.state <> 'closed'); \
         DELETE FROM iids; \
         INSERT INTO iids (project_id, issues, milestones) \
             SELECT id, (SELECT coalesce(max(iid), 0) FROM issues WHERE issues.project_id = projects.id), 2 \
             FROM projects;",
        counted(true, false),
        counted(false, false),
        counted(true, true),
        counted(false, true),
    ));
    bulk.finish();
}

/// Sends a `POST` request, and returns the id of the created object. Some calls answer 200.
pub fn post(program: &Program, path: &str, form: &[(&str, &str)]) -> Result<i64> {
    let made = program.request("POST", path).token(ROOT).form(form).send();
    ensure!([200, 201].contains(&made.status), "POST {path} answers {}", made.status);
    made.json()["id"].as_i64().context("the created object has no id")
}

/// Creates a user and a session. Returns the user's id and token.
pub fn sign_up(program: &Program, name: &str) -> Result<(i64, String)> {
    let email = format!("{name}@example.org");
    let form = [("username", name), ("name", name), ("email", &email), ("password", PASSWORD)];
    let id = post(program, "/users", &form)?;
    let form = [("login", name), ("password", PASSWORD)];
    let session: Value = program.request("POST", "/session").form(&form).send().expect(201);
    let token = session["private_token"].as_str().context("the session has no token")?;
    Ok((id, token.to_owned()))
}
