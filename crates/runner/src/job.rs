//! Runs one build: from the sources to the final state.

mod files;
mod services;
mod sources;
mod steps;
mod transfer;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use self::services::Services;
use self::steps::check;
use crate::api::{Api, FinalReport};
use crate::cgroup::{Group, Groups, Limits};
use crate::config::Runner;
use crate::error::Error;
use crate::executor::{self, BuildFacts, Executor, Folders};
use crate::log::Log;
use crate::metrics::Metrics;
use crate::plan::{self, AFTER_SCRIPT_TIMEOUT, Plan};
use crate::protocol::Assignment;
use crate::recovery::PrivateFolder;
use crate::room;
use crate::script;
use crate::sender::{self, Sent, Target};
use crate::slot::Slot;
use crate::user::{self, User};

/// The maximum length of a log in MiB, unless the configuration has another. The server takes 64 MiB.
const DEFAULT_LOG_LIMIT_MB: u64 = 60;

/// How often git fetches the sources before the build fails. Transfers of artifacts are tried twice as often.
const TRIES: u32 = 3;

/// The least time after the scripts for packing and sending artifacts and caches, also where the scripts used up the
/// time limit of the build.
const MIN_TRANSFER_TIME: Duration = Duration::from_secs(600);

/// How long log and final state are offered to a server that is away.
const FINISH_TIMEOUT: Duration = Duration::from_secs(6 * 3600);

/// The same, after a second signal stopped the runner.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);

/// State shared by the builds of one runner.
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
    /// The final state did not reach the server.
    Lost,
}

/// Runs a build in one of the slots. `shutdown` stops it.
pub async fn run(
    context: &Context,
    slot: &Slot,
    assignment: Assignment,
    shutdown: watch::Receiver<bool>,
) -> Outcome {
    match run_logged(context, slot, &assignment, shutdown).await {
        Ok(outcome) => outcome,
        // The log could not even be created.
        Err(error) => refuse(context, &assignment, &error).await,
    }
}

/// Reports a build that cannot be started.
pub async fn refuse(context: &Context, assignment: &Assignment, error: &Error) -> Outcome {
    let Assignment { id, token, .. } = assignment;
    tracing::error!(build = id, %error, "a build cannot be started");
    let target = target(context, assignment);
    let text = format!("ERROR: Build failed: {error}\n");
    let end = FinalReport::new(false, text.as_bytes());
    let _ = target.api.append(*id, token, 0, text.into_bytes()).await;
    report(context, &target, &end, None, STOP_TIMEOUT).await
}

fn target(context: &Context, assignment: &Assignment) -> Target {
    let Assignment { id, token, .. } = assignment;
    Target { api: context.api.clone(), build: *id, token: token.clone() }
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
    assignment: &Assignment,
) -> Result<PrivateFolder, Error> {
    let make = || PrivateFolder::create(&context.builds_dir, &context.runner, assignment);
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
    assignment: &Assignment,
    mut shutdown: watch::Receiver<bool>,
) -> Result<Outcome, Error> {
    let mut private = make_private_folder(context, slot, assignment)?;
    let folder = plan::project_folder(assignment)?;
    let folders = Folders {
        project: slot.project(assignment.project_id).join(folder),
        private: private.path().to_owned(),
    };
    let environment = executor::job_environment(&context.runner, &folders)?;
    let plan = Plan::new(assignment, &environment, &folders.project.to_string_lossy())?;
    let limit = context.runner.log_limit_mb.unwrap_or(DEFAULT_LOG_LIMIT_MB) << 20;
    let log = Arc::new(Log::create(&private.log(), plan.secrets.clone(), limit)?);
    let (target, (halt, halted)) = (target(context, assignment), watch::channel(false));
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
    let (group, is_limited) = make_group(context, assignment.id);
    let deadline = Instant::now() + plan.timeout;
    let mut job = Job {
        context,
        assignment,
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
        services: Services::default(),
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
    context.metrics.log_sent(log.length());
    if outcome == Outcome::Lost {
        private.keep();
    }
    // It may take long to kill and to remove everything.
    let _ = spawn_blocking(move || drop((group, private))).await;
    Ok(outcome)
}

/// Makes the control group of a build, if that is possible. Also returns whether it has the limits of the build.
fn make_group(context: &Context, build: i64) -> (Option<Group>, bool) {
    let Some(groups) = &context.groups else { return (None, false) };
    let runner = context.runner.key();
    match groups.create(&runner, build, context.runner.limits()) {
        Ok(group) => (Some(group), true),
        Err(error) => {
            tracing::debug!(%error, "a control group cannot have limits");
            (groups.create(&runner, build, Limits::default()).ok(), false)
        }
    }
}

/// A running build.
struct Job<'a> {
    context: &'a Context,
    assignment: &'a Assignment,
    plan: &'a Plan,
    slot: &'a Slot,
    folders: Folders,
    log: Arc<Log>,
    /// Whether the build was canceled or the runner was stopped.
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
    services: Services,
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
            id: self.assignment.id,
            project: self.assignment.project_id,
            image: self.plan.image.as_deref(),
            services: &self.plan.services,
            config: &self.context.config,
        };
        let executor = Executor::new(runner, &self.folders, &facts)?;
        self.user = executor.user().cloned();
        self.log.line(&executor.describe());
        let result = self.run_with(&executor).await;
        self.stop_services().await;
        for spec in executor.cleanup() {
            self.run_quietly(&spec).await;
        }
        result
    }

    async fn run_with(&mut self, executor: &Executor) -> Result<(), Error> {
        for spec in executor.preparation() {
            check(self.execute(&spec, self.deadline).await?)?;
        }
        self.start_services(executor);
        if let Some(user) = executor.user() {
            self.open_folders(user)?;
        }
        if let Executor::Container(_) = executor {
            self.close_folder()?;
        }
        self.get_sources(executor).await?;
        self.restore_cache().await;
        self.get_dependencies().await?;
        let result = self.run_script(executor).await;
        if *self.halted.borrow() {
            return result;
        }
        self.run_after_script(executor).await;
        let transfer_deadline = self.deadline.max(Instant::now() + MIN_TRANSFER_TIME);
        if result.is_ok() {
            self.store_cache(transfer_deadline).await;
        }
        let uploaded = self.upload_artifacts(result.is_ok(), transfer_deadline).await;
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
        let is_of_another = fs::metadata(folder).is_ok_and(|metadata| metadata.uid() != user.id);
        if is_of_another {
            // Its working copies were made before the runner had this user.
            self.slot.clear()?;
        }
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        user.make_owner_of(folder)?;
        let reach = || fs::read_dir(folder).map(drop).map_err(Error::at(folder));
        user::run_as(Some(user), reach).map_err(|error| {
            Error::step(format!(
                "user `{}` cannot reach the folder of the builds, choose another with --builds-dir: {error}",
                user.name
            ))
        })
    }

    /// Keeps other users of the machine out of the working copies, where everybody may write into those of containers.
    fn close_folder(&self) -> Result<(), Error> {
        let folder = &self.slot.folder;
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(Error::at(folder))
    }

    async fn run_script(&mut self, executor: &Executor) -> Result<(), Error> {
        let text = self.job_script(executor, &self.plan.script);
        let spec = self.job_step(executor, "script", &text)?;
        let ended = self.execute(&spec, self.deadline).await;
        self.end_step(executor).await;
        check(ended?)
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

    /// Ends what a step of the job may have left running, before its files are read and before the next step.
    async fn end_step(&self, executor: &Executor) {
        if let Some(spec) = executor.end_of_step() {
            self.run_quietly(&spec).await;
        }
    }
}
