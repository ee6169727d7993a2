//! An installation of an earlier release, which kept refs in files, is taken over with all of them.

use std::path::PathBuf;
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DatabaseUrl, Options};
use hexforge_tests::WorkTree;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::ref_rows::RefRows;
use serde_json::Value;

/// The projects that are made, by name. The second is a fork of the first, the third has no repository.
const PROJECTS: [&str; 3] = ["root/ship", "ada/ship", "root/empty"];

#[test]
fn refs_in_files_of_an_earlier_release_are_taken_over_on_sqlite() {
    refs_are_taken_over(&TestDatabase::sqlite());
}

#[test]
fn refs_in_files_of_an_earlier_release_are_taken_over_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        refs_are_taken_over(&database);
    }
}

fn refs_are_taken_over(database: &TestDatabase) {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    let start = || Program::start(&program::built(), &data, &database.url).expect("it serves");
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    let mut server = start();
    fill(&server, &tree);
    let before = everything(&server, &tree);
    server.stop().expect("it can be told to stop");

    let bare = |project: i64| Layout::new(&data).repository(ProjectId(project));
    let packed = |project: i64| std::fs::read(bare(project).join("packed-refs")).expect("refs");
    give_refs_to_files(database, &[(1, bare(1)), (2, bare(2))]);
    let down = match &database.url {
        DatabaseUrl::Sqlite(_) => {
            include_str!("../../migrations/sqlite/20261130100000_refs_leave_files/down.sql")
        }
        DatabaseUrl::Postgres(_) => {
            include_str!("../../migrations/postgresql/20261130100000_refs_leave_files/down.sql")
        }
    };
    database.execute("DELETE FROM refs; DELETE FROM repositories;");
    database.execute(down);
    database.execute("DELETE FROM __diesel_schema_migrations WHERE version = '20261130100000';");
    let files = [packed(1), packed(2)];

    let mut server = start();
    assert_eq!(everything(&server, &tree), before);
    assert_eq!([packed(1), packed(2)], files, "files are left as they are");
    // An upgrade that was interrupted goes on, and leaves alone what is done.
    tree.git(&["push", "-q", &address(&server, PROJECTS[1]), "master:refs/heads/later"]);
    let later = tree.refs_at(&address(&server, PROJECTS[1]));
    server.stop().expect("it can be told to stop");
    database.execute("DELETE FROM refs WHERE project_id = 1;");
    database.execute("UPDATE repositories SET refs_version = -1 WHERE project_id = 1;");
    let server = start();
    assert_eq!(everything(&server, &tree)[0], before[0]);
    assert_eq!(tree.refs_at(&address(&server, PROJECTS[1])), later);
    for name in &PROJECTS[..2] {
        tree.assert_sound_at(&address(&server, name));
    }
    // It goes on.
    tree.write("file", "more").commit("More");
    tree.git(&["push", "-q", &address(&server, PROJECTS[0]), "master"]);
}

fn address(server: &Program, name: &str) -> String {
    format!("http://root:{ROOT}@{}/{name}.git", server.address)
}

/// Two projects with branches, tags and a release, and one without a repository.
fn fill(server: &Program, tree: &WorkTree) {
    let ask = |method: &str, path: &str| server.request(method, path).token(ROOT);
    ask("POST", "/projects")
        .form(&[("name", "ship"), ("visibility_level", "20")])
        .send()
        .expect(201);
    tree.write("file", "one").commit("One");
    tree.git(&["branch", "a/b"]);
    tree.git(&["tag", "light"]);
    tree.write("file", "two").commit("Two");
    tree.git(&["tag", "-m", "Whole", "v1"]);
    tree.git(&["tag", "-m", "A tag of a tag", "outer", "v1"]);
    tree.git(&["push", "-q", "--all", &address(server, PROJECTS[0])]);
    tree.git(&["push", "-q", "--tags", &address(server, PROJECTS[0])]);
    let release = [("description", "news")];
    ask("POST", "/projects/1/repository/tags/v1/release").form(&release).send().expect(201);
    let form = [
        ("username", "ada"),
        ("name", "Ada"),
        ("email", "ada@example.com"),
        ("password", "correct horse"),
    ];
    ask("POST", "/users").form(&form).send().expect(201);
    ask("POST", "/projects/fork/1?sudo=ada").form(&[("namespace", "ada")]).send().expect(201);
    ask("PUT", "/projects/2")
        .form(&[("name", "ship"), ("default_branch", "a/b")])
        .send()
        .expect(200);
    ask("POST", "/projects").form(&[("name", "empty")]).send().expect(201);
}

/// All that is shown of the refs of the projects.
fn everything(server: &Program, tree: &WorkTree) -> Vec<(String, Vec<Value>)> {
    let of = |(number, name): (usize, &&str)| {
        let listed = tree.git(&["ls-remote", "--symref", &address(server, name)]);
        let show = |path: &str| {
            let path = format!("/projects/{}{path}", number + 1);
            server.request("GET", &path).token(ROOT).send().expect(200)
        };
        let project = show("");
        let shown = vec![
            project["default_branch"].clone(),
            project["forked_from_project"]["id"].clone(),
            show("/repository/branches"),
            show("/repository/tags"),
        ];
        (listed, shown)
    };
    PROJECTS.iter().enumerate().map(of).collect()
}

/// Writes the refs of projects into files, as an earlier release kept them.
fn give_refs_to_files(database: &TestDatabase, projects: &[(i64, PathBuf)]) {
    let store = Arc::new(database.open(Options::default()));
    for (project, bare) in projects {
        RefRows::new(store.clone(), ProjectId(*project)).give(bare);
    }
}
