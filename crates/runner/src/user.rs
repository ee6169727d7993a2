//! The users of this machine.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::Path;

use crate::error::Error;

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

    /// Makes this user the owner of a file or link.
    /// # Errors
    /// The runner may not do so.
    pub fn own(&self, path: &Path) -> Result<(), Error> {
        lchown(path, Some(self.id), Some(self.group)).map_err(Error::at(path))
    }

    /// Makes this user the owner of a folder and of everything in it that belongs to the runner. Follows no links.
    /// # Errors
    /// The runner may not do so.
    pub fn own_all(&self, folder: &Path) -> Result<(), Error> {
        let mut next = vec![folder.to_owned()];
        while let Some(path) = next.pop() {
            let metadata = fs::symlink_metadata(&path).map_err(Error::at(&path))?;
            if metadata.uid() != self.id {
                self.own(&path)?;
            }
            if metadata.is_dir() {
                for entry in fs::read_dir(&path).map_err(Error::at(&path))? {
                    next.push(entry.map_err(Error::at(&path))?.path());
                }
            }
        }
        Ok(())
    }
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
    fn users_are_found_by_name() {
        let user = parse("builds:x:998:997:Builds:/srv/builds:/bin/sh").expect("valid");
        assert_eq!((user.id, user.group, &*user.home), (998, 997, "/srv/builds"));
        assert_eq!(parse("# a comment"), None);
        assert_eq!(User::find("root").map(|user| user.id).ok(), Some(0));
        assert!(User::find("no such user").is_err());
    }
}
