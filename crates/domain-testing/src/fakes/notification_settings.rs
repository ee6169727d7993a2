//! Fake of the notification settings.

use super::tx::FakeTx;
use hexforge_domain::id::UserId;
use hexforge_domain::notification::port::NotificationSettings;
use hexforge_domain::notification::{NotificationChange, NotificationScope, NotificationSetting};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::EmailAddress;

impl NotificationSettings for FakeTx {
    fn get(
        &mut self,
        user: UserId,
        scope: NotificationScope,
    ) -> Result<NotificationSetting, StoreError> {
        let stored = self.tables.notification_settings.get(&(user, scope));
        Ok(stored.cloned().unwrap_or_else(|| NotificationSetting::default_of(scope)))
    }

    fn change(
        &mut self,
        user: UserId,
        scope: NotificationScope,
        change: &NotificationChange,
    ) -> Result<NotificationSetting, StoreError> {
        self.require_user(user)?;
        match scope {
            NotificationScope::Global => {}
            NotificationScope::Group(group) => self.require_namespace(group)?,
            NotificationScope::Project(project) => self.require_project(project)?,
        }
        let after = change.apply(self.get(user, scope)?);
        self.tables.notification_settings.insert((user, scope), after.clone());
        Ok(after)
    }

    fn forget_address(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError> {
        let stored = self.tables.notification_settings.get_mut(&(user, NotificationScope::Global));
        if let Some(setting) = stored.filter(|setting| setting.address.as_ref() == Some(address)) {
            setting.address = None;
        }
        Ok(())
    }
}
