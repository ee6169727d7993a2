//! What is wrong with the fields of an entity, collected so that one answer can name everything.

use std::fmt;

/// Messages by field, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(String, Vec<String>)>);

impl FieldErrors {
    /// One message about one field.
    pub fn one(field: impl Into<String>, message: impl fmt::Display) -> Self {
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

    /// Keeps the value of a parser, or notes its error under the field.
    pub fn check<T, E: fmt::Display>(
        &mut self,
        field: &'static str,
        parsed: Result<T, E>,
    ) -> Option<T> {
        parsed.map_err(|error| self.add(field, error)).ok()
    }

    /// Like [`check`](Self::check) for a field that may be left out: `Some(None)` when it was.
    pub fn check_given<T, E: fmt::Display>(
        &mut self,
        field: &'static str,
        given: Option<Result<T, E>>,
    ) -> Option<Option<T>> {
        match given {
            None => Some(None),
            Some(parsed) => self.check(field, parsed).map(Some),
        }
    }

    /// Keeps the value of a parser that names fields itself, or adds everything that it found.
    pub fn merge<T>(&mut self, parsed: Result<T, FieldErrors>) -> Option<T> {
        parsed.map_err(|found| self.extend(found)).ok()
    }

    /// Adds everything that another check found.
    pub fn extend(&mut self, found: FieldErrors) {
        for (field, messages) in found.0 {
            for message in messages {
                self.add(field.as_str(), message);
            }
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages about one field.
    pub fn of(&self, field: &str) -> &[String] {
        self.0.iter().find(|(name, _)| name == field).map_or(&[], |(_, messages)| messages)
    }

    /// All fields with their messages.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(field, messages)| (field.as_str(), messages.as_slice()))
    }

    /// Ends a validation: the value made of the checked parts, or everything that was found.
    /// `make` gives `None` only when a part is missing, which some message has then explained.
    pub fn into_result_with<T>(self, make: impl FnOnce() -> Option<T>) -> Result<T, Self> {
        if self.is_empty() { make().ok_or(self) } else { Err(self) }
    }

    /// Ends a validation: `Ok` when nothing was found.
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
        let mut errors = FieldErrors::one("key", "is invalid");
        errors.add("fingerprint", "cannot be generated");
        errors.add("key", "should be a single line");
        assert_eq!(errors.of("key"), ["is invalid", "should be a single line"]);
        assert_eq!(
            errors.to_string(),
            "key is invalid, should be a single line; fingerprint cannot be generated"
        );
        assert!(errors.into_result().is_err());
    }
}
