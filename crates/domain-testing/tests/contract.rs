//! The contract of the ports, kept by the fakes.

use hexforge_domain_testing::OpenStore;
use hexforge_domain_testing::fakes::FakeStore;

fn open() -> OpenStore {
    OpenStore::new(FakeStore::default())
}

mod fake {
    hexforge_domain_testing::store_contract!(super::open);
}

/// A case that the macro does not name would never run.
#[test]
fn every_case_is_run() {
    macro_rules! cases {
        ($($module:literal),+ $(,)?) => {
            [$(($module, include_str!(concat!("../src/contract/", $module, ".rs")))),+]
        };
    }
    let modules = include_str!("../src/contract.rs");
    let suite = concat!(
        include_str!("../src/contract/user_cases.rs"),
        include_str!("../src/contract/project_cases.rs"),
        include_str!("../src/contract/repository_cases.rs"),
        include_str!("../src/contract/tracker_cases.rs"),
        include_str!("../src/contract/hook_cases.rs"),
        include_str!("../src/contract/ci_cases.rs"),
    );
    let files = cases![
        "access_requests",
        "application_settings",
        "awards",
        "boards",
        "broadcasts",
        "browser_sessions",
        "builds",
        "concurrency",
        "default_branches",
        "deliveries",
        "delivery_log",
        "deploy_keys",
        "emails",
        "environments",
        "events",
        "forks",
        "group_deletion",
        "group_labels",
        "group_lists",
        "group_members",
        "groups",
        "identities",
        "issuables",
        "issue_events",
        "issue_lists",
        "issue_recount",
        "issues",
        "keys",
        "labels",
        "lfs_objects",
        "logins",
        "member_expiry",
        "merge_request_branches",
        "merge_requests",
        "milestones",
        "namespace_lists",
        "namespaces",
        "noteables",
        "notes",
        "notification_settings",
        "outbox",
        "packs",
        "pipelines",
        "project_concurrency",
        "project_deletion",
        "project_hooks",
        "project_lists",
        "project_members",
        "project_scopes",
        "project_search",
        "projects",
        "protections",
        "ref_changes",
        "refs",
        "releases",
        "removals",
        "repository_concurrency",
        "repository_tasks",
        "runners",
        "searches",
        "shares",
        "sign_in_addresses",
        "sign_in_failures",
        "roles",
        "services",
        "snippets",
        "stars",
        "system_hooks",
        "todos",
        "tokens",
        "transactions",
        "triggers",
        "user_deletion",
        "user_lists",
        "user_search",
        "users",
        "values",
        "variables",
    ];
    for (module, text) in files {
        let cases: Vec<&str> = (text.lines())
            .filter_map(|line| line.strip_prefix("pub fn ")?.split('(').next())
            .collect();
        assert!(!cases.is_empty(), "{module}");
        for case in cases {
            assert!(suite.contains(&format!(" {module}::{case},")), "{module}::{case}");
        }
    }
    assert_eq!(modules.matches("pub mod ").count(), files.len());
}
