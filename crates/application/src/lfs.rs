//! The use cases of Git LFS: checks of permissions, look-ups of the objects of a project, and access to their content.

pub mod token;
mod upload;

use std::collections::HashSet;

use hexforge_domain::application_settings::GitProtocol;
use hexforge_domain::id::{ForkNetworkId, KeyId, ProjectId};
use hexforge_domain::lfs::{LfsObject, LfsOid, LfsOperation};
use hexforge_domain::policy::lfs::{LfsCaller, LfsFacts};
use hexforge_domain::policy::{Actor, Denied};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::ports::uploads::StoredFile;
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use hexforge_domain::text::Secret;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::git_access::{GitRefusal, GitTransport, require_transport};

pub use upload::{UploadError, receive};

/// The maximum number of objects in one request.
pub const MAX_OBJECTS: usize = 1_000;

/// Why an LFS request is refused.
#[derive(Debug)]
pub enum LfsRefusal {
    /// LFS is off on the server.
    Off,
    /// The caller should send other credentials.
    Challenge,
    /// The project does not exist.
    NoProject,
    /// The caller may not see the project.
    Hidden,
    /// The caller may see the project but lacks the permission, or LFS is off for the project.
    Forbidden,
    /// Administrators have switched the protocol off.
    ProtocolOff(GitProtocol),
    /// The request itself failed.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for LfsRefusal {
    fn from(error: E) -> Self {
        LfsRefusal::Failed(error.into())
    }
}

impl From<Denied> for LfsRefusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Unauthenticated => LfsRefusal::Challenge,
            Denied::Hidden => LfsRefusal::Hidden,
            Denied::Forbidden => LfsRefusal::Forbidden,
        }
    }
}

/// The identity behind an LFS request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsIdentity {
    /// A user, or a caller without credentials.
    Actor(Actor),
    /// A user whose credentials only allow reading.
    Reader(Actor),
    /// A running build that a user started.
    BuildOfUser(Actor),
    /// A running build without a user, of this project.
    BuildOfProject(ProjectId),
    /// A deploy key.
    DeployKey(KeyId),
}

impl LfsIdentity {
    /// The actor whose quotas apply. Deploy keys and builds without a user are limited by their network.
    pub fn actor(self) -> Actor {
        match self {
            LfsIdentity::Actor(actor)
            | LfsIdentity::Reader(actor)
            | LfsIdentity::BuildOfUser(actor) => actor,
            LfsIdentity::BuildOfProject(_) | LfsIdentity::DeployKey(_) => Actor::Anonymous,
        }
    }

    /// Returns whether the caller gets a challenge for every project that is not public. Builds never upload.
    fn is_always_refused(self, operation: LfsOperation) -> bool {
        match self {
            LfsIdentity::BuildOfUser(_) | LfsIdentity::BuildOfProject(_) => {
                operation == LfsOperation::Upload
            }
            LfsIdentity::Actor(actor) => actor == Actor::Anonymous,
            LfsIdentity::Reader(_) | LfsIdentity::DeployKey(_) => false,
        }
    }

    /// Returns the identity with the current privileges of its user; `None` if the user may not act any more.
    fn reload(self, tx: &mut dyn Tx) -> Result<Option<Self>, StoreError> {
        Ok(match self {
            LfsIdentity::Actor(actor) => access::reload(tx, actor)?.map(LfsIdentity::Actor),
            LfsIdentity::Reader(actor) => access::reload(tx, actor)?.map(LfsIdentity::Reader),
            LfsIdentity::BuildOfUser(actor) => {
                access::reload(tx, actor)?.map(LfsIdentity::BuildOfUser)
            }
            LfsIdentity::BuildOfProject(_) | LfsIdentity::DeployKey(_) => Some(self),
        })
    }
}

/// The caller of an LFS request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LfsRequester {
    /// The identity of the caller.
    pub identity: LfsIdentity,
    /// The transfer token that the caller sent instead of own credentials.
    pub token: Option<token::Grant>,
}

impl LfsRequester {
    /// A caller with own credentials.
    pub fn with_credentials(identity: LfsIdentity) -> Self {
        Self { identity, token: None }
    }

    /// Checks that administrators allow the way in which the caller reached the service. The transfers of a client that
    /// uses SSH go over HTTP, so that a transfer token always allows HTTP.
    fn require_transport(self, app: &App) -> Result<(), LfsRefusal> {
        let transport = match self.identity {
            _ if self.token.is_some() => return Ok(()),
            LfsIdentity::BuildOfUser(_) | LfsIdentity::BuildOfProject(_) => GitTransport::Build,
            LfsIdentity::Actor(_) | LfsIdentity::Reader(_) | LfsIdentity::DeployKey(_) => {
                GitTransport::HTTP
            }
        };
        require_transport(app, transport).map_err(|refusal| match refusal {
            GitRefusal::ProtocolOff(protocol) => LfsRefusal::ProtocolOff(protocol),
            GitRefusal::Failed(error) => LfsRefusal::Failed(error),
            GitRefusal::Challenge => LfsRefusal::Challenge,
            GitRefusal::NotFound => LfsRefusal::NoProject,
            GitRefusal::Forbidden(_) => LfsRefusal::Forbidden,
        })
    }
}

/// A project whose objects the caller may transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LfsProject {
    /// The project.
    pub id: ProjectId,
    /// The fork network that has the objects of the project.
    pub network: ForkNetworkId,
    /// The path with the namespace.
    pub path: String,
}

impl LfsProject {
    /// The maximum total size of the objects of the network, for uploads to this project. Forks leave half of the limit
    /// to the first project of their network: otherwise everyone who can fork a project could use up its room for good.
    fn max_bytes(&self, app: &App) -> u64 {
        let all = app.settings.lfs_bytes;
        if self.id.0 == self.network.0 { all } else { all / 2 }
    }
}

/// Returns an error if LFS is off on the server.
pub fn require_lfs(app: &App) -> Result<(), LfsRefusal> {
    if app.settings.lfs { Ok(()) } else { Err(LfsRefusal::Off) }
}

/// Returns the project, if the caller may transfer its objects in this direction.
pub fn admit(
    app: &App,
    requester: LfsRequester,
    operation: LfsOperation,
    named: &ProjectRef,
) -> Result<LfsProject, LfsRefusal> {
    require_lfs(app)?;
    requester.require_transport(app)?;
    app.store.read_autocommit(|tx| check(app, tx, requester, operation, named))
}

/// Returns whether a transfer that [`admit`] allowed may go on. A check that fails, for example because the database does
/// not answer, does not end it.
pub fn may_continue(
    app: &App,
    requester: LfsRequester,
    operation: LfsOperation,
    project: &LfsProject,
) -> bool {
    let checked = app
        .store
        .read_autocommit(|tx| recheck(app, tx, requester, operation, project.id).map(drop));
    matches!(checked, Ok(()) | Err(LfsRefusal::Failed(_)))
}

/// Checks the account and the permission of a caller again.
fn recheck(
    app: &App,
    tx: &mut dyn Tx,
    requester: LfsRequester,
    operation: LfsOperation,
    project: ProjectId,
) -> Result<LfsProject, LfsRefusal> {
    let identity = requester.identity.reload(tx)?.ok_or(LfsRefusal::Challenge)?;
    let requester = LfsRequester { identity, ..requester };
    check(app, tx, requester, operation, &ProjectRef::Id(project))
}

/// Checks the permission of a caller.
fn check(
    app: &App,
    tx: &mut dyn Tx,
    requester: LfsRequester,
    operation: LfsOperation,
    named: &ProjectRef,
) -> Result<LfsProject, LfsRefusal> {
    let LfsRequester { identity, token } = requester;
    let Some((placed, _)) = tx.projects().find_with_namespace(named, None)? else {
        // Callers who are refused for every hidden project do not learn whether a project exists.
        let is_refused = token.is_some() || identity.is_always_refused(operation);
        return Err(if is_refused { LfsRefusal::Challenge } else { LfsRefusal::NoProject });
    };
    let ProjectWithNamespace { project, place } = &placed;
    if token.is_some_and(|token| !token.allows(project.id, operation)) {
        return Err(LfsRefusal::Challenge);
    }
    let caller = match identity {
        LfsIdentity::Actor(actor) => LfsCaller::Actor(actor),
        LfsIdentity::Reader(actor) => LfsCaller::Reader(actor),
        LfsIdentity::BuildOfUser(actor) => LfsCaller::BuildOfUser(actor),
        LfsIdentity::BuildOfProject(own) => {
            LfsCaller::BuildOfProject { is_own: own == project.id && project.features.builds }
        }
        LfsIdentity::DeployKey(key) => {
            let is_attached = tx.deploy_keys().find(project.id, key)?.is_some();
            LfsCaller::DeployKey { is_attached }
        }
    };
    let facts = LfsFacts {
        project: app.requester(identity.actor()).project_facts(tx, project)?,
        enabled: project.features.has_lfs(place.namespace.lfs_enabled, app.settings.lfs),
    };
    caller.authorize(operation, &facts)?;
    let network = tx.lfs_objects().network(project.id)?.ok_or(LfsRefusal::NoProject)?;
    Ok(LfsProject { id: project.id, network, path: place.path_of(project) })
}

/// What a client may do with an object that it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchEntry {
    /// The name or the size of the object is not valid.
    Malformed,
    /// The project does not have the object.
    Missing,
    /// The project has the object, so that the client may download it or need not upload it.
    Present(LfsObject),
    /// The client may upload the object: the project does not have it, or its file was lost.
    Wanted(LfsObject),
    /// The objects of the fork network would be larger than the limit.
    TooLarge,
}

/// Looks up the objects of a batch, in their order. `None` stands for an object whose name or size is not valid.
pub fn batch(
    app: &App,
    project: &LfsProject,
    operation: LfsOperation,
    objects: &[Option<LfsObject>],
) -> Result<Vec<BatchEntry>, Error> {
    let oids: Vec<LfsOid> = objects.iter().flatten().map(|object| object.oid).collect();
    let (present, used) = app.store.read_autocommit::<_, Error>(|tx| {
        let present = tx.lfs_objects().find_all(project.network, &oids)?;
        let used = match operation {
            LfsOperation::Download => 0,
            LfsOperation::Upload => tx.lfs_objects().total_bytes(project.network)?,
        };
        Ok((present, used))
    })?;
    let lost = match operation {
        LfsOperation::Download => HashSet::new(),
        LfsOperation::Upload => lost_objects(app, project.network, &present)?,
    };
    let present: HashSet<LfsOid> = present.into_iter().map(|object| object.oid).collect();
    let room = project.max_bytes(app).saturating_sub(used);
    let entry = |object: &Option<LfsObject>| match (*object, operation) {
        (None, _) => BatchEntry::Malformed,
        // The room for it is used already.
        (Some(object), _) if lost.contains(&object) => BatchEntry::Wanted(object),
        (Some(object), _) if present.contains(&object.oid) => BatchEntry::Present(object),
        (Some(_), LfsOperation::Download) => BatchEntry::Missing,
        (Some(object), LfsOperation::Upload) if object.size > room => BatchEntry::TooLarge,
        (Some(object), LfsOperation::Upload) => BatchEntry::Wanted(object),
    };
    Ok(objects.iter().map(entry).collect())
}

/// Returns the objects whose files are missing or have another size. An upload repairs them.
fn lost_objects(
    app: &App,
    network: ForkNetworkId,
    objects: &[LfsObject],
) -> Result<HashSet<LfsObject>, Error> {
    let oids: Vec<LfsOid> = objects.iter().map(|object| object.oid).collect();
    let sizes = app.lfs_files.sizes(network, &oids)?;
    let files = objects.iter().zip(sizes);
    Ok(files
        .filter(|(object, size)| *size != Some(object.size))
        .map(|(object, _)| *object)
        .collect())
}

/// Returns an object of a project; `None` if the project does not have it.
pub fn find(app: &App, project: &LfsProject, oid: LfsOid) -> Result<Option<LfsObject>, Error> {
    app.store.read_autocommit(|tx| Ok(tx.lfs_objects().find(project.network, oid)?))
}

/// Opens the content of an object of a project at an offset.
pub fn open(
    app: &App,
    project: &LfsProject,
    object: LfsObject,
    from: u64,
) -> Result<StoredFile, Error> {
    let LfsObject { oid, size } = object;
    match app.lfs_files.open(project.network, oid, from)? {
        Some(file) if file.size == size => Ok(file),
        Some(_) => Err(Error::Internal(format!("the file of the LFS object {oid} is damaged"))),
        None => Err(Error::Internal(format!("the file of the LFS object {oid} is missing"))),
    }
}

/// Credentials for the LFS requests of a client that authenticated over SSH.
#[derive(Debug)]
pub struct LfsLogin {
    /// The project.
    pub project: ProjectId,
    /// The URL below which LFS requests are sent.
    pub href: String,
    /// The user name.
    pub login: String,
    /// The password.
    pub token: Secret,
    /// The number of seconds for which the password is valid.
    pub expires_in: i64,
}

/// Creates the credentials for the LFS requests of a client of SSH, which `git-lfs-authenticate` sends.
pub fn authenticate(
    app: &App,
    identity: LfsIdentity,
    operation: LfsOperation,
    named: &ProjectRef,
) -> Result<LfsLogin, LfsRefusal> {
    require_lfs(app)?;
    // The caller has checked that SSH is allowed.
    let requester = LfsRequester::with_credentials(identity);
    let project = app.store.read_autocommit(|tx| check(app, tx, requester, operation, named))?;
    let granted = token::issue(app, requester, project.id, operation)?;
    let granted = granted.ok_or(LfsRefusal::Forbidden)?;
    let href = format!("{}/{}.git/info/lfs", app.settings.external_url, project.path);
    let token::Transfer { login, token, expires_in } = granted;
    Ok(LfsLogin { project: project.id, href, login, token, expires_in })
}
