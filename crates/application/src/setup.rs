//! The setup on the first start.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::Secret;
use hexforge_domain::token::{NewToken, TokenKind};
use hexforge_domain::user::{
    DisplayName, EmailAddress, NewUser, Password, Privileges, Profile, UserFilter, Username,
};

use crate::app::App;
use crate::error::Error;
use crate::user::store_new;

/// The minimum length of the first token. Generated tokens are much longer; one that the operator chose must not be a
/// short word.
const SHORTEST_TOKEN: usize = 8;

/// Creates the administrator `root` with a private token, unless users exist already. Returns whether it did.
pub fn first_administrator(app: &App, password: &str, token: &Secret) -> Result<bool, Error> {
    if any_user(app)? {
        return Ok(false);
    }
    let mut errors = FieldErrors::default();
    let password = errors.check("password", Password::parse(password));
    if token.reveal().chars().count() < SHORTEST_TOKEN {
        errors.add("token", format!("is too short (minimum is {SHORTEST_TOKEN} characters)"));
    }
    let password = errors.into_result_with(|| password)?;
    let now = app.clock.now();
    let settings = app.store.read(|tx| app.current_settings(tx))?;
    let root = NewUser {
        username: Username::stored("root".to_owned()),
        name: DisplayName::stored("Administrator".to_owned()),
        email: EmailAddress::stored("admin@example.com".to_owned()),
        privileges: Privileges {
            admin: true,
            external: false,
            can_create_group: true,
            projects_limit: settings.default_projects_limit,
        },
        profile: Profile::default(),
        password: app.passwords.hash(&password),
        confirmed_at: Some(now),
        at: now,
    };
    let created = app.store.write(|tx| {
        let root = store_new(tx, root, now)?;
        tx.tokens().insert(NewToken {
            user: root.id,
            kind: TokenKind::Private,
            name: "first start".to_owned(),
            hash: app.secrets.digest(token.reveal()),
            expires_at: None,
            at: now,
        })
    });
    match created {
        Ok(_) => Ok(true),
        // Another process on the same database was first.
        Err(StoreError::Duplicate(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn any_user(app: &App) -> Result<bool, StoreError> {
    app.store.read(|tx| {
        let first =
            tx.users().list(&UserFilter::default(), Page::Numbered { number: 1, size: 1 })?;
        Ok(!first.items.is_empty())
    })
}
