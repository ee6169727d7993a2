//! Runs one build: from the sources to the final state.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use crate::api::{Api, FinalReport, Upload};
use crate::archive;
use crate::cache::Caches;
use crate::cgroup::{Group, Groups, Limits};
use crate::config::{ExecutorKind, Runner};
use crate::error::Error;
use crate::executor::{BuildFacts, Executor, Folders, History, Step, host_environment};
use crate::log::Log;
use crate::metrics::Metrics;
use crate::plan::{
    self, AFTER_SCRIPT_TIMEOUT, ArtifactsPlan, CachePlan, Plan, Selection, Strategy,
};
use crate::process::{self, Ended, Output};
use crate::protocol::Assignment;
use crate::recovery::PrivateFolder;
use crate::room;
use crate::script::{self, Hosts};
use crate::sender::{self, Pauses, Sent, Target};
use crate::slot::Slot;
use crate::supervisor::Spec;
use crate::user::{self, User};

/// The maximum length of a log in MiB, unless the configuration has another. The server takes 64 MiB.
const DEFAULT_LOG_LIMIT_MB: u64 = 60;

/// How often sources and artifacts are tried while the server has a problem.
const TRIES: u32 = 3;

/// How long artifacts and caches are packed and sent after the time limit of the build.
const AFTERWARDS: Duration = Duration::from_secs(600);

/// How long log and final state are offered to a server that is away.
const FINISH_TIMEOUT: Duration = Duration::from_secs(6 * 3600);

/// The same, when the runner was told to stop at once.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);

/// What builds of one runner share.
#[derive(Clone, Debug)]
pub struct Context {
    /// The runner.
    pub runner: Runner,
    /// Its server.
    pub api: Api,
    /// The folder of working copies.
    pub builds_dir: PathBuf,
    /// The configuration file.
    pub config: PathBuf,
    /// Where control groups of builds can be made, if they can.
    pub groups: Option<Groups>,
    /// The numbers of this process.
    pub metrics: Arc<Metrics>,
}

/// The result of a build, as this runner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server has the final state.
    Reported {
        /// Whether the build succeeded.
        succeeded: bool,
    },
    /// The build was canceled or removed on the server.
    Canceled,
    /// The server could not be told.
    Lost,
}

/// Runs a build in one of the slots. `shutdown` stops it.
pub async fn run(
    context: &Context,
    slot: &Slot,
    given: Assignment,
    shutdown: watch::Receiver<bool>,
) -> Outcome {
    match run_logged(context, slot, &given, shutdown).await {
        Ok(outcome) => outcome,
        // The log could not even be created.
        Err(error) => refuse(context, &given, &error).await,
    }
}

/// Reports a build that cannot be started.
pub async fn refuse(context: &Context, given: &Assignment, error: &Error) -> Outcome {
    tracing::error!(build = given.id, %error, "a build cannot be started");
    let target = target(context, given);
    let text = format!("ERROR: Build failed: {error}\n");
    let end = FinalReport::new(false, text.as_bytes());
    let _ = target.api.append(given.id, &given.token, 0, text.into_bytes()).await;
    report(context, &target, &end, None, STOP_TIMEOUT).await
}

fn target(context: &Context, given: &Assignment) -> Target {
    Target { api: context.api.clone(), build: given.id, token: given.token.clone() }
}

async fn report(
    context: &Context,
    target: &Target,
    end: &FinalReport,
    log: Option<&Arc<Log>>,
    longest: Duration,
) -> Outcome {
    match sender::finish(target, &context.runner.token, end, log, longest).await {
        Ok(()) => Outcome::Reported { succeeded: end.succeeded },
        Err(error) if error.status() == Some(404) => Outcome::Canceled,
        Err(error) => {
            tracing::error!(build = target.build, %error, "the final state of a build could not be reported");
            Outcome::Lost
        }
    }
}

/// Makes the private folder of a build. Where the disk is full or nearly so, working copies make room.
fn make_private_folder(
    context: &Context,
    slot: &Slot,
    given: &Assignment,
) -> Result<PrivateFolder, Error> {
    let make = || PrivateFolder::create(&context.builds_dir, &context.runner, given);
    if room::is_little(&context.builds_dir) {
        room::make(&context.builds_dir, slot);
    }
    match make() {
        Err(error) if error.is_disk_full() => {
            room::make(&context.builds_dir, slot);
            make()
        }
        outcome => outcome,
    }
}

async fn run_logged(
    context: &Context,
    slot: &Slot,
    given: &Assignment,
    mut shutdown: watch::Receiver<bool>,
) -> Result<Outcome, Error> {
    let mut private = make_private_folder(context, slot, given)?;
    let folders = Folders {
        project: slot.project(given.project_id).join(plan::project_folder(given)?),
        private: private.path().to_owned(),
    };
    let plan = Plan::new(given, &host_environment(), &folders.project.to_string_lossy())?;
    let limit = context.runner.log_limit_mb.unwrap_or(DEFAULT_LOG_LIMIT_MB) << 20;
    let log = Arc::new(Log::create(&private.log(), plan.secrets.clone(), limit)?);
    let (target, (halt, halted)) = (target(context, given), watch::channel(false));
    let (closed, is_closed) = watch::channel(false);
    let sending = {
        let (target, log, halt) = (target.clone(), Arc::clone(&log), halt.clone());
        tokio::spawn(async move {
            let sent = sender::send(target, log, is_closed).await;
            halt.send_replace(sent == Sent::Refused);
            sent
        })
    };
    let stopping = {
        let mut shutdown = shutdown.clone();
        tokio::spawn(async move {
            if shutdown.wait_for(|stop| *stop).await.is_ok() {
                halt.send_replace(true);
            }
        })
    };
    let (group, is_limited) = group(context, given.id);
    let deadline = Instant::now() + plan.timeout;
    let mut job = Job {
        context,
        given,
        plan: &plan,
        slot,
        folders,
        log: Arc::clone(&log),
        halted,
        deadline,
        group: group.as_ref(),
        is_limited,
        user: None,
        tracked: None,
    };
    let verdict = job.run().await;
    stopping.abort();
    let succeeded = verdict.is_ok();
    match verdict {
        Ok(()) => log.line("Build succeeded"),
        Err(error) => log.line(&format!("ERROR: Build failed: {error}")),
    }
    log.close();
    private.store_result(succeeded);
    closed.send_replace(true);
    let stopped = async {
        if shutdown.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
        sleep(STOP_TIMEOUT).await;
    };
    let sender = sending.abort_handle();
    let finished = async {
        match sending.await {
            Ok(Sent::All) => {
                let end = log.final_report(succeeded);
                report(context, &target, &end, Some(&log), FINISH_TIMEOUT).await
            }
            Ok(Sent::Refused) => Outcome::Canceled,
            Err(_) => Outcome::Lost,
        }
    };
    let outcome = tokio::select! {
        outcome = finished => outcome,
        () = stopped => Outcome::Lost,
        () = sleep(FINISH_TIMEOUT) => Outcome::Lost,
    };
    sender.abort();
    context.metrics.sent(log.length());
    if outcome == Outcome::Lost {
        private.keep();
    }
    // It may take long to kill and to remove everything.
    let _ = spawn_blocking(move || drop((group, private))).await;
    Ok(outcome)
}

/// Makes the control group of a build, if that is possible. Also returns whether it has the limits of the build.
fn group(context: &Context, build: i64) -> (Option<Group>, bool) {
    let Some(groups) = &context.groups else { return (None, false) };
    match groups.create(build, context.runner.limits()) {
        Ok(group) => (Some(group), true),
        Err(error) => {
            tracing::debug!(%error, "a control group cannot have limits");
            (groups.create(build, Limits::default()).ok(), false)
        }
    }
}

/// A running build.
struct Job<'a> {
    context: &'a Context,
    given: &'a Assignment,
    plan: &'a Plan,
    slot: &'a Slot,
    folders: Folders,
    log: Arc<Log>,
    halted: watch::Receiver<bool>,
    deadline: Instant,
    group: Option<&'a Group>,
    /// Whether the group has the limits of the build, so that single processes need none.
    is_limited: bool,
    /// The user as whom the job runs, if it is not that of the runner. Files of the working copy are read and written
    /// with the rights of this user.
    user: Option<User>,
    /// The files that were checked out, if untracked files are wanted.
    tracked: Option<BTreeSet<PathBuf>>,
}

impl Job<'_> {
    /// Runs all steps. The error says why the build failed.
    async fn run(&mut self) -> Result<(), Error> {
        let runner = &self.context.runner;
        self.log.line(&format!(
            "Running with hexforge-runner {} on {} ({})",
            env!("CARGO_PKG_VERSION"),
            runner.name,
            runner.id
        ));
        for name in &self.plan.refused_variables {
            self.log.line(&format!("WARNING: variable `{name}` cannot be passed to a process"));
        }
        let facts = BuildFacts {
            id: self.given.id,
            project: self.given.project_id,
            image: self.plan.image.as_deref(),
            services: &self.plan.services,
            config: &self.context.config,
        };
        let executor = Executor::new(runner, &self.folders, &facts)?;
        self.user = executor.user().cloned();
        self.log.line(&executor.describe());
        let result = self.run_with(&executor).await;
        for spec in executor.cleanup() {
            self.run_quietly(&spec).await;
        }
        result
    }

    async fn run_with(&mut self, executor: &Executor) -> Result<(), Error> {
        for spec in executor.preparation() {
            check(self.execute(&spec, self.deadline).await?)?;
        }
        if let Some(user) = executor.user() {
            self.open_folders(user)?;
        }
        self.get_sources(executor).await?;
        self.restore_cache().await;
        self.get_dependencies().await?;
        let result = self.run_script(executor).await;
        if *self.halted.borrow() {
            return result;
        }
        self.run_after_script(executor).await;
        if result.is_ok() {
            self.store_cache().await;
        }
        let uploaded = self.upload_artifacts(result.is_ok()).await;
        // The result of the script counts first.
        result.and(uploaded)
    }

    /// Lets another user reach the folders of the build.
    fn open_folders(&self, user: &User) -> Result<(), Error> {
        user::open_folder(&self.context.builds_dir)?;
        for folder in self.slot.folder.ancestors().skip(1).take(1) {
            user::open_folder(folder)?;
        }
        // Its parent folder belongs to the runner, so no build can have replaced the folder of the slot.
        let folder = &self.slot.folder;
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        user.make_owner_of(folder)
    }

    async fn get_sources(&mut self, executor: &Executor) -> Result<(), Error> {
        let mut sources = self.plan.sources.clone();
        if sources.strategy == Strategy::Fetch && executor.history() == History::Nothing {
            sources.strategy = Strategy::Clone;
        }
        let project = self.folders.project.clone();
        let parent = project.parent().unwrap_or(&project);
        user::run_as(self.user.as_ref(), || fs::create_dir_all(parent).map_err(Error::at(parent)))?;
        let mirror = (executor.history() == History::Mirror).then(|| self.folders.mirror());
        let mirror = mirror.as_deref().map(Path::to_string_lossy);
        let mut pauses = Pauses::default();
        for left in (0..TRIES).rev() {
            if left == 0 && sources.strategy == Strategy::Fetch {
                // What an earlier build left may be damaged.
                sources.strategy = Strategy::Clone;
            }
            let text = script::sources(&sources, &project.to_string_lossy(), mirror.as_deref());
            let step = self.own_step(executor, "sources", &text, parent)?;
            match check(self.execute(&step, self.deadline).await?) {
                Err(Error::Step(reason))
                    if left > 0 && !*self.halted.borrow() && Instant::now() < self.deadline =>
                {
                    self.log.line(&format!(
                        "WARNING: the sources could not be fetched ({reason}): trying again"
                    ));
                    pauses.wait().await;
                }
                Err(error) => {
                    return Err(Error::step(format!("the sources could not be fetched: {error}")));
                }
                Ok(()) => break,
            }
        }
        self.tracked = self.list_tracked(executor).await?;
        Ok(())
    }

    /// Lists the files that were checked out, if untracked files are wanted. Git is not asked after the job, which can
    /// change what git answers.
    async fn list_tracked(
        &mut self,
        executor: &Executor,
    ) -> Result<Option<BTreeSet<PathBuf>>, Error> {
        let (cache, artifacts) = (&self.plan.cache, &self.plan.artifacts);
        let is_wanted = cache.as_ref().is_some_and(|cache| cache.files.untracked)
            || artifacts.as_ref().is_some_and(|artifacts| artifacts.files.untracked);
        if !is_wanted || self.plan.sources.strategy == Strategy::None {
            return Ok(None);
        }
        let project = self.folders.project.clone();
        let text = script::tracked(&project.to_string_lossy());
        let spec = self.own_step(executor, "tracked", &text, &project)?;
        let listed = Arc::new(Mutex::new(Vec::new()));
        let output: Output = {
            let listed = Arc::clone(&listed);
            Arc::new(move |bytes| {
                listed.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            })
        };
        check(process::run(&spec, output, self.deadline, &mut self.halted).await?).map_err(
            |error| Error::step(format!("the tracked files could not be listed: {error}")),
        )?;
        let listed = std::mem::take(&mut *listed.lock().unwrap_or_else(PoisonError::into_inner));
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| PathBuf::from(std::ffi::OsString::from_vec(name.to_vec())));
        Ok(Some(names.collect()))
    }

    async fn run_script(&mut self, executor: &Executor) -> Result<(), Error> {
        let text = self.job_script(executor, &self.plan.script);
        let spec = self.job_step(executor, "script", &text)?;
        let ended = self.execute(&spec, self.deadline).await;
        self.end_step(executor).await;
        check(ended?)
    }

    /// Ends what a step of the job may have left running, before its files are read and before the next step.
    async fn end_step(&self, executor: &Executor) {
        if let Some(spec) = executor.end_of_step() {
            self.run_quietly(&spec).await;
        }
    }

    /// Runs a command of the runner, whatever its result.
    async fn run_quietly(&self, spec: &Spec) {
        let quiet: Output = Arc::new(|_| ());
        let (_open, mut never) = watch::channel(false);
        let deadline = Instant::now() + Duration::from_secs(60);
        let _ = process::run(spec, quiet, deadline, &mut never).await;
    }

    /// Runs `after_script`. Its result does not change that of the build.
    async fn run_after_script(&mut self, executor: &Executor) {
        if self.plan.after_script.is_empty() {
            return;
        }
        self.log.line("Running after_script");
        let text = self.job_script(executor, &self.plan.after_script);
        let outcome = match self.job_step(executor, "after_script", &text) {
            Ok(spec) => {
                self.execute(&spec, Instant::now() + AFTER_SCRIPT_TIMEOUT).await.and_then(check)
            }
            Err(error) => Err(error),
        };
        self.end_step(executor).await;
        if let Err(error) = outcome {
            self.log.line(&format!("WARNING: after_script failed: {error}"));
        }
    }

    fn job_script(&self, executor: &Executor, entries: &[String]) -> String {
        let project = self.folders.project.to_string_lossy();
        script::job(executor.shell(), &project, entries, self.plan.trace)
    }

    /// Restores the cache. A cache is only an acceleration, so the build goes on without it.
    async fn restore_cache(&self) {
        let Some(CachePlan { key, .. }) = &self.plan.cache else { return };
        let (caches, project, folder) =
            (self.caches(), self.given.project_id, self.folders.project.clone());
        let (wanted, user) = (key.clone(), self.user.clone());
        let restored = blocking(move || {
            let archive = caches.open(project, &wanted)?;
            let unpack =
                |archive| user::run_as(user.as_ref(), || archive::unpack(archive, &folder));
            archive.map(unpack).transpose()
        });
        let restored = restored.await;
        self.log.line(&match restored {
            Ok(Some(unpacked)) => format!("Restored cache {key}: {unpacked}"),
            Ok(None) => format!("There is no cache {key} yet"),
            Err(error) => format!("WARNING: cache {key} could not be restored: {error}"),
        });
    }

    async fn store_cache(&mut self) {
        let Some(CachePlan { key, files }) = &self.plan.cache else { return };
        let goes_on = self.goes_on();
        let stored = match self.select(files).await {
            Ok(files) => {
                let (caches, project, folder) =
                    (self.caches(), self.given.project_id, self.folders.project.clone());
                let (key, user) = (key.clone(), self.user.clone());
                let pack = move |out| {
                    user::run_as(user.as_ref(), || archive::pack(&folder, &files, out, &goes_on))
                };
                blocking(move || caches.store(project, &key, pack)).await
            }
            Err(error) => Err(error),
        };
        self.log.line(&match stored {
            Ok(files) => format!("Stored cache {key}: {files} files"),
            Err(error) => format!("WARNING: cache {key} could not be stored: {error}"),
        });
    }

    fn caches(&self) -> Caches {
        Caches::new(self.context.builds_dir.join("cache").join(self.context.runner.server_key()))
    }

    async fn get_dependencies(&self) -> Result<(), Error> {
        for build in &self.plan.dependencies {
            self.log.line(&format!("Downloading artifacts of {} ({})", build.name, build.id));
            let file = self.folders.private.join(format!("dependency-{}.zip", build.id));
            let download = || {
                self.context.api.download_artifacts(
                    build.id,
                    &build.token,
                    &file,
                    archive::MAX_UNPACKED,
                )
            };
            match self.unless_stopped(retry(download)).await {
                // They were removed or have expired since the build was assigned.
                Err(error) if error.status() == Some(404) => {
                    self.log.line(&format!("WARNING: {} has no artifacts any more", build.name));
                }
                Err(error) => {
                    return Err(Error::step(format!("artifacts of {}: {error}", build.name)));
                }
                Ok(()) => {
                    let (from, to) = (file.clone(), self.folders.project.clone());
                    let user = self.user.clone();
                    let unpacked = blocking(move || {
                        let archive = fs::File::open(&from).map_err(Error::at(&from))?;
                        user::run_as(user.as_ref(), || archive::unpack(archive, &to))
                    });
                    let unpacked = unpacked.await;
                    let unpacked = unpacked.map_err(|error| {
                        Error::step(format!("artifacts of {}: {error}", build.name))
                    })?;
                    if unpacked.left_out > 0 {
                        self.log.line(&format!("Artifacts of {}: {unpacked}", build.name));
                    }
                    let _ = fs::remove_file(&file);
                }
            }
        }
        Ok(())
    }

    async fn upload_artifacts(&mut self, succeeded: bool) -> Result<(), Error> {
        let Some(ArtifactsPlan { file_name, files, when, expire_in }) = &self.plan.artifacts else {
            return Ok(());
        };
        if !when.applies(succeeded) {
            return Ok(());
        }
        let found = self.select(files).await?;
        if found.is_empty() {
            self.log.line("WARNING: no files match the artifacts of this job");
            return Ok(());
        }
        let (folder, file) =
            (self.folders.project.clone(), self.folders.private.join("artifacts.zip"));
        let out = fs::File::create(&file).map_err(Error::at(&file))?;
        let (goes_on, user) = (self.goes_on(), self.user.clone());
        let pack = move || archive::pack(&folder, &found, out, &goes_on);
        let packed = blocking(move || user::run_as(user.as_ref(), pack)).await?;
        self.log.line(&format!("Uploading artifacts {file_name}: {packed} files"));
        let upload = Upload { file: &file, name: file_name, expire_in: expire_in.as_deref() };
        let sending =
            retry(|| self.context.api.upload_artifacts(self.given.id, &self.given.token, upload));
        let sent = self.unless_stopped(sending).await;
        sent.map_err(|error| Error::step(format!("the artifacts could not be uploaded: {error}")))
    }

    /// When artifacts have to be packed and sent, also after a script that used up its time.
    fn end(&self) -> Instant {
        self.deadline.max(Instant::now() + AFTERWARDS)
    }

    /// Returns a function that tells whether there is time left and the build is not canceled.
    fn goes_on(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let (halted, end) = (self.halted.clone(), self.end());
        move || !*halted.borrow() && Instant::now() < end
    }

    /// Waits for a transfer until the build is canceled or its time is over.
    async fn unless_stopped<T>(
        &self,
        transfer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let (mut halted, end) = (self.halted.clone(), self.end());
        let stopped = async {
            if halted.wait_for(|halted| *halted).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            outcome = transfer => outcome,
            () = stopped => Err(Error::step("the build was canceled or the runner was stopped")),
            () = sleep_until(end) => Err(Error::step("it took too long")),
        }
    }

    /// The files of a selection.
    async fn select(&mut self, chosen: &Selection) -> Result<BTreeSet<PathBuf>, Error> {
        for path in &chosen.refused {
            self.log.line(&format!("WARNING: `{path}` is not a path below the project"));
        }
        let (folder, chosen) = (self.folders.project.clone(), chosen.clone());
        let (tracked, user, goes_on) = (self.tracked.clone(), self.user.clone(), self.goes_on());
        let select = move || archive::select(&folder, &chosen, tracked.as_ref(), &goes_on);
        blocking(move || user::run_as(user.as_ref(), select)).await
    }

    /// A step of the job itself.
    fn job_step(&self, executor: &Executor, name: &str, text: &str) -> Result<Spec, Error> {
        let variables = self.variables(script::git_environment(&self.plan.sources.origin));
        let script = self.write_script(executor, name, text)?;
        let folder = &self.folders.project;
        let step = Step { script: &script, folder, variables: &variables, is_own: false };
        Ok(self.confined(executor, executor.command(&step)?))
    }

    /// Adds what bounds all processes of a build.
    fn confined(&self, executor: &Executor, spec: Spec) -> Spec {
        let spec = Spec { busy: Some(self.slot.busy.clone()), ..spec };
        match executor {
            // The engine has limits of its own.
            Executor::Container(_) => spec,
            Executor::Shell(_) | Executor::Sandbox(_) => {
                let group = self.group.map(|group| group.place.clone());
                let spec = Spec { group, ..spec };
                if self.is_limited { Spec { memory: None, processes: None, ..spec } } else { spec }
            }
        }
    }

    /// A step of the runner, such as fetching the sources.
    fn own_step(
        &self,
        executor: &Executor,
        name: &str,
        text: &str,
        folder: &Path,
    ) -> Result<Spec, Error> {
        let runner = &self.context.runner;
        let hosts = match runner.executor {
            ExecutorKind::Sandbox | ExecutorKind::Container if !runner.network => Hosts::Server,
            ExecutorKind::Shell | ExecutorKind::Sandbox | ExecutorKind::Container => Hosts::All,
        };
        let mut variables = script::runner_git_environment(&self.plan.sources.origin, hosts);
        variables.push(("CI_BUILD_TOKEN".to_owned(), self.given.token.clone()));
        variables.extend(self.plan.sources.switches.iter().cloned());
        let script = self.write_script(executor, name, text)?;
        let step = Step { script: &script, folder, variables: &variables, is_own: true };
        Ok(self.confined(executor, executor.command(&step)?))
    }

    fn variables(&self, git: Vec<(String, String)>) -> Vec<(String, String)> {
        let given =
            self.plan.variables.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        git.into_iter().chain(given).collect()
    }

    fn write_script(&self, executor: &Executor, name: &str, text: &str) -> Result<PathBuf, Error> {
        let folder = self.folders.private.join("scripts");
        fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
        let file = folder.join(name);
        fs::write(&file, text).map_err(Error::at(&file))?;
        if let Some(user) = executor.user() {
            user::open_folder(&folder)?;
            user.make_owner_of(&file)?;
        }
        Ok(file)
    }

    async fn execute(&mut self, spec: &Spec, deadline: Instant) -> Result<Ended, Error> {
        let log = Arc::clone(&self.log);
        let output: Output = Arc::new(move |bytes| log.write(bytes));
        process::run(spec, output, deadline, &mut self.halted).await
    }
}

/// Turns the end of a command into a result.
fn check(ended: Ended) -> Result<(), Error> {
    match ended {
        Ended::Exited(0) => Ok(()),
        Ended::Exited(code) => Err(Error::step(format!("exit status {code}"))),
        Ended::TimedOut => Err(Error::step("the time limit of the build was reached")),
        Ended::Stopped => Err(Error::step("the build was canceled or the runner was stopped")),
        Ended::Lost => {
            Err(Error::step("the supervisor of the build was killed, with all its processes"))
        }
    }
}

/// Tries a call again while the server has a problem that may pass.
async fn retry<T, F: Future<Output = Result<T, Error>>>(call: impl Fn() -> F) -> Result<T, Error> {
    let mut pauses = Pauses::default();
    for _ in 1..TRIES * 2 {
        match call().await {
            Err(error) if error.is_temporary() => pauses.wait().await,
            outcome => return outcome,
        }
    }
    call().await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(Error::step(error.to_string())))
}
