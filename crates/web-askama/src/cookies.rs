//! The cookies of the pages: the session, the form of strangers, the preferences, and a message for the next page.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration as CookieTime;
use actix_web::cookie::{Cookie, SameSite};
use hexforge_domain::text::Secret;
use hexforge_http_edge::session_cookie::{self, MAX_TOKEN};

use crate::diff::Layout;

/// The lifetime of the cookie of a session that is remembered. The row decides whether the session is valid.
const REMEMBERED: CookieTime = CookieTime::days(14);

/// The lifetime of the cookie that protects the forms of strangers.
const FORM: CookieTime = CookieTime::hours(2);

/// The lifetime of a message for the next page.
const NOTICE: CookieTime = CookieTime::minutes(1);

/// The lifetime of a preference.
const PREFERENCE: CookieTime = CookieTime::days(365);

/// A color scheme, as the visitor chose it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scheme {
    #[default]
    System,
    Light,
    Dark,
}

impl Scheme {
    pub(crate) const ALL: [Scheme; 3] = [Scheme::System, Scheme::Light, Scheme::Dark];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Scheme::System => "system",
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        }
    }

    /// The name that a visitor sees.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Scheme::System => "System",
            Scheme::Light => "Light",
            Scheme::Dark => "Dark",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.as_str() == text)
    }
}

/// A message that the page after a form shows once. It is a word and not a text, because a cookie can be set by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    SignedOut,
    Saved,
    Created,
    Removed,
    Refused,
    Scheduled,
    /// Access was requested.
    Requested,
    /// A sample was sent to a system hook.
    Sent,
    /// A delivery to a hook was queued.
    Queued,
    /// Only some of the chosen things were changed, because of an error.
    Partly {
        changed: u8,
        chosen: u8,
    },
}

impl Notice {
    const ALL: [Notice; 9] = [
        Notice::SignedOut,
        Notice::Saved,
        Notice::Created,
        Notice::Removed,
        Notice::Refused,
        Notice::Scheduled,
        Notice::Requested,
        Notice::Sent,
        Notice::Queued,
    ];

    fn word(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Notice::Partly { changed, chosen } => {
                return Cow::Owned(format!("partly-{changed}-{chosen}"));
            }
            Notice::SignedOut => "signed-out",
            Notice::Saved => "saved",
            Notice::Created => "created",
            Notice::Removed => "removed",
            Notice::Refused => "refused",
            Notice::Scheduled => "scheduled",
            Notice::Requested => "requested",
            Notice::Sent => "sent",
            Notice::Queued => "queued",
        })
    }

    fn parse(word: &str) -> Option<Self> {
        if let Some(numbers) = word.strip_prefix("partly-") {
            let (changed, chosen) = numbers.split_once('-')?;
            let (changed, chosen) = (changed.parse().ok()?, chosen.parse().ok()?);
            return Some(Notice::Partly { changed, chosen });
        }
        Self::ALL.into_iter().find(|notice| notice.word() == word)
    }

    /// Whether something went wrong.
    pub(crate) fn is_alert(self) -> bool {
        matches!(self, Notice::Refused | Notice::Partly { .. })
    }

    /// The text that a visitor sees.
    pub(crate) fn text(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Notice::Partly { changed, chosen } => {
                return Cow::Owned(format!(
                    "{changed} of {chosen} were changed, then something went wrong. Choose the others, and try \
                     again."
                ));
            }
            Notice::SignedOut => "You are signed out.",
            Notice::Saved => "Your changes were saved.",
            Notice::Created => "It was created.",
            Notice::Removed => "It was removed.",
            Notice::Scheduled => "It will be done in the background.",
            Notice::Requested => "You requested access. Those who manage the members decide.",
            Notice::Sent => "A sample was sent to the hook.",
            Notice::Refused => "Nothing was changed: it is not possible any more.",
            Notice::Queued => "It is sent in a moment. Reload the page to see the answer.",
        })
    }
}

/// The names and attributes of cookies. They depend on whether the service is reached by https.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jar {
    is_https: bool,
}

impl Jar {
    pub(crate) fn new(external_url: &str) -> Self {
        Self { is_https: external_url.starts_with("https:") }
    }

    /// A browser takes a cookie with the prefix `__Host-` only from this host, by https.
    fn session_name(self) -> &'static str {
        if self.is_https { session_cookie::HOST_NAME } else { session_cookie::PLAIN_NAME }
    }

    fn form_name(self) -> &'static str {
        if self.is_https { "__Host-hexforge_form" } else { "hexforge_form" }
    }

    /// The token of the session.
    pub(crate) fn session(self, request: &HttpRequest) -> Option<Secret> {
        token(request, self.session_name())
    }

    /// The token to which the forms of a stranger are bound.
    pub(crate) fn form(self, request: &HttpRequest) -> Option<Secret> {
        token(request, self.form_name())
    }

    /// The cookie of a new session.
    pub(crate) fn new_session(self, token: &Secret, remember: bool) -> Cookie<'static> {
        let mut cookie = self.cookie(self.session_name(), token.reveal().to_owned());
        if remember {
            cookie.set_max_age(REMEMBERED);
        }
        cookie
    }

    /// The cookie of a form of a stranger.
    pub(crate) fn new_form(self, token: &Secret) -> Cookie<'static> {
        let mut cookie = self.cookie(self.form_name(), token.reveal().to_owned());
        cookie.set_max_age(FORM);
        cookie
    }

    /// Removes the cookie of the session.
    pub(crate) fn no_session(self) -> Cookie<'static> {
        self.removal(self.session_name())
    }

    /// Removes the cookie of the form.
    pub(crate) fn no_form(self) -> Cookie<'static> {
        self.removal(self.form_name())
    }

    /// The cookie of a message.
    pub(crate) fn new_notice(self, notice: Notice) -> Cookie<'static> {
        let mut cookie = self.cookie(NOTICE_NAME, notice.word().into_owned());
        cookie.set_max_age(NOTICE);
        cookie
    }

    /// Removes the message, which was shown.
    pub(crate) fn no_notice(self) -> Cookie<'static> {
        self.removal(NOTICE_NAME)
    }

    /// The cookie of a color scheme.
    pub(crate) fn new_scheme(self, scheme: Scheme) -> Cookie<'static> {
        let mut cookie = self.cookie(SCHEME_NAME, scheme.as_str().to_owned());
        cookie.set_max_age(PREFERENCE);
        cookie
    }

    /// The cookie that switches the keyboard shortcuts on or off.
    pub(crate) fn new_shortcuts(self, are_on: bool) -> Cookie<'static> {
        if are_on {
            return self.removal(SHORTCUTS_NAME);
        }
        let mut cookie = self.cookie(SHORTCUTS_NAME, OFF.to_owned());
        cookie.set_max_age(PREFERENCE);
        cookie
    }

    /// The cookie of the layout of changes.
    pub(crate) fn new_layout(self, layout: Layout) -> Cookie<'static> {
        let mut cookie = self.cookie(LAYOUT_NAME, layout.word().to_owned());
        cookie.set_max_age(PREFERENCE);
        cookie
    }

    /// A short-lived cookie that only the addresses below a path get.
    pub(crate) fn at_path(
        self,
        name: &'static str,
        value: &str,
        path: &'static str,
        lifetime: CookieTime,
    ) -> Cookie<'static> {
        let mut cookie = self.cookie(name, value.to_owned());
        cookie.set_path(path);
        cookie.set_same_site(SameSite::Strict);
        cookie.set_max_age(lifetime);
        cookie
    }

    fn cookie(self, name: &'static str, value: String) -> Cookie<'static> {
        let cookie = Cookie::build(name, value).path("/").http_only(true);
        cookie.same_site(SameSite::Lax).secure(self.is_https).finish()
    }

    fn removal(self, name: &'static str) -> Cookie<'static> {
        let mut cookie = self.cookie(name, String::new());
        cookie.set_max_age(CookieTime::ZERO);
        cookie
    }
}

const NOTICE_NAME: &str = "hexforge_notice";
const SCHEME_NAME: &str = "hexforge_color_scheme";
const LAYOUT_NAME: &str = "hexforge_diff_view";
const SHORTCUTS_NAME: &str = "hexforge_shortcuts";

/// The value of the cookie of keyboard shortcuts that are switched off.
const OFF: &str = "off";

/// The color scheme that the visitor chose.
pub(crate) fn scheme(request: &HttpRequest) -> Scheme {
    let cookie = request.cookie(SCHEME_NAME);
    cookie.and_then(|cookie| Scheme::parse(cookie.value())).unwrap_or_default()
}

/// The layout of changes that the visitor prefers.
pub(crate) fn layout(request: &HttpRequest) -> Layout {
    let cookie = request.cookie(LAYOUT_NAME);
    cookie.and_then(|cookie| Layout::parse(cookie.value())).unwrap_or_default()
}

/// Whether the visitor uses keyboard shortcuts.
pub(crate) fn has_shortcuts(request: &HttpRequest) -> bool {
    request.cookie(SHORTCUTS_NAME).is_none_or(|cookie| cookie.value() != OFF)
}

/// The message that the page before left.
pub(crate) fn notice(request: &HttpRequest) -> Option<Notice> {
    let cookie = request.cookie(NOTICE_NAME)?;
    Notice::parse(cookie.value())
}

fn token(request: &HttpRequest, name: &str) -> Option<Secret> {
    let cookie = request.cookie(name)?;
    let value = cookie.value();
    (!value.is_empty() && value.len() <= MAX_TOKEN).then(|| Secret::new(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_words() {
        let partly = Notice::Partly { changed: 3, chosen: 10 };
        for notice in Notice::ALL.into_iter().chain([partly]) {
            assert_eq!(Notice::parse(&notice.word()), Some(notice));
        }
        for word in ["", "other", "partly-1", "partly-1-x", "partly-<b>-1", "partly-1-999"] {
            assert_eq!(Notice::parse(word), None, "{word}");
        }
        assert!(partly.text().starts_with("3 of 10 were changed"), "{}", partly.text());
    }

    #[test]
    fn cookies_of_a_service_with_https_are_bound_to_its_host() {
        let token = Secret::new("t".to_owned());
        for (url, session, form, secure) in [
            ("http://forge.test", "hexforge_session=t", "hexforge_form=t", false),
            ("https://forge.test", "__Host-hexforge_session=t", "__Host-hexforge_form=t", true),
        ] {
            let jar = Jar::new(url);
            for (cookie, begin) in
                [(jar.new_session(&token, false), session), (jar.new_form(&token), form)]
            {
                let text = cookie.to_string();
                assert!(text.starts_with(&format!("{begin}; ")), "{text}");
                assert!(text.contains("HttpOnly; SameSite=Lax"), "{text}");
                assert!(text.contains("; Path=/"), "{text}");
                assert_eq!(text.contains("; Secure"), secure, "{text}");
                assert!(!text.contains("Domain"), "{text}");
            }
            let removal = jar.no_session().to_string();
            assert!(removal.contains("Max-Age=0") && removal.contains("Path=/"), "{removal}");
            assert_eq!(removal.contains("Secure"), secure, "{removal}");
        }
    }
}
