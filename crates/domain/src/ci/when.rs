//! On which outcome of the earlier stages a job runs.

/// The `when` of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum When {
    /// All earlier stages succeeded.
    #[default]
    OnSuccess,
    /// An earlier stage failed.
    OnFailure,
    /// Whatever the earlier stages said, unless they were canceled.
    Always,
    /// Somebody plays it; it never runs by itself.
    Manual,
}

impl When {
    /// Every value, in the order of the reference.
    pub const ALL: [When; 4] = [When::OnSuccess, When::OnFailure, When::Always, When::Manual];

    /// The word of the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            When::OnSuccess => "on_success",
            When::OnFailure => "on_failure",
            When::Always => "always",
            When::Manual => "manual",
        }
    }

    /// The value of a word.
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
