//! SSH keys.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::ShortText;
use hexforge_domain::user::SshKey;
use hexforge_domain::user::key::{Fingerprint, NewSshKey};
use hexforge_domain::user::port::Keys;

use crate::database::schema::keys;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::page;

/// A key of a user, or a deploy key, which has no user.
#[derive(Queryable)]
pub(super) struct KeyRow {
    id: i64,
    user_id: Option<i64>,
    title: String,
    key: String,
    fingerprint: String,
    created_at: NaiveDateTime,
}

impl TryFrom<KeyRow> for DeployKey {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        Ok(DeployKey {
            id: KeyId(row.id),
            title: ShortText::parse(&row.title).map_err(|_| StoreError::Corrupt("key title"))?,
            key: row.key,
            fingerprint: Fingerprint(row.fingerprint),
            created_at: to_utc(row.created_at),
        })
    }
}

impl TryFrom<KeyRow> for SshKey {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let user = UserId(row.user_id.ok_or(StoreError::Corrupt("key user"))?);
        Ok(with_user(DeployKey::try_from(row)?, user))
    }
}

/// Makes the key of a user from its fields without the user.
fn with_user(key: DeployKey, user: UserId) -> SshKey {
    let DeployKey { id, title, key, fingerprint, created_at } = key;
    SshKey { id, user, title, key, fingerprint, created_at }
}

/// A kind of keys in the table that all kinds share.
pub(super) trait KeyKind: TryFrom<KeyRow, Error = StoreError> {
    /// Whether keys of this kind have a user.
    const HAS_USER: bool;
}

impl KeyKind for SshKey {
    const HAS_USER: bool = true;
}

impl KeyKind for DeployKey {
    const HAS_USER: bool = false;
}

impl DieselTx<'_> {
    /// Returns the key with this id, if it is of the wanted kind.
    pub(super) fn key_by_id<K: KeyKind>(&mut self, id: KeyId) -> Result<Option<K>, StoreError> {
        self.read_row(|conn| {
            keys::table
                .find(id.0)
                .filter(keys::user_id.is_not_null().eq(K::HAS_USER))
                .get_result::<KeyRow>(conn)
                .optional()
        })
    }

    /// Returns the key with this fingerprint, if it is of the wanted kind.
    pub(super) fn key_by_fingerprint<K: KeyKind>(
        &mut self,
        of: &Fingerprint,
    ) -> Result<Option<K>, StoreError> {
        self.read_row(|conn| {
            keys::table
                .filter(keys::fingerprint.eq(&of.0))
                .filter(keys::user_id.is_not_null().eq(K::HAS_USER))
                .get_result::<KeyRow>(conn)
                .optional()
        })
    }

    /// Inserts a key of a user, or a deploy key.
    pub(super) fn insert_key(
        &mut self,
        user: Option<UserId>,
        new: NewSshKey,
        at: Timestamp,
    ) -> Result<DeployKey, StoreError> {
        let values = (
            keys::user_id.eq(user.map(|user| user.0)),
            keys::title.eq(new.title.as_str()),
            keys::key.eq(&new.key),
            keys::fingerprint.eq(&new.fingerprint.0),
            keys::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(keys::table).values(values).returning(keys::id).get_result(conn)
        })?;
        let NewSshKey { title, key, fingerprint } = new;
        Ok(DeployKey { id: KeyId(id), title, key, fingerprint, created_at: at })
    }
}

impl Keys for DieselTx<'_> {
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<SshKey>, StoreError> {
        let total: i64 =
            self.run(|conn| keys::table.filter(keys::user_id.eq(user.0)).count().get_result(conn))?;
        let items = self.read_rows(|conn| {
            keys::table
                .filter(keys::user_id.eq(user.0))
                .order(keys::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .load::<KeyRow>(conn)
        })?;
        Ok(Paged { items, total: total.unsigned_abs() })
    }

    fn find(&mut self, user: UserId, id: KeyId) -> Result<Option<SshKey>, StoreError> {
        self.read_row(|conn| {
            keys::table
                .find(id.0)
                .filter(keys::user_id.eq(user.0))
                .get_result::<KeyRow>(conn)
                .optional()
        })
    }

    fn find_by_id(&mut self, id: KeyId) -> Result<Option<SshKey>, StoreError> {
        self.key_by_id(id)
    }

    fn find_by_fingerprint(&mut self, of: &Fingerprint) -> Result<Option<SshKey>, StoreError> {
        self.key_by_fingerprint(of)
    }

    fn insert(
        &mut self,
        user: UserId,
        new: NewSshKey,
        at: Timestamp,
    ) -> Result<SshKey, StoreError> {
        Ok(with_user(self.insert_key(Some(user), new, at)?, user))
    }

    fn delete(&mut self, id: KeyId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(keys::table.find(id.0)).execute(conn))
    }
}
