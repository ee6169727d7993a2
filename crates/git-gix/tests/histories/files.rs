//! The files of one commit, and changes to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gix::ObjectId;
use gix::object::Kind;

use crate::objects::{Objects, hash};

/// A file, a link or a submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub mode: u32,
    /// The content; for a submodule the hexadecimal id.
    pub content: Arc<Vec<u8>>,
}

pub const PLAIN: u32 = 0o100644;
pub const EXECUTABLE: u32 = 0o100755;
pub const LINK: u32 = 0o120000;
pub const SUBMODULE: u32 = 0o160000;

impl File {
    pub fn new(mode: u32, content: impl Into<Vec<u8>>) -> Self {
        Self { mode, content: Arc::new(content.into()) }
    }

    /// Creates a text that is long enough for deltas.
    pub fn text(number: usize, lines: usize) -> Self {
        let lines: Vec<String> =
            (0..lines).map(|line| format!("line {line} of the text {number}\n")).collect();
        Self::new(PLAIN, lines.concat())
    }

    /// Returns the text with one more line.
    pub fn with_line(&self, at: usize, line: &str) -> Self {
        let text = String::from_utf8_lossy(&self.content).into_owned();
        let mut lines: Vec<&str> = text.lines().collect();
        match lines.len() {
            0 => lines.push(line),
            length => lines[at % length] = line,
        }
        Self::new(self.mode, lines.join("\n") + "\n")
    }

    pub fn id(&self) -> ObjectId {
        if self.mode == SUBMODULE {
            return ObjectId::from_hex(&self.content).expect("a submodule has an id");
        }
        hash(Kind::Blob, &self.content)
    }
}

/// All files by path.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Files(pub BTreeMap<String, File>);

impl Files {
    /// Puts a file at a path. Files that conflict with the path are removed.
    pub fn put(&mut self, path: &str, file: File) {
        self.remove_folder(path);
        let parents = path.char_indices().filter(|(_, char)| *char == '/');
        for (end, _) in parents {
            self.0.remove(&path[..end]);
        }
        self.0.insert(path.to_owned(), file);
    }

    /// Gives a path the state that it has in another commit.
    pub fn put_or_remove(&mut self, path: &str, file: Option<&File>) {
        match file {
            Some(file) => self.put(path, file.clone()),
            None => drop(self.0.remove(path)),
        }
    }

    pub fn remove_folder(&mut self, folder: &str) {
        self.0.retain(|path, _| inside(path, folder).is_none());
    }

    /// Returns the files in a folder, with their paths relative to it.
    pub fn in_folder(&self, folder: &str) -> Vec<(String, File)> {
        let files = self.0.iter();
        files
            .filter_map(|(path, file)| Some((inside(path, folder)?.to_owned(), file.clone())))
            .collect()
    }

    /// Returns all folders except the root.
    pub fn folders(&self) -> Vec<String> {
        let mut folders = BTreeSet::new();
        for path in self.0.keys() {
            for (end, _) in path.char_indices().filter(|(_, char)| *char == '/') {
                folders.insert(path[..end].to_owned());
            }
        }
        folders.into_iter().collect()
    }

    /// The paths of texts.
    pub fn texts(&self) -> Vec<String> {
        let is_text = |file: &File| file.mode == PLAIN || file.mode == EXECUTABLE;
        let texts = self.0.iter().filter(|(_, file)| is_text(file));
        texts.map(|(path, _)| path.clone()).collect()
    }

    /// The paths that differ.
    pub fn changed_since(&self, other: &Files) -> Vec<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let changed = paths.into_iter().filter(|path| self.0.get(*path) != other.0.get(*path));
        changed.cloned().collect()
    }

    /// Adds the blobs and trees to the objects and returns the id of the root.
    pub fn write(&self, objects: &mut Objects) -> ObjectId {
        let files: Vec<(&str, &File)> =
            self.0.iter().map(|(path, file)| (path.as_str(), file)).collect();
        write_tree(&files, objects)
    }
}

/// Returns the path relative to a folder, if it is inside.
fn inside<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

fn write_tree(files: &[(&str, &File)], objects: &mut Objects) -> ObjectId {
    let mut folders: BTreeMap<&str, Vec<(&str, &File)>> = BTreeMap::new();
    // Git sorts folders as if their names ended in a slash.
    let mut entries: BTreeMap<String, (u32, String, ObjectId)> = BTreeMap::new();
    let mut links = Vec::new();
    for &(path, file) in files {
        if let Some((folder, rest)) = path.split_once('/') {
            folders.entry(folder).or_default().push((rest, file));
            continue;
        }
        let id = file.id();
        if file.mode != SUBMODULE {
            objects.add(Kind::Blob, file.content.to_vec(), Vec::new(), Vec::new());
            links.push(id);
        }
        entries.insert(path.to_owned(), (file.mode, path.to_owned(), id));
    }
    for (folder, files) in folders {
        let id = write_tree(&files, objects);
        links.push(id);
        entries.insert(format!("{folder}/"), (0o40000, folder.to_owned(), id));
    }
    let mut data = Vec::new();
    for (mode, name, id) in entries.into_values() {
        data.extend_from_slice(format!("{mode:o} {name}\0").as_bytes());
        data.extend_from_slice(id.as_slice());
    }
    objects.add(Kind::Tree, data, links, Vec::new())
}
