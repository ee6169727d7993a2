//! The author and the committer of a new commit.

use hexforge_domain::commit::Signature;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::{limit, within_field};

use crate::access;
use crate::app::App;
use crate::error::{Error, Refusal};

/// The author as a request names it. It counts only when both fields are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorFields {
    /// The e-mail address.
    pub email: Option<String>,
    /// The name.
    pub name: Option<String>,
}

/// Checks the lengths of the texts of a commit.
pub(crate) fn check_lengths(message: &str, author: &AuthorFields) -> Result<(), Error> {
    within_field("commit_message", message, limit::LONG)?;
    for (field, given) in [("author_email", &author.email), ("author_name", &author.name)] {
        within_field(field, given.as_deref().unwrap_or_default(), limit::SHORT)?;
    }
    Ok(())
}

/// Returns the author and the committer. The committer is the caller, and so is the author unless one is given.
pub(crate) fn signatures(
    app: &App,
    actor: Actor,
    author: &AuthorFields,
) -> Result<(Signature, Signature), Error> {
    let committer = caller(app, actor)?;
    let given = |field: &Option<String>| field.clone().filter(|text| !text.trim().is_empty());
    let (Some(name), Some(email)) = (given(&author.name), given(&author.email)) else {
        return Ok((committer.clone(), committer));
    };
    let (name, email) = (trimmed(&name), trimmed(&email));
    if [name, email].iter().any(|text| text.is_empty() || text.contains(is_forged)) {
        return Err(Error::Refused(Refusal::Author));
    }
    let author = Signature { name: name.to_owned(), email: email.to_owned(), at: committer.at };
    Ok((author, committer))
}

/// Returns the signature of the caller at the current time.
pub(crate) fn caller(app: &App, actor: Actor) -> Result<Signature, Error> {
    let id = access::own_account(actor)?;
    let user = app.store.read(|tx| tx.users().find(id))?.ok_or(Error::Unauthenticated)?;
    let clean = |text: &str| trimmed(&text.replace(is_forged, "")).to_owned();
    let name = Some(clean(user.name.as_str())).filter(|name| !name.is_empty());
    Ok(Signature {
        name: name.unwrap_or_else(|| user.username.as_str().to_owned()),
        email: clean(user.email.as_str()),
        at: Signature::time(app.clock.now().timestamp(), 0),
    })
}

/// Removes the characters at both ends that git removes too.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || c.is_whitespace() || r#".,:;<>"\'"#.contains(c))
}

/// Whether a character would end the name or the address in the header of the commit.
fn is_forged(c: char) -> bool {
    matches!(c, '<' | '>' | '\n' | '\r' | '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_as_git_does() {
        for (given, expected) in [
            ("Foo Sr.", "Foo Sr"),
            (" \"Ada\" <", "Ada"),
            ("a.b", "a.b"),
            ("<ada@example.com>", "ada@example.com"),
            (" .,:;<>\"\\' ", ""),
        ] {
            assert_eq!(trimmed(given), expected, "{given}");
        }
    }
}
