//! The ports and settings that a use case may use.

use std::sync::Arc;
use std::time::Duration;

use chrono::{NaiveDate, TimeDelta};
use hexforge_domain::ci::config::YamlReader;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::strict::StrictRules;
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::clock::Clock;
use hexforge_domain::ports::files::ProjectFiles;
use hexforge_domain::ports::git::GitStore;
use hexforge_domain::ports::imports::Imports;
use hexforge_domain::ports::lfs_files::LfsFiles;
use hexforge_domain::ports::maintenance::Maintenance;
use hexforge_domain::ports::outgoing::Outgoing;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::ports::public_keys::PublicKeys;
use hexforge_domain::ports::ref_cache::RefCache;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::ports::store::Store;
use hexforge_domain::ports::uploads::Uploads;
use hexforge_domain::ports::vault::Vault;
use hexforge_domain::token::TokenHash;

use crate::access::Requester;
use crate::application_settings::SettingsCache;
use crate::broadcast::BroadcastCache;
use crate::repository::turns::BranchTurns;

/// The ports and settings of one running hexforge.
#[derive(Clone)]
pub struct App {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The Git repositories.
    pub git: Arc<dyn GitStore>,
    /// The cache of recently used refs.
    pub refs: Arc<dyn RefCache>,
    /// The pack store.
    pub packs: Arc<dyn PackStore>,
    /// The queue for background work on repositories.
    pub maintenance: Arc<dyn Maintenance>,
    /// The client that imports repositories from other servers.
    pub imports: Arc<dyn Imports>,
    /// The HTTP client that delivers hooks to other servers.
    pub outgoing: Arc<dyn Outgoing>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The random generator for tokens and secrets.
    pub secrets: Arc<dyn Secrets>,
    /// Password hashing.
    pub passwords: Arc<dyn Passwords>,
    /// The parser of SSH public keys.
    pub public_keys: Arc<dyn PublicKeys>,
    /// Uploaded files.
    pub uploads: Arc<dyn Uploads>,
    /// The logs and artifacts of builds.
    pub build_files: Arc<dyn BuildFiles>,
    /// The content of LFS objects.
    pub lfs_files: Arc<dyn LfsFiles>,
    /// Encryption of secrets, so that a copy of the database does not reveal them.
    pub vault: Arc<dyn Vault>,
    /// The parser of CI configurations.
    pub yaml: Arc<dyn YamlReader>,
    /// The turns of calls that write to the same branch.
    pub turns: BranchTurns,
    /// The settings that administrators change while the service runs.
    pub application_settings: Arc<SettingsCache>,
    /// The messages that web pages show.
    pub broadcasts: Arc<BroadcastCache>,
    /// The operator's settings.
    pub settings: Settings,
}

impl App {
    /// Returns the date against which memberships and shares are checked for expiry.
    pub fn today(&self) -> NaiveDate {
        self.clock.now().date_naive()
    }

    /// Returns the actor with today's date, for permission checks.
    pub fn requester(&self, actor: Actor) -> Requester {
        Requester { actor, today: self.today() }
    }

    /// Returns 16 random bytes. The digest of a random token is as hard to guess as the token.
    pub(crate) fn random_bytes(&self) -> [u8; 16] {
        let digest = self.secrets.digest(self.secrets.token().reveal());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.0[..16]);
        bytes
    }

    /// Returns all ports that store files of projects.
    pub(crate) fn project_files(&self) -> [&dyn ProjectFiles; 3] {
        [&*self.uploads, &*self.build_files, &*self.git]
    }
}

/// The operator's settings that change the behaviour of use cases.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The public base URL, without a trailing slash. Generated texts link issues with it.
    pub external_url: String,
    /// The timeout for connecting to the receiver of a hook. Waiting for the response may take the same time again.
    pub hook_timeout: Duration,
    /// A pending build that no runner takes for this long fails.
    pub build_silence: TimeDelta,
    /// A running build whose runner gives no sign of life for this long fails.
    pub runner_silence: TimeDelta,
    /// Rules about access that are stricter than those of the reference.
    pub strict: StrictRules,
    /// The digest of the token with which runners register for all projects, if the operator set one.
    pub runners_token: Option<TokenHash>,
    /// The size limit of all packs of one repository, in bytes.
    pub repository_bytes: u64,
    /// Whether Git LFS is on.
    pub lfs: bool,
    /// The size limit of the LFS objects of one fork network together, in bytes.
    pub lfs_bytes: u64,
    /// The grace period before a pack that no repository refers to is deleted.
    pub sweep_after: TimeDelta,
    /// The lifetime of a session after its last use.
    pub session: TimeDelta,
    /// Whether strangers may register.
    pub signup: SignUp,
    /// Whether web pages load pictures of other hosts that users refer to.
    pub remote_images: bool,
}

/// Whether strangers may register on the web pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignUp {
    /// Nobody may: administrators create accounts.
    #[default]
    Off,
    /// Everybody may.
    Open,
    /// Everybody may, and an administrator unblocks each account before its first use.
    Approval,
}
