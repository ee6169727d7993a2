//! The ports to everything that belongs to a user.

use super::email::EmailHolder;
use super::key::{Fingerprint, NewSshKey};
use super::{Email, EmailAddress, Identity, NewUser, PasswordHash, SshKey, User, UserFilter};
use crate::Timestamp;
use crate::id::{EmailId, KeyId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// All accounts.
pub trait Users {
    /// The user of that id.
    fn find(&mut self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The users of these ids, highest id first.
    fn find_all(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Like [`find`](Self::find); until the transaction ends nobody else changes or locks the row.
    fn lock(&mut self, id: UserId) -> Result<Option<User>, StoreError>;

    /// Keeps everybody else from hanging anything on the user until the transaction ends, which is about
    /// to [`delete`](Self::delete) it: what is listed now is all that goes along.
    fn lock_to_delete(&mut self, id: UserId) -> Result<(), StoreError>;

    /// The user of exactly that name, case included.
    fn find_by_username(&mut self, username: &str) -> Result<Option<User>, StoreError>;

    /// Who signs in as `login`: a primary address when it has an `@`, else a username; both
    /// ignoring case. A username is found by the personal namespace that every account has. Secondary
    /// addresses do not sign in.
    fn find_by_login(&mut self, login: &str) -> Result<Option<(User, PasswordHash)>, StoreError>;

    /// Users that fit the filter, highest id first.
    fn list(&mut self, filter: &UserFilter, page: Page) -> Result<Paged<User>, StoreError>;

    /// Makes an active account and claims its address.
    /// # Errors
    /// [`StoreError::Duplicate`]`("username")` when a user has exactly that name,
    /// [`StoreError::Duplicate`]`("email")` when anyone has the address, primary or secondary.
    fn insert(&mut self, new: NewUser) -> Result<User, StoreError>;

    /// Stores every field except the address, for which see [`Emails::make_primary`].
    /// # Errors
    /// [`StoreError::Duplicate`]`("username")` when another user has exactly that name.
    fn update(&mut self, user: &User) -> Result<(), StoreError>;

    /// Stores another password.
    fn set_password(&mut self, id: UserId, hash: &PasswordHash) -> Result<(), StoreError>;

    /// Removes the account with everything that hangs on it: its namespace with the projects inside,
    /// keys, addresses, tokens, identities, memberships, stars, activity events. Projects elsewhere that
    /// it made stay, without a creator.
    fn delete(&mut self, id: UserId) -> Result<(), StoreError>;
}

/// Who users are at other providers.
pub trait Identities {
    /// The identities of several users, by user and then in the order in which they were made.
    fn of(&mut self, users: &[UserId]) -> Result<Vec<(UserId, Identity)>, StoreError>;

    /// The user who is `extern_uid` at `provider`.
    fn holder(&mut self, provider: &str, extern_uid: &str) -> Result<Option<UserId>, StoreError>;

    /// Sets the identity of a user at its provider, in place of the one that was there.
    /// # Errors
    /// [`StoreError::Duplicate`]`("extern_uid")` when another user has it at that provider.
    fn put(&mut self, user: UserId, identity: &Identity) -> Result<(), StoreError>;
}

/// The SSH keys of all users.
pub trait Keys {
    /// Keys of a user, newest first.
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<SshKey>, StoreError>;

    /// One key, if it is that user's.
    fn find(&mut self, user: UserId, id: KeyId) -> Result<Option<SshKey>, StoreError>;

    /// The key of that fingerprint, whoever has it.
    fn find_by_fingerprint(&mut self, of: &Fingerprint) -> Result<Option<SshKey>, StoreError>;

    /// Registers a key.
    /// # Errors
    /// [`StoreError::Duplicate`]`("fingerprint")` when anyone has registered it.
    fn insert(&mut self, user: UserId, new: NewSshKey, at: Timestamp)
    -> Result<SshKey, StoreError>;

    /// Removes a key.
    fn delete(&mut self, id: KeyId) -> Result<(), StoreError>;
}

/// The addresses of all users. One address belongs to one user, be it primary or secondary.
pub trait Emails {
    /// Secondary addresses of a user, newest first.
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Email>, StoreError>;

    /// One secondary address, if it is that user's.
    fn find(&mut self, user: UserId, id: EmailId) -> Result<Option<Email>, StoreError>;

    /// Who has an address.
    fn holder(&mut self, address: &EmailAddress) -> Result<Option<EmailHolder>, StoreError>;

    /// Adds a secondary address.
    /// # Errors
    /// [`StoreError::Duplicate`]`("email")` when anyone has the address.
    fn insert(&mut self, user: UserId, address: &EmailAddress) -> Result<Email, StoreError>;

    /// Makes an address the primary one of a user. If it was a secondary one of that user, the old
    /// primary address becomes a secondary one; otherwise the old one is given up.
    /// # Errors
    /// [`StoreError::Duplicate`]`("email")` when somebody else has the address.
    fn make_primary(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError>;

    /// Removes a secondary address.
    fn delete(&mut self, id: EmailId) -> Result<(), StoreError>;
}
