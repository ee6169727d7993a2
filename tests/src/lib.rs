//! The tools of black-box tests: a complete hexforge in the test process, on any store, and a client that sends exactly
//! the bytes a test wants to send.

pub mod address;
pub mod client;
pub mod damage;
pub mod description;
pub mod forge;
pub mod hostile;
pub mod installation;
pub mod program;
pub mod random;
pub mod receiver;
pub mod recount;
pub mod ref_rows;
pub mod runner;
pub mod s3;
pub mod small_disk;
pub mod ssh_client;
pub mod ssh_keys;
pub mod work_tree;

pub use client::{Request, Response};
pub use forge::{Backend, Forge, ForgeOptions, Restrictions};
pub use random::RandomNumbers;
pub use receiver::{Answer, Received, Receiver};
pub use recount::Auditor;
pub use runner::Runner;
pub use small_disk::SmallDisk;
pub use ssh_keys::an_ssh_key;
pub use work_tree::WorkTree;

/// Creates three tests of each case, a function `fn case(forge: &Forge)`: on the fake, on SQLite and on PostgreSQL. A
/// case that is not listed is dead code, which is an error.
#[macro_export]
macro_rules! on_every_store {
    ($($case:ident),+ $(,)?) => {
        mod on_fake {
            $(#[test] fn $case() { $crate::forge::run($crate::Backend::Fake, super::$case); })+
        }
        mod on_sqlite {
            $(#[test] fn $case() { $crate::forge::run($crate::Backend::Sqlite, super::$case); })+
        }
        mod on_postgres {
            $(#[test] fn $case() { $crate::forge::run($crate::Backend::Postgres, super::$case); })+
        }
    };
}
