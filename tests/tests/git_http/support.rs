//! Helpers of the tests of git over HTTP: a project, a client's work tree, and access to the server's disk.

use std::path::PathBuf;

use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, WorkTree};
use serde_json::Value;

/// A project of ada's, and a work tree with the remote `origin`.
pub struct Scene<'a> {
    pub forge: &'a Forge,
    pub project: i64,
    /// The token of the owner, ada.
    pub ada: String,
    pub tree: WorkTree,
    _elsewhere: tempfile::TempDir,
}

/// The outcome of a git command.
pub struct GitOutput {
    pub success: bool,
    pub stderr: String,
}

impl GitOutput {
    #[track_caller]
    pub fn ok(&self) {
        assert!(self.success, "{}", self.stderr);
    }

    /// Asserts that git failed, and that its error output has all of these texts.
    #[track_caller]
    pub fn refused(&self, texts: &[&str]) {
        assert!(!self.success, "it was not refused: {}", self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        }
    }
}

impl<'a> Scene<'a> {
    /// An empty private project `ada/ship`.
    pub fn new(forge: &'a Forge) -> Self {
        Self::of_visibility(forge, "0")
    }

    pub fn of_visibility(forge: &'a Forge, level: &str) -> Self {
        let (_, ada) = forge.user("ada");
        let fields = [("name", "ship"), ("visibility_level", level)];
        let project = forge.post("/projects").token(&ada).form(&fields).send().expect(201);
        let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = WorkTree::new(&elsewhere.path().join("unused.git"));
        let project = project["id"].as_i64().expect("projects have ids");
        Self { forge, project, ada, tree, _elsewhere: elsewhere }
    }

    /// The same with one commit on `master`.
    pub fn filled(forge: &'a Forge) -> Self {
        let scene = Self::new(forge);
        scene.tree.write("README", "hello\n").commit("Begin\n");
        scene.push("ada", &["master"]).ok();
        scene
    }

    /// Adds a member with this level, whose name and password are used for pushes. Returns its token.
    pub fn member(&self, name: &str, level: &str) -> String {
        let (id, token) = self.forge.user(name);
        let fields = [("user_id", id.to_string()), ("access_level", level.to_owned())];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let path = format!("/projects/{}/members", self.project);
        self.forge.post(&path).token(ROOT).form(&fields).send().expect(201);
        token
    }

    /// The URL of the project with user name and password.
    pub fn address(&self, who: &str, password: &str) -> String {
        let password = password.replace(' ', "%20");
        format!("http://{who}:{password}@{}/ada/ship.git", self.forge.address)
    }

    /// Pushes as a user, with these arguments.
    pub fn push(&self, who: &str, arguments: &[&str]) -> GitOutput {
        self.push_to(&self.address(who, PASSWORD), arguments)
    }

    pub fn push_to(&self, address: &str, arguments: &[&str]) -> GitOutput {
        let mut all = vec!["push"];
        all.extend(arguments.iter().filter(|argument| argument.starts_with('-')));
        all.push(address);
        all.extend(arguments.iter().filter(|argument| !argument.starts_with('-')));
        self.git(&all)
    }

    /// Runs a git command that may fail.
    pub fn git(&self, arguments: &[&str]) -> GitOutput {
        let mut command = self.tree.command(arguments);
        let output = command.env("GIT_TERMINAL_PROMPT", "0").output().expect("git can be started");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        GitOutput { success: output.status.success(), stderr }
    }

    /// The repository on the server's disk.
    pub fn bare(&self) -> PathBuf {
        Layout::new(self.forge.folder.path()).repository(ProjectId(self.project))
    }

    /// Runs git in the repository on the server's disk, with the refs of the database.
    pub fn on_server(&self, arguments: &[&str]) -> String {
        let rows = self.forge.ref_rows(self.project);
        rows.write_to(&self.bare());
        let bare = self.bare().to_string_lossy().into_owned();
        let said = self.tree.git(&[&["--git-dir", &bare], arguments].concat());
        rows.read_from(&self.bare());
        said
    }

    /// The id of a ref on the server.
    pub fn server_ref(&self, name: &str) -> Option<String> {
        let all = self.on_server(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let of = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(' ')?.to_owned());
        all.lines().find_map(of)
    }

    /// Checks the repository on the server with `git fsck`, and that no push left files.
    #[track_caller]
    pub fn assert_sound(&self) {
        self.on_server(&["fsck", "--strict", "--full"]);
        self.assert_clean();
    }

    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!(self.forge.scratch_packs(), 0, "no quarantine is left");
    }

    /// The project as ada sees it.
    pub fn shown(&self) -> Value {
        let path = format!("/projects/{}", self.project);
        self.forge.get(&path).token(&self.ada).send().expect(200)
    }

    /// The feed of the project.
    pub fn events(&self) -> Vec<Value> {
        let path = format!("/projects/{}/events", self.project);
        let events = self.forge.get(&path).token(&self.ada).send().expect(200);
        let events = events.as_array().expect("a list").clone();
        let is_push = |event: &Value| !event["data"].is_null();
        events.into_iter().filter(is_push).collect()
    }
}
