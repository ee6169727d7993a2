//! Sign-in with a password, which creates a session with a private token.

use std::net::IpAddr;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{BrowserSessionId, UserId};
use hexforge_domain::network::caller_network;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::sign_in::{Failures, networks_valid_since};
use hexforge_domain::text::Secret;
use hexforge_domain::token::{NewToken, TokenKind};
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::Error;
use crate::view::user::{self, LoginView};

/// An attempt to sign in.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// A username or a primary e-mail address.
    pub login: String,
    /// The password to check.
    pub password: Secret,
    /// The IP address of the client.
    pub address: Option<IpAddr>,
}

/// Returns the address of the client unless it is a loopback address. All programs on the server's machine share the
/// loopback address, so throttling or remembering it would affect them all.
fn remote(address: Option<IpAddr>) -> Option<IpAddr> {
    address.filter(|ip| !ip.to_canonical().is_loopback())
}

/// The time that a session row is kept after its end, so that the owner still sees it in the list and a client learns
/// that the session ended.
const KEPT_AFTER_END: TimeDelta = TimeDelta::days(7);

/// The number of sessions that one transaction removes.
const REMOVED_AT_ONCE: u32 = 1000;

/// Removes sessions that ended longer ago than the retention time, while `go_on` returns true. Returns their number.
pub fn remove_ended(app: &App, go_on: &dyn Fn() -> bool) -> Result<usize, Error> {
    let by = app.clock.now() - KEPT_AFTER_END;
    let mut removed = 0;
    while go_on() {
        // An ended session is never extended, so these rows are still ended when the next transaction removes them.
        let ended = app.store.read(|tx| tx.tokens().ended_sessions(by, REMOVED_AT_ONCE))?;
        if ended.is_empty() {
            break;
        }
        app.store.write(|tx| tx.tokens().remove(&ended))?;
        removed += ended.len();
    }
    Ok(removed)
}

/// Ends all sessions of a user: the tokens of [`create`] and the sessions of browsers, except one if it is given.
pub(crate) fn end_all(
    tx: &mut dyn Tx,
    user: UserId,
    except: Option<BrowserSessionId>,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.tokens().revoke_sessions(user, now)?;
    tx.browser_sessions().remove_all_of(user, except)
}

/// Returns the stored form of the network from which a user signs in: a token derived by the vault, so that the
/// database does not reveal the network.
fn network_of(app: &App, user: UserId, address: Option<IpAddr>) -> Option<String> {
    let network = caller_network(remote(address)?);
    let token = app.vault.token(&format!("sign-in of user {user} from {network}"));
    Some(token.reveal().to_owned())
}

/// Signs in. The session expires when it is not used for the time in the settings.
pub fn create(app: &App, attempt: &Attempt) -> Result<LoginView, Error> {
    let private_token = app.secrets.token();
    verify(app, attempt, |tx, user| {
        let now = app.clock.now();
        tx.tokens().insert(NewToken {
            user: user.id,
            kind: TokenKind::Private,
            name: "session".to_owned(),
            hash: app.secrets.digest(private_token.reveal()),
            expires_at: now.checked_add_signed(app.settings.session),
            at: now,
        })?;
        // The response shows the avatar by the settings.
        app.current_settings(tx)?;
        Ok(LoginView { user: user::full(tx, user)?, private_token })
    })
}

/// Checks login and password, and runs `work` for the account. Failures are throttled per account and per address.
/// Throttling ignores whether the password was correct, so that a throttled attempt reveals nothing. Callers whose
/// network signed in to the account before have their own failure count instead of the account's.
pub(crate) fn verify<T: Send>(
    app: &App,
    attempt: &Attempt,
    work: impl FnOnce(&mut dyn Tx, User) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let (found, subjects) = app.store.read::<_, Error>(|tx| {
        let found = tx.users().find_by_login(attempt.login.trim())?;
        let subjects = Subjects::load(app, tx, found.as_ref().map(|(user, _)| user.id), attempt)?;
        subjects.check(tx, app.clock.now())?;
        Ok((found, subjects))
    })?;
    let is_correct =
        app.passwords.verify(attempt.password.reveal(), found.as_ref().map(|(_, hash)| hash));
    let now = app.clock.now();
    let verified = found.filter(|(user, _)| is_correct && user.state.may_act());
    let Some((user, hash)) = verified else {
        // Checked again, because many concurrent attempts may have passed the first check.
        app.store.write(|tx| {
            subjects.check(tx, now)?;
            subjects.note_failure(tx, now)
        })?;
        return Err(Error::Unauthenticated);
    };
    if user.two_factor_enabled {
        app.store.write(|tx| {
            subjects.check(tx, now)?;
            subjects.note_success(tx)
        })?;
        return Err(Error::SecondFactor);
    }
    app.store.write(|tx| {
        subjects.check(tx, now)?;
        subjects.note_success(tx)?;
        // Hashing takes long: since then the account may have been changed, blocked or removed, or its password
        // replaced.
        let user = tx.users().lock(user.id)?.filter(|user| user.state.may_act());
        let user = user.ok_or(Error::Unauthenticated)?;
        let current = tx.users().find_by_login(user.username.as_str())?;
        if current.is_none_or(|(_, current)| current != hash) {
            return Err(Error::Unauthenticated);
        }
        remember_network(app, tx, user.id, attempt.address)?;
        work(tx, user)
    })
}

/// Stores the network from which a user signed in.
pub(crate) fn remember_network(
    app: &App,
    tx: &mut dyn Tx,
    user: UserId,
    address: Option<IpAddr>,
) -> Result<(), StoreError> {
    let Some(network) = network_of(app, user, address) else { return Ok(()) };
    let now = app.clock.now();
    tx.sign_in_addresses().remember(user, &network, now, networks_valid_since(now))
}

/// The keys under which failed attempts are counted.
struct Subjects {
    account: String,
    address: Option<String>,
}

impl Subjects {
    fn load(
        app: &App,
        tx: &mut dyn Tx,
        user: Option<UserId>,
        attempt: &Attempt,
    ) -> Result<Self, StoreError> {
        let since = networks_valid_since(app.clock.now());
        let known = match user.and_then(|id| Some((id, network_of(app, id, attempt.address)?))) {
            Some((id, network)) if tx.sign_in_addresses().is_known(id, &network, since)? => {
                Some(network)
            }
            Some(_) | None => None,
        };
        let account = match (user, known) {
            // A separate count, so that failures of other callers do not lock out a user who signed in from this
            // network before.
            (Some(id), Some(network)) => format!("user:{id} from {network}"),
            (Some(id), None) => format!("user:{id}"),
            // Truncated, because the caller controls the text and it becomes a key in the database.
            (None, _) => format!(
                "login:{}",
                attempt.login.trim().to_lowercase().chars().take(255).collect::<String>()
            ),
        };
        // IPv6 clients own a whole network and could use a new address for each guess.
        let address = remote(attempt.address).map(|ip| format!("address:{}", caller_network(ip)));
        Ok(Self { account, address })
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.account.as_str()).chain(self.address.as_deref())
    }

    fn check(&self, tx: &mut dyn Tx, now: Timestamp) -> Result<(), Error> {
        for subject in self.iter() {
            let known = tx.sign_in_failures().find(subject)?;
            if let Some(seconds) = known.and_then(|failures| failures.wait(now)) {
                return Err(Error::Throttled(seconds));
            }
        }
        Ok(())
    }

    fn note_failure(&self, tx: &mut dyn Tx, now: Timestamp) -> Result<(), Error> {
        tx.sign_in_failures().forget_before(Failures::forgotten_before(now))?;
        for subject in self.iter() {
            let known = tx.sign_in_failures().find(subject)?;
            tx.sign_in_failures().put(subject, Failures::count_failure(known, now))?;
        }
        Ok(())
    }

    /// Resets only the count of the account. Resetting the address too would let an attacker with one valid account go
    /// on guessing passwords of others.
    fn note_success(&self, tx: &mut dyn Tx) -> Result<(), Error> {
        Ok(tx.sign_in_failures().clear(&self.account)?)
    }
}
