//! Inserts rows through the ports, in large transactions.

use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain_testing::builders::a_user;

/// The number of rows per transaction.
const BATCH: usize = 2000;

/// Creates the users `user-0`, `user-1` and so on.
pub fn users(store: &dyn Store, count: usize) -> Result<(), StoreError> {
    let numbers: Vec<usize> = (0..count).collect();
    for batch in numbers.chunks(BATCH) {
        store.write::<_, StoreError>(|tx| {
            for number in batch {
                let user = a_user(&format!("user-{number}")).build();
                let user = tx.users().insert(user)?;
                tx.namespaces().insert_personal(user.id, user.username.path(), user.created_at)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}
