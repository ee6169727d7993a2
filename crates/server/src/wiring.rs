//! Puts adapters into ports.

use std::sync::Arc;

use anyhow::{Context, Result};
use hexforge_application::app::{App, Settings};
use hexforge_domain::user::ProjectsLimit;
use hexforge_git_gix::GixStore;
use hexforge_persistence_diesel::{DieselStore, Options};

use crate::config::Config;
use crate::system::{
    self, Argon2Passwords, FsUploads, OpensshKeys, SystemClock, SystemSecrets, Trash,
};

/// The application on the real adapters, its database brought up to date.
pub fn app(config: &Config) -> Result<App> {
    prepare_data_dir(config)?;
    let trash = Arc::new(Trash::new(&config.data_dir));
    let discarded = Arc::clone(&trash);
    let git = GixStore::new(&config.data_dir, move |folder| discarded.take(folder));
    Ok(App {
        store: Arc::new(DieselStore::open(&config.database_url, Options::default())?),
        git: Arc::new(git),
        imports: Arc::new(NoImports),
        clock: Arc::new(SystemClock),
        secrets: Arc::new(SystemSecrets),
        passwords: Arc::new(Argon2Passwords::default()),
        public_keys: Arc::new(OpensshKeys),
        uploads: Arc::new(FsUploads::new(&config.data_dir, trash)),
        settings: Settings { default_projects_limit: ProjectsLimit(config.default_projects_limit) },
    })
}

/// Makes the data folder, for nobody else to look into.
pub fn prepare_data_dir(config: &Config) -> Result<()> {
    let folder = &config.data_dir;
    system::make_folders(folder)
        .with_context(|| format!("the data folder {} cannot be made", folder.display()))?;
    Ok(())
}

/// No repository elsewhere can be reached yet.
struct NoImports;

impl hexforge_domain::ports::imports::Imports for NoImports {
    fn fetch(
        &self,
        _: hexforge_domain::id::ProjectId,
        _: &str,
    ) -> Result<(), hexforge_domain::ports::imports::ImportError> {
        Err(hexforge_domain::ports::imports::ImportError::Refused("not yet".into()))
    }
}
