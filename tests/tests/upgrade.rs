//! The upgrade of an installation of an earlier release, which kept refs in files and packs without rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DatabaseUrl, Options};
use hexforge_tests::WorkTree;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::ref_rows::RefRows;
use serde_json::Value;

/// The names of the projects. The second is a fork of the first, the third has no repository.
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
    let start = || Program::start(&program::executable(), &data, &database.url).expect("it serves");
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    let mut server = start();
    fill(&server, &tree);
    let before = everything(&server, &tree);
    server.stop().expect("it can be told to stop");

    let layout = Layout::new(&data);
    let store = Arc::new(database.open(Options::default()));
    for project in [ProjectId(1), ProjectId(2)] {
        let bare = layout.repository(project);
        RefRows::new(store.clone(), project).write_to(&bare);
        own_objects(&tree, &bare);
    }
    drop(store);
    std::fs::remove_dir_all(data.join("packs")).expect("there are packs");
    database.execute("DELETE FROM packs; DELETE FROM refs; DELETE FROM repositories;");
    for (version, down) in downs(&database.url) {
        database.execute(down);
        let record = format!("DELETE FROM __diesel_schema_migrations WHERE version = '{version}';");
        database.execute(&record);
    }
    let files = |place: &dyn Fn(ProjectId) -> PathBuf| {
        [1, 2].map(|project| contents(&place(ProjectId(project))))
    };
    let old = files(&|project| layout.repository(project));

    let mut server = start();
    assert_eq!(everything(&server, &tree), before);
    let aside = files(&|project| layout.earlier_repository(project));
    assert!(aside == old, "files are left as they are");
    for name in &PROJECTS[..2] {
        tree.assert_sound_at(&address(&server, name));
    }
    // An interrupted upgrade continues, and does not change what is finished.
    tree.git(&["push", "-q", &address(&server, PROJECTS[1]), "master:refs/heads/later"]);
    let later = tree.refs_at(&address(&server, PROJECTS[1]));
    server.stop().expect("it can be told to stop");
    let forget = |project: i64| {
        database.execute(&format!(
            "DELETE FROM refs WHERE project_id = {project}; DELETE FROM packs WHERE project_id = {project}; \
             UPDATE repositories SET refs_version = -1, packs_version = -1 WHERE project_id = {project};"
        ));
    };
    forget(1);
    let mut server = start();
    assert_eq!(everything(&server, &tree)[0], before[0]);
    assert_eq!(tree.refs_at(&address(&server, PROJECTS[1])), later);
    server.stop().expect("it can be told to stop");
    // A damaged repository is skipped, and all others are served. After its repair, the next start upgrades it.
    let pack = pack_in(&layout.earlier_repository(ProjectId(1)));
    let whole = std::fs::read(&pack).expect("it can be read");
    replace(&pack, &whole[..whole.len() - 1]);
    forget(1);
    let mut server = start();
    let branches = |server: &Program, project: i64| {
        let path = format!("/projects/{project}/repository/branches");
        server.request("GET", &path).token(ROOT).send().status
    };
    assert_eq!((branches(&server, 1), branches(&server, 2)), (500, 200));
    server.stop().expect("it can be told to stop");
    replace(&pack, &whole);
    let server = start();
    assert_eq!(everything(&server, &tree)[0], before[0]);
    for name in &PROJECTS[..2] {
        tree.assert_sound_at(&address(&server, name));
    }
    // New pushes work.
    tree.write("file", "more").commit("More");
    tree.git(&["push", "-q", &address(&server, PROJECTS[0]), "master"]);
}

/// The statements that revert the migrations since the earlier release, with their versions.
fn downs(url: &DatabaseUrl) -> [(&'static str, &'static str); 2] {
    match url {
        DatabaseUrl::Sqlite(_) => [
            (
                "20261201100000",
                include_str!("../../migrations/sqlite/20261201100000_packs_leave_files/down.sql"),
            ),
            (
                "20261130100000",
                include_str!("../../migrations/sqlite/20261130100000_refs_leave_files/down.sql"),
            ),
        ],
        DatabaseUrl::Postgres(_) => [
            (
                "20261201100000",
                include_str!(
                    "../../migrations/postgresql/20261201100000_packs_leave_files/down.sql"
                ),
            ),
            (
                "20261130100000",
                include_str!(
                    "../../migrations/postgresql/20261130100000_refs_leave_files/down.sql"
                ),
            ),
        ],
    }
}

/// Replaces the links to packs in a repository by files, as an earlier release had them: loose objects of one pack, and
/// all other packs.
fn own_objects(tree: &WorkTree, bare: &Path) {
    let folder = bare.join("objects/pack");
    let aside = bare.join("aside");
    std::fs::rename(&folder, &aside).expect("it can be moved");
    std::fs::create_dir(&folder).expect("it is not there");
    let files = std::fs::read_dir(&aside).expect("it is a folder").flatten();
    let mut packs: Vec<PathBuf> = files.map(|file| file.path()).collect();
    packs.retain(|file| file.extension() == Some("pack".as_ref()));
    packs.sort();
    let git_dir = bare.to_string_lossy();
    for (number, pack) in packs.iter().enumerate() {
        let input = std::fs::File::open(pack).expect("it is there");
        let how: &[&str] =
            if number == 0 { &["unpack-objects", "-q"] } else { &["index-pack", "--stdin"] };
        let arguments = [&["--git-dir", &git_dir], how].concat();
        let output = tree.command(&arguments).stdin(input).output().expect("git can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::remove_dir_all(aside).expect("it is there");
}

/// All files below a folder, with their contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(root: &Path, folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(root, &path, all);
            } else {
                let name = path.strip_prefix(root).expect("it is below").to_owned();
                all.insert(name, std::fs::read(&path).expect("it can be read"));
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(folder, folder, &mut all);
    all
}

fn pack_in(bare: &Path) -> PathBuf {
    let files = std::fs::read_dir(bare.join("objects/pack")).expect("it has packs").flatten();
    let mut files = files.map(|file| file.path());
    files.find(|file| file.extension() == Some("pack".as_ref())).expect("it has a pack")
}

fn replace(file: &Path, content: &[u8]) {
    std::fs::remove_file(file).expect("it is there");
    std::fs::write(file, content).expect("it can be written");
}

fn address(server: &Program, name: &str) -> String {
    format!("http://root:{ROOT}@{}/{name}.git", server.address)
}

/// Creates two projects with branches, tags and a release, and one without a repository.
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

/// Everything that the API and git show of the refs of the projects.
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
