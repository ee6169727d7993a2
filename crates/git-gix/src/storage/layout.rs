//! Where things are on disk. The only place that makes such paths; nothing a caller said is part of one.

use std::path::{Path, PathBuf};

use hexforge_domain::id::ProjectId;

/// The folders of one data folder.
#[derive(Clone, Debug)]
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// The folders in this data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into() }
    }

    /// The repository of a project: two levels of folders by its id, so that none gets too full.
    pub fn repository(&self, project: ProjectId) -> PathBuf {
        let shard = self.shard(Self::shard_of(project));
        let [_, second, ..] = project.0.to_le_bytes();
        shard.join(format!("{second:02x}")).join(format!("{}.git", project.0))
    }

    /// The repository of a project as an earlier release left it.
    pub fn earlier(&self, project: ProjectId) -> PathBuf {
        let [first, second, ..] = project.0.to_le_bytes();
        let shelf = self.data.join("repositories-before-upgrade").join(format!("{first:02x}"));
        shelf.join(format!("{second:02x}")).join(format!("{}.git", project.0))
    }

    /// The shard that a project is in.
    pub fn shard_of(project: ProjectId) -> u8 {
        project.0.to_le_bytes()[0]
    }

    /// The folder of a shard.
    pub(crate) fn shard(&self, shard: u8) -> PathBuf {
        self.data.join("repositories").join(format!("{shard:02x}"))
    }

    /// The project of a repository's folder name.
    pub(crate) fn project(folder: &Path) -> Option<ProjectId> {
        let name = folder.file_name()?.to_str()?.strip_suffix(".git")?;
        name.parse().ok().map(ProjectId)
    }

    /// Where repositories are put together before they are moved to their place.
    pub fn scratch(&self) -> PathBuf {
        self.data.join("repositories").join("scratch")
    }

    /// Where archives are kept that may be asked for again.
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
