//! The condition on earlier stages under which a job runs.

/// The condition under which a job runs: its key `when` in the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum When {
    /// Runs if all earlier stages succeeded.
    #[default]
    OnSuccess,
    /// Runs if an earlier stage failed.
    OnFailure,
    /// Runs whether the earlier stages succeeded or failed, unless they were canceled.
    Always,
    /// Runs only when a user starts it.
    Manual,
}

impl When {
    /// Every value, in the order of the reference.
    pub const ALL: [When; 4] = [When::OnSuccess, When::OnFailure, When::Always, When::Manual];

    /// The value in the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            When::OnSuccess => "on_success",
            When::OnFailure => "on_failure",
            When::Always => "always",
            When::Manual => "manual",
        }
    }

    /// Parses the value in the configuration file.
    pub fn parse(word: &str) -> Option<When> {
        When::ALL.into_iter().find(|when| when.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_found_by_its_word() {
        for when in When::ALL {
            assert_eq!(When::parse(when.as_str()), Some(when));
        }
        assert_eq!(When::parse("never"), None);
        assert_eq!(When::default(), When::OnSuccess);
    }
}
