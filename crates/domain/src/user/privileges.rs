//! The rights of an account apart from its memberships.

/// Flags and limits that only administrators set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privileges {
    /// Whether the user is an administrator.
    pub admin: bool,
    /// Whether the user is external, and so sees internal projects and groups only as a member.
    pub external: bool,
    /// Whether the user may create groups.
    pub can_create_group: bool,
    /// The maximum number of personal projects.
    pub projects_limit: ProjectsLimit,
}

impl Privileges {
    /// The privileges as they are stored: an external user can create neither groups nor projects, whatever was
    /// requested.
    pub fn normalized(self) -> Self {
        if self.external {
            Self { can_create_group: false, projects_limit: ProjectsLimit(0), ..self }
        } else {
            self
        }
    }
}

/// The maximum number of personal projects of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectsLimit(pub i32);

impl ProjectsLimit {
    /// Parses a non-negative integer.
    pub fn parse(text: &str) -> Result<Self, ProjectsLimitError> {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ProjectsLimitError::NotANumber);
        }
        match text.parse::<i32>() {
            Ok(limit) if limit >= 0 => Ok(Self(limit)),
            Ok(_) => Err(ProjectsLimitError::Negative),
            Err(_) if text.starts_with('-') => Err(ProjectsLimitError::Negative),
            Err(_) => Err(ProjectsLimitError::TooLarge),
        }
    }
}

/// Why a text is not a valid limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectsLimitError {
    /// The text is not an integer.
    #[error("is not a number")]
    NotANumber,
    /// Below zero.
    #[error("must be greater than or equal to 0")]
    Negative,
    /// The number is too large to be stored.
    #[error("must be less than or equal to {}", i32::MAX)]
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_users_get_neither_groups_nor_projects() {
        let asked = Privileges {
            admin: true,
            external: true,
            can_create_group: true,
            projects_limit: ProjectsLimit(7),
        };
        let settled = asked.normalized();
        assert!(settled.admin && settled.external && !settled.can_create_group);
        assert_eq!(settled.projects_limit, ProjectsLimit(0));
        let own = Privileges { external: false, ..asked };
        assert_eq!(own.normalized(), own);
    }

    #[test]
    fn limits_are_whole_numbers_from_zero() {
        use ProjectsLimitError::*;
        for (text, expected) in [
            ("0", Ok(ProjectsLimit(0))),
            (" 100 ", Ok(ProjectsLimit(100))),
            ("+5", Ok(ProjectsLimit(5))),
            ("-1", Err(Negative)),
            ("-99999999999", Err(Negative)),
            ("99999999999", Err(TooLarge)),
            ("many", Err(NotANumber)),
            ("1.5", Err(NotANumber)),
            ("-", Err(NotANumber)),
            ("", Err(NotANumber)),
        ] {
            assert_eq!(ProjectsLimit::parse(text), expected, "{text:?}");
        }
    }
}
