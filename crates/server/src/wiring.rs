//! Puts adapters into ports.

use std::sync::Arc;

use anyhow::{Context, Result};
use hexforge_application::app::{App, Settings};
use hexforge_delivery_reqwest::{Guard, GuardedClient};
use hexforge_domain::user::ProjectsLimit;
use hexforge_git_gix::{GixStore, HttpImports, ImportLimits};
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
    let outgoing = Arc::new(outgoing(config)?);
    let imports = HttpImports::new(&git, outgoing, ImportLimits::default());
    Ok(App {
        store: Arc::new(DieselStore::open(&config.database_url, Options::default())?),
        git: Arc::new(git),
        imports: Arc::new(imports),
        clock: Arc::new(SystemClock),
        secrets: Arc::new(SystemSecrets),
        passwords: Arc::new(Argon2Passwords::default()),
        public_keys: Arc::new(OpensshKeys),
        uploads: Arc::new(FsUploads::new(&config.data_dir, trash)),
        settings: Settings {
            external_url: config
                .external_url
                .clone()
                .unwrap_or_else(|| format!("http://{}", config.listen)),
            default_projects_limit: ProjectsLimit(config.default_projects_limit),
        },
    })
}

/// Makes the data folder, for nobody else to look into.
pub fn prepare_data_dir(config: &Config) -> Result<()> {
    let folder = &config.data_dir;
    system::make_folders(folder)
        .with_context(|| format!("the data folder {} cannot be made", folder.display()))?;
    Ok(())
}

/// For imports, and later for hooks: where requests of ours may go.
fn outgoing(config: &Config) -> Result<GuardedClient> {
    let guard = if config.allow_local_requests {
        Guard::allow_local()
    } else {
        let listens = [Some(config.listen), config.ssh_listen];
        Guard::public_only(listens.into_iter().flatten().map(|address| address.ip()))
    };
    GuardedClient::new(guard).context("outgoing requests cannot be made")
}
