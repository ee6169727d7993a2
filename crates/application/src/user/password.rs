//! Changes of the own password.

use std::net::IpAddr;

use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::text::Secret;
use hexforge_domain::user::Password;

use crate::app::App;
use crate::browser_session::SignedIn;
use crate::error::Error;
use crate::session::{self, Attempt};

/// A request to change the own password.
#[derive(Clone, Debug)]
pub struct PasswordChange {
    /// The password so far.
    pub current: Secret,
    /// The new password.
    pub new: Secret,
    /// The IP address of the client.
    pub address: Option<IpAddr>,
}

/// Changes the password of the user who is signed in. Ends all other sessions of the user, in browsers and of the API.
/// # Errors
/// A wrong current password is an error of the field `current_password`, and counts as a failed sign-in.
pub fn change_own(app: &App, signed_in: &SignedIn, change: &PasswordChange) -> Result<(), Error> {
    let new = Password::parse(change.new.reveal())
        .map_err(|error| FieldErrors::single("password", error))?;
    // Hashing is slow, so it is done before the transaction.
    let hash = app.passwords.hash(&new);
    let attempt = Attempt {
        login: signed_in.user.username.as_str().to_owned(),
        password: change.current.clone(),
        address: change.address,
    };
    let (id, session) = (signed_in.user.id, signed_in.session.id);
    let changed = session::verify(app, &attempt, |tx, user| {
        // The account may have been renamed since it was identified, and another one may have its name now.
        if user.id != id {
            return Err(Error::Unauthenticated);
        }
        tx.users().set_password(id, &hash)?;
        Ok(session::end_all(tx, id, Some(session), app.clock.now())?)
    });
    changed.map_err(|error| match error {
        Error::Unauthenticated => {
            FieldErrors::single("current_password", FieldProblem::Invalid).into()
        }
        error => error,
    })
}
