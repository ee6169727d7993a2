//! Fake of the settings of the service.

use super::tx::FakeTx;
use crate::builders::a_moment;
use hexforge_domain::Timestamp;
use hexforge_domain::application_settings::StoredSettings;
use hexforge_domain::application_settings::port::SettingsStore;
use hexforge_domain::application_settings::rule::SettingValue;
use hexforge_domain::ports::store::StoreError;
use std::collections::BTreeMap;

impl SettingsStore for FakeTx {
    fn version(&mut self) -> Result<i64, StoreError> {
        Ok(SettingsStore::get(self)?.version)
    }

    fn get(&mut self) -> Result<StoredSettings, StoreError> {
        let installed = || StoredSettings {
            version: 0,
            changed: BTreeMap::new(),
            created_at: a_moment(),
            updated_at: a_moment(),
        };
        Ok(self.tables.application_settings.clone().unwrap_or_else(installed))
    }

    fn lock(&mut self) -> Result<StoredSettings, StoreError> {
        SettingsStore::get(self)
    }

    fn update(
        &mut self,
        changed: &BTreeMap<String, SettingValue>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let before = SettingsStore::get(self)?;
        self.tables.application_settings = Some(StoredSettings {
            version: before.version + 1,
            changed: changed.clone(),
            updated_at: at,
            ..before
        });
        Ok(())
    }
}
