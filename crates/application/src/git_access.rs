//! Permission checks for Git clients, before a fetch or push starts.

use hexforge_domain::application_settings::GitProtocol;
use hexforge_domain::id::{KeyId, ProjectId};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::visibility::Visibility;

use crate::app::App;
use crate::error::{Entity, Error};

/// Why a request of a Git client is refused.
#[derive(Debug)]
pub enum GitRefusal {
    /// The caller is anonymous and should send credentials.
    Challenge,
    /// The project does not exist, or the caller may not see it.
    NotFound,
    /// The caller may see the project but lacks the permission. The client shows this text.
    Forbidden(&'static str),
    /// Administrators have switched the protocol off.
    ProtocolOff(GitProtocol),
    /// The check itself failed.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for GitRefusal {
    fn from(error: E) -> Self {
        GitRefusal::Failed(error.into())
    }
}

/// How a Git client reaches the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitTransport {
    /// Over a protocol that administrators may switch off.
    Client(GitProtocol),
    /// Over HTTP with the token of a running build. Builds have no other way, so that it cannot be switched off.
    Build,
}

impl GitTransport {
    /// Git over HTTP.
    pub const HTTP: Self = Self::Client(GitProtocol::Http);
    /// Git over SSH.
    pub const SSH: Self = Self::Client(GitProtocol::Ssh);
}

/// Checks that administrators allow the transport.
pub fn require_transport(app: &App, transport: GitTransport) -> Result<(), GitRefusal> {
    let GitTransport::Client(protocol) = transport else { return Ok(()) };
    let settings = app.store.read_autocommit(|tx| app.current_settings(tx))?;
    if settings.allows_protocol(protocol) { Ok(()) } else { Err(GitRefusal::ProtocolOff(protocol)) }
}

const NO_DOWNLOAD: &str = "You are not allowed to download code from this project.";
const NO_PUSH: &str = "You are not allowed to push code to this project.";
const NO_DEPLOY_KEY_PUSH: &str = "Deploy keys are not allowed to push code.";

/// Returns the project, if the actor may fetch from it.
pub fn may_fetch(app: &App, actor: Actor, named: &ProjectRef) -> Result<Project, GitRefusal> {
    check(app, actor, named, ProjectAbility::DownloadCode, NO_DOWNLOAD)
}

/// Like [`may_fetch`], for a build without a user: such a build may fetch only from its own project.
pub fn may_fetch_as_build(
    app: &App,
    own: ProjectId,
    named: &ProjectRef,
) -> Result<Project, GitRefusal> {
    let found = app.store.read_autocommit(|tx| tx.projects().find(named))?;
    let found = found.filter(|project| project.id == own && project.features.builds);
    found.ok_or(GitRefusal::NotFound)
}

/// Like [`may_fetch`], for a deploy key: it may fetch from its projects and from public ones.
pub fn may_fetch_with_deploy_key(
    app: &App,
    key: KeyId,
    named: &ProjectRef,
) -> Result<Project, GitRefusal> {
    let found: Result<_, Error> = app.store.read_autocommit(|tx| {
        let Some(found) = tx.projects().find(named)? else { return Ok(None) };
        let is_open = found.visibility == Visibility::Public
            || tx.deploy_keys().find(found.id, key)?.is_some();
        Ok(is_open.then_some(found))
    });
    found?.ok_or(GitRefusal::NotFound)
}

/// Returns the error for a push that authenticates with a deploy key. Deploy keys only read, in every project.
pub fn deploy_key_push_refusal() -> GitRefusal {
    GitRefusal::Forbidden(NO_DEPLOY_KEY_PUSH)
}

/// Returns the project, if the actor may push to it. The push rules are checked later, when the changes are known.
pub fn may_push(app: &App, actor: Actor, named: &ProjectRef) -> Result<Project, GitRefusal> {
    check(app, actor, named, ProjectAbility::PushCode, NO_PUSH)
}

fn check(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    ability: ProjectAbility,
    forbidden: &'static str,
) -> Result<Project, GitRefusal> {
    let found = app.store.read_autocommit(|tx| app.requester(actor).project(tx, ability, named));
    match (found, actor) {
        (Ok(project), _) => Ok(project),
        // Anonymous callers always get a challenge, so that they do not learn whether the project exists.
        (
            Err(Error::Unauthenticated | Error::NotFound(_) | Error::Forbidden(_)),
            Actor::Anonymous,
        ) => Err(GitRefusal::Challenge),
        (Err(Error::NotFound(Entity::Project)), _) => Err(GitRefusal::NotFound),
        (Err(Error::Forbidden(_)), _) => Err(GitRefusal::Forbidden(forbidden)),
        (Err(error), _) => Err(GitRefusal::Failed(error)),
    }
}
