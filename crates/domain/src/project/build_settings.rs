//! How the builds of a project are run.

use super::CoverageExpression;
use crate::text::Secret;

/// The settings of a project for its builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildSettings {
    /// The time limit of a build.
    pub timeout: BuildTimeout,
    /// Whether runners update existing working copies; otherwise they clone for each build.
    pub git_fetch: bool,
}

impl Default for BuildSettings {
    fn default() -> Self {
        Self { timeout: BuildTimeout::default(), git_fetch: true }
    }
}

/// The settings of a project that only those who administer it see, beside the fields of the project itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdminSettings {
    /// The token with which runners register, if the project has one.
    pub runners_token: Option<Secret>,
    /// The expression that finds the coverage in build logs, if one is set.
    pub coverage_expression: Option<CoverageExpression>,
    /// The settings for builds.
    pub build: BuildSettings,
}

/// The time limit of a build: five seconds to thirty days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildTimeout(i32);

impl Default for BuildTimeout {
    fn default() -> Self {
        Self(3600)
    }
}

/// Why a number of seconds is not a valid time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be between {} and {} seconds", BuildTimeout::SHORTEST, BuildTimeout::LONGEST)]
pub struct InvalidBuildTimeout;

impl BuildTimeout {
    /// The shortest limit in seconds.
    pub const SHORTEST: i32 = 5;

    /// The longest limit in seconds.
    pub const LONGEST: i32 = 30 * 24 * 3600;

    /// Checks a number of seconds.
    /// # Errors
    /// The limit is too short or too long.
    pub fn parse(seconds: i64) -> Result<Self, InvalidBuildTimeout> {
        let seconds = i32::try_from(seconds).map_err(|_| InvalidBuildTimeout)?;
        let valid = (Self::SHORTEST..=Self::LONGEST).contains(&seconds);
        if valid { Ok(Self(seconds)) } else { Err(InvalidBuildTimeout) }
    }

    /// A limit that was checked before it was stored.
    pub fn stored(seconds: i32) -> Self {
        Self(seconds)
    }

    /// The limit in seconds.
    pub fn seconds(self) -> i32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_five_seconds_to_a_month() {
        for (seconds, valid) in [
            (4, false),
            (5, true),
            (3600, true),
            (2_592_000, true),
            (2_592_001, false),
            (i64::MAX, false),
            (-1, false),
        ] {
            assert_eq!(BuildTimeout::parse(seconds).is_ok(), valid, "{seconds}");
        }
        assert_eq!(BuildSettings::default().timeout.seconds(), 3600);
    }
}
