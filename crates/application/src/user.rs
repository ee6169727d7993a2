//! Accounts: reads, creates, changes and removes them.

pub mod block;
pub mod email;
pub mod fields;
pub mod key;
pub mod owner;
pub mod password;
pub mod register;

pub use owner::Owner;

use hexforge_domain::Timestamp;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::UserId;
use hexforge_domain::outbox::{KeyFacts, SystemEvent, UserFacts};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::email::{EmailHolder, EmailRole};
use hexforge_domain::user::{
    EmailAddress, Identity, NewUser, Privileges, User, UserFilter, Username,
};

use crate::access;
use crate::app::App;
use crate::error::{Conflict, Entity, Error};
use crate::removal::Removed;
use crate::view::user::{self as view, FullUser, UserPage, UserView};
use crate::{member, project, session};
use fields::UserFields;

/// Selects the users of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserQuery {
    /// The user with exactly this username.
    Named(String),
    /// All users that match a filter.
    Matching(UserFilter),
}

/// Lists users, with the fields that the actor may see.
pub fn list(app: &App, actor: Actor, query: UserQuery, page: Page) -> Result<UserPage, Error> {
    access::require_account_ability(actor, AccountAbility::Read)?;
    let manages = access::require_account_ability(actor, AccountAbility::Manage).is_ok();
    app.store.read(|tx| {
        let users = match query {
            UserQuery::Named(name) => {
                page.slice(tx.users().find_by_username(&name)?.into_iter().collect())
            }
            UserQuery::Matching(filter) => {
                // Only administrators may filter by the external flag.
                let filter = UserFilter { external: filter.external && manages, ..filter };
                tx.users().list(&filter, page)?
            }
        };
        if manages {
            Ok(UserPage::Full(view::full_page(tx, users)?))
        } else {
            Ok(UserPage::Summaries(users))
        }
    })
}

/// Returns one user, with the fields that the actor may see.
pub fn get(app: &App, actor: Actor, id: UserId) -> Result<UserView, Error> {
    access::require_account_ability(actor, AccountAbility::Read)?;
    app.store.read_autocommit(|tx| {
        let user = tx.users().find(id)?.ok_or(Error::NotFound(Entity::Record))?;
        match access::require_account_ability(actor, AccountAbility::Manage) {
            Ok(()) => Ok(UserView::Full(view::full(tx, user)?)),
            Err(_) => Ok(UserView::Single(user)),
        }
    })
}

/// Returns the user with exactly this username, for administrators.
pub fn find_by_username(app: &App, actor: Actor, username: &str) -> Result<FullUser, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    app.store.read(|tx| {
        let user = tx.users().find_by_username(username)?.ok_or(Error::NotFound(Entity::User))?;
        Ok(view::full(tx, user)?)
    })
}

/// Returns the actor's own account.
pub fn current(app: &App, actor: Actor) -> Result<FullUser, Error> {
    let id = access::own_account(actor)?;
    app.store.read_autocommit(|tx| {
        let user = tx.users().find(id)?.ok_or(Error::Unauthenticated)?;
        Ok(view::full(tx, user)?)
    })
}

/// Creates an account with its personal namespace.
pub fn create(app: &App, actor: Actor, fields: &UserFields) -> Result<FullUser, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    fields.require_for_creation()?;
    let mut errors = FieldErrors::default();
    let parsed = fields.parse(&mut errors);
    // Hashing is slow: it is done before the transaction, and only if all fields are valid.
    let password = parsed.password.as_ref().filter(|_| errors.is_empty());
    let password = password.map(|password| app.passwords.hash(password));
    let now = app.clock.now();
    app.store.write(|tx| {
        let mut errors = errors;
        let claims = Claims {
            user: None,
            email: parsed.email.as_ref(),
            username: parsed.username.as_ref(),
            identity: parsed.identity.as_ref(),
        };
        claims.check(tx, &mut errors)?;
        let settings = app.current_settings(tx)?;
        let new = errors.into_result_with(|| {
            Some(NewUser {
                username: parsed.username?,
                name: parsed.name?,
                email: parsed.email?,
                privileges: Privileges {
                    admin: fields.admin.unwrap_or(false),
                    external: fields.external.unwrap_or(settings.user_default_external),
                    can_create_group: fields.can_create_group.unwrap_or(true),
                    projects_limit: parsed
                        .projects_limit
                        .unwrap_or(settings.default_projects_limit),
                }
                .normalized(),
                profile: parsed.profile,
                password: password?,
                confirmed_at: Some(now),
                at: now,
            })
        })?;
        let user = store_new(tx, new, now).map_err(map_duplicate)?;
        if let Some(identity) = &parsed.identity {
            tx.identities().put(user.id, identity).map_err(map_duplicate)?;
        }
        Ok(view::full(tx, user)?)
    })
}

/// Stores a new account and its namespace, and records the system hook event.
pub(crate) fn store_new(tx: &mut dyn Tx, new: NewUser, now: Timestamp) -> Result<User, StoreError> {
    let user = tx.users().insert(new)?;
    tx.namespaces().insert_personal(user.id, user.username.path(), now)?;
    tx.outbox().record(&SystemEvent::UserCreated(UserFacts::from(&user)), now)?;
    Ok(user)
}

/// Updates the given fields of an account and leaves the others.
pub fn update(app: &App, actor: Actor, id: UserId, fields: &UserFields) -> Result<FullUser, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    change(app, id, fields)
}

/// Changes the name and the profile of the actor. All other fields of an account are left to administrators.
pub fn update_own(app: &App, actor: Actor, fields: &UserFields) -> Result<FullUser, Error> {
    change(app, access::own_account(actor)?, &fields.of_profile())
}

fn change(app: &App, id: UserId, fields: &UserFields) -> Result<FullUser, Error> {
    let mut errors = FieldErrors::default();
    let parsed = fields.parse(&mut errors);
    let password = parsed.password.as_ref().filter(|_| errors.is_empty());
    let password = password.map(|password| app.passwords.hash(password));
    app.store.write(|tx| {
        let before = tx.users().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        let mut errors = errors;
        let claims = Claims {
            user: Some(id),
            email: parsed.email.as_ref(),
            username: parsed.username.as_ref(),
            identity: parsed.identity.as_ref(),
        };
        claims.check(tx, &mut errors)?;
        errors.into_result()?;

        let after = User {
            username: parsed.username.unwrap_or_else(|| before.username.clone()),
            name: parsed.name.unwrap_or_else(|| before.name.clone()),
            email: parsed.email.unwrap_or_else(|| before.email.clone()),
            privileges: Privileges {
                admin: fields.admin.unwrap_or(before.privileges.admin),
                external: fields.external.unwrap_or(before.privileges.external),
                can_create_group: fields
                    .can_create_group
                    .unwrap_or(before.privileges.can_create_group),
                projects_limit: parsed.projects_limit.unwrap_or(before.privileges.projects_limit),
            }
            .normalized(),
            profile: fields::merge_profile(&before.profile, parsed.profile),
            ..before.clone()
        };
        let after = store_changes(tx, app.clock.now(), &before, after).map_err(map_duplicate)?;
        if let Some(hash) = password {
            tx.users().set_password(id, &hash)?;
            // Someone who knew the old password may have signed in with it.
            session::end_all(tx, id, None, app.clock.now())?;
        }
        if let Some(identity) = &parsed.identity {
            put_identity(tx, id, identity)?;
        }
        Ok(view::full(tx, after)?)
    })
}

/// Stores an identity. A provider without an external id changes nothing when the user has an identity of that
/// provider.
fn put_identity(tx: &mut dyn Tx, user: UserId, identity: &Identity) -> Result<(), Error> {
    let known = tx.identities().of_users(&[user])?;
    let known = known.iter().any(|(_, known)| known.provider == identity.provider);
    if known && identity.extern_uid.is_none() {
        return Ok(());
    }
    tx.identities().put(user, identity).map_err(map_duplicate)
}

fn store_changes(
    tx: &mut dyn Tx,
    now: Timestamp,
    before: &User,
    after: User,
) -> Result<User, StoreError> {
    if after == *before {
        return Ok(after);
    }
    let after = User { updated_at: now, ..after };
    tx.users().update(&after)?;
    if after.username != before.username {
        tx.namespaces().rename_personal(after.id, after.username.path(), now)?;
    }
    if after.email != before.email {
        tx.emails().make_primary(after.id, &after.email)?;
    }
    Ok(after)
}

/// The outcome of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The account was deleted; the value is its state before.
    Deleted(Box<FullUser>),
    /// The account does not exist.
    Missing,
    /// The account is the only owner of a group and was not deleted.
    SoleOwner,
}

/// Deletes an account with everything that belongs to it.
pub fn delete(app: &App, actor: Actor, id: UserId) -> Result<Deletion, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    let (deletion, removed) = app.store.write(|tx| {
        let mut removed = Removed::default();
        tx.removals().begin()?;
        let Some(user) = tx.users().lock(id)? else { return Ok((Deletion::Missing, removed)) };
        if !tx.group_members().solely_owned_by(id, app.today())?.is_empty() {
            return Ok((Deletion::SoleOwner, removed));
        }
        let full = view::full(tx, user.clone())?;
        let now = app.clock.now();
        for key in tx.keys().list(id, Page::Whole)?.items {
            let facts = KeyFacts::new(&key, &user);
            tx.outbox().record(&SystemEvent::KeyDestroyed(facts), now)?;
        }
        tx.users().lock_to_delete(id)?;
        if let Some(own) = tx.namespaces().personal(id)? {
            removed = project::remove_all_in(tx, own.id, app.requester(actor), now)?;
        }
        member::record_departures(tx, &user, now)?;
        tx.outbox().record(&SystemEvent::UserDestroyed(UserFacts::from(&user)), now)?;
        tx.users().delete(id)?;
        Ok::<_, Error>((Deletion::Deleted(Box::new(full)), removed))
    })?;
    removed.discard_files(app);
    Ok(deletion)
}

/// Unique values that are about to be given to a user.
struct Claims<'a> {
    /// The account whose own values do not count as taken; `None` for a new account.
    user: Option<UserId>,
    email: Option<&'a EmailAddress>,
    username: Option<&'a Username>,
    identity: Option<&'a Identity>,
}

impl Claims<'_> {
    /// Adds an error for each value that another user holds. A username or primary address of another user is returned
    /// as a conflict at once, which hides all other errors.
    fn check(&self, tx: &mut dyn Tx, errors: &mut FieldErrors) -> Result<(), Error> {
        if let Some(email) = self.email {
            match tx.emails().holder(email)? {
                Some(EmailHolder { user, .. }) if self.user == Some(user) => (),
                Some(EmailHolder { role: EmailRole::Primary, .. }) => {
                    return Err(Error::Conflict(Conflict::EmailTaken));
                }
                Some(EmailHolder { role: EmailRole::Secondary, .. }) => {
                    errors.add("email", FieldProblem::Taken);
                }
                None => (),
            }
        }
        if let Some(username) = self.username {
            let namesake = tx.users().find_by_username(username.as_str())?;
            if namesake.is_some_and(|user| self.user != Some(user.id)) {
                return Err(Error::Conflict(Conflict::UsernameTaken));
            }
            let namespace = tx.namespaces().find_by_path(username.path())?;
            if namespace
                .is_some_and(|namespace| self.user.is_none() || namespace.owner != self.user)
            {
                errors.add("username", FieldProblem::Taken);
            }
        }
        if let Some(Identity { provider, extern_uid: Some(extern_uid) }) = self.identity {
            let holder = tx.identities().holder(provider.as_str(), extern_uid.as_str())?;
            if holder.is_some_and(|user| self.user != Some(user)) {
                errors.add("identities.extern_uid", FieldProblem::Taken);
            }
        }
        Ok(())
    }
}

/// Maps a duplicate key that another transaction inserted after our check. The errors are those of the check.
fn map_duplicate(error: StoreError) -> Error {
    match error {
        StoreError::Duplicate("email") => Error::Conflict(Conflict::EmailTaken),
        StoreError::Duplicate("username") => Error::Conflict(Conflict::UsernameTaken),
        StoreError::Duplicate("path") => {
            FieldErrors::single("username", FieldProblem::Taken).into()
        }
        StoreError::Duplicate("extern_uid") => {
            FieldErrors::single("identities.extern_uid", FieldProblem::Taken).into()
        }
        error => error.into(),
    }
}
