//! Connects the adapters to the ports.

use std::net::{IpAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::TimeDelta;
use hexforge_application::app::{App, Settings};
use hexforge_application::application_settings::SettingsCache;
use hexforge_application::repository::turns::BranchTurns;
use hexforge_blobs_object_store::CachedPacks;
use hexforge_delivery_reqwest::{Guard, GuardedClient};
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::ports::maintenance::NoMaintenance;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::ports::vault::Vault;
use hexforge_domain::user::ProjectsLimit;
use hexforge_git_gix::{GixStore, HttpImports, ImportLimits, PushLimits};
use hexforge_persistence_diesel::{DatabaseUrl, DieselStore, Options};
use hexforge_yaml_saphyr::SaphyrReader;

use crate::config::Config;
use crate::storage::Storage;
use crate::system::{
    self, Argon2Passwords, InstallationKey, KeyVault, MemoryRefCache, OpensshKeys, SystemClock,
    SystemSecrets, Trash, permissions,
};

/// Builds the application with the real adapters, and migrates the database.
pub fn app(config: &Config) -> Result<App> {
    Ok(wire(config, None)?.app)
}

/// The application, and the adapters that a server uses directly.
pub struct Wired {
    pub app: App,
    pub store: Arc<DieselStore>,
    pub git: GixStore,
    /// The cache of packs, if an object store is used.
    pub cache: Option<Arc<CachedPacks>>,
}

/// Connects the adapters to the ports. `on_outbox_write` is called whenever new events for hooks are stored.
pub fn wire(
    config: &Config,
    on_outbox_write: Option<Arc<dyn Fn() + Send + Sync>>,
) -> Result<Wired> {
    prepare_data_dir(config)?;
    let trash = Arc::new(Trash::new(&config.data_dir));
    let discarded = Arc::clone(&trash);
    let limits = push_limits(config);
    let Storage { packs, uploads, build_files, lfs_files, cache } = Storage::open(config, &trash)?;
    let discard = move |folder: &Path| discarded.take(folder);
    let git = GixStore::with_limits(&config.data_dir, Arc::clone(&packs), limits, discard)
        .verify_fetches(config.verify_fetches)
        .accept_faults(config.accepted_object_errors.clone());
    let outgoing = Arc::new(outgoing(config)?);
    let import_limits = ImportLimits { bytes: limits.repository_bytes, ..ImportLimits::default() };
    let imports = HttpImports::new(&git, Arc::<GuardedClient>::clone(&outgoing), import_limits);
    let key = match &config.secret_key {
        Some(key) => key.clone(),
        None => InstallationKey::load_or_create(&config.data_dir)
            .context("the installation key `secret.key` cannot be read or created")?,
    };
    let vault: Arc<dyn Vault> = Arc::new(KeyVault::new(&key)?);
    let options =
        Options { on_outbox_write, vault: Some(Arc::clone(&vault)), ..Options::default() };
    let store = Arc::new(DieselStore::open(&config.database_url, options)?);
    store.seal_plain_texts()?;
    let app = App {
        store: store.clone(),
        git: Arc::new(git.clone()),
        refs: Arc::new(MemoryRefCache::default()),
        packs,
        maintenance: Arc::new(NoMaintenance),
        imports: Arc::new(imports),
        outgoing,
        clock: Arc::new(SystemClock),
        secrets: Arc::new(SystemSecrets),
        passwords: Arc::new(Argon2Passwords::default()),
        public_keys: Arc::new(OpensshKeys),
        uploads,
        build_files,
        lfs_files,
        vault,
        yaml: Arc::new(SaphyrReader),
        turns: BranchTurns::default(),
        application_settings: Arc::new(
            SettingsCache::new(initial_settings(config)).reporting(report_unfit_setting),
        ),
        broadcasts: Arc::default(),
        settings: Settings {
            external_url: config.external_url(config.listen),
            build_silence: TimeDelta::hours(config.build_silence_hours.into()),
            runner_silence: TimeDelta::seconds(config.runner_silence.into()),
            hook_timeout: Duration::from_secs(config.hook_timeout),
            strict: config.strict_rules,
            runners_token: config
                .runners_token
                .as_ref()
                .map(|token| SystemSecrets.digest(token.reveal())),
            repository_bytes: limits.repository_bytes,
            lfs: config.lfs,
            lfs_bytes: config.max_lfs_mb << 20,
            sweep_after: TimeDelta::hours(config.sweep_after_hours.into()),
            session: TimeDelta::days(config.session_days.into()),
            signup: config.signup,
            remote_images: config.web_remote_images,
        },
    };
    Ok(Wired { app, store, git, cache })
}

/// Logs that the stored value of a setting does not fit, so that its initial value is in effect.
fn report_unfit_setting(name: &str) {
    tracing::error!(
        setting = name,
        "the stored value of the application setting `{name}` is not valid: its default is used; store a valid value \
         with `hexforge settings set`"
    );
}

/// The settings of the service that apply until an administrator changes them.
fn initial_settings(config: &Config) -> ApplicationSettings {
    // Both sizes are at most 4096 MiB.
    let mebibytes = |size| i64::try_from(size).unwrap_or(i64::MAX);
    ApplicationSettings {
        default_projects_limit: ProjectsLimit(config.default_projects_limit),
        max_attachment_size: mebibytes(config.max_upload_mb),
        max_artifacts_size: mebibytes(config.max_artifacts_mb),
        ..ApplicationSettings::default()
    }
}

/// The limits of pushes and imports.
fn push_limits(config: &Config) -> PushLimits {
    PushLimits {
        push_bytes: config.max_push_mb << 20,
        repository_bytes: config.max_repository_mb << 20,
        object_bytes: config.max_object_mb << 20,
        memory_bytes: config.push_memory_mb << 20,
        ..PushLimits::default()
    }
}

/// Creates the data folder, and removes the permissions of group and others from existing files.
///
/// # Errors
/// The error names the path whose permissions cannot be changed.
pub fn prepare_data_dir(config: &Config) -> Result<()> {
    let folder = &config.data_dir;
    system::make_folders(folder)
        .with_context(|| format!("the data folder {} cannot be created", folder.display()))?;
    permissions::close_folder(folder)?;
    if let DatabaseUrl::Sqlite(file) = &config.database_url {
        permissions::close_database(file)?;
    }
    Ok(())
}

/// The HTTP client for imports and hooks, which restricts the destination addresses.
fn outgoing(config: &Config) -> Result<GuardedClient> {
    let guard = if config.allow_local_requests {
        Guard::allow_local()
    } else {
        let listens = [Some(config.listen), config.ssh_listen];
        let named = listens.into_iter().flatten().map(|address| address.ip());
        Guard::public_only(named).refusing_own(is_of_this_machine)
    };
    GuardedClient::new(guard).context("the HTTP client for imports and hooks cannot be created")
}

/// Whether an address belongs to this machine. It does if a socket can be bound to it, which also works for a server
/// that listens on all addresses.
fn is_of_this_machine(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_known() {
        for (address, own) in [("127.0.0.1", true), ("127.1.2.3", true), ("192.0.2.1", false)] {
            assert_eq!(is_of_this_machine(address.parse().expect("an address")), own, "{address}");
        }
    }
}
