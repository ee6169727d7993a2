//! Identities of users at external providers.

use diesel::prelude::*;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::ShortText;
use hexforge_domain::user::Identity;
use hexforge_domain::user::port::Identities;

use crate::database::schema::identities;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;

impl Identities for DieselTx<'_> {
    fn of_users(&mut self, users: &[UserId]) -> Result<Vec<(UserId, Identity)>, StoreError> {
        if users.is_empty() {
            return Ok(vec![]);
        }
        let ids: Vec<i64> = users.iter().map(|user| user.0).collect();
        let rows: Vec<(i64, String, Option<String>)> = self.run(|conn| {
            identities::table
                .filter(identities::user_id.among(&ids))
                .order((identities::user_id, identities::id))
                .select((identities::user_id, identities::provider, identities::extern_uid))
                .load(conn)
        })?;
        let mut found = Vec::with_capacity(rows.len());
        for (user, provider, extern_uid) in rows {
            found.push((
                UserId(user),
                to_identity(&provider, extern_uid.as_deref()).map_err(|e| self.fail(e))?,
            ));
        }
        Ok(found)
    }

    fn holder(&mut self, provider: &str, extern_uid: &str) -> Result<Option<UserId>, StoreError> {
        let found: Option<i64> = self.run(|conn| {
            identities::table
                .filter(identities::provider.eq(provider))
                .filter(identities::extern_uid.eq(extern_uid))
                .select(identities::user_id)
                .get_result(conn)
                .optional()
        })?;
        Ok(found.map(UserId))
    }

    fn put(&mut self, user: UserId, identity: &Identity) -> Result<(), StoreError> {
        let provider = identity.provider.as_str();
        let extern_uid = identity.extern_uid.as_ref().map(ShortText::as_str);
        let values = (
            identities::user_id.eq(user.0),
            identities::provider.eq(provider),
            identities::extern_uid.eq(extern_uid),
        );
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(identities::table)
                .values(values)
                .on_conflict((identities::user_id, identities::provider))
                .do_update()
                .set(identities::extern_uid.eq(extern_uid))
                .execute(c))
        })
    }
}

fn to_identity(provider: &str, extern_uid: Option<&str>) -> Result<Identity, StoreError> {
    Identity::parse(Some(provider), extern_uid).map_err(|_| StoreError::Corrupt("identity"))
}
