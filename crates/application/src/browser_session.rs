//! Browser sessions: sign-ins on the web pages.
//!
//! The cookie of the browser has a random token, and the database has its digest. The row alone decides whether the
//! session is valid. It is in another table than access tokens, so the API and Git do not accept the token.

use std::net::IpAddr;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::browser_session::{
    self as domain, BrowserSession, IDLE_LIMIT, NewBrowserSession, SessionHolder,
};
use hexforge_domain::id::BrowserSessionId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::Secret;
use hexforge_domain::user::User;

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::session::{self, Attempt};

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The actor for use cases.
    pub actor: Actor,
    /// The user.
    pub user: User,
    /// The session.
    pub session: BrowserSession,
}

impl SignedIn {
    fn new(session: BrowserSession, user: User) -> Self {
        Self { actor: Actor::of(user.id, &user.privileges), user, session }
    }
}

/// The result of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The token for the cookie. It is shown only once; the database stores only its digest.
    pub token: Secret,
    /// The user and the session.
    pub signed_in: SignedIn,
}

/// Signs in: always creates a new session, and ends the one of the token `previous`. Failures are throttled as for
/// [`session::create`]. `browser` is the `User-Agent`, which is stored in a shortened form.
pub fn create(
    app: &App,
    attempt: &Attempt,
    remember: bool,
    browser: &str,
    previous: Option<&Secret>,
) -> Result<NewSession, Error> {
    let token = app.secrets.session_token();
    session::verify(app, attempt, |tx, user| {
        if let Some(previous) = previous {
            tx.browser_sessions().remove_by_hash(&app.secrets.digest(previous.reveal()))?;
        }
        Ok(start(app, tx, user, token, attempt.address, remember, browser)?)
    })
}

/// Inserts a browser session for a user whose sign-in was accepted.
pub(crate) fn start(
    app: &App,
    tx: &mut dyn Tx,
    user: User,
    token: Secret,
    address: Option<IpAddr>,
    remember: bool,
    browser: &str,
) -> Result<NewSession, StoreError> {
    let now = app.clock.now();
    let user = note_sign_in(tx, user, now)?;
    let session = tx.browser_sessions().insert(NewBrowserSession {
        user: user.id,
        hash: app.secrets.digest(token.reveal()),
        address,
        browser: domain::shortened_browser(browser),
        remembered: remember,
        at: now,
    })?;
    Ok(NewSession { token, signed_in: SignedIn::new(session, user) })
}

/// Stores the times of the last two sign-ins.
fn note_sign_in(tx: &mut dyn Tx, user: User, now: Timestamp) -> Result<User, StoreError> {
    let last_sign_in_at = user.current_sign_in_at.or(Some(now));
    let user = User { last_sign_in_at, current_sign_in_at: Some(now), ..user };
    tx.users().update(&user)?;
    Ok(user)
}

/// Returns the session of a cookie token, with its user. Returns `None` if the session does not exist or has ended, or
/// if the user is blocked.
pub fn identify(app: &App, token: &Secret) -> Result<Option<SignedIn>, Error> {
    let hash = app.secrets.digest(token.reveal());
    let (found, idle_limit) = app.store.read_autocommit::<_, Error>(|tx| {
        let Some(holder) = tx.browser_sessions().holder(&hash)? else {
            return Ok((None, IDLE_LIMIT));
        };
        let settings = app.application_settings.at_version(tx, holder.settings_version)?;
        Ok((Some(holder), idle_limit_of(&settings)))
    })?;
    let now = app.clock.now();
    let is_valid = |holder: &SessionHolder| {
        !holder.session.has_ended(now, idle_limit) && holder.user.state.may_act()
    };
    let Some(holder) = found.filter(is_valid) else { return Ok(None) };
    if holder.session.needs_write(now, idle_limit) {
        // A write error does not fail the request, which may be read-only: the next request tries again.
        let id = holder.session.id;
        let _ = app.store.write::<_, StoreError>(|tx| tx.browser_sessions().touch(id, now));
    }
    Ok(Some(SignedIn::new(holder.session, holder.user)))
}

/// Returns the secret from which the form tokens of a session are made. It can be computed from the token of the
/// session only, and does not reveal that token. The forms of sign-in and registration use it with the token of their
/// own cookie.
pub fn form_secret(app: &App, token: &Secret) -> [u8; 32] {
    app.secrets.digest(&format!("form secret of {}", token.reveal())).0
}

/// Signs out: ends the session of the token. A session that has ended already is no error.
pub fn end(app: &App, token: &Secret) -> Result<(), Error> {
    let hash = app.secrets.digest(token.reveal());
    app.store.write(|tx| Ok(tx.browser_sessions().remove_by_hash(&hash)?))
}

/// Lists the sessions of the actor that have not ended, most recently used first.
pub fn list(app: &App, actor: Actor, page: Page) -> Result<Paged<BrowserSession>, Error> {
    let user = access::own_account(actor)?;
    let now = app.clock.now();
    let (mut sessions, idle_limit) = app
        .store
        .read::<_, Error>(|tx| Ok((tx.browser_sessions().list(user)?, idle_limit(app, tx)?)))?;
    sessions.retain(|session| !session.has_ended(now, idle_limit));
    Ok(page.slice(sessions))
}

/// Ends a session of the actor.
/// # Errors
/// Not found when the actor has no such session.
pub fn revoke(app: &App, actor: Actor, id: BrowserSessionId) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        if tx.browser_sessions().remove(user, id)? {
            Ok(())
        } else {
            Err(Error::NotFound(Entity::Record))
        }
    })
}

/// The number of sessions that one transaction removes.
const REMOVED_AT_ONCE: u32 = 1000;

/// Removes sessions that have ended, while `go_on` returns true. Returns their number.
pub fn remove_ended(app: &App, go_on: &dyn Fn() -> bool) -> Result<usize, Error> {
    let now = app.clock.now();
    let idle_limit = app.store.read_autocommit::<_, Error>(|tx| Ok(idle_limit(app, tx)?))?;
    let mut removed = 0;
    for remembered in [false, true] {
        let by = now - domain::idle_limit_of(remembered, idle_limit);
        while go_on() {
            let count = app.store.write::<_, Error>(|tx| {
                Ok(tx.browser_sessions().remove_unused(remembered, by, REMOVED_AT_ONCE)?)
            })?;
            removed += count;
            if count == 0 {
                break;
            }
        }
    }
    Ok(removed)
}

/// Returns the time without use after which sessions end that are not remembered, from the settings of the service.
fn idle_limit(app: &App, tx: &mut dyn Tx) -> Result<TimeDelta, StoreError> {
    Ok(idle_limit_of(&*app.current_settings(tx)?))
}

fn idle_limit_of(settings: &ApplicationSettings) -> TimeDelta {
    // A limit of 0 would end a session before its first page.
    let minutes = settings.session_expire_delay.clamp(1, MAX_MINUTES);
    TimeDelta::try_minutes(minutes).unwrap_or(IDLE_LIMIT)
}

/// Ten years, the longest limit that is used.
const MAX_MINUTES: i64 = 10 * 365 * 24 * 60;
