//! The merge status: whether the branches of a merge request can be merged without conflict.

/// The merge status. A read never computes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeStatus {
    /// Not checked since the last change of a branch.
    #[default]
    Unchecked,
    /// The branches can be merged.
    Mergeable,
    /// The branches conflict.
    Conflicting,
}

impl MergeStatus {
    const ALL: [MergeStatus; 3] = [Self::Unchecked, Self::Mergeable, Self::Conflicting];

    /// The status after a check.
    pub fn checked(can_merge: bool) -> Self {
        if can_merge { Self::Mergeable } else { Self::Conflicting }
    }

    /// The name of the status in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            MergeStatus::Unchecked => "unchecked",
            MergeStatus::Mergeable => "can_be_merged",
            MergeStatus::Conflicting => "cannot_be_merged",
        }
    }

    /// Parses the name of a status.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_found_by_its_word() {
        for status in MergeStatus::ALL {
            assert_eq!(MergeStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(MergeStatus::parse("checking"), None);
        assert_eq!(MergeStatus::checked(true).as_str(), "can_be_merged");
        assert_eq!(MergeStatus::checked(false).as_str(), "cannot_be_merged");
    }
}
