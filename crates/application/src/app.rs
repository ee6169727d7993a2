//! What a use case may reach.

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
use hexforge_domain::ports::outgoing::Outgoing;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::ports::public_keys::PublicKeys;
use hexforge_domain::ports::ref_cache::RefCache;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::ports::store::Store;
use hexforge_domain::ports::upkeep::Upkeep;
use hexforge_domain::ports::uploads::Uploads;
use hexforge_domain::ports::vault::Vault;
use hexforge_domain::token::TokenHash;
use hexforge_domain::user::ProjectsLimit;

use crate::access::Requester;

/// The ports and settings of one running hexforge.
#[derive(Clone)]
pub struct App {
    /// Everything that is stored.
    pub store: Arc<dyn Store>,
    /// All repositories.
    pub git: Arc<dyn GitStore>,
    /// Refs that were used last.
    pub refs: Arc<dyn RefCache>,
    /// The pack store.
    pub packs: Arc<dyn PackStore>,
    /// The queue for background work on repositories.
    pub upkeep: Arc<dyn Upkeep>,
    /// Repositories elsewhere.
    pub imports: Arc<dyn Imports>,
    /// Other servers, for hooks.
    pub outgoing: Arc<dyn Outgoing>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub secrets: Arc<dyn Secrets>,
    /// Password hashing.
    pub passwords: Arc<dyn Passwords>,
    /// Reading of SSH keys.
    pub public_keys: Arc<dyn PublicKeys>,
    /// Uploaded files.
    pub uploads: Arc<dyn Uploads>,
    /// Logs and artifacts of builds.
    pub build_files: Arc<dyn BuildFiles>,
    /// What the store alone must not give away.
    pub vault: Arc<dyn Vault>,
    /// Reading of configurations.
    pub yaml: Arc<dyn YamlReader>,
    /// Choices of whoever runs it.
    pub settings: Settings,
}

impl App {
    /// The day on which memberships and shares have to be in force.
    pub fn today(&self) -> NaiveDate {
        self.clock.now().date_naive()
    }

    /// The actor with today's date, for permission checks.
    pub fn requester(&self, actor: Actor) -> Requester {
        Requester { actor, today: self.today() }
    }

    /// Everything that keeps files of projects.
    pub(crate) fn project_files(&self) -> [&dyn ProjectFiles; 3] {
        [&*self.uploads, &*self.build_files, &*self.git]
    }
}

/// Choices of whoever runs hexforge that change what use cases do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where people reach it, without a slash at the end: texts name issues by their addresses.
    pub external_url: String,
    /// How many projects a new user may have.
    pub default_projects_limit: ProjectsLimit,
    /// How long a receiver of a hook may take to be reached, and how long to answer.
    pub hook_timeout: Duration,
    /// After how long a build of which nothing is heard has failed.
    pub build_silence: TimeDelta,
    /// Rules about access that are stricter than those of the reference.
    pub strict: StrictRules,
    /// The digest of the token by which runners register for all projects, if one was chosen.
    pub runners_token: Option<TokenHash>,
    /// The size limit of all packs of one repository, in bytes.
    pub repository_bytes: u64,
    /// The grace period of packs that no repository names.
    pub sweep_after: TimeDelta,
    /// How long a session lasts after its last use.
    pub session: TimeDelta,
}
