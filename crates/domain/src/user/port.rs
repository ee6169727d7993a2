//! The ports to users and their identities, keys and e-mail addresses.

use super::email::EmailHolder;
use super::key::{Fingerprint, NewSshKey};
use super::{Email, EmailAddress, Identity, NewUser, PasswordHash, SshKey, User, UserFilter};
use crate::Timestamp;
use crate::id::{EmailId, KeyId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// All accounts.
pub trait Users {
    /// The user with this id.
    fn find(&mut self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The users with these ids, highest id first.
    fn find_all(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Like [`find`](Self::find), and locks the row: until the transaction ends, no other transaction can change or
    /// lock it.
    fn lock(&mut self, id: UserId) -> Result<Option<User>, StoreError>;

    /// Locks the user before [`delete`](Self::delete): until the transaction ends, no other transaction can add rows
    /// that refer to the user. So lists that are read after this call contain everything that will be deleted.
    fn lock_to_delete(&mut self, id: UserId) -> Result<(), StoreError>;

    /// The user with exactly this username, case included.
    fn find_by_username(&mut self, username: &str) -> Result<Option<User>, StoreError>;

    /// The user who signs in as `login`, with the password hash. A `login` with an `@` is a primary address, any other
    /// a username; both ignore case. A username is looked up by the personal namespace that every account has.
    /// Secondary addresses cannot be used to sign in.
    fn find_by_login(&mut self, login: &str) -> Result<Option<(User, PasswordHash)>, StoreError>;

    /// The users that match the filter, highest id first.
    fn list(&mut self, filter: &UserFilter, page: Page) -> Result<Paged<User>, StoreError>;

    /// Creates an active account and reserves its address.
    /// # Errors
    /// [`StoreError::Duplicate`]`("username")` when a user has exactly this username,
    /// [`StoreError::Duplicate`]`("email")` when any user has the address, primary or secondary.
    fn insert(&mut self, new: NewUser) -> Result<User, StoreError>;

    /// Updates every field except the address, which [`Emails::make_primary`] changes.
    /// # Errors
    /// [`StoreError::Duplicate`]`("username")` when another user has exactly this username.
    fn update(&mut self, user: &User) -> Result<(), StoreError>;

    /// Replaces the password.
    fn set_password(&mut self, id: UserId, hash: &PasswordHash) -> Result<(), StoreError>;

    /// Deletes the account and everything that belongs to it: its namespace with the projects inside, keys, addresses,
    /// tokens, identities, memberships, stars, activity events. Projects that it created in other namespaces stay,
    /// without a creator.
    fn delete(&mut self, id: UserId) -> Result<(), StoreError>;
}

/// The identities of users at external providers.
pub trait Identities {
    /// The identities of several users, by user and then in the order of creation.
    fn of_users(&mut self, users: &[UserId]) -> Result<Vec<(UserId, Identity)>, StoreError>;

    /// The user whose id at `provider` is `extern_uid`.
    fn holder(&mut self, provider: &str, extern_uid: &str) -> Result<Option<UserId>, StoreError>;

    /// Sets the identity of a user at a provider, replacing an earlier one.
    /// # Errors
    /// [`StoreError::Duplicate`]`("extern_uid")` when another user has it at that provider.
    fn put(&mut self, user: UserId, identity: &Identity) -> Result<(), StoreError>;
}

/// The SSH keys of all users.
pub trait Keys {
    /// The keys of a user, newest first.
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<SshKey>, StoreError>;

    /// The key with this id, if it belongs to the user.
    fn find(&mut self, user: UserId, id: KeyId) -> Result<Option<SshKey>, StoreError>;

    /// The key with this id, of any user.
    fn find_by_id(&mut self, id: KeyId) -> Result<Option<SshKey>, StoreError>;

    /// The key with this fingerprint, of any user.
    fn find_by_fingerprint(
        &mut self,
        fingerprint: &Fingerprint,
    ) -> Result<Option<SshKey>, StoreError>;

    /// Registers a key.
    /// # Errors
    /// [`StoreError::Duplicate`]`("fingerprint")` when any user has registered the key, or if it is a deploy key.
    fn insert(&mut self, user: UserId, new: NewSshKey, at: Timestamp)
    -> Result<SshKey, StoreError>;

    /// Removes a key.
    fn delete(&mut self, id: KeyId) -> Result<(), StoreError>;
}

/// The e-mail addresses of all users. An address belongs to one user, whether primary or secondary.
pub trait Emails {
    /// The secondary addresses of a user, newest first.
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Email>, StoreError>;

    /// The secondary address with this id, if it belongs to the user.
    fn find(&mut self, user: UserId, id: EmailId) -> Result<Option<Email>, StoreError>;

    /// The user who has an address, and whether it is the primary one.
    fn holder(&mut self, address: &EmailAddress) -> Result<Option<EmailHolder>, StoreError>;

    /// Adds a secondary address.
    /// # Errors
    /// [`StoreError::Duplicate`]`("email")` when any user has the address.
    fn insert(&mut self, user: UserId, address: &EmailAddress) -> Result<Email, StoreError>;

    /// Makes an address the primary one of a user. If it was a secondary address of that user, the old primary address
    /// becomes secondary; otherwise the old primary address is deleted.
    /// # Errors
    /// [`StoreError::Duplicate`]`("email")` when another user has the address.
    fn make_primary(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError>;

    /// Removes a secondary address.
    fn delete(&mut self, id: EmailId) -> Result<(), StoreError>;
}
