//! The settings of the whole service: reads and changes them, and caches them for all requests of a process.

use std::sync::{Arc, PoisonError, RwLock};

use hexforge_domain::Timestamp;
use hexforge_domain::application_settings::rule::SettingInput;
use hexforge_domain::application_settings::{ApplicationSettings, StoredSettings};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::{StoreError, Tx};

use crate::access;
use crate::app::App;
use crate::error::Error;

/// The settings in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsView {
    /// The values in effect.
    pub settings: ApplicationSettings,
    /// The time of the installation.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The settings of the service as this process knows them.
///
/// The version of the stored settings is cheap to read, and every request with a token reads it together with the
/// token. The settings are loaded again only when their version is newer than that of the cached ones.
#[derive(Debug)]
pub struct SettingsCache {
    initial: ApplicationSettings,
    newest: RwLock<Versioned>,
    /// See [`SettingsCache::reporting`].
    report: fn(&str),
}

#[derive(Debug)]
struct Versioned {
    version: i64,
    settings: Arc<ApplicationSettings>,
}

impl Default for SettingsCache {
    fn default() -> Self {
        Self::new(ApplicationSettings::default())
    }
}

impl SettingsCache {
    /// Creates a cache. Settings that no administrator has changed have these initial values.
    pub fn new(initial: ApplicationSettings) -> Self {
        // The database has version 0 until the first change, so the cache starts with the initial settings.
        let newest = Versioned { version: 0, settings: Arc::new(initial.clone()) };
        Self { initial, newest: RwLock::new(newest), report: |_| () }
    }

    /// Calls `report` with the name of each setting whose stored value does not fit, once for each load of the settings.
    /// Such a setting has its initial value.
    pub fn reporting(self, report: fn(&str)) -> Self {
        Self { report, ..self }
    }

    /// Returns the values that settings have until they are changed.
    pub fn initial(&self) -> &ApplicationSettings {
        &self.initial
    }

    /// Returns the newest settings that this process has read, without a query.
    pub fn newest(&self) -> Arc<ApplicationSettings> {
        Arc::clone(&self.newest.read().unwrap_or_else(PoisonError::into_inner).settings)
    }

    /// Returns the settings of this version or a newer one, and loads them if necessary.
    pub(crate) fn at_version(
        &self,
        tx: &mut dyn Tx,
        version: i64,
    ) -> Result<Arc<ApplicationSettings>, StoreError> {
        {
            let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
            if newest.version >= version {
                return Ok(Arc::clone(&newest.settings));
            }
        }
        let stored = tx.application_settings().get()?;
        let (settings, unfit) = self.initial.with_changed(&stored.changed);
        let settings = Arc::new(settings);
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        if newest.version < stored.version {
            let settings = Arc::clone(&settings);
            *newest = Versioned { version: stored.version, settings };
            unfit.into_iter().for_each(self.report);
        }
        Ok(settings)
    }

    fn in_effect(&self, stored: &StoredSettings) -> ApplicationSettings {
        self.initial.with_changed(&stored.changed).0
    }
}

impl App {
    /// Returns the settings of the service, with one query unless they have changed.
    pub fn current_settings(
        &self,
        tx: &mut dyn Tx,
    ) -> Result<Arc<ApplicationSettings>, StoreError> {
        let version = tx.application_settings().version()?;
        self.application_settings.at_version(tx, version)
    }
}

/// Checks that the actor may read and change the settings.
pub fn authorize(actor: Actor) -> Result<(), Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)
}

/// Returns the settings.
pub fn get(app: &App, actor: Actor) -> Result<SettingsView, Error> {
    authorize(actor)?;
    app.store.read(|tx| {
        let stored = tx.application_settings().get()?;
        Ok(view(app.application_settings.in_effect(&stored), &stored))
    })
}

/// Changes the given settings. A setting that is given its current value keeps its source: it is not stored, and still
/// follows the initial value.
pub fn update(
    app: &App,
    actor: Actor,
    given: &[(&str, SettingInput)],
) -> Result<SettingsView, Error> {
    authorize(actor)?;
    app.store.write(|tx| {
        let mut stored = tx.application_settings().lock()?;
        let (before, unfit) = app.application_settings.initial.with_changed(&stored.changed);
        let is_given = |name: &&str| given.iter().any(|(given, _)| given == name);
        let replaced: Vec<String> = unfit.into_iter().filter(is_given).map(str::to_owned).collect();
        let after = before.updated(given)?;
        let changes = after.changes_since(&before);
        if !changes.is_empty() || !replaced.is_empty() {
            // A stored value that does not fit is replaced, even by the initial value.
            stored.changed.retain(|name, _| !replaced.contains(name));
            let changes = changes.into_iter().map(|(name, value)| (name.to_owned(), value));
            stored.changed.extend(changes);
            store(app, tx, &mut stored)?;
        }
        Ok(view(after, &stored))
    })
}

/// Gives a setting its initial value again. Returns whether the setting had been changed.
/// # Errors
/// The other settings do not allow the initial value.
pub fn reset(app: &App, actor: Actor, name: &str) -> Result<bool, Error> {
    authorize(actor)?;
    app.store.write(|tx| {
        let mut stored = tx.application_settings().lock()?;
        if stored.changed.remove(name).is_none() {
            return Ok(false);
        }
        // An update without values checks the settings together.
        app.application_settings.in_effect(&stored).updated(&[])?;
        store(app, tx, &mut stored)?;
        Ok(true)
    })
}

fn store(app: &App, tx: &mut dyn Tx, stored: &mut StoredSettings) -> Result<(), StoreError> {
    stored.updated_at = app.clock.now();
    tx.application_settings().update(&stored.changed, stored.updated_at)
}

fn view(settings: ApplicationSettings, stored: &StoredSettings) -> SettingsView {
    let StoredSettings { created_at, updated_at, .. } = *stored;
    SettingsView { settings, created_at, updated_at }
}
