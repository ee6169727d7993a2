//! Signing in with a password, which gives out a private token.

use std::net::IpAddr;

use hexforge_domain::Timestamp;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::sign_in::Failures;
use hexforge_domain::text::Secret;
use hexforge_domain::token::{NewToken, TokenKind};
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::Error;
use crate::view::user::{self, LoginView};

/// A try to sign in.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// A username or a primary address.
    pub login: String,
    /// The password that may be the right one.
    pub password: Secret,
    /// From where the try comes.
    pub address: Option<IpAddr>,
}

/// Signs in.
pub fn create(app: &App, attempt: &Attempt) -> Result<LoginView, Error> {
    let private_token = app.secrets.token();
    verify(app, attempt, |tx, user| {
        tx.tokens().insert(NewToken {
            user: user.id,
            kind: TokenKind::Private,
            name: "session".to_owned(),
            hash: app.secrets.digest(private_token.reveal()),
            expires_at: None,
            at: app.clock.now(),
        })?;
        Ok(LoginView { user: user::full(tx, user)?, private_token })
    })
}

/// Checks name and password, and does something for the account that they are of. Guessing is braked per
/// account and per address; both brakes hold whatever the password was, so that a refused try tells
/// nothing.
pub(crate) fn verify<T>(
    app: &App,
    attempt: &Attempt,
    work: impl FnOnce(&mut dyn Tx, User) -> Result<T, Error>,
) -> Result<T, Error> {
    let (found, subjects) = app.store.read::<_, Error>(|tx| {
        let found = tx.users().find_by_login(attempt.login.trim())?;
        let subjects = Subjects::of(found.as_ref().map(|(user, _)| user.id.0), attempt);
        subjects.check(tx, app.clock.now())?;
        Ok((found, subjects))
    })?;
    let right =
        app.passwords.verify(attempt.password.reveal(), found.as_ref().map(|(_, hash)| hash));
    let now = app.clock.now();
    let verified = found.filter(|(user, _)| right && user.state.may_act());
    let Some((user, _)) = verified else {
        // Asked again, because many tries may have passed the first check at the same time.
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
        // Hashing takes long: the account may have been changed, blocked or removed meanwhile.
        let user = tx.users().lock(user.id)?.filter(|user| user.state.may_act());
        work(tx, user.ok_or(Error::Unauthenticated)?)
    })
}

/// Whose failures are counted.
struct Subjects {
    account: String,
    address: Option<String>,
}

impl Subjects {
    fn of(user: Option<i64>, attempt: &Attempt) -> Self {
        let account = match user {
            Some(id) => format!("user:{id}"),
            // Cut, because the text is the caller's and becomes a key in the store.
            None => format!(
                "login:{}",
                attempt.login.trim().to_lowercase().chars().take(255).collect::<String>()
            ),
        };
        // Programs on the same machine share the loopback address: braking it would brake them all.
        let address = attempt.address.filter(|ip| !ip.to_canonical().is_loopback());
        Self { account, address: address.map(|ip| format!("address:{}", ip.to_canonical())) }
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
            tx.sign_in_failures().put(subject, Failures::after(known, now))?;
        }
        Ok(())
    }

    /// Only the account's count is reset: with the address's, one good account would be enough to go
    /// on guessing others for ever.
    fn note_success(&self, tx: &mut dyn Tx) -> Result<(), Error> {
        Ok(tx.sign_in_failures().clear(&self.account)?)
    }
}
