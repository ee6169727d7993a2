//! Many pushes leave many packs, which the server merges in the background.

use std::fs::File;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::copies::{Kind, check_complete, copy};
use crate::history::History;
use crate::operation::{Action, Operation};
use crate::oracle::{Failure, UnderTest};
use crate::readings::read;
use crate::scenario::run_fetches_with;
use crate::server::Server;

/// With this number of packs the server begins to merge them.
const MANY_PACKS: usize = 24;

const LONGEST: Duration = Duration::from_secs(30);

/// Pushes many times, and reads and fetches at the end.
pub fn run_tidying(operations: &[Operation], under_test: UnderTest) -> Result<(), Failure> {
    run_fetches_with(operations, under_test, &|operation, history, server| {
        match operation.action {
            // Merging may have ended already; its lock stays.
            Action::Push if count_packs(server) < MANY_PACKS && !lock_of(server).exists() => Ok(()),
            Action::Push => match operation.branch % 4 {
                // The next push comes while packs are merged.
                0 => Ok(()),
                // Or somebody copies the repository meanwhile.
                1 => copy(history, server, Kind::Fork),
                2 => copy(history, server, Kind::Backup),
                _ => wait_and_check(history, server).map(drop),
            },
            // Packs of a copy are merged with its first push.
            _ if !lock_of(server).exists() => read(history, server, &mut operation.random()),
            _ => {
                let _lock = wait_and_check(history, server)?;
                read(history, server, &mut operation.random())
            }
        }
    })
}

/// Who merges packs of a repository locks this file.
fn lock_of(server: &Server) -> std::path::PathBuf {
    server.path().join("tidying.lock")
}

/// Waits until the packs are merged, and checks that everything is there. With the lock nobody begins again.
fn wait_and_check(history: &History, server: &Server) -> Result<File, Failure> {
    let question = "merged packs";
    let begun = Instant::now();
    while count_packs(server) >= MANY_PACKS {
        if begun.elapsed() > LONGEST {
            let difference = format!("{question}: there are still many packs");
            return Err(Failure::of(server, question, difference));
        }
        sleep(Duration::from_millis(2));
    }
    let lock = File::create(lock_of(server)).expect("the lock file can be written");
    lock.lock().expect("the lock is free after some time");
    check_complete(history, server, question)?;
    Ok(lock)
}

fn count_packs(server: &Server) -> usize {
    let folder = server.path().join("objects/pack");
    let files = folder.read_dir().into_iter().flatten();
    let is_index = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".idx");
    files.filter(|file| file.as_ref().is_ok_and(|file| is_index(&file.file_name()))).count()
}
