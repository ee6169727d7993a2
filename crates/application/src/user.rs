//! Accounts: reading, making, changing and removing them.

pub mod block;
pub mod email;
pub mod fields;
pub mod key;
pub mod owner;

pub use owner::Owner;

use hexforge_domain::Timestamp;
use hexforge_domain::field_errors::FieldErrors;
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
use crate::error::{Conflict, Error, Thing};
use crate::removal::Removed;
use crate::view::user::{self as view, FullUser, UserPage, UserView};
use crate::{member, project};
use fields::UserFields;

const TAKEN: &str = "has already been taken";

/// Which users are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserQuery {
    /// The one of exactly this name.
    Named(String),
    /// All that fit a filter.
    Matching(UserFilter),
}

/// Lists users, with as much of each as the actor may see.
pub fn list(app: &App, actor: Actor, query: UserQuery, page: Page) -> Result<UserPage, Error> {
    access::accounts(actor, AccountAbility::Read)?;
    let manages = access::accounts(actor, AccountAbility::Manage).is_ok();
    app.store.read(|tx| {
        let users = match query {
            UserQuery::Named(name) => {
                page.cut(tx.users().find_by_username(&name)?.into_iter().collect())
            }
            UserQuery::Matching(filter) => {
                // Who is external is nobody's business but the administrators'.
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

/// One user, with as much as the actor may see.
pub fn get(app: &App, actor: Actor, id: UserId) -> Result<UserView, Error> {
    access::accounts(actor, AccountAbility::Read)?;
    app.store.glance(|tx| {
        let user = tx.users().find(id)?.ok_or(Error::NotFound(Thing::Record))?;
        match access::accounts(actor, AccountAbility::Manage) {
            Ok(()) => Ok(UserView::Full(view::full(tx, user)?)),
            Err(_) => Ok(UserView::Single(user)),
        }
    })
}

/// The user of exactly that name, for those who manage accounts by name.
pub fn find_named(app: &App, actor: Actor, username: &str) -> Result<FullUser, Error> {
    access::accounts(actor, AccountAbility::Manage)?;
    app.store.read(|tx| {
        let user = tx.users().find_by_username(username)?.ok_or(Error::NotFound(Thing::User))?;
        Ok(view::full(tx, user)?)
    })
}

/// The actor's own account.
pub fn current(app: &App, actor: Actor) -> Result<FullUser, Error> {
    let id = access::own_account(actor)?;
    app.store.glance(|tx| {
        let user = tx.users().find(id)?.ok_or(Error::Unauthenticated)?;
        Ok(view::full(tx, user)?)
    })
}

/// Makes an account with its personal namespace.
pub fn create(app: &App, actor: Actor, fields: &UserFields) -> Result<FullUser, Error> {
    access::accounts(actor, AccountAbility::Manage)?;
    fields.require_for_creation()?;
    let mut errors = FieldErrors::default();
    let parsed = fields.parse(&mut errors);
    // Hashing is slow: it is done before the transaction, and only for what may be stored.
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
        let new = errors.into_result_with(|| {
            Some(NewUser {
                username: parsed.username?,
                name: parsed.name?,
                email: parsed.email?,
                privileges: Privileges {
                    admin: fields.admin.unwrap_or(false),
                    external: fields.external.unwrap_or(false),
                    can_create_group: fields.can_create_group.unwrap_or(true),
                    projects_limit: parsed
                        .projects_limit
                        .unwrap_or(app.settings.default_projects_limit),
                }
                .settled(),
                profile: parsed.profile,
                password: password?,
                confirmed_at: Some(now),
                at: now,
            })
        })?;
        let user = store_new(tx, new, now).map_err(taken)?;
        if let Some(identity) = &parsed.identity {
            tx.identities().put(user.id, identity).map_err(taken)?;
        }
        Ok(view::full(tx, user)?)
    })
}

/// Stores a new account, its namespace and the news of it.
pub(crate) fn store_new(tx: &mut dyn Tx, new: NewUser, now: Timestamp) -> Result<User, StoreError> {
    let user = tx.users().insert(new)?;
    tx.namespaces().insert_personal(user.id, user.username.path(), now)?;
    tx.outbox().record(&SystemEvent::UserCreated(UserFacts::from(&user)), now)?;
    Ok(user)
}

/// Changes what is given of an account and leaves the rest.
pub fn update(app: &App, actor: Actor, id: UserId, fields: &UserFields) -> Result<FullUser, Error> {
    access::accounts(actor, AccountAbility::Manage)?;
    let mut errors = FieldErrors::default();
    let parsed = fields.parse(&mut errors);
    let password = parsed.password.as_ref().filter(|_| errors.is_empty());
    let password = password.map(|password| app.passwords.hash(password));
    app.store.write(|tx| {
        let before = tx.users().lock(id)?.ok_or(Error::NotFound(Thing::Record))?;
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
            .settled(),
            profile: fields::overlaid(&before.profile, parsed.profile),
            ..before.clone()
        };
        let after = store_changes(tx, app.clock.now(), &before, after).map_err(taken)?;
        if let Some(hash) = password {
            tx.users().set_password(id, &hash)?;
            // A person who knew the old password may have signed in with it.
            tx.tokens().revoke_sessions(id, app.clock.now())?;
        }
        if let Some(identity) = &parsed.identity {
            put_identity(tx, id, identity)?;
        }
        Ok(view::full(tx, after)?)
    })
}

/// A provider alone says nothing new about a user who is known there.
fn put_identity(tx: &mut dyn Tx, user: UserId, identity: &Identity) -> Result<(), Error> {
    let known = tx.identities().of(&[user])?;
    let known = known.iter().any(|(_, known)| known.provider == identity.provider);
    if known && identity.extern_uid.is_none() {
        return Ok(());
    }
    tx.identities().put(user, identity).map_err(taken)
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

/// What became of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The account is gone; this is how it was.
    Deleted(Box<FullUser>),
    /// There is no such account.
    Missing,
    /// The account is the only owner of a group and stays with it.
    SoleOwner,
}

/// Removes an account with all that hangs on it.
pub fn delete(app: &App, actor: Actor, id: UserId) -> Result<Deletion, Error> {
    access::accounts(actor, AccountAbility::Manage)?;
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
            removed = project::remove_all_in(tx, own.id, app.today(), now)?;
        }
        member::tell_of_leaving(tx, &user, now)?;
        tx.outbox().record(&SystemEvent::UserDestroyed(UserFacts::from(&user)), now)?;
        tx.users().delete(id)?;
        Ok::<_, Error>((Deletion::Deleted(Box::new(full)), removed))
    })?;
    removed.discard_files(app);
    Ok(deletion)
}

/// What only one user can have, about to be given to one.
struct Claims<'a> {
    /// Who may have it already.
    user: Option<UserId>,
    email: Option<&'a EmailAddress>,
    username: Option<&'a Username>,
    identity: Option<&'a Identity>,
}

impl Claims<'_> {
    /// Adds what others have to the errors; where it is another user's very own name or primary
    /// address, that conflict hides all other problems.
    fn check(&self, tx: &mut dyn Tx, errors: &mut FieldErrors) -> Result<(), Error> {
        if let Some(email) = self.email {
            match tx.emails().holder(email)? {
                Some(EmailHolder { user, .. }) if self.user == Some(user) => (),
                Some(EmailHolder { role: EmailRole::Primary, .. }) => {
                    return Err(Error::Conflict(Conflict::EmailTaken));
                }
                Some(EmailHolder { role: EmailRole::Secondary, .. }) => errors.add("email", TAKEN),
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
                errors.add("username", TAKEN);
            }
        }
        if let Some(Identity { provider, extern_uid: Some(extern_uid) }) = self.identity {
            let holder = tx.identities().holder(provider.as_str(), extern_uid.as_str())?;
            if holder.is_some_and(|user| self.user != Some(user)) {
                errors.add("identities.extern_uid", TAKEN);
            }
        }
        Ok(())
    }
}

/// Somebody else was faster between our check and our write: the same answers as the check gives.
fn taken(error: StoreError) -> Error {
    match error {
        StoreError::Duplicate("email") => Error::Conflict(Conflict::EmailTaken),
        StoreError::Duplicate("username") => Error::Conflict(Conflict::UsernameTaken),
        StoreError::Duplicate("path") => FieldErrors::one("username", TAKEN).into(),
        StoreError::Duplicate("extern_uid") => {
            FieldErrors::one("identities.extern_uid", TAKEN).into()
        }
        error => error.into(),
    }
}
