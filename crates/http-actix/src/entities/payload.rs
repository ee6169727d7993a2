//! Payloads of hooks, except pushes.

pub mod ci;
pub mod issue;
pub mod note;
pub mod system;

use hexforge_domain::Timestamp;

/// `2015-05-17 18:08:09 UTC`, the time format of project hooks.
fn row_time(moment: Timestamp) -> String {
    moment.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2012-07-21T07:30:54Z`, the time format of system hooks.
fn system_time(moment: Timestamp) -> String {
    moment.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
