//! What is wrong with a form that was sent: messages for its fields, and messages for the form as a whole.

use hexforge_application::error::{Conflict, Error};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::ports::git::GitError;

/// The faults of a form. A page shows them in a summary, and beside each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    fields: Vec<(String, String)>,
    /// Faults of fields as sentences that name what is wrong without the name of the field.
    sentences: Vec<(String, String)>,
    others: Vec<String>,
}

impl Faults {
    /// A single fault of one field. The message continues the name of the field: `can't be blank`.
    pub(crate) fn of_field(field: &str, message: &str) -> Self {
        let mut faults = Self::default();
        faults.add(field, message);
        faults
    }

    /// A single fault of the form as a whole.
    pub(crate) fn of_form(message: &str) -> Self {
        Self { others: vec![sentence(message)], ..Self::default() }
    }

    /// Adds a fault of a field.
    pub(crate) fn add(&mut self, field: &str, message: &str) {
        self.fields.push((field.to_owned(), message.to_owned()));
    }

    /// The faults that a use case found in what was entered. Errors of another kind have pages of their own and are
    /// returned.
    pub(crate) fn of(error: Error) -> Result<Self, Error> {
        match error {
            Error::Invalid(fields) | Error::ConflictingFields(fields) => Ok(Self::listed(&fields)),
            Error::NotGiven(field) => Ok(Self::of_field(field, "can't be blank")),
            Error::Conflict(Conflict::UsernameTaken) => Ok(Self::of_error("username", &error)),
            Error::Conflict(Conflict::EmailTaken) => Ok(Self::of_error("email", &error)),
            Error::Conflict(Conflict::LabelExists) => Ok(Self::of_error("title", &error)),
            Error::Conflict(Conflict::MemberExists) => Ok(Self::of_error("user", &error)),
            Error::HookUrl => Ok(Self::of_error("url", &error)),
            error @ (Error::Conflict(_)
            | Error::Refused(_)
            | Error::InvalidMergeRequest(_)
            | Error::MergeRefused(_)
            | Error::ListRefused(_)
            | Error::UnknownAccessLevel
            | Error::LimitReached(_)
            | Error::Forbidden(Some(_))
            | Error::Git(GitError::Conflict(_) | GitError::Invalid(_))) => {
                Ok(Self::of_form(&error.to_string()))
            }
            error => Err(error),
        }
    }

    fn listed(fields: &FieldErrors) -> Self {
        let pairs = fields.iter().flat_map(|(field, messages)| {
            messages.iter().map(move |message| (field.to_owned(), message.clone()))
        });
        Self { fields: pairs.collect(), ..Self::default() }
    }

    /// An error that only this field of a form can cause.
    fn of_error(field: &str, error: &Error) -> Self {
        let sentences = vec![(field.to_owned(), sentence(&error.to_string()))];
        Self { sentences, ..Self::default() }
    }

    /// Moves the faults of the form as a whole to its only field.
    #[must_use]
    pub(crate) fn on_only_field(self, field: &str) -> Self {
        let Self { fields, mut sentences, others } = self;
        let (whole, fields): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|(name, _)| name == "base");
        let whole = whole.into_iter().map(|(_, message)| sentence(&message));
        sentences.extend(whole.chain(others).map(|text| (field.to_owned(), text)));
        Self { fields, sentences, others: Vec::new() }
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.sentences.is_empty() && self.others.is_empty()
    }

    /// Whether a field has a fault.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.fields.iter().chain(&self.sentences).any(|(name, _)| name == field)
    }

    /// The faults of a field.
    pub(crate) fn about(&self, field: &str) -> String {
        let of_field = |faults: &[(String, String)]| {
            let known = faults.iter().filter(|(name, _)| name == field);
            known.map(|(_, text)| text.clone()).collect::<Vec<_>>()
        };
        let messages = sentence(&of_field(&self.fields).join(", "));
        let parts = [messages].into_iter().chain(of_field(&self.sentences));
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// All faults, each as a sentence.
    pub(crate) fn lines(&self) -> Vec<String> {
        let of_fields = self.fields.iter().map(|(field, message)| match field.as_str() {
            "base" => sentence(message),
            // The label of the field has other words than its name.
            "import_url" => sentence(&format!("Git repository URL {message}")),
            field => sentence(&format!("{} {message}", field.replace('_', " "))),
        });
        let sentences = self.sentences.iter().map(|(_, text)| text.clone());
        of_fields.chain(sentences).chain(self.others.iter().cloned()).collect()
    }
}

/// A text with a capital letter at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use hexforge_application::error::{Conflict, Entity};

    use super::*;

    #[test]
    fn faults_name_their_fields() {
        let mut fields = FieldErrors::single("due_date", "is invalid");
        fields.add("title", "can't be blank");
        fields.add("title", "is too short");
        let faults = Faults::of(Error::Invalid(fields)).expect("faults");
        assert_eq!(
            faults.lines(),
            ["Due date is invalid.", "Title can't be blank.", "Title is too short."]
        );
        assert_eq!(faults.about("title"), "Can't be blank, is too short.");
        assert!(faults.has("due_date") && !faults.has("description"));
    }

    #[test]
    fn the_only_field_takes_the_faults_of_its_form() {
        let mut faults = Faults::of_field("base", "there is no pipeline");
        faults.others.push("It failed.".to_owned());
        let lines = ["There is no pipeline.", "It failed."];
        assert_eq!(faults.lines(), lines);
        let faults = faults.on_only_field("ref");
        assert_eq!(
            (faults.lines(), faults.about("ref")),
            (lines.map(str::to_owned).into(), lines.join(" "))
        );
    }

    #[test]
    fn only_errors_of_what_was_entered_are_faults() {
        let conflict = Faults::of(Error::Conflict(Conflict::LabelExists)).expect("faults");
        assert_eq!(conflict.lines(), ["A label of this name exists already."]);
        assert_eq!(conflict.about("title"), "A label of this name exists already.");
        assert!(Faults::of(Error::NotFound(Entity::Project)).is_err());
        assert!(Faults::of(Error::Forbidden(None)).is_err());
    }
}
