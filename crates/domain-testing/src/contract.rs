//! The contract tests of the store, which every implementation has to pass, including the fake.
//!
//! A case is a function that gets its own empty store. The macro [`store_contract!`](crate::store_contract) generates
//! one test per case. Its argument is the function that opens a store:
//!
//! ```
//! use hexforge_domain_testing::OpenStore;
//! use hexforge_domain_testing::fakes::FakeStore;
//!
//! fn open() -> OpenStore {
//!     OpenStore::new(FakeStore::default())
//! }
//!
//! mod fake {
//!     hexforge_domain_testing::store_contract!(super::open);
//! }
//! ```
//!
//! The cases do not rely on the values of ids, and ids need not be consecutive. A store needs at least
//! two connections, because some cases read while they write.

mod check;
mod ci_cases;
mod hook_cases;
mod project_cases;
mod repository_cases;
mod user_cases;
mod world;

pub mod access_requests;
pub mod application_settings;
pub mod awards;
pub mod boards;
pub mod broadcasts;
pub mod browser_sessions;
pub mod builds;
pub mod concurrency;
pub mod default_branches;
pub mod deliveries;
pub mod delivery_log;
pub mod deploy_keys;
pub mod emails;
pub mod environments;
pub mod events;
pub mod forks;
pub mod group_deletion;
pub mod group_labels;
pub mod group_lists;
pub mod group_members;
pub mod groups;
pub mod identities;
pub mod issuables;
pub mod issue_events;
pub mod issue_lists;
pub mod issue_recount;
pub mod issues;
pub mod keys;
pub mod labels;
pub mod lfs_objects;
pub mod logins;
pub mod member_expiry;
pub mod merge_request_branches;
pub mod merge_requests;
pub mod milestones;
pub mod namespace_lists;
pub mod namespaces;
pub mod noteables;
pub mod notes;
pub mod notification_settings;
pub mod outbox;
pub mod packs;
pub mod pipelines;
pub mod project_concurrency;
pub mod project_deletion;
pub mod project_hooks;
pub mod project_lists;
pub mod project_members;
pub mod project_scopes;
pub mod project_search;
pub mod projects;
pub mod protections;
pub mod ref_changes;
pub mod refs;
pub mod releases;
pub mod removals;
pub mod repository_concurrency;
pub mod repository_tasks;
pub mod roles;
pub mod runners;
pub mod searches;
pub mod services;
pub mod shares;
pub mod sign_in_addresses;
pub mod sign_in_failures;
pub mod snippets;
pub mod stars;
pub mod system_hooks;
pub mod todos;
pub mod tokens;
mod tracker_cases;
pub mod transactions;
pub mod triggers;
pub mod user_deletion;
pub mod user_lists;
pub mod user_search;
pub mod users;
pub mod values;
pub mod variables;

/// Generates one `#[test]` for each case of the [contract](crate::contract). The argument is the
/// path of a function without arguments that opens an empty store as an
/// [`OpenStore`](crate::OpenStore). It may return an `Option` if the database may be missing on the
/// machine; a case without a store is skipped, and the function has to report that. Every case
/// opens its own store, and the cases run in parallel.
#[macro_export]
macro_rules! store_contract {
    ($open:path) => {
        $crate::store_contract_of_users!($open);
        $crate::store_contract_of_projects!($open);
        $crate::store_contract_of_repositories!($open);
        $crate::store_contract_of_trackers!($open);
        $crate::store_contract_of_hooks!($open);
        $crate::store_contract_of_pipelines!($open);
    };
    (@tests $open:path; $($module:ident::$case:ident,)+) => {$(
        #[test]
        fn $case() {
            let opened: Option<$crate::OpenStore> = $open().into();
            if let Some(opened) = opened {
                $crate::contract::$module::$case(&*opened.store);
            }
        }
    )+};
}
