//! Forms: their fields, and their protection against forgery by other sites.
//!
//! A form is accepted if the browser does not say that another site sent it (`Sec-Fetch-Site`, `Origin`), and if it has
//! the token of its session. Each page masks the token with other random bytes, so that compression does not reveal it.

use std::borrow::Cow;

use actix_web::http::header::{HeaderValue, ORIGIN};
use actix_web::web::{Bytes, BytesMut, Payload};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::StreamExt;
use hexforge_application::app::App;
use hexforge_application::browser_session;
use hexforge_domain::text::Secret;

use crate::error::PageError;
use crate::visit::{Viewer, Visit};

/// The field with the token.
pub(crate) const TOKEN_FIELD: &str = "authenticity_token";

/// The fewest characters of a token of a stranger that is used again.
const MIN_TOKEN: usize = 20;

/// The maximum number of fields of a form.
const MAX_FIELDS: usize = 2000;

/// The field with the page of a form that is sent again.
pub(crate) const FORM_PAGE: &str = "form_page";

/// What protects a form against forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The token of the session.
    Session,
    /// The token of a short-lived cookie, for visitors who have no session yet.
    Stranger,
    /// Only the headers: the form changes nothing but a cookie.
    Headers,
}

/// The fields of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// The value of a field, without the white space around it; empty if it was not sent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The value of a field as it was sent; empty if it was not sent.
    pub(crate) fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// All values of a field that may be sent several times, such as a group of checkboxes.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.0.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The value of a field that was sent, without the white space around it; `None` if the form had no such field.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim())
    }

    /// The fields for an error page with which the visitor sends the form again. They have no secrets.
    pub(crate) fn sent(&self) -> SentFields {
        let fields = self.0.iter().filter(|(name, _)| name != TOKEN_FIELD && name != FORM_PAGE);
        let (secrets, others): (Vec<_>, Vec<_>) =
            fields.cloned().partition(|(name, _)| is_secret(name));
        let (typed, hidden) = others.into_iter().partition(|(name, value)| is_typed(name, value));
        SentFields { typed, hidden, lacks_secrets: !secrets.is_empty() }
    }

    /// Whether a checkbox is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        matches!(self.text(name), "1" | "on" | "true")
    }

    fn parse(body: &[u8]) -> Result<Self, PageError> {
        let mut fields = Vec::new();
        for (name, value) in form_urlencoded::parse(body) {
            if fields.len() == MAX_FIELDS {
                return Err(PageError::too_large());
            }
            // Browsers send line ends as CR LF.
            fields.push((name.into_owned(), lines(without_nul(value).into())));
        }
        Ok(Self(fields))
    }
}

/// The fields of a form that was refused, by name.
pub(crate) struct SentFields {
    /// What the visitor typed.
    pub(crate) typed: Vec<(String, String)>,
    /// What the page had filled in, and what was chosen.
    pub(crate) hidden: Vec<(String, String)>,
    /// Whether the form had secrets, which are not shown again.
    pub(crate) lacks_secrets: bool,
}

/// Whether a field holds a secret. The key of an SSH key or of a variable is none.
fn is_secret(name: &str) -> bool {
    let words = ["token", "password", "secret", "api_key", "user_key", "webhook"];
    name == "value" || words.iter().any(|word| name.contains(word))
}

/// Whether the visitor may have typed the value of a field, rather than chosen it.
fn is_typed(name: &str, value: &str) -> bool {
    let chosen = ["based_on", "branch", "return_to", "scope", "seen", "sent", "state", "switches"];
    let endings = ["_id", "_ids[]", "_said", "_shown"];
    let is_choice = value.trim().is_empty() || matches!(value, "0" | "1" | "on" | "true" | "false");
    !is_choice && !chosen.contains(&name) && !endings.iter().any(|ending| name.ends_with(ending))
}

/// A text without NUL characters, which databases refuse: as in HTML, the replacement character takes their place.
pub(crate) fn without_nul(text: Cow<'_, str>) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.into_owned() }
}

fn lines(value: Cow<'_, str>) -> String {
    if value.contains('\r') { value.replace("\r\n", "\n") } else { value.into_owned() }
}

/// An option of a select, or an item of a group of checkboxes or radio buttons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

impl Choice {
    pub(crate) fn new(value: impl Into<String>, label: impl Into<String>, is_chosen: bool) -> Self {
        Self { value: value.into(), label: label.into(), is_chosen }
    }

    /// The options of a select of branches. A chosen branch that is not among the names comes first: without it, a
    /// browser would select and send another branch.
    pub(crate) fn branches(names: &[String], chosen: &str) -> Vec<Self> {
        let is_missing = !chosen.is_empty() && !names.iter().any(|name| name == chosen);
        let missing = is_missing.then(|| Self::new(chosen, chosen, true));
        let others = names.iter().map(|name| Self::new(name, name, name == chosen));
        missing.into_iter().chain(others).collect()
    }
}

/// Reads the fields of a form.
pub(crate) async fn read(payload: Payload, max: usize) -> Result<Form, PageError> {
    Form::parse(&read_whole(payload, max).await?)
}

async fn read_whole(mut payload: Payload, max: usize) -> Result<Bytes, PageError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| PageError::bad_request())?;
        if body.len() + chunk.len() > max {
            return Err(PageError::too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Refuses a form that another site may have sent.
pub(crate) fn check(visit: &Visit, form: &Form, guard: Guard) -> Result<(), PageError> {
    let headers = visit.headers();
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if !matches!(site, None | Some(b"same-origin" | b"none")) {
        return Err(PageError::forged());
    }
    let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes);
    if origin.is_some_and(|origin| origin != visit.origin().as_bytes()) {
        return Err(PageError::forged());
    }
    let token = match guard {
        Guard::Headers => return Ok(()),
        Guard::Session => visit.session_token(),
        Guard::Stranger => visit.form_token(),
    };
    let is_valid = token.is_some_and(|token| {
        let secret = browser_session::form_secret(visit.app(), token);
        unmasked(form.raw(TOKEN_FIELD)).is_some_and(|given| is_equal(visit.app(), &given, &secret))
    });
    if is_valid { Ok(()) } else { Err(PageError::ended(Viewer::default())) }
}

/// The token to which the form of a stranger is bound: that of the browser, so that forms in several tabs stay valid,
/// or a new one.
pub(crate) fn stranger_token(visit: &Visit) -> Secret {
    let is_ours = |token: &&Secret| {
        let mut bytes = token.reveal().bytes();
        bytes.len() >= MIN_TOKEN
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let known = visit.form_token().filter(is_ours).cloned();
    known.unwrap_or_else(|| visit.app().secrets.session_token())
}

/// The token of a form, masked anew.
pub(crate) fn masked_token(app: &App, token: &Secret) -> String {
    let secret = browser_session::form_secret(app, token);
    let mask = app.secrets.digest(app.secrets.session_token().reveal()).0;
    let mut bytes = mask.to_vec();
    bytes.extend(mask.iter().zip(secret).map(|(mask, secret)| mask ^ secret));
    URL_SAFE_NO_PAD.encode(bytes)
}

fn unmasked(token: &str) -> Option<[u8; 32]> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (mask, masked) = bytes.split_at_checked(32)?;
    let masked: [u8; 32] = masked.try_into().ok()?;
    let mut secret = [0; 32];
    for (at, byte) in secret.iter_mut().enumerate() {
        *byte = masked[at] ^ mask[at];
    }
    Some(secret)
}

/// Compares digests, so that the time does not reveal how many bytes are equal.
fn is_equal(app: &App, left: &[u8; 32], right: &[u8; 32]) -> bool {
    let digest = |bytes: &[u8; 32]| app.secrets.digest(&URL_SAFE_NO_PAD.encode(bytes));
    digest(left) == digest(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_branch_is_offered_even_if_the_list_ends_before_it() {
        let names = ["a", "b"].map(str::to_owned);
        let shown = |chosen: &str| {
            let choices = Choice::branches(&names, chosen).into_iter();
            choices.map(|one| (one.value, one.is_chosen)).collect::<Vec<_>>()
        };
        let option = |name: &str, is_chosen| (name.to_owned(), is_chosen);
        assert_eq!(shown(""), [option("a", false), option("b", false)]);
        assert_eq!(shown("b"), [option("a", false), option("b", true)]);
        assert_eq!(shown("z"), [option("z", true), option("a", false), option("b", false)]);
    }
}
