//! Validation errors of the fields of an entity, collected so that one response reports all of them.

use std::fmt;

/// A problem of a field that depends on other data, so that no parser of the value can find it. The texts are those of
/// the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldProblem {
    /// Another entity has this value, which must be unique.
    #[error("has already been taken")]
    Taken,
    /// The value names no entity that fits.
    #[error("is invalid")]
    Invalid,
    /// The namespace does not exist, or the caller may not create projects in it.
    #[error("is not valid")]
    NotValid,
    /// The branch does not exist.
    #[error("does not exist")]
    Missing,
    /// The value is not one of the allowed ones.
    #[error("is not included in the list")]
    NotInList,
    /// A rule forbids the value for this entity.
    #[error("is forbidden")]
    Forbidden,
}

/// Error messages by field, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(String, Vec<String>)>);

impl FieldErrors {
    /// A single message about one field.
    pub fn single(field: impl Into<String>, message: impl fmt::Display) -> Self {
        let mut errors = Self::default();
        errors.add(field, message);
        errors
    }

    /// Adds a message to a field.
    pub fn add(&mut self, field: impl Into<String>, message: impl fmt::Display) {
        let (field, message) = (field.into(), message.to_string());
        match self.0.iter_mut().find(|(name, _)| *name == field) {
            Some((_, messages)) => messages.push(message),
            None => self.0.push((field, vec![message])),
        }
    }

    /// Returns the value of a parser, or records its error for the field.
    pub fn check<T, E: fmt::Display>(
        &mut self,
        field: &'static str,
        parsed: Result<T, E>,
    ) -> Option<T> {
        parsed.map_err(|error| self.add(field, error)).ok()
    }

    /// Like [`check`](Self::check), for an optional field: `Some(None)` when the field is absent.
    pub fn check_optional<T, E: fmt::Display>(
        &mut self,
        field: &'static str,
        given: Option<Result<T, E>>,
    ) -> Option<Option<T>> {
        match given {
            None => Some(None),
            Some(parsed) => self.check(field, parsed).map(Some),
        }
    }

    /// Returns the value of a parser that reports field errors itself, or records all its errors.
    pub fn merge<T>(&mut self, parsed: Result<T, FieldErrors>) -> Option<T> {
        parsed.map_err(|errors| self.extend(errors)).ok()
    }

    /// Adds all errors of another validation.
    pub fn extend(&mut self, errors: FieldErrors) {
        for (field, messages) in errors.0 {
            for message in messages {
                self.add(field.as_str(), message);
            }
        }
    }

    /// Returns whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages about one field.
    pub fn messages(&self, field: &str) -> &[String] {
        self.0.iter().find(|(name, _)| name == field).map_or(&[], |(_, messages)| messages)
    }

    /// All fields with their messages.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(field, messages)| (field.as_str(), messages.as_slice()))
    }

    /// Ends a validation: returns the value that `make` builds from the checked parts, or all errors. `make` returns
    /// `None` only when a part is missing, and then an error was recorded for that part.
    pub fn into_result_with<T>(self, make: impl FnOnce() -> Option<T>) -> Result<T, Self> {
        if self.is_empty() { make().ok_or(self) } else { Err(self) }
    }

    /// Ends a validation: `Ok` when there are no errors.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (field, messages)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{field} {}", messages.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_field_are_kept_together_in_the_order_found() {
        let mut errors = FieldErrors::single("key", "is invalid");
        errors.add("fingerprint", "cannot be generated");
        errors.add("key", "should be a single line");
        assert_eq!(errors.messages("key"), ["is invalid", "should be a single line"]);
        assert_eq!(
            errors.to_string(),
            "key is invalid, should be a single line; fingerprint cannot be generated"
        );
        assert!(errors.into_result().is_err());
    }
}
