//! Memberships of users in projects and groups, and their access levels.

pub mod port;
pub mod request;

use chrono::NaiveDate;

use crate::id::UserId;
use crate::notification::NotificationLevel;

/// The access level of a member, from lowest to highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessLevel {
    /// May see the project and comment.
    Guest,
    /// May read code and manage issues.
    Reporter,
    /// May push.
    Developer,
    /// May administer the project or group.
    Master,
    /// Owns the group. Only members of groups have this level.
    Owner,
}

impl AccessLevel {
    /// All levels.
    pub const ALL: [AccessLevel; 5] = [
        AccessLevel::Guest,
        AccessLevel::Reporter,
        AccessLevel::Developer,
        AccessLevel::Master,
        AccessLevel::Owner,
    ];

    /// The number of the level in the API and in the database.
    pub fn level(self) -> i32 {
        match self {
            AccessLevel::Guest => 10,
            AccessLevel::Reporter => 20,
            AccessLevel::Developer => 30,
            AccessLevel::Master => 40,
            AccessLevel::Owner => 50,
        }
    }

    /// Parses the number of a level.
    pub fn from_level(level: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|access| i64::from(access.level()) == level)
    }

    /// Parses the number of a level that members of projects can have: all levels except owner.
    pub fn from_project_level(level: i64) -> Option<Self> {
        Self::from_level(level).filter(|access| *access <= AccessLevel::Master)
    }

    /// The name of the level in hook payloads.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessLevel::Guest => "Guest",
            AccessLevel::Reporter => "Reporter",
            AccessLevel::Developer => "Developer",
            AccessLevel::Master => "Master",
            AccessLevel::Owner => "Owner",
        }
    }
}

/// A membership of a user in a group or project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The member.
    pub user: UserId,
    /// The access level.
    pub level: AccessLevel,
    /// A copy of the level in the notification settings of the member, which lists of projects show.
    pub notification_level: NotificationLevel,
    /// The first day on which the membership is no longer in force.
    pub expires_at: Option<NaiveDate>,
}

impl Membership {
    /// A new membership of a user without notification settings for the group or project.
    pub fn new(user: UserId, level: AccessLevel, expires_at: Option<NaiveDate>) -> Self {
        Self { user, level, notification_level: NotificationLevel::Global, expires_at }
    }
}

/// Returns whether a membership or share with this expiry date is in force today.
pub fn is_in_force(expires_at: Option<NaiveDate>, today: NaiveDate) -> bool {
    expires_at.is_none_or(|day| today < day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_number() {
        for (access, level) in AccessLevel::ALL.into_iter().zip([10, 20, 30, 40, 50]) {
            assert_eq!(access.level(), level);
            assert_eq!(AccessLevel::from_level(i64::from(level)), Some(access));
        }
        assert_eq!(AccessLevel::from_level(1234), None);
        assert_eq!(AccessLevel::from_project_level(40), Some(AccessLevel::Master));
        assert_eq!(AccessLevel::from_project_level(50), None);
    }

    #[test]
    fn a_membership_is_void_from_its_date_on() {
        let day = |day| NaiveDate::from_ymd_opt(2016, 9, day).expect("a day of September");
        for (expires_at, expected) in
            [(None, true), (Some(day(23)), true), (Some(day(22)), false), (Some(day(21)), false)]
        {
            assert_eq!(is_in_force(expires_at, day(22)), expected, "{expires_at:?}");
        }
    }
}
