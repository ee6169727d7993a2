//! The users of this machine.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::Path;

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::error::Error;

/// The users without rights as whom builds of root run, if the configuration names none: the first that exists.
const UNPRIVILEGED: [&str; 2] = ["hexforge-runner", "nobody"];

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The number of the user.
    pub id: u32,
    /// The number of its group.
    pub group: u32,
    /// Its home.
    pub home: String,
}

impl User {
    /// Finds a user by name.
    /// # Errors
    /// There is none.
    pub fn find(name: &str) -> Result<Self, Error> {
        let file = Path::new("/etc/passwd");
        let text = fs::read_to_string(file).map_err(Error::at(file))?;
        let unknown = || Error::step(format!("this machine has no user `{name}`"));
        text.lines()
            .find_map(|line| parse(line).filter(|user| user.name == name))
            .ok_or_else(unknown)
    }

    /// The owner of a file, by its numbers.
    pub fn owner_of(metadata: &fs::Metadata) -> Self {
        let (id, group) = (metadata.uid(), metadata.gid());
        Self { name: id.to_string(), id, group, home: String::new() }
    }

    /// Finds a user without rights.
    pub fn find_unprivileged() -> Option<Self> {
        let found = UNPRIVILEGED.iter().find_map(|name| User::find(name).ok());
        found.filter(|user| user.id != 0)
    }

    /// Makes this user the owner of a file or link.
    /// # Errors
    /// The runner may not do so.
    pub fn make_owner_of(&self, path: &Path) -> Result<(), Error> {
        lchown(path, Some(self.id), Some(self.group)).map_err(Error::at(path))
    }

    /// Gives this thread the rights of this user, for files. The real user stays that of the runner, so processes of
    /// this user cannot send signals to the thread.
    fn assume_on_this_thread(&self) -> rustix::io::Result<()> {
        set_thread_groups(&[])?;
        set_thread_res_gid(None::<Gid>, Some(Gid::from_raw(self.group)), None::<Gid>)?;
        set_thread_res_uid(None::<Uid>, Some(Uid::from_raw(self.id)), None::<Uid>)
    }
}

/// Runs work with the rights of a user, if there is one. Everything in a working copy may be a link that a build of
/// this user made, and the runner must not follow it with its own rights.
/// # Errors
/// The runner may not do so, or the work fails.
pub fn run_as<T: Send>(
    user: Option<&User>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let Some(user) = user else { return work() };
    let refused = |error: &dyn std::fmt::Display| {
        Error::step(format!("the runner cannot act as `{}`: {error}", user.name))
    };
    // The thread has these rights until its end.
    std::thread::scope(|scope| {
        let working = std::thread::Builder::new().spawn_scoped(scope, || {
            user.assume_on_this_thread().map_err(|error| refused(&error))?;
            work()
        });
        let ended = working.map_err(|error| refused(&error))?.join();
        ended.unwrap_or_else(|_| Err(refused(&"it panicked")))
    })
}

/// Lets every user pass through a folder, without listing it.
/// # Errors
/// The folder cannot be changed.
pub fn open_folder(folder: &Path) -> Result<(), Error> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).map_err(Error::at(folder))
}

fn parse(line: &str) -> Option<User> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let mut numbers = fields.by_ref().skip(1);
    let (id, group) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    let home = numbers.nth(1)?.to_owned();
    Some(User { name, id, group, home })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_the_rights_of_the_user_and_later_work_those_of_the_runner() {
        // Only root can act as others.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let nobody = User::find("nobody").expect("every machine has it");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("secret");
        fs::write(&file, "secret").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let read = || fs::read(&file).map_err(Error::at(&file));
        assert!(run_as(Some(&nobody), read).is_err(), "the file is private");
        assert_eq!(run_as(None, read).expect("readable"), b"secret");
    }

    #[test]
    fn users_are_found_by_name() {
        let user = parse("builds:x:998:997:Builds:/srv/builds:/bin/sh").expect("valid");
        assert_eq!((user.id, user.group, &*user.home), (998, 997, "/srv/builds"));
        assert_eq!(parse("# a comment"), None);
        assert_eq!(User::find("root").map(|user| user.id).ok(), Some(0));
        assert!(User::find("no such user").is_err());
    }
}
