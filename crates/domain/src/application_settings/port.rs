//! The port to the stored settings of the service.

use std::collections::BTreeMap;

use super::StoredSettings;
use super::rule::SettingValue;
use crate::Timestamp;
use crate::ports::store_error::StoreError;

/// The stored settings of the service.
pub trait SettingsStore {
    /// Returns the number of changes since the installation. [`TokenHolder`](crate::token::TokenHolder) has it too.
    fn version(&mut self) -> Result<i64, StoreError>;

    /// Returns the stored settings.
    fn get(&mut self) -> Result<StoredSettings, StoreError>;

    /// Locks and returns the stored settings.
    fn lock(&mut self) -> Result<StoredSettings, StoreError>;

    /// Replaces the changed values, and increments the version.
    fn update(
        &mut self,
        changed: &BTreeMap<String, SettingValue>,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
