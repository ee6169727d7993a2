//! The URL of a repository to import.

use hexforge_domain::ports::imports::ImportError;
use url::Url;

/// A URL, possibly with user name and password.
pub(crate) struct Address(Url);

const SERVICE: &str = "service=git-upload-pack";

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, ImportError> {
        let refused = |why: &str| ImportError::Refused(why.to_owned());
        if text.chars().any(char::is_control) {
            return Err(refused("the address must not contain control characters"));
        }
        let url = Url::parse(text).map_err(|_| refused("the address is not a valid URL"))?;
        Self::of(url).ok_or_else(|| refused("only http and https addresses can be imported"))
    }

    fn of(mut url: Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Some(Self(url))
    }

    /// Whether the URL contains a user name or a password.
    pub(crate) fn has_credentials(&self) -> bool {
        !self.0.username().is_empty() || self.0.password().is_some()
    }

    /// The URL with `.git` appended, as bare repositories are often named. `None` if it ends so
    /// already, or has no path.
    pub(crate) fn with_suffix(&self) -> Option<Self> {
        let path = self.0.path();
        if path.ends_with(".git") || path == "/" {
            return None;
        }
        let path = format!("{path}.git");
        let mut url = self.0.clone();
        url.set_path(&path);
        Some(Self(url))
    }

    /// The URL of the ref advertisement.
    pub(crate) fn info_refs(&self) -> String {
        let mut url = self.below("info/refs");
        url.set_query(Some(SERVICE));
        url.into()
    }

    /// The URL for fetching objects.
    pub(crate) fn upload_pack(&self) -> String {
        self.below("git-upload-pack").into()
    }

    fn below(&self, name: &str) -> Url {
        let mut url = self.0.clone();
        let path = format!("{}/{name}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url
    }

    /// The URL of the repository after the advertisement was redirected. Keeps the user name and
    /// password only if the origin is the same.
    pub(crate) fn redirected(&self, answered: &str) -> Option<Self> {
        let mut url = Url::parse(answered).ok()?;
        if url.query() != Some(SERVICE) {
            return None;
        }
        let path = url.path().strip_suffix("/info/refs")?.to_owned();
        url.set_path(&path);
        let (name, password) = if url.origin() == self.0.origin() {
            (self.0.username(), self.0.password())
        } else {
            ("", None)
        };
        url.set_username(name).ok()?;
        url.set_password(password).ok()?;
        Self::of(url)
    }

    /// Removes the user name and the password from an error, in case the server repeated them.
    pub(crate) fn without_secrets(&self, error: ImportError) -> ImportError {
        match error {
            ImportError::Refused(text) => ImportError::Refused(self.hide(text)),
            ImportError::Failed(text) => ImportError::Failed(self.hide(text)),
        }
    }

    fn hide(&self, mut text: String) -> String {
        // Tokens are often sent as the user name.
        for encoded in [self.0.password().unwrap_or_default(), self.0.username()] {
            let plain = percent_encoding::percent_decode_str(encoded).decode_utf8_lossy();
            for secret in [encoded, &*plain] {
                if secret.len() >= SHORTEST_SECRET {
                    text = text.replace(secret, "[hidden]");
                }
            }
        }
        text
    }
}

/// Shorter secrets are not hidden: they occur in many words, and are too short to be secret.
const SHORTEST_SECRET: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).expect("a good address")
    }

    #[test]
    fn only_http_and_https_are_imported() {
        for (text, why) in [
            ("ssh://git@example.com/a.git", "only http and https addresses can be imported"),
            ("git://example.com/a.git", "only http and https addresses can be imported"),
            ("file:///srv/a.git", "only http and https addresses can be imported"),
            ("git@example.com:a.git", "the address is not a valid URL"),
            ("/srv/a.git", "the address is not a valid URL"),
            ("http://example.com/a\nb", "the address must not contain control characters"),
        ] {
            let found = Address::parse(text).err();
            assert_eq!(found, Some(ImportError::Refused(why.into())), "{text}");
        }
    }

    #[test]
    fn the_places_below_an_address() {
        for (text, refs, pack) in [
            ("http://h/a/b.git", "http://h/a/b.git/info/refs?", "http://h/a/b.git/git-upload-pack"),
            ("http://h/a/b/", "http://h/a/b/info/refs?", "http://h/a/b/git-upload-pack"),
            ("http://h/a?b=c#d", "http://h/a/info/refs?", "http://h/a/git-upload-pack"),
            ("http://h:8/", "http://h:8/info/refs?", "http://h:8/git-upload-pack"),
            ("http://u:p@h/a", "http://u:p@h/a/info/refs?", "http://u:p@h/a/git-upload-pack"),
        ] {
            let address = address(text);
            assert_eq!(address.info_refs(), format!("{refs}{SERVICE}"));
            assert_eq!(address.upload_pack(), pack);
        }
    }

    #[test]
    fn the_suffix_is_added_once() {
        let with = |text: &str| address(text).with_suffix().map(|address| address.upload_pack());
        assert_eq!(with("http://h/a/").as_deref(), Some("http://h/a.git/git-upload-pack"));
        assert_eq!(with("http://h/a.git"), None);
        assert_eq!(with("http://h/"), None);
    }

    #[test]
    fn a_redirect_moves_the_base_and_takes_secrets_only_within_a_server() {
        let redirected = |to: &str| {
            address("http://u:p%40@h/a").redirected(to).map(|address| address.upload_pack())
        };
        for (to, expected) in [
            (
                "http://h/b.git/info/refs?service=git-upload-pack",
                Some("http://u:p%40@h/b.git/git-upload-pack"),
            ),
            ("https://h/b/info/refs?service=git-upload-pack", Some("https://h/b/git-upload-pack")),
            ("http://o/b/info/refs?service=git-upload-pack", Some("http://o/b/git-upload-pack")),
            ("http://h:81/info/refs?service=git-upload-pack", Some("http://h:81/git-upload-pack")),
            ("http://h/login", None),
            ("http://h/b/info/refs", None),
        ] {
            assert_eq!(redirected(to).as_deref(), expected, "{to}");
        }
    }

    #[test]
    fn what_a_server_repeats_is_not_told() {
        for (url, text, message) in [
            ("http://ada:p%40ss@h/a", "no p@ss for ada", "no [hidden] for ada"),
            ("http://ada:p%40ss@h/a", "no p%40ss", "no [hidden]"),
            ("http://t0ken@h/a", "t0ken is t0ken", "[hidden] is [hidden]"),
            ("http://a:b@h/a", "a bad answer", "a bad answer"),
            ("http://h/a", "fine", "fine"),
        ] {
            let error = address(url).without_secrets(ImportError::Failed(text.into()));
            assert_eq!(error, ImportError::Failed(message.into()), "{url}");
        }
    }
}
