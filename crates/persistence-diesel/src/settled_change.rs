//! Recorded changes of repositories.

use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::ports::git::ChangeKey;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::repository::port::SettledChanges;

use crate::schema::settled_changes;
use crate::time::stored;
use crate::tx::DieselTx;

impl SettledChanges for DieselTx<'_> {
    fn record(&mut self, change: &ChangeKey, at: Timestamp) -> Result<bool, StoreError> {
        let row = (settled_changes::key.eq(&change.0), settled_changes::at.eq(stored(at)));
        let made = self.run(|conn| {
            each_backend!(conn, c => diesel::insert_into(settled_changes::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(c))
        })?;
        Ok(made > 0)
    }

    fn forget_before(&mut self, before: Timestamp) -> Result<(), StoreError> {
        let old = settled_changes::table.filter(settled_changes::at.lt(stored(before)));
        self.run(|conn| diesel::delete(old).execute(conn))?;
        Ok(())
    }
}
