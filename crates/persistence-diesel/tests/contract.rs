//! The contract of the store, on both databases.

use hexforge_persistence_diesel::testing::{fresh_postgres, fresh_sqlite};

mod sqlite {
    hexforge_domain_testing::store_contract!(super::fresh_sqlite);
}

mod postgres {
    hexforge_domain_testing::store_contract!(super::fresh_postgres);
}
