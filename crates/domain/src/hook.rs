//! The URL and token of hooks, shared by project hooks and system hooks.

pub mod kind;

use crate::field_errors::FieldErrors;
use crate::text::{Blank, Secret, TooLong, limit, within, within_field};

/// The URL of a hook: http or https, with valid syntax. Whether the address is allowed and reachable is checked at each
/// delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookUrl(String);

crate::text::stored_text!(HookUrl);

impl HookUrl {
    /// Trims surrounding whitespace and validates the syntax.
    pub fn parse(url: &str) -> Result<Self, HookUrlError> {
        let url = url.trim();
        if url.is_empty() {
            return Err(Blank.into());
        }
        within(url, limit::URL)?;
        if is_http_url(url) { Ok(Self(url.to_owned())) } else { Err(HookUrlError::Format) }
    }

    /// The URL for display, without user name and password.
    pub fn without_credentials(&self) -> String {
        match self.parts() {
            Some((scheme, host, path)) => format!("{scheme}://{host}{path}"),
            None => self.0.clone(),
        }
    }

    /// The host, with the port if there is one. The rest of a URL may be a secret: that of a chat gives access to a
    /// channel.
    pub fn host(&self) -> &str {
        self.parts().map_or("", |(_, host, _)| host)
    }

    /// The scheme, the host with its port, and the path with all that follows.
    fn parts(&self) -> Option<(&str, &str, &str)> {
        let (scheme, rest) = self.0.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        Some((scheme, host, path))
    }
}

/// The token contains a control character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is invalid")]
pub struct InvalidToken;

/// Validates the token of a hook. The token is sent in a header of each delivery, so it must not contain control
/// characters, which could end the header line.
/// # Errors
/// The validation error, for the field `token`.
pub fn checked_token(token: Option<&Secret>) -> Result<Option<Secret>, FieldErrors> {
    let Some(token) = token else { return Ok(None) };
    within_field("token", token.reveal(), limit::SHORT)?;
    if token.reveal().contains(char::is_control) {
        return Err(FieldErrors::single("token", InvalidToken));
    }
    Ok(Some(token.clone()))
}

/// Returns whether a text is an http or https URL with a valid host.
pub(crate) fn is_http_url(url: &str) -> bool {
    is_well_formed_url(url, &["http", "https"])
}

/// Returns whether a text is a URL with a valid host and one of these schemes.
pub(crate) fn is_well_formed_url(url: &str, schemes: &[&str]) -> bool {
    // Whitespace and control characters could end the request line early.
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return false;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, after)| after);
    let (host, port) = match host_and_port.rsplit_once(':') {
        // The last colon of an IPv6 address in brackets does not precede a port.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (host_and_port, None),
    };
    let is_valid_port = port.is_none_or(|port| port.is_empty() || port.parse::<u16>().is_ok());
    is_valid_port && is_valid_host(host)
}

fn is_valid_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok()),
        None => {
            !host.is_empty()
                && !host.contains([
                    '[', ']', '"', '<', '>', '\\', '^', '`', '{', '|', '}', ':', '@', '%',
                ])
        }
    }
}

/// Why a text is not a valid URL for a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookUrlError {
    /// The URL is blank.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The URL does not have the form `http://host/...`.
    #[error("must be a valid URL")]
    Format,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_http_with_a_host() {
        for url in [
            "http://example.com",
            " https://example.com/a?b=c&d=e#f ",
            "HTTP://EXAMPLE.COM:8080/",
            "http://me:p%40ss@example.com/x",
            "http://[::1]:80/",
            "http://127.0.0.1/",
            "http://example.com:/",
        ] {
            assert_eq!(HookUrl::parse(url).as_ref().map(HookUrl::as_str), Ok(url.trim()), "{url}");
        }
        for url in [
            "ftp://example.com",
            "example.com",
            "http://",
            "http:///path",
            "http://:80/",
            "http://exa mple.com",
            "http://example.com/a\r\nX: y",
            "http://example.com:99999/",
            "http://example.com:port/",
            "http://[::1",
            "http://[nonsense]/",
            "javascript:alert(1)",
        ] {
            assert_eq!(HookUrl::parse(url), Err(HookUrlError::Format), "{url}");
        }
        assert_eq!(HookUrl::parse("  "), Err(HookUrlError::Blank(Blank)));
    }

    #[test]
    fn the_host_of_a_url_has_no_secrets() {
        for (url, host) in [
            ("https://hooks.example/services/T0/B0/secret", "hooks.example"),
            ("http://me:secret@host.example:8080?token=secret", "host.example:8080"),
            ("http://[::1]:80/secret#secret", "[::1]:80"),
            ("https://a@b@host.example/x", "host.example"),
            ("secret", ""),
        ] {
            assert_eq!(HookUrl::stored(url.into()).host(), host, "{url}");
        }
    }

    #[test]
    fn urls_are_shown_without_credentials() {
        for (url, shown) in [
            ("http://me:p%40ss@example.com/x?a=b@c#d", "http://example.com/x?a=b@c#d"),
            ("https://me@example.com:8443", "https://example.com:8443"),
            ("http://example.com/@me", "http://example.com/@me"),
        ] {
            assert_eq!(HookUrl::stored(url.into()).without_credentials(), shown);
        }
    }

    #[test]
    fn tokens_contain_no_control_characters() {
        for (token, is_good) in
            [("a b", true), ("\u{fc}", true), ("a\nb", false), ("a\r\nX: y", false), ("\0", false)]
        {
            let token = Secret::new(token);
            assert_eq!(checked_token(Some(&token)).is_ok(), is_good, "{}", token.reveal());
        }
        assert_eq!(checked_token(None).ok().flatten(), None);
    }
}
