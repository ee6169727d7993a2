//! The port to the stored notification settings.

use super::{NotificationChange, NotificationScope, NotificationSetting};
use crate::id::UserId;
use crate::ports::store_error::StoreError;
use crate::user::EmailAddress;

/// The notification settings of all users. They are deleted together with their user, and with their group or project.
pub trait NotificationSettings {
    /// Returns the settings of a user; the default ones if the user never changed them.
    fn get(
        &mut self,
        user: UserId,
        scope: NotificationScope,
    ) -> Result<NotificationSetting, StoreError>;

    /// Applies a change and returns the new settings. Concurrent changes of different values are all kept.
    /// # Errors
    /// [`StoreError::Gone`] when the user, group or project does not exist.
    fn change(
        &mut self,
        user: UserId,
        scope: NotificationScope,
        change: &NotificationChange,
    ) -> Result<NotificationSetting, StoreError>;

    /// Removes the address from the settings of a user for everything, if it is this one.
    fn forget_address(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError>;
}
