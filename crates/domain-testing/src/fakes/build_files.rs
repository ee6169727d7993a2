//! Fake of the storage of build logs and artifacts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard};

use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewFile, StoredFile};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Trace,
    Artifacts,
}

type Files = BTreeMap<(ProjectId, BuildId, Kind), Vec<u8>>;

/// Stores files in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct FakeBuildFiles(Arc<Mutex<Files>>);

impl FakeBuildFiles {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().expect("no test panics while it holds the files")
    }

    fn open(&self, project: ProjectId, build: BuildId, kind: Kind) -> Option<StoredFile> {
        let found = self.files().get(&(project, build, kind)).cloned();
        found.map(|content| StoredFile {
            size: content.len() as u64,
            content: Box::new(Cursor::new(content)),
        })
    }
}

impl ProjectFiles for FakeBuildFiles {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        let projects: BTreeSet<_> = self.files().keys().map(|(project, ..)| *project).collect();
        Ok(Box::new(projects.into_iter()))
    }

    fn remove_project(&self, project: ProjectId) {
        self.files().retain(|(other, ..), _| *other != project);
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        Ok(())
    }
}

impl BuildFiles for FakeBuildFiles {
    fn trace_size(&self, project: ProjectId, build: BuildId) -> Result<u64, FilesError> {
        Ok(self.open(project, build, Kind::Trace).map_or(0, |trace| trace.size))
    }

    fn open_trace(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError> {
        Ok(self.open(project, build, Kind::Trace))
    }

    fn trace_tail(
        &self,
        project: ProjectId,
        build: BuildId,
        bytes: u64,
    ) -> Result<Vec<u8>, FilesError> {
        let whole = self.files().get(&(project, build, Kind::Trace)).cloned().unwrap_or_default();
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(whole[whole.len().saturating_sub(bytes)..].to_vec())
    }

    fn append_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        at: u64,
        chunk: &[u8],
    ) -> Result<(), FilesError> {
        let mut files = self.files();
        let trace = files.entry((project, build, Kind::Trace)).or_default();
        trace.truncate(usize::try_from(at).unwrap_or(usize::MAX));
        trace.extend_from_slice(chunk);
        Ok(())
    }

    fn replace_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        content: &[u8],
    ) -> Result<(), FilesError> {
        self.files().insert((project, build, Kind::Trace), content.to_vec());
        Ok(())
    }

    fn begin_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Box<dyn NewFile>, FilesError> {
        Ok(Box::new(Receiving { files: self.clone(), project, build, content: Vec::new() }))
    }

    fn open_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError> {
        Ok(self.open(project, build, Kind::Artifacts))
    }

    fn remove_trace(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        self.files().remove(&(project, build, Kind::Trace));
        Ok(())
    }

    fn remove_artifacts(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        self.files().remove(&(project, build, Kind::Artifacts));
        Ok(())
    }
}

struct Receiving {
    files: FakeBuildFiles,
    project: ProjectId,
    build: BuildId,
    content: Vec<u8>,
}

impl NewFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.content.extend_from_slice(chunk);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
        self.files.files().insert((self.project, self.build, Kind::Artifacts), self.content);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_files_contract::CASES;

    #[test]
    fn files_in_memory_keep_the_contract() {
        for case in CASES {
            case(&FakeBuildFiles::default());
        }
    }
}
