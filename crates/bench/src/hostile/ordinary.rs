//! Ordinary users: their actions, and how long these take.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::wire;
use crate::load::{Answer, quantile};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ssh_client::Identity;
use hexforge_tests::work_tree::WorkTree;

/// The number of ordinary users that work concurrently.
const USERS: usize = 4;
/// The pause of a user after each action.
const REST: Duration = Duration::from_millis(20);
/// The number of commits of the project that is read.
const COMMITS: usize = 25;
const PASSWORD: &str = "correct horse battery";

/// Creates a user and a session. Returns the user's id and token.
pub(crate) fn sign_up(program: &Program, name: &str) -> (i64, String) {
    let email = format!("{name}@example.com");
    let form = [("username", name), ("name", name), ("email", &email), ("password", PASSWORD)];
    let made = program.request("POST", "/users").token(ROOT).form(&form).send().expect(201);
    let form = [("login", name), ("password", PASSWORD)];
    let session = program.request("POST", "/session").form(&form).send().expect(201);
    let token = session["private_token"].as_str().expect("a session has a token");
    (made["id"].as_i64().expect("users have ids"), token.to_owned())
}

/// Creates a public project.
pub(super) fn new_project(program: &Program, token: &str, name: &str) -> i64 {
    let form = [("name", name), ("visibility_level", "20")];
    let made = program.request("POST", "/projects").token(token).form(&form).send().expect(201);
    made["id"].as_i64().expect("projects have ids")
}

/// The projects of ordinary users: `root/library` is only read, `root/work` is pushed to.
pub(super) struct Ordinary {
    http: SocketAddr,
    ssh: SocketAddr,
    library: i64,
    /// The first and the last commit of the library, and a blob in it.
    commits: [String; 2],
    blob: String,
    users: Vec<User>,
}

struct User {
    name: String,
    token: String,
    key: Identity,
    tree: WorkTree,
    _folder: tempfile::TempDir,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Get(&'static str, &'static str),
    CreateIssue,
    Compare,
    RawBlob,
    Push,
    Clone(&'static str, &'static [&'static str], bool),
}

/// The actions of one round. Frequent actions occur several times.
const ROUND: [Action; 22] = {
    use Action::{Clone, Compare, CreateIssue, Get, Push, RawBlob};
    const USER: Action = Get("GET /user", "/user");
    const PROJECTS: Action = Get("GET /projects", "/projects");
    const ISSUES: Action = Get("GET issues", "/projects/ID/issues");
    const TREE: Action = Get("GET tree", "/projects/ID/repository/tree");
    const FILE: Action = Get("GET blob", "/projects/ID/repository/blobs/master?filepath=file-3");
    const ARCHIVE: Action = Get("GET archive", "/projects/ID/repository/archive.tar.gz");
    const SHALLOW: Action = Clone("git clone --depth 1", &["--depth", "1"], false);
    const FULL: Action = Clone("git clone", &[], false);
    const SSH: Action = Clone("git clone over SSH", &[], true);
    [
        USER,
        PROJECTS,
        ISSUES,
        CreateIssue,
        TREE,
        FILE,
        Push,
        USER,
        PROJECTS,
        Compare,
        ARCHIVE,
        ISSUES,
        SHALLOW,
        CreateIssue,
        TREE,
        RawBlob,
        FULL,
        Compare,
        FILE,
        ARCHIVE,
        SSH,
        RawBlob,
    ]
};

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Get(name, _) | Self::Clone(name, _, _) => name,
            Self::CreateIssue => "POST issue",
            Self::Compare => "GET compare",
            Self::RawBlob => "GET raw blob",
            Self::Push => "git push",
        }
    }
}

/// The figures of one kind of action.
#[derive(Default)]
pub(super) struct Figures {
    /// The sorted durations of successful actions.
    times: Vec<Duration>,
    pub failures: usize,
    /// The error of the first failed action.
    pub first_failure: Option<String>,
}

impl Figures {
    pub fn calls(&self) -> usize {
        self.times.len() + self.failures
    }

    pub fn quantile(&self, part: f64) -> Duration {
        quantile(&self.times, part)
    }

    fn add(&mut self, time: Duration, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.times.push(time),
            Err(error) => {
                self.failures += 1;
                self.first_failure.get_or_insert_with(|| format!("after {time:.1?}: {error:#}"));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.times.extend(other.times);
        self.times.sort_unstable();
        self.failures += other.failures;
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }
}

/// The figures of each kind of action, by name.
pub(super) type Kinds = BTreeMap<&'static str, Figures>;

impl Ordinary {
    /// Creates the users and projects.
    pub fn new(program: &Program) -> Result<Self> {
        let ssh = program.ssh.context("the server has no SSH address")?;
        let [library, work] = ["library", "work"].map(|name| new_project(program, ROOT, name));
        let mut users = Vec::new();
        for number in 0..USERS {
            let name = format!("ordinary-{number}");
            let (id, token) = sign_up(program, &name);
            for project in [library, work] {
                let form = [("user_id", &*id.to_string()), ("access_level", "40")];
                let path = format!("/projects/{project}/members");
                program.request("POST", &path).token(ROOT).form(&form).send().expect(201);
            }
            let key = Identity::new();
            let form = [("title", "laptop"), ("key", &*key.public())];
            program.request("POST", "/user/keys").token(&token).form(&form).send().expect(201);
            let folder = tempfile::tempdir()?;
            let tree = WorkTree::new(&folder.path().join("unused.git"));
            users.push(User { name, token, key, tree, _folder: folder });
        }
        let tree = &users[0].tree;
        let mut commits = Vec::new();
        for number in 0..COMMITS {
            let lines: String = (0..200).map(|line| format!("{number} and {line}\n")).collect();
            tree.write(&format!("file-{}", number % 10), lines);
            commits.push(tree.commit(&format!("Change {number}\n")));
        }
        let blob = tree.git(&["rev-parse", "HEAD:file-3"]);
        let [first, .., last] = &commits[..] else { unreachable!("there are many commits") };
        let commits = [first.clone(), last.clone()];
        let ordinary = Self { http: program.address, ssh, library, commits, blob, users };
        let (user, tree) = (&ordinary.users[0], &ordinary.users[0].tree);
        tree.git(&["push", "-q", &ordinary.url(user, "library"), "master"]);
        for number in 0..30 {
            let form = [("title", &*format!("Issue {number}"))];
            let path = format!("/projects/{library}/issues");
            program.request("POST", &path).token(ROOT).form(&form).send().expect(201);
        }
        Ok(ordinary)
    }

    fn url(&self, user: &User, project: &str) -> String {
        format!("http://{}:{}@{}/root/{project}.git", user.name, user.token, self.http)
    }

    /// Runs all users for the given time.
    pub fn work(&self, time: Duration) -> Kinds {
        let end = Instant::now() + time;
        std::thread::scope(|scope| {
            let workers: Vec<_> = (self.users.iter().enumerate())
                .map(|(number, user)| scope.spawn(move || self.work_as(user, number, end)))
                .collect();
            let mut all = Kinds::new();
            for worker in workers {
                for (name, figures) in worker.join().expect("an ordinary user does not panic") {
                    all.entry(name).or_default().merge(figures);
                }
            }
            all
        })
    }

    fn work_as(&self, user: &User, number: usize, end: Instant) -> Kinds {
        let mut kinds = Kinds::new();
        // Users start at different positions of the round.
        for action in ROUND.iter().cycle().skip(number * ROUND.len() / USERS) {
            if Instant::now() >= end {
                break;
            }
            let (time, outcome) = self.perform(user, *action);
            kinds.entry(action.name()).or_default().add(time, outcome);
            std::thread::sleep(REST);
        }
        kinds
    }

    /// Performs an action. Returns its duration without the preparation.
    fn perform(&self, user: &User, action: Action) -> (Duration, Result<()>) {
        let in_library = |path: &str| path.replace("ID", &self.library.to_string());
        match action {
            Action::Get(_, path) => self.call(user, "GET", &in_library(path), ""),
            Action::CreateIssue => {
                self.call(user, "POST", &in_library("/projects/ID/issues"), "title=An+issue")
            }
            Action::Compare => {
                let [from, to] = &self.commits;
                let path = format!("/projects/ID/repository/compare?from={from}&to={to}");
                self.call(user, "GET", &in_library(&path), "")
            }
            Action::RawBlob => {
                let path = format!("/projects/ID/repository/raw_blobs/{}", self.blob);
                self.call(user, "GET", &in_library(&path), "")
            }
            Action::Push => {
                let moment = format!("{:?}\n", Instant::now());
                user.tree.write("work", moment).commit("Work\n");
                let branch = format!("HEAD:refs/heads/{}", user.name);
                let url = self.url(user, "work");
                timed(user.tree.command(&["push", "-q", &url, &branch]))
            }
            Action::Clone(_, options, over_ssh) => {
                let Ok(folder) = tempfile::tempdir() else { unreachable!("there is room") };
                let target = folder.path().join("clone").display().to_string();
                let url = if over_ssh {
                    format!("ssh://git@{}/root/library.git", self.ssh)
                } else {
                    self.url(user, "library")
                };
                let arguments = [&["clone", "-q"], options, &[&*url, &*target]].concat();
                let mut command = user.tree.command(&arguments);
                command.env("GIT_SSH_COMMAND", user.key.git_ssh_command(self.ssh));
                timed(command)
            }
        }
    }

    /// Sends a request over a new connection, which the server has to accept beside those of the attackers.
    fn call(&self, user: &User, method: &str, path: &str, form: &str) -> (Duration, Result<()>) {
        let headers = format!(
            "PRIVATE-TOKEN: {}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n",
            user.token
        );
        let target = format!("/api/v3{path}");
        let bytes = wire::request(method, &target, &headers, form.as_bytes());
        let started = Instant::now();
        let answer = || -> io::Result<Answer> {
            let mut stream = wire::connect(IpAddr::V4(Ipv4Addr::LOCALHOST), self.http, None)?;
            stream.write_all(&bytes)?;
            Answer::try_read(&mut BufReader::new(stream), &mut |_| ())
        };
        let outcome = answer().context("no answer").and_then(|answer| {
            ensure!((200..300).contains(&answer.status), "status {}", answer.status);
            Ok(())
        });
        (started.elapsed(), outcome)
    }
}

/// Runs git, with the same timeout as a request.
fn timed(mut command: Command) -> (Duration, Result<()>) {
    let started = Instant::now();
    let outcome = run(&mut command, started + wire::PATIENCE);
    (started.elapsed(), outcome)
}

fn run(command: &mut Command, end: Instant) -> Result<()> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            bail!("git did not end within {:?}", wire::PATIENCE);
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut said = String::new();
    child.stderr.take().context("git has no error pipe")?.read_to_string(&mut said)?;
    ensure!(status.success(), "{}", said.trim());
    Ok(())
}
