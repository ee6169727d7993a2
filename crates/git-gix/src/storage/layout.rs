//! The paths of repositories and caches on disk. No other module builds such paths, and no path contains text that a
//! caller sent.

use std::path::{Path, PathBuf};

use hexforge_domain::id::ProjectId;

/// The layout of one data folder.
#[derive(Clone, Debug)]
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// The layout of this data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into() }
    }

    /// The folder of a project's repository. Two levels of folders by project id keep each folder small.
    pub fn repository(&self, project: ProjectId) -> PathBuf {
        let shard = self.shard(Self::shard_of(project));
        let [_, second, ..] = project.0.to_le_bytes();
        shard.join(format!("{second:02x}")).join(format!("{}.git", project.0))
    }

    /// The folder of a project's repository as an earlier release stored it.
    pub fn earlier_repository(&self, project: ProjectId) -> PathBuf {
        let [first, second, ..] = project.0.to_le_bytes();
        let shelf = self.data.join("repositories-before-upgrade").join(format!("{first:02x}"));
        shelf.join(format!("{second:02x}")).join(format!("{}.git", project.0))
    }

    /// The shard of a project: the lowest byte of its id.
    pub fn shard_of(project: ProjectId) -> u8 {
        project.0.to_le_bytes()[0]
    }

    /// The folder of a shard.
    pub(crate) fn shard(&self, shard: u8) -> PathBuf {
        self.data.join("repositories").join(format!("{shard:02x}"))
    }

    /// Parses the project id from the folder name of a repository.
    pub(crate) fn project(folder: &Path) -> Option<ProjectId> {
        let name = folder.file_name()?.to_str()?.strip_suffix(".git")?;
        name.parse().ok().map(ProjectId)
    }

    /// The folder in which repositories are assembled before they are moved to their final path.
    pub fn scratch(&self) -> PathBuf {
        self.data.join("repositories").join("scratch")
    }

    /// The folder of the archive cache.
    pub(crate) fn archives(&self) -> PathBuf {
        self.data.join("cache").join("archives")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_lie_two_folders_deep_by_id() {
        let layout = Layout::new("/data");
        for (id, path) in [
            (1, "/data/repositories/01/00/1.git"),
            (255, "/data/repositories/ff/00/255.git"),
            (66_051, "/data/repositories/03/02/66051.git"),
        ] {
            let folder = layout.repository(ProjectId(id));
            assert_eq!(folder, Path::new(path));
            assert_eq!(Layout::project(&folder), Some(ProjectId(id)));
        }
    }
}
