//! The name of a branch of a merge request.

use crate::field_errors::FieldErrors;
use crate::ref_name::BranchName;
use crate::text::{Blank, limit, within_field};

/// The name of the source or target branch: not blank, and not longer than a ref name. The branch need not exist, so a
/// name that no branch can have is accepted too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestBranch(String);

crate::text::stored_text!(RequestBranch);

impl RequestBranch {
    /// Parses the name that was given as `field`.
    /// # Errors
    /// The first error of the name, under `field`.
    pub fn parse(field: &'static str, given: &str) -> Result<Self, FieldErrors> {
        if given.trim().is_empty() {
            return Err(FieldErrors::single(field, Blank));
        }
        within_field(field, given, limit::REF_NAME)?;
        Ok(Self(given.to_owned()))
    }

    /// The full name of the ref.
    pub fn full(&self) -> String {
        format!("{}{}", BranchName::FOLDER, self.0)
    }
}

impl From<&BranchName> for RequestBranch {
    fn from(name: &BranchName) -> Self {
        Self(name.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_has_a_name_and_need_not_be_possible() {
        for given in ["master", "a..b", " x", &"ü".repeat(limit::REF_NAME)] {
            let branch = RequestBranch::parse("source_branch", given).expect("a name");
            assert_eq!(branch.full(), format!("refs/heads/{given}"));
        }
        for (given, message) in [
            ("", "can't be blank"),
            (" \n", "can't be blank"),
            (&"x".repeat(limit::REF_NAME + 1), "is too long (maximum is 1000 characters)"),
        ] {
            let errors = RequestBranch::parse("target_branch", given).expect_err("no name");
            assert_eq!(errors.messages("target_branch"), [message], "{given}");
        }
    }
}
