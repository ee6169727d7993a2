//! What a use case may reach.

use std::sync::Arc;

use chrono::NaiveDate;
use hexforge_domain::ports::clock::Clock;
use hexforge_domain::ports::files::ProjectFiles;
use hexforge_domain::ports::git::GitStore;
use hexforge_domain::ports::imports::Imports;
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::ports::public_keys::PublicKeys;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::ports::store::Store;
use hexforge_domain::ports::uploads::Uploads;
use hexforge_domain::user::ProjectsLimit;

/// The ports and settings of one running hexforge.
#[derive(Clone)]
pub struct App {
    /// Everything that is stored.
    pub store: Arc<dyn Store>,
    /// All repositories.
    pub git: Arc<dyn GitStore>,
    /// Repositories elsewhere.
    pub imports: Arc<dyn Imports>,
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
    /// Choices of whoever runs it.
    pub settings: Settings,
}

impl App {
    /// The day on which memberships and shares have to be in force.
    pub fn today(&self) -> NaiveDate {
        self.clock.now().date_naive()
    }

    /// Everything that keeps files of projects.
    pub(crate) fn project_files(&self) -> [&dyn ProjectFiles; 2] {
        [&*self.uploads, &*self.git]
    }
}

/// Choices of whoever runs hexforge that change what use cases do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where people reach it, without a slash at the end: texts name issues by their addresses.
    pub external_url: String,
    /// How many projects a new user may have.
    pub default_projects_limit: ProjectsLimit,
}
