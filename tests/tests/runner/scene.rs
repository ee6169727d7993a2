//! A server with a project, and a runner, each in a process of its own.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::WorkTree;
use hexforge_tests::address::free_address;
use hexforge_tests::program::{self, Program, ROOT, RUNNERS};
use serde_json::Value;
use tempfile::TempDir;

/// The longest time that a test waits for something.
const PATIENCE: Duration = Duration::from_secs(40);

/// A server with the project `root/ship`.
pub struct Scene {
    folder: TempDir,
    database: TestDatabase,
    listen: String,
    settings: Vec<(String, String)>,
    pub server: Program,
    pub tree: WorkTree,
}

impl Scene {
    pub fn new() -> Self {
        Self::on(TestDatabase::sqlite())
    }

    pub fn on(database: TestDatabase) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        Self::with(folder, database, &[])
    }

    /// A server with its data in a folder, and with more settings in its environment.
    pub fn with(folder: TempDir, database: TestDatabase, settings: &[(&str, &str)]) -> Self {
        // Sandboxed builds of root run as another user, who has to reach the folder of the builds.
        let etc = folder.path().join("etc");
        std::fs::create_dir(&etc).expect("it is ours");
        for folder in [folder.path(), &etc] {
            let open = std::fs::Permissions::from_mode(0o711);
            std::fs::set_permissions(folder, open).expect("it is ours");
        }
        let settings: Vec<(String, String)> =
            settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        // A server that is started again has to have the same address.
        let listen = free_address().to_string();
        let server = start(&folder, &database, &listen, &settings);
        let made = server.request("POST", "/projects").token(ROOT).form(&[("name", "ship")]);
        made.send().expect(201);
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        Self { folder, database, listen, settings, server, tree }
    }

    /// Kills the server and starts it again.
    pub fn restart_server(&mut self, pause: Duration) {
        self.server.kill().expect("it runs");
        std::thread::sleep(pause);
        self.server = start(&self.folder, &self.database, &self.listen, &self.settings);
    }

    /// Whether this process, and so the runner, may do everything.
    pub fn is_root(&self) -> bool {
        std::fs::metadata(self.folder.path()).is_ok_and(|folder| folder.uid() == 0)
    }

    /// Commits this configuration and pushes it.
    pub fn push(&self, configuration: &str) -> String {
        let commit = self.tree.write(".gitlab-ci.yml", configuration).commit("Build it");
        self.tree.git(&["push", "-q", "--force", &self.push_url(), "master"]);
        commit
    }

    /// Makes the project `root/part`, and its commit the submodule `part` of the next commits.
    pub fn use_submodule(&self) {
        let made = self.server.request("POST", "/projects").token(ROOT);
        made.form(&[("name", "part")]).send().expect(201);
        self.tree.write("inner", "content").commit("The part");
        let url = self.push_url().replace("ship.git", "part.git");
        self.tree.git(&["push", "-q", &url, "master"]);
        let commit = self.tree.git(&["rev-parse", "HEAD"]);
        let url = format!("http://{}/root/part.git", self.server.address);
        let modules = format!("[submodule \"part\"]\npath = part\nurl = {url}\n");
        self.tree.git(&["rm", "-q", "inner"]);
        self.tree.write(".gitmodules", modules).git(&["add", ".gitmodules"]);
        let entry = format!("160000,{commit},part");
        self.tree.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }

    /// Commits this configuration and pushes it, with the submodule, which is not checked out here.
    pub fn push_with_submodule(&self, configuration: &str) {
        self.tree.write(".gitlab-ci.yml", configuration).git(&["add", ".gitlab-ci.yml"]);
        self.tree.git(&["commit", "-q", "-m", "Use the part"]);
        self.tree.git(&["push", "-q", &self.push_url(), "master"]);
    }

    pub fn push_url(&self) -> String {
        format!("http://root:{ROOT}@{}/root/ship.git", self.server.address)
    }

    pub fn get(&self, path: &str) -> Value {
        self.server.request("GET", &format!("/projects/1{path}")).token(ROOT).send().expect(200)
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Value {
        let request = self.server.request("POST", &format!("/projects/1{path}")).token(ROOT);
        let answer = request.form(fields).send();
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()
    }

    pub fn set(&self, field: &str, value: &str) {
        let request = self.server.request("PUT", "/projects/1").token(ROOT);
        request.form(&[("name", "ship"), (field, value)]).send().expect(200);
    }

    /// The newest build of this name.
    pub fn build(&self, name: &str) -> Value {
        let builds = self.get("/builds");
        let found = builds.as_array().expect("a list").iter().find(|build| build["name"] == name);
        found.unwrap_or_else(|| panic!("there is no build {name}")).clone()
    }

    pub fn status(&self, name: &str) -> String {
        self.build(name)["status"].as_str().expect("a text").to_owned()
    }

    pub fn trace_bytes(&self, name: &str) -> Vec<u8> {
        let path = format!("/projects/1/builds/{}/trace", self.build(name)["id"]);
        self.server.request("GET", &path).token(ROOT).send().body
    }

    pub fn trace(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.trace_bytes(name)).into_owned()
    }

    #[track_caller]
    pub fn wait_for_status(&self, name: &str, status: &str) {
        let reached = || self.status(name) == status;
        if !wait_until(reached) {
            panic!("{name} is {}, not {status}:\n{}", self.status(name), self.trace(name));
        }
    }

    /// Waits until the newest pipeline has this status.
    #[track_caller]
    pub fn wait_for_pipeline(&self, status: &str) {
        let newest = || self.get("/pipelines")[0]["status"].as_str().unwrap_or_default().to_owned();
        if wait_until(|| newest() == status) {
            return;
        }
        let builds = self.get("/builds");
        let logs = builds.as_array().into_iter().flatten().map(|build| {
            let name = build["name"].as_str().unwrap_or_default();
            format!("== {name}: {}\n{}\n", build["status"], self.trace(name))
        });
        panic!("the pipeline is {}, not {status}:\n{}", newest(), logs.collect::<String>());
    }

    /// The command `hexforge runner …` with the configuration of this scene.
    pub fn runner_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program::executable());
        command.arg("runner").args(arguments).current_dir(self.folder.path());
        command.env("HEXFORGE_RUNNER_CONFIG", self.config_file()).env("HEXFORGE_LOG", "warn");
        command.env("HOST_SECRET", "not-for-builds");
        command
    }

    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("etc/runner.toml")
    }

    /// Runs `hexforge runner …` to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.runner_command(arguments).output().expect("the program can be started")
    }

    /// A server, and a runner that isolates its builds. `None` where that is not possible.
    pub fn sandboxed() -> Option<Self> {
        if !has_bubblewrap() {
            return None;
        }
        let scene = Self::new();
        scene.register(&["--executor", "sandbox"]);
        Some(scene)
    }

    /// Registers a shared runner.
    #[track_caller]
    pub fn register(&self, more: &[&str]) {
        let url = format!("http://{}", self.server.address);
        let mut arguments = vec!["register", "--url", &url, "--token", RUNNERS, "--name", "one"];
        arguments.extend(more);
        let output = self.run(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Registers a runner and starts it.
    pub fn start_runner(&self, more: &[&str]) -> RunnerProcess {
        if !self.config_file().exists() {
            self.register(&[]);
        }
        let mut command = self.runner_command(&["run"]);
        command.args(more);
        RunnerProcess::start(command)
    }
}

fn start(
    folder: &TempDir,
    database: &TestDatabase,
    listen: &str,
    settings: &[(String, String)],
) -> Program {
    let (program, data) = (program::executable(), folder.path().join("data"));
    let mut more = vec![("HEXFORGE_LISTEN", listen), ("HEXFORGE_RUNNER_SILENCE", "6")];
    more.extend(settings.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    Program::start_with(&program, &data, &database.url, Stdio::inherit(), &more).expect("it serves")
}

/// A running `hexforge runner run`. Killed when dropped.
pub struct RunnerProcess(Child);

impl RunnerProcess {
    pub fn start(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().expect("it can be started"))
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.is_ok_and(|status| status.success()), "the runner has ended");
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Kills it as a power failure would.
    pub fn kill(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it was started here");
    }

    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let mut ended = None;
        let has_ended = || {
            ended = self.0.try_wait().expect("it was started here");
            ended.is_some()
        };
        assert!(wait_until(has_ended), "the runner does not end");
        ended.expect("it has ended")
    }
}

impl Drop for RunnerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the sandbox executor works on this machine.
#[expect(clippy::print_stderr, reason = "what is skipped is to be seen")]
pub fn has_bubblewrap() -> bool {
    let mut check = Command::new("bwrap");
    check.args(["--ro-bind", "/", "/", "--unshare-pid", "true"]).stderr(Stdio::null());
    if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        // As the user of sandboxed builds.
        check.uid(65_534).gid(65_534);
    }
    let works = check.status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        assert!(std::env::var_os("HEXFORGE_REQUIRE_BWRAP").is_none(), "there is no bubblewrap");
        eprintln!("SKIPPED: there is no bubblewrap that works here");
    }
    works
}

/// Waits until a condition holds. Returns whether it does.
pub fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    wait_at_most(PATIENCE, &mut condition)
}

pub fn wait_at_most(longest: Duration, condition: &mut dyn FnMut() -> bool) -> bool {
    let since = Instant::now();
    while since.elapsed() < longest {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    condition()
}

/// The peak memory of a process from now on.
pub struct PeakMemory {
    status: PathBuf,
    before: u64,
}

impl PeakMemory {
    pub fn of(pid: u32) -> Self {
        // Forgets the peak so far.
        std::fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("it is our process");
        let status = PathBuf::from(format!("/proc/{pid}/status"));
        let before = kibibytes(&status, "VmRSS:");
        Self { status, before }
    }

    /// Mebibytes that the process needed in addition.
    pub fn growth(&self) -> u64 {
        kibibytes(&self.status, "VmHWM:").saturating_sub(self.before) >> 10
    }
}

fn kibibytes(status: &std::path::Path, name: &str) -> u64 {
    let text = std::fs::read_to_string(status).expect("the process runs");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("Linux has it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Whether a process `sleep` with this argument runs.
pub fn sleeps(seconds: &str) -> bool {
    let entries = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let wanted = format!("sleep\0{seconds}\0");
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.ends_with(wanted.as_bytes()))
}
