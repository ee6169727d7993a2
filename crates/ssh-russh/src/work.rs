//! Runs one command of a client, from the permission check to the exit status.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::git_access::{
    GitRefusal, GitTransport, deploy_key_push_refusal, may_fetch, may_fetch_with_deploy_key,
    may_push, require_transport,
};
use hexforge_application::lfs::{self, LfsIdentity, LfsLogin, LfsRefusal};
use hexforge_application::limiter::Limiter;
use hexforge_application::public_key::{self, KeyHolder};
use hexforge_application::push;
use hexforge_application::repository;
use hexforge_application::retry;
use hexforge_domain::id::ProjectId;
use hexforge_domain::lfs::LfsOperation;
use hexforge_domain::limiter::{Caller, Permit, PermitPool};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{Conversation, ProtocolVersion, Service};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_io_bridge::{PieceReader, Watched};
use russh::ChannelWriteHalf;
use russh::server::Msg;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::beginning::Beginning;
use crate::bridge::{self, Gone};
use crate::command::{Command, NOT_FOUND, Refusal, RepositoryTask, Task};
use crate::connection::RunningCommand;
use crate::server::Shared;
use crate::session::log_failure;

/// The maximum number of bytes of a fetch or archive request.
const MAX_REQUEST_BYTES: u64 = 256 << 20;

/// The number of the stream that the client shows to the user.
const STDERR: u32 = 1;

/// The maximum time to send the exit status to a client.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

const BUSY: &str = "Too many clients are served at this moment. Please try again later.";
const STOPPING: &str = "The server is being stopped. Please try again later.";
const UNKNOWN_KEY: &str = "This key is not accepted any more.";
const LFS_OFF: &str = "Git LFS is not enabled on this server.";
const LFS_FORBIDDEN: &str =
    "Access to the LFS objects of this project is forbidden. Check your access level.";
const FAILED: &str = "The server failed. Its administrators find the reason in the log.";

/// A command to run.
pub(crate) struct Work {
    pub(crate) shared: Arc<Shared>,
    pub(crate) peer: SocketAddr,
    pub(crate) key: String,
    /// `None` if the client requests a shell.
    pub(crate) command: Option<Result<Command, Refusal>>,
    pub(crate) version: ProtocolVersion,
    pub(crate) half: Arc<ChannelWriteHalf<Msg>>,
    pub(crate) input: PieceReader,
    pub(crate) gone: Gone,
    pub(crate) running: RunningCommand,
}

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    /// The client has no permission, or the server is busy.
    Refused(&'static str),
    /// The client violated the protocol.
    Protocol(String),
    /// The client has disconnected.
    Gone(io::Error),
    /// The server failed.
    Internal(Error),
}

impl From<GitRefusal> for Failure {
    fn from(refusal: GitRefusal) -> Self {
        match refusal {
            // The client has authenticated with a key, so there is no challenge.
            GitRefusal::Challenge | GitRefusal::NotFound => Failure::Refused(NOT_FOUND),
            GitRefusal::Forbidden(text) => Failure::Refused(text),
            GitRefusal::ProtocolOff(protocol) => Failure::Refused(protocol.refusal()),
            GitRefusal::Failed(error) => error.into(),
        }
    }
}

impl From<LfsRefusal> for Failure {
    fn from(refusal: LfsRefusal) -> Self {
        match refusal {
            LfsRefusal::Off => Failure::Refused(LFS_OFF),
            LfsRefusal::Challenge | LfsRefusal::NoProject | LfsRefusal::Hidden => {
                Failure::Refused(NOT_FOUND)
            }
            LfsRefusal::Forbidden => Failure::Refused(LFS_FORBIDDEN),
            LfsRefusal::ProtocolOff(protocol) => Failure::Refused(protocol.refusal()),
            LfsRefusal::Failed(error) => error.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Git(GitError::ReaderGone(cause)) => Failure::Gone(cause),
            Error::Git(GitError::Protocol(what)) => Failure::Protocol(what),
            Error::Git(GitError::Busy) | Error::Store(StoreError::Busy) => Failure::Refused(BUSY),
            Error::NotFound(_) => Failure::Refused(NOT_FOUND),
            error => Failure::Internal(error),
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Error::from(error).into()
    }
}

impl Work {
    pub(crate) async fn run(self) {
        let Self { shared, peer, key, command, version, half, input, gone, running } = self;
        let begin = Instant::now();
        let name = match &command {
            Some(Ok(command)) => command.task.as_str(),
            Some(Err(_)) => "other",
            None => "greeting",
        };
        let mut ids = LoggedIds::default();
        let served = match command {
            _ if shared.is_stopping() => Err(Failure::Refused(STOPPING)),
            Some(Ok(Command { task: Task::AuthenticateLfs(operation), project: named })) => {
                authenticate_lfs(&shared, (peer, key), (operation, named), &half, &mut ids).await
            }
            Some(Ok(Command { task: Task::Repository(task), project })) => {
                let served =
                    GitCommand { shared: &shared, peer, key, task, project, version, half: &half };
                served.serve(input, gone, &mut ids).await
            }
            // The refusal also requires a key that is still valid.
            Some(Err(refusal)) => match identify(&shared, key).await {
                Ok(_) => Err(Failure::Refused(refusal.text())),
                Err(end) => Err(end),
            },
            None => greet(&shared, key, &half).await,
        };
        let (outcome, status, text) = match &served {
            Ok(()) => ("served", 0, None),
            Err(Failure::Refused(text)) => ("refused", 1, Some((*text).to_owned())),
            Err(Failure::Protocol(what)) => ("wrong", 128, Some(what.clone())),
            Err(Failure::Gone(_)) => ("gone", 128, None),
            Err(Failure::Internal(error)) => {
                log_failure(error);
                ("failed", 128, Some(FAILED.to_owned()))
            }
        };
        metrics::counter!("hexforge_ssh_commands_total", "command" => name, "outcome" => outcome)
            .increment(1);
        let microseconds = begin.elapsed().as_micros();
        let LoggedIds { user, deploy_key, project } = ids;
        tracing::info!(
            %peer, command = name, user, deploy_key, project, outcome, microseconds, "SSH command"
        );
        if let Err(Failure::Gone(cause)) = &served {
            tracing::debug!(%peer, %cause, "an SSH client disconnected");
        }
        // A client that does not read gets no exit status.
        let _ = timeout(EXIT_TIMEOUT, send_exit(&half, text, status)).await;
        drop(running);
    }
}

/// Sends the error text and the exit status to a client.
async fn send_exit(
    half: &ChannelWriteHalf<Msg>,
    text: Option<String>,
    status: u32,
) -> Result<(), russh::Error> {
    if let Some(text) = text {
        half.extended_data_bytes(STDERR, format!("{}\n", without_control_chars(&text))).await?;
    }
    half.exit_status(status).await?;
    half.eof().await?;
    half.close().await
}

/// Tells a client that requests a shell the name of the user its key belongs to, or the title of a deploy key.
async fn greet(
    shared: &Arc<Shared>,
    key: String,
    half: &ChannelWriteHalf<Msg>,
) -> Result<(), Failure> {
    let holder = identify(shared, key).await?;
    let text = format!("Welcome to hexforge, {}!\r\n", without_control_chars(holder.name()));
    let sent = half.data_bytes(text).await;
    sent.map_err(|error| Failure::Gone(io::Error::other(error)))
}

/// Sends the credentials for the LFS requests of a client, as one JSON object.
async fn authenticate_lfs(
    shared: &Arc<Shared>,
    (peer, key): (SocketAddr, String),
    (operation, named): (LfsOperation, ProjectRef),
    half: &ChannelWriteHalf<Msg>,
    ids: &mut LoggedIds,
) -> Result<(), Failure> {
    let holder = identify(shared, key.clone()).await?;
    let caller = Caller::new(holder.actor(), Some(peer.ip()));
    let _command = wait_for_permit(shared, &shared.limiter.ssh_commands, caller).await?;
    let authenticate = move |app: &App| {
        // The key is looked up again, because waiting for the permit may take long.
        let holder = public_key::holder(app, &key)?.ok_or(Failure::Refused(UNKNOWN_KEY))?;
        require_transport(app, GitTransport::SSH)?;
        let identity = match &holder {
            KeyHolder::User { actor, .. } => LfsIdentity::Actor(*actor),
            KeyHolder::DeployKey { .. } if operation == LfsOperation::Upload => {
                return Err(deploy_key_push_refusal().into());
            }
            KeyHolder::DeployKey { id, .. } => LfsIdentity::DeployKey(*id),
        };
        let login = lfs::authenticate(app, identity, operation, &named)?;
        Ok::<_, Failure>((holder, login))
    };
    let (holder, login) = blocking(&shared.app, authenticate).await?;
    let LfsLogin { project, href, login, token, expires_in } = login;
    *ids = LoggedIds::new(&holder, project);
    let both = STANDARD.encode(format!("{login}:{}", token.reveal()));
    let header = json!({ "Authorization": format!("Basic {both}") });
    let answer = json!({ "header": header, "href": href, "expires_in": expires_in });
    let sent = half.data_bytes(format!("{answer}\n")).await;
    sent.map_err(|error| Failure::Gone(io::Error::other(error)))
}

/// Removes control characters, so that text cannot manipulate the user's terminal.
fn without_control_chars(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).collect()
}

async fn identify(shared: &Arc<Shared>, key: String) -> Result<KeyHolder, Failure> {
    blocking(&shared.app, move |app| public_key::holder(app, &key))
        .await?
        .ok_or(Failure::Refused(UNKNOWN_KEY))
}

/// The ids that the log of a command shows.
#[derive(Default)]
struct LoggedIds {
    user: Option<i64>,
    deploy_key: Option<i64>,
    project: Option<i64>,
}

impl LoggedIds {
    fn new(holder: &KeyHolder, project: ProjectId) -> Self {
        let deploy_key = match holder {
            KeyHolder::User { .. } => None,
            KeyHolder::DeployKey { id, .. } => Some(id.0),
        };
        let user = holder.actor().user().map(|user| user.0);
        Self { user, deploy_key, project: Some(project.0) }
    }
}

/// A git command that is being served.
struct GitCommand<'a> {
    shared: &'a Arc<Shared>,
    peer: SocketAddr,
    key: String,
    task: RepositoryTask,
    project: ProjectRef,
    version: ProtocolVersion,
    half: &'a Arc<ChannelWriteHalf<Msg>>,
}

impl GitCommand<'_> {
    /// Serves the command. Stores the ids of holder and project in `ids` as soon as they are known.
    async fn serve(
        self,
        mut input: PieceReader,
        gone: Gone,
        ids: &mut LoggedIds,
    ) -> Result<(), Failure> {
        let limits = self.shared.limits;
        let half = Arc::clone(self.half);
        let disconnected = gone.disconnect_signal();
        let transfer = self.shared.limiter.transfer;
        let output = bridge::output(gone, transfer, async move |piece| {
            half.data_bytes(piece).await.map_err(io::Error::other)
        });
        let (task, version) = (self.task, self.version);
        let (holder, project) = self.admit().await?;
        *ids = LoggedIds::new(&holder, project.id);
        let actor = holder.actor();
        let caller = Caller::new(actor, Some(self.peer.ip()));
        let _command = self.permit(&self.shared.limiter.ssh_commands, caller).await?;
        let pool = self.pool();
        let permit = self.permit(pool, caller).await?;
        let app = Arc::clone(&self.shared.app);
        let report = run_on_thread(&self.shared.limiter, permit, move || {
            let (mut output, project) = (output, project);
            let mut advertised = None;
            if let RepositoryTask::Serve(service) = task {
                let repository = repository::open_for_client(&app, project.id, Caller::BACKGROUND)?;
                repository.advertise(service, version, &mut output)?;
                output.flush().map_err(GitError::ReaderGone)?;
                // Version 2 advertises no refs; its client asks for them later.
                advertised =
                    (version != ProtocolVersion::V2).then(|| Arc::clone(repository.refs()));
            }
            Ok((output, project, advertised))
        });
        let (mut output, project, advertised) = report.await?;
        // Clients may wait long before they send a request, and some only read the refs.
        let beginning = if task.is_push() { Beginning::for_push() } else { Beginning::for_fetch() };
        if !beginning.wait(&mut input, limits.request_timeout).await {
            return Ok(());
        }
        if !task.is_push() {
            input.set_limits(transfer.for_negotiation());
        }
        let permit = self.permit(pool, caller).await?;
        let (app, key, named) = (Arc::clone(&self.shared.app), self.key, self.project);
        run_on_thread(&self.shared.limiter, permit, move || {
            let rechecking_app = Arc::clone(&app);
            let mut from = Watched::new(input, limits.recheck, move || {
                check_permission(&rechecking_app, &key, task, &named).is_ok()
            });
            let served = match task {
                RepositoryTask::Archive => {
                    let mut from = from.take(MAX_REQUEST_BYTES);
                    let repository = repository::open_for_client(&app, project.id, caller)?;
                    repository.upload_archive(&mut from, &mut output).map_err(Error::from)
                }
                RepositoryTask::Serve(Service::UploadPack) => {
                    // The client may want every object that was advertised, whatever was pushed since.
                    let repository = match advertised {
                        Some(refs) => repository::open_with_refs(&app, project.id, refs, caller)?,
                        None => repository::open_for_client(&app, project.id, caller)?,
                    };
                    let mut from = from.take(MAX_REQUEST_BYTES);
                    let stateful = Conversation::Stateful;
                    let served = repository.upload_pack(version, stateful, &mut from, &mut output);
                    served.map_err(Error::from)
                }
                RepositoryTask::Serve(Service::ReceivePack) => {
                    let (from, to, disconnected) = (&mut from, &mut output, &disconnected);
                    let client = push::Client { from, to, disconnected };
                    push::receive(&app, actor, &project, client)
                }
            };
            repository::unless_removed(&app, project.id, served)?;
            Ok(output.flush().map_err(GitError::ReaderGone)?)
        })
        .await
    }

    /// Returns the holder of the key and the project, with a fresh permission check.
    async fn admit(&self) -> Result<(KeyHolder, Project), Failure> {
        let (key, task, named) = (self.key.clone(), self.task, self.project.clone());
        blocking(&self.shared.app, move |app| check_permission(app, &key, task, &named)).await
    }

    /// Returns the permit pool whose permits the task needs.
    fn pool(&self) -> &PermitPool {
        let limiter = &self.shared.limiter;
        match self.task {
            RepositoryTask::Archive => &limiter.archives,
            RepositoryTask::Serve(Service::UploadPack) => &limiter.fetches,
            RepositoryTask::Serve(Service::ReceivePack) => &limiter.pushes,
        }
    }

    async fn permit(&self, pool: &PermitPool, caller: Caller) -> Result<Permit, Failure> {
        wait_for_permit(self.shared, pool, caller).await
    }
}

async fn wait_for_permit(
    shared: &Shared,
    pool: &PermitPool,
    caller: Caller,
) -> Result<Permit, Failure> {
    let permit = timeout(shared.limits.permit_timeout, pool.wait_for_permit(caller)).await;
    permit.ok().and_then(Result::ok).ok_or(Failure::Refused(BUSY))
}

/// Returns the holder of the key and the project if the holder may run the task. It decides which permission
/// is needed.
fn check_permission(
    app: &App,
    key: &str,
    task: RepositoryTask,
    named: &ProjectRef,
) -> Result<(KeyHolder, Project), Failure> {
    let holder = public_key::holder(app, key)?.ok_or(Failure::Refused(UNKNOWN_KEY))?;
    require_transport(app, GitTransport::SSH)?;
    let is_push = task.is_push();
    let project = match &holder {
        KeyHolder::User { actor, .. } if is_push => may_push(app, *actor, named)?,
        KeyHolder::User { actor, .. } => may_fetch(app, *actor, named)?,
        KeyHolder::DeployKey { .. } if is_push => return Err(deploy_key_push_refusal().into()),
        KeyHolder::DeployKey { id, .. } => may_fetch_with_deploy_key(app, *id, named)?,
    };
    Ok((holder, project))
}

/// Runs long work on a thread of the limiter, and waits for the result.
async fn run_on_thread<T: Send + 'static>(
    limiter: &Limiter,
    permit: Permit,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, outcome) = oneshot::channel();
    let started = limiter.start(permit, move || drop(sender.send(work())));
    started.map_err(|error| Failure::Internal(internal(error)))?;
    outcome.await.unwrap_or_else(|error| Err(Failure::Internal(internal(error))))
}

/// Runs short work on the blocking thread pool, and retries it when it is busy.
pub(crate) async fn blocking<T, E>(
    app: &Arc<App>,
    work: impl Fn(&App) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: Busyness + Send + 'static,
{
    let app = Arc::clone(app);
    let retried = move || retry::while_busy(retry::TRIES, E::is_busy, || work(&app));
    let done = tokio::task::spawn_blocking(retried);
    done.await.unwrap_or_else(|error| Err(E::from(internal(error))))
}

fn internal(error: impl std::error::Error) -> Error {
    GitError::Failed(error.to_string()).into()
}

/// An error type that can tell whether the store or repository was busy, so that a retry may help.
pub(crate) trait Busyness: From<Error> {
    fn is_busy(&self) -> bool;
}

impl Busyness for Error {
    fn is_busy(&self) -> bool {
        matches!(self, Error::Store(StoreError::Busy) | Error::Git(GitError::Busy))
    }
}

impl Busyness for Failure {
    fn is_busy(&self) -> bool {
        matches!(self, Failure::Refused(BUSY))
    }
}
