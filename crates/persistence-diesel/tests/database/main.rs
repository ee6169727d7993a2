//! The store on SQLite and PostgreSQL beyond the contract of its ports.

mod support;

mod ci_queries;
mod issue_queries;
mod key_lookups;
mod lock_order;
mod long_lists;
mod merge_request_plans;
mod migrations;
mod project_queries;
mod queries;
mod query_plans;
mod removals;
mod repository_tasks;
mod runner_queue;
mod schema;
mod sealing;
mod translated_messages;
