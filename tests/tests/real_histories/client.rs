//! Two clients that run the same commands, one with hexforge and one with git, and the comparison of their
//! repositories.

use std::path::{Path, PathBuf};
use std::thread;

use super::checks::{Checks, same_set};
use super::git::{Git, Run};
use super::oracle::Oracle;
use super::pack_trace::PackTrace;
use super::server::{PROJECT, Server, Transport};
use super::settings::print_progress;

/// A command of a client. `@` is replaced by the URL of the tested repository, `@full` by that of the complete history,
/// which git serves.
#[derive(Clone, Debug)]
pub struct Step {
    arguments: Vec<String>,
    /// Whether the two clients are compared afterwards.
    compared: bool,
}

impl Step {
    /// A command that prepares the client.
    pub fn prepare(line: &str) -> Self {
        Self { arguments: words(line), compared: false }
    }

    /// A command that uses the tested repository, after which the clients are compared.
    pub fn compared(line: &str) -> Self {
        Self { arguments: words(line), compared: true }
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// A client of hexforge and a client of git. Their folders are removed when dropped.
pub struct Pair<'a> {
    server: &'a Server<'a>,
    oracle: &'a Oracle<'a>,
    name: String,
    by: Transport,
    project: String,
    protocol: u8,
    ours: PathBuf,
    theirs: PathBuf,
    traces: PathBuf,
    /// Whether a command failed. Later commands are skipped then.
    stopped: bool,
}

impl<'a> Pair<'a> {
    /// Creates two empty folders. The name is shown with each check.
    pub fn new(
        server: &'a Server<'a>,
        oracle: &'a Oracle<'a>,
        name: &str,
        by: Transport,
        protocol: u8,
    ) -> Self {
        let folder: String =
            name.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect();
        let new_folder =
            |side: &str| oracle.git.new_folder(&format!("{folder}-{by:?}-{protocol}/{side}"));
        Self {
            server,
            oracle,
            name: name.to_owned(),
            by,
            project: PROJECT.to_owned(),
            protocol,
            ours: new_folder("hexforge"),
            theirs: new_folder("git"),
            traces: new_folder("traces"),
            stopped: false,
        }
    }

    /// The same for another project with the same history.
    pub fn of_project(mut self, path: &str) -> Self {
        path.clone_into(&mut self.project);
        self
    }

    /// Runs one command on both sides and compares the clients. Does nothing after a failure.
    pub fn run(&mut self, step: &Step, checks: &mut Checks) {
        if self.stopped {
            return;
        }
        let name = format!(
            "{} over {:?} with protocol {}: git {}",
            self.name,
            self.by,
            self.protocol,
            step.arguments.join(" ")
        );
        if step.compared {
            let mut both_refused = false;
            let passed = checks.check(&name, || {
                both_refused = !self.run_and_compare(step)?;
                Ok(())
            });
            self.stopped = !passed || both_refused;
        } else if let Err(problem) = self.prepare(step) {
            self.stopped = true;
            checks.check(&name, || Err(problem));
        }
    }

    fn prepare(&self, step: &Step) -> Result<(), String> {
        for folder in [&self.ours, &self.theirs] {
            let arguments = self.arguments(step, folder);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            self.oracle.git.run(folder, &arguments).into_lines()?;
        }
        Ok(())
    }

    /// Returns false if git refuses the command too, for example because there is nothing to fetch.
    fn run_and_compare(&self, step: &Step) -> Result<bool, String> {
        let run = |folder: &PathBuf, name: &str| {
            let arguments = self.arguments(step, folder);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut command = self.server.git_as_owner(folder, &arguments);
            let trace = PackTrace::start(&mut command, &self.traces, name);
            (Run::of(&mut command), trace.finish())
        };
        let ((our_run, our_exchange), (their_run, their_exchange)) =
            at_once(|| run(&self.ours, "hexforge"), || run(&self.theirs, "git"));
        match (our_run.success, their_run.success) {
            (true, true) => {}
            (false, false) => {
                print_progress(&format!("both refuse it: {}", their_run.stderr.trim_end()));
                return Ok(false);
            }
            (true, false) => {
                return Err(format!(
                    "{}\nsucceeded, but git refuses it: {}",
                    our_run.line, their_run.stderr
                ));
            }
            (false, true) => return Err(format!("{}\n{}", our_run.line, our_run.stderr)),
        }
        let git = self.oracle.git;
        let (ours, theirs) =
            at_once(|| State::read(git, &self.ours), || State::read(git, &self.theirs));
        let problems = [
            our_exchange.compare(&their_exchange),
            theirs.and_then(|theirs| ours?.compare(&theirs)),
            self.check_connectivity(),
        ];
        let problems: Vec<String> = problems.into_iter().filter_map(Result::err).collect();
        if problems.is_empty() {
            return Ok(true);
        }
        Err(format!("{}\n{}", our_run.line, problems.join("\n")))
    }

    /// Checks the client of hexforge with `git fsck`, unless that of git has errors too.
    fn check_connectivity(&self) -> Result<(), String> {
        let fsck = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"];
        let ours = self.oracle.git.run(&self.ours, &fsck);
        if ours.success || !self.oracle.git.run(&self.theirs, &fsck).success {
            return Ok(());
        }
        let printed = String::from_utf8_lossy(&ours.stdout);
        let printed: Vec<&str> = printed.lines().chain(ours.stderr.lines()).take(8).collect();
        Err(format!("{}\n{}", ours.line, printed.join("\n")))
    }

    fn arguments(&self, step: &Step, folder: &Path) -> Vec<String> {
        let tested = if *folder == self.ours {
            self.server.address(self.by, &self.project)
        } else {
            Oracle::address_of(&self.oracle.twin)
        };
        let full = Oracle::address_of(&self.oracle.full);
        let mut all = vec!["-c".to_owned(), format!("protocol.version={}", self.protocol)];
        all.extend(step.arguments.iter().map(|argument| match argument.as_str() {
            "@" => tested.clone(),
            "@full" => full.clone(),
            _ => argument.clone(),
        }));
        all
    }
}

/// Runs two functions concurrently.
fn at_once<T: Send>(one: impl FnOnce() -> T + Send, other: impl FnOnce() -> T) -> (T, T) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().expect("running git does not panic"), other)
    })
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        for folder in [&self.ours, &self.theirs, &self.traces] {
            // The surrounding folder is removed later, so errors are ignored.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// The content of a repository.
pub struct State {
    refs: Vec<String>,
    shallow: Vec<String>,
    objects: Vec<String>,
}

impl State {
    /// Reads a repository with git, without fetching: missing objects are shown as missing.
    pub fn read(git: &Git, folder: &Path) -> Result<Self, String> {
        let refs = git.run(folder, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let arguments = ["rev-list", "--objects", "--no-object-names", "--missing=print", "--all"];
        let objects = git.run(folder, &arguments);
        let shallow = git.run(folder, &["rev-parse", "--git-path", "shallow"]).into_lines()?;
        let shallow = folder.join(shallow.concat());
        let shallow = std::fs::read_to_string(shallow).unwrap_or_default();
        Ok(Self {
            refs: refs.into_lines()?,
            shallow: shallow.lines().map(str::to_owned).collect(),
            objects: objects.into_lines()?,
        })
    }

    /// Checks that the content equals the expected one.
    pub fn compare(&self, expected: &Self) -> Result<(), String> {
        same_set("refs", &self.refs, &expected.refs)?;
        same_set("shallow commits", &self.shallow, &expected.shallow)?;
        same_set("objects", &self.objects, &expected.objects)
    }
}
