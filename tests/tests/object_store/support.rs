//! Helpers of the tests of object stores.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::WorkTree;
use hexforge_tests::installation::Installation;
use hexforge_tests::program::{self, Program, ROOT};
use tempfile::TempDir;

/// Machines with an object store, and a work tree to push from.
pub struct Site {
    pub servers: Vec<Program>,
    pub installation: Installation,
    pub database: TestDatabase,
    pub tree: WorkTree,
    pub folder: TempDir,
}

impl Site {
    /// One machine on SQLite.
    pub fn single() -> Self {
        Self::new(TestDatabase::sqlite(), 1, &[])
    }

    /// Several machines on PostgreSQL. Returns `None` without PostgreSQL.
    pub fn several(number: usize) -> Option<Self> {
        Some(Self::new(TestDatabase::postgres()?, number, &[]))
    }

    /// Machines with additional settings.
    pub fn new(database: TestDatabase, number: usize, more: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let mut installation = Installation::machines(&database, folder.path(), number);
        for (name, value) in more {
            installation = installation.with(name, value);
        }
        let servers = (0..number).map(|machine| installation.start(machine)).collect();
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        tree.write("README", "hello\n").commit("Begin\n");
        Self { servers, installation, database, tree, folder }
    }

    /// Creates a project, and pushes the work tree.
    pub fn project(&self, name: &str) {
        let server = &self.servers[0];
        server.request("POST", "/projects").token(ROOT).form(&[("name", name)]).send().expect(201);
        let pushed = self.push(0, name, "master");
        assert!(pushed.status.success(), "{}", output_text(&pushed));
    }

    /// The URL of a project on a machine.
    pub fn address(&self, machine: usize, name: &str) -> String {
        format!("http://root:{ROOT}@{}/root/{name}.git", self.servers[machine].address)
    }

    /// Pushes to a project through a machine.
    pub fn push(&self, machine: usize, name: &str, what: &str) -> Output {
        self.git(&["push", "-q", &self.address(machine, name), what])
    }

    /// Clones a project through a machine, and compares the clone with the work tree.
    pub fn clone_and_compare(&self, machine: usize, name: &str) {
        let target = tempfile::tempdir().expect("a folder for temporary files exists");
        let cloned = self.clone_to(machine, name, target.path());
        assert!(cloned.status.success(), "{}", output_text(&cloned));
        let objects = |folder: &Path| {
            let folder = folder.to_string_lossy().into_owned();
            let listed = self.git(&["-C", &folder, "rev-list", "--objects", "--all"]);
            String::from_utf8_lossy(&listed.stdout).into_owned()
        };
        assert_eq!(objects(target.path()), objects(self.tree.path()));
    }

    /// Clones a project through a machine.
    pub fn clone_to(&self, machine: usize, name: &str, target: &Path) -> Output {
        let target = target.to_string_lossy();
        self.git(&["clone", "-q", "--mirror", &self.address(machine, name), &target])
    }

    pub fn git(&self, arguments: &[&str]) -> Output {
        let mut command = self.tree.command(arguments);
        command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
        command.output().expect("git can be started")
    }

    /// The keys of stored packs.
    pub fn packs(&self) -> Vec<String> {
        let mut keys = self.installation.object_store().keys();
        keys.retain(|key| key.ends_with(".pack"));
        keys
    }

    /// Runs a command of the program with the settings of a machine.
    pub fn run(&self, machine: usize, arguments: &[&str]) -> Output {
        self.run_in(self.installation.folder(machine), &self.database, arguments)
    }

    /// The same with another data folder and database.
    pub fn run_in(&self, data: &Path, database: &TestDatabase, arguments: &[&str]) -> Output {
        let mut command = Command::new(program::executable());
        command.args(arguments).envs(self.installation.settings().iter().cloned());
        command.env("HEXFORGE_DATA_DIR", data);
        command.env("HEXFORGE_DATABASE_URL", program::url_with_password(&database.url));
        command.output().expect("the program can be started")
    }
}

/// The output of a command: standard output and standard error.
pub fn output_text(output: &Output) -> String {
    let (out, errors) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(errors))
}
