//! Checks the folders, files and archives of a commit.

use gix::ObjectId;
use hexforge_domain::ports::git::{Blob, Depth};
use hexforge_domain::repository::{Archive, ArchiveFormat, EntryKind, TreeEntry};

use crate::files::SUBMODULE;
use crate::oracle::Failure;
use crate::process::parse_id;
use crate::readings::{Reader, to_domain};
use crate::support::Random;

/// The number of paths that are read per commit.
const PATHS: usize = 6;

impl Reader<'_> {
    pub fn check_contents(&self, commit: ObjectId, random: &mut Random) -> Result<(), Failure> {
        let entries = self.list(commit);
        self.check_folder(commit, "", &entries)?;
        for _ in 0..PATHS.min(entries.len()) {
            let entry = random.pick(&entries);
            self.check_folder(commit, &entry.path, &entries)?;
            self.check_blob(commit, entry)?;
        }
        self.check_archive(commit)
    }

    /// Lists all entries of a commit with git.
    fn list(&self, commit: ObjectId) -> Vec<TreeEntry> {
        let entry = |line: &String| {
            let (header, path) = line.split_once('\t')?;
            let [mode, kind, id] = header.split(' ').collect::<Vec<_>>().try_into().ok()?;
            let kind = match kind {
                "tree" => EntryKind::Tree,
                "blob" => EntryKind::Blob,
                _ => EntryKind::Commit,
            };
            let mode = u32::from_str_radix(mode, 8).ok()?;
            Some(TreeEntry { id: to_domain(parse_id(id)), kind, mode, path: path.to_owned() })
        };
        let lines = self.git_lines(&["ls-tree", "-r", "-t", &commit.to_string()]);
        lines.iter().map(|line| entry(line).expect("git prints entries")).collect()
    }

    /// Folders come first, then files, then submodules, each in git's order.
    fn check_folder(
        &self,
        commit: ObjectId,
        folder: &str,
        all: &[TreeEntry],
    ) -> Result<(), Failure> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for depth in [Depth::Folder, Depth::Recursive] {
            let is_in = |entry: &&TreeEntry| {
                let rest = entry.path.strip_prefix(&prefix);
                rest.is_some_and(|rest| depth == Depth::Recursive || !rest.contains('/'))
            };
            let mut expected: Vec<TreeEntry> = all.iter().filter(is_in).cloned().collect();
            expected.sort_by_key(|entry| entry.kind);
            let answer = self.repository.tree(to_domain(commit), folder, depth);
            self.check(&format!("ls-tree {commit}:{folder} {depth:?}"), answer, &expected)?;
        }
        Ok(())
    }

    fn check_blob(&self, commit: ObjectId, entry: &TreeEntry) -> Result<(), Failure> {
        let question = format!("cat-file {commit}:{}", entry.path);
        let file = self.history.commits.iter().find(|known| known.id == commit);
        let file = file.and_then(|known| known.files.0.get(&entry.path));
        let file = file.filter(|file| file.mode != SUBMODULE);
        let size = |content: &Vec<u8>| content.len() as u64;
        let expected = file.map(|file| Blob { id: entry.id, size: size(&file.content) });
        let answer = self.repository.blob_at(to_domain(commit), &entry.path);
        self.check(&question, answer, &expected)?;
        let Some(file) = file else { return Ok(()) };
        let mut content = Vec::new();
        let answer = self.repository.write_blob(entry.id, &mut content);
        self.check(&question, answer.map(|()| content), &file.content)?;
        let name = entry.id.to_string();
        for name in [&name[..], &name[..12]] {
            self.check(&question, self.repository.find_blob(name), &expected)?;
        }
        Ok(())
    }

    fn check_archive(&self, commit: ObjectId) -> Result<(), Failure> {
        let question = format!("archive --prefix=folder/ {commit}");
        let id = commit.to_string();
        let by_git = self.server.git(&["archive", "--format=tar", "--prefix=folder/", &id]);
        let archive = Archive {
            commit: to_domain(commit),
            format: ArchiveFormat::Tar,
            folder: "folder".to_owned(),
        };
        // The second archive comes from the cache.
        for _ in 0..2 {
            let mut bytes = Vec::new();
            self.answer(&question, self.repository.write_archive(&archive, &mut bytes))?;
            if bytes != by_git {
                self.check(&question, Ok(list_archive(&bytes)), &list_archive(&by_git))?;
                return Err(self.fail(&question, "the same files, but other bytes"));
            }
        }
        Ok(())
    }
}

/// The paths and sizes in an archive.
fn list_archive(bytes: &[u8]) -> Vec<String> {
    let mut archive = tar::Archive::new(bytes);
    let entries = archive.entries().expect("a tar archive");
    let line = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
        let entry = entry.expect("an entry");
        format!("{} {}", String::from_utf8_lossy(&entry.path_bytes()), entry.size())
    };
    entries.map(line).collect()
}
