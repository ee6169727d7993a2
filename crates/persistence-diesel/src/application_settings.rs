//! The settings of the service.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::application_settings::StoredSettings;
use hexforge_domain::application_settings::port::SettingsStore;
use hexforge_domain::application_settings::rule::SettingValue;
use hexforge_domain::ports::store::StoreError;
use serde_json::{Map, Value};

use crate::database::schema::application_settings;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;

/// The id of the only row.
pub(crate) const ROW: i64 = 1;

#[derive(Queryable)]
struct SettingsRow {
    _id: i64,
    version: i64,
    changed: String,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<SettingsRow> for StoredSettings {
    type Error = StoreError;

    fn try_from(row: SettingsRow) -> Result<Self, StoreError> {
        let Ok(Value::Object(members)) = serde_json::from_str(&row.changed) else {
            return Err(StoreError::Corrupt("application settings"));
        };
        let members = members.into_iter().map(|(name, value)| (name, from_json(value)));
        Ok(StoredSettings {
            version: row.version,
            changed: members.collect(),
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

fn to_json(value: &SettingValue) -> Value {
    match value {
        SettingValue::Null => Value::Null,
        SettingValue::Switch(value) => Value::Bool(*value),
        SettingValue::Integer(value) => Value::from(*value),
        SettingValue::Text(value) => Value::String(value.clone()),
        SettingValue::List(items) => Value::Array(items.iter().map(to_json).collect()),
    }
}

/// Converts a stored value. A number that is too large and an object are kept as their JSON, a text: no setting accepts
/// it, so the other settings can still be read.
fn from_json(value: Value) -> SettingValue {
    match value {
        Value::Null => SettingValue::Null,
        Value::Bool(value) => SettingValue::Switch(value),
        Value::Number(value) => match value.as_i64() {
            Some(value) => SettingValue::Integer(value),
            None => SettingValue::Text(value.to_string()),
        },
        Value::String(value) => SettingValue::Text(value),
        Value::Array(items) => SettingValue::List(items.into_iter().map(from_json).collect()),
        value @ Value::Object(_) => SettingValue::Text(value.to_string()),
    }
}

impl SettingsStore for DieselTx<'_> {
    fn version(&mut self) -> Result<i64, StoreError> {
        if let Some(version) = self.cache().and_then(|cache| cache.settings_version) {
            return Ok(version);
        }
        let row = application_settings::table.find(ROW).select(application_settings::version);
        let version = self.run(|conn| each_backend!(conn, c => row.get_result(c)))?;
        if let Some(cache) = self.cache() {
            cache.settings_version = Some(version);
        }
        Ok(version)
    }

    fn get(&mut self) -> Result<StoredSettings, StoreError> {
        let row: SettingsRow =
            self.run(|conn| application_settings::table.find(ROW).get_result(conn))?;
        self.fail_on_error(StoredSettings::try_from(row))
    }

    fn lock(&mut self) -> Result<StoredSettings, StoreError> {
        let row = Sql::new("SELECT id FROM application_settings WHERE id = ").id(ROW);
        self.lock_rows(row.sql(" FOR UPDATE"))?;
        SettingsStore::get(self)
    }

    fn update(
        &mut self,
        changed: &BTreeMap<String, SettingValue>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let members: Map<String, Value> =
            changed.iter().map(|(name, value)| (name.clone(), to_json(value))).collect();
        let values = (
            application_settings::version.eq(application_settings::version + 1),
            application_settings::changed.eq(Value::Object(members).to_string()),
            application_settings::updated_at.eq(to_naive(at)),
        );
        let row = application_settings::table.find(ROW);
        self.write(|conn| each_backend!(conn, c => diesel::update(row).set(values).execute(c)))
    }
}
