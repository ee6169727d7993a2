//! Rules that apply to all calls.

mod authentication;
mod bad_input;
pub mod concurrent_calls;
mod conditional;
mod dialects;
mod dialects_of_issues;
mod dialects_of_projects;
mod openapi;
mod order_of_checks;
mod paging;
mod params;
mod pauses;
mod privacy;
mod proxies;
mod query_counts;
mod rate_limits;
mod rest_of_v3;
mod rest_of_v3_details;
mod rest_of_v3_input;
mod routes;
mod text_limits;
mod version;
