//! Visibility levels of projects and groups.

/// A visibility level, from the most restricted to the most open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Visibility {
    /// Visible to members only.
    Private,
    /// Visible to all signed-in users except external ones.
    Internal,
    /// Visible to everyone, signed in or not.
    Public,
}

impl Visibility {
    /// All levels.
    pub const ALL: [Visibility; 3] =
        [Visibility::Private, Visibility::Internal, Visibility::Public];

    /// The number of the level in the API and in the database.
    pub fn level(self) -> i32 {
        match self {
            Visibility::Private => 0,
            Visibility::Internal => 10,
            Visibility::Public => 20,
        }
    }

    /// Parses the number of a level.
    pub fn from_level(level: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|visibility| i64::from(visibility.level()) == level)
    }

    /// The name of the level in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Visibility::Private => "private",
            Visibility::Internal => "internal",
            Visibility::Public => "public",
        }
    }

    /// Parses the name of a level, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|visibility| visibility.as_str().eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_number_and_its_word() {
        for (visibility, level, word) in [
            (Visibility::Private, 0, "private"),
            (Visibility::Internal, 10, "internal"),
            (Visibility::Public, 20, "public"),
        ] {
            assert_eq!((visibility.level(), visibility.as_str()), (level, word));
            assert_eq!(Visibility::from_level(i64::from(level)), Some(visibility));
            assert_eq!(Visibility::parse(&word.to_uppercase()), Some(visibility));
        }
        assert_eq!((Visibility::from_level(5), Visibility::parse("open")), (None, None));
        assert!(Visibility::Private < Visibility::Internal);
        assert!(Visibility::Internal < Visibility::Public);
    }
}
