//! Registration: strangers create their own accounts, if the operator and the administrators allow it.

use std::net::IpAddr;

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::user::{NewUser, Privileges, User, UserState};

use super::fields::UserFields;
use super::{Claims, map_duplicate, store_new};
use crate::app::{App, SignUp};
use crate::browser_session::{self, NewSession};
use crate::error::{Entity, Error};
use crate::session;

/// Returns whether strangers may register now.
pub fn is_open(app: &App) -> Result<bool, Error> {
    if app.settings.signup == SignUp::Off {
        return Ok(false);
    }
    app.store.read_autocommit(|tx| Ok(app.current_settings(tx)?.signup_enabled))
}

/// Creates an account for a stranger, without any privileges, and signs in. With [`SignUp::Approval`] the account is
/// blocked until an administrator unblocks it, and there is no session. `browser` is the `User-Agent`.
/// # Errors
/// Not found when nobody may register.
pub fn register(
    app: &App,
    fields: &UserFields,
    address: Option<IpAddr>,
    browser: &str,
) -> Result<Option<NewSession>, Error> {
    if !is_open(app)? {
        return Err(Error::NotFound(Entity::Record));
    }
    fields.require_for_creation()?;
    let mut errors = FieldErrors::default();
    let parsed = fields.parse(&mut errors);
    let password = parsed.password.as_ref().filter(|_| errors.is_empty());
    let password = password.map(|password| app.passwords.hash(password));
    let now = app.clock.now();
    app.store.write(|tx| {
        let mut errors = errors;
        let settings = app.current_settings(tx)?;
        if let Some(email) = &parsed.email {
            let domain = email.as_str().rsplit('@').next().unwrap_or_default();
            if !settings.may_register_from(domain) {
                errors.add("email", "is not from an allowed domain");
            }
        }
        let claims = Claims {
            user: None,
            email: parsed.email.as_ref(),
            username: parsed.username.as_ref(),
            identity: None,
        };
        claims.check(tx, &mut errors)?;
        let new = errors.into_result_with(|| {
            Some(NewUser {
                username: parsed.username?,
                name: parsed.name?,
                email: parsed.email?,
                privileges: Privileges {
                    admin: false,
                    external: settings.user_default_external,
                    can_create_group: true,
                    projects_limit: settings.default_projects_limit,
                }
                .normalized(),
                profile: Default::default(),
                password: password?,
                confirmed_at: Some(now),
                at: now,
            })
        })?;
        let user = store_new(tx, new, now).map_err(map_duplicate)?;
        match app.settings.signup {
            SignUp::Open => {
                session::remember_network(app, tx, user.id, address)?;
                let token = app.secrets.session_token();
                let new = browser_session::start(app, tx, user, token, address, false, browser)?;
                Ok(Some(new))
            }
            SignUp::Approval | SignUp::Off => {
                tx.users().update(&User { state: UserState::Blocked, ..user })?;
                Ok(None)
            }
        }
    })
}
