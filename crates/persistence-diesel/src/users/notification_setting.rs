//! Notification settings of users.

use diesel::prelude::*;
use diesel::sql_types::{Integer, Nullable, Text};
use hexforge_domain::id::UserId;
use hexforge_domain::notification::port::NotificationSettings;
use hexforge_domain::notification::{
    NotificationChange, NotificationEvents, NotificationScope, NotificationSetting,
};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::EmailAddress;

use crate::database::tx::DieselTx;
use crate::groups::member::to_notification_level;
use crate::query::sql::Sql;

/// Level, events, address.
type SettingRow = (i32, i32, Option<String>);

/// The columns that identify the settings of a scope, as the target of a conflict.
fn conflict_target(scope: NotificationScope) -> &'static str {
    match scope {
        NotificationScope::Global => "(user_id) WHERE project_id IS NULL AND group_id IS NULL",
        NotificationScope::Group(_) => "(group_id, user_id) WHERE group_id IS NOT NULL",
        NotificationScope::Project(_) => "(project_id, user_id) WHERE project_id IS NOT NULL",
    }
}

/// Appends a text or null.
fn text_or_null(sql: Sql, text: Option<&EmailAddress>) -> Sql {
    match text {
        Some(text) => sql.text(text.as_str().to_owned()),
        None => sql.sql("NULL"),
    }
}

/// Inserts the changed default settings, or changes the stored ones.
fn upsert(user: UserId, scope: NotificationScope, change: &NotificationChange) -> Sql {
    let insert = "INSERT INTO notification_settings \
                  (user_id, project_id, group_id, level, events, address) VALUES (";
    let new = change.apply(NotificationSetting::default_of(scope));
    let sql = Sql::new(insert).id(user.0);
    let sql = match scope {
        NotificationScope::Global => sql.sql(", NULL, NULL, "),
        NotificationScope::Group(group) => sql.sql(", NULL, ").id(group.0).sql(", "),
        NotificationScope::Project(project) => sql.sql(", ").id(project.0).sql(", NULL, "),
    };
    let sql = sql.number(new.level.number()).sql(", ").number(new.events.bits()).sql(", ");
    let sql = text_or_null(sql, new.address.as_ref()).sql(") ON CONFLICT ");
    let sql = sql.sql(conflict_target(scope)).sql(" DO UPDATE SET events = ");
    let mut sql = sql
        .sql("(notification_settings.events & ")
        .number(!change.removed.bits())
        .sql(") | ")
        .number(change.added.bits());
    if let Some(level) = change.level {
        sql = sql.sql(", level = ").number(level.number());
    }
    if change.address.is_some() {
        sql = text_or_null(sql.sql(", address = "), change.address.as_ref());
    }
    sql
}

impl NotificationSettings for DieselTx<'_> {
    fn get(
        &mut self,
        user: UserId,
        scope: NotificationScope,
    ) -> Result<NotificationSetting, StoreError> {
        let query = Sql::new("SELECT level, events, address FROM notification_settings WHERE ");
        let query = match scope {
            NotificationScope::Global => query.sql("project_id IS NULL AND group_id IS NULL"),
            NotificationScope::Group(group) => query.sql("group_id = ").id(group.0),
            NotificationScope::Project(project) => query.sql("project_id = ").id(project.0),
        };
        let query = query.sql(" AND user_id = ").id(user.0);
        let rows: Vec<SettingRow> =
            self.run(|conn| query.rows::<(Integer, Integer, Nullable<Text>)>().load(conn))?;
        let Some((level, events, address)) = rows.into_iter().next() else {
            return Ok(NotificationSetting::default_of(scope));
        };
        Ok(NotificationSetting {
            level: self.fail_on_error(to_notification_level(level))?,
            events: NotificationEvents::from_bits(events),
            address: address.map(EmailAddress::stored),
        })
    }

    fn change(
        &mut self,
        user: UserId,
        scope: NotificationScope,
        change: &NotificationChange,
    ) -> Result<NotificationSetting, StoreError> {
        self.execute(upsert(user, scope, change))?;
        self.get(user, scope)
    }

    fn forget_address(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError> {
        let update = "UPDATE notification_settings SET address = NULL \
                      WHERE project_id IS NULL AND group_id IS NULL AND user_id = ";
        let update = Sql::new(update).id(user.0).sql(" AND address = ");
        self.execute(update.text(address.as_str().to_owned()))
    }
}
