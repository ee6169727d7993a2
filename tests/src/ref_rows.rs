//! The refs of a repository in files of git, beside the rows that hexforge reads: what tests do with git to the one is
//! done to the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::refs::{Ref, Snapshot};
use hexforge_git_gix::refs::disk::{self, RefsOnDisk};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

/// The rows of one repository.
#[derive(Clone)]
pub struct RefRows {
    store: Arc<dyn Store>,
    project: ProjectId,
}

/// Lets a project have the refs of a bare repository that git filled, and its default branch.
pub fn adopt(database: &TestDatabase, project: i64, bare: &Path) {
    let store: Arc<dyn Store> = Arc::new(database.open(Options::default()));
    let project = ProjectId(project);
    RefRows::new(Arc::clone(&store), project).take(bare);
    let told = store.write::<_, StoreError>(|tx| {
        let (state, refs) = (tx.refs().lock(project)?, tx.refs().list(project)?);
        let default = Snapshot::new(&state, &refs).default_branch();
        tx.projects().set_default_branch(project, default.as_ref())
    });
    told.expect("the project is stored");
}

impl RefRows {
    pub fn new(store: Arc<dyn Store>, project: ProjectId) -> Self {
        Self { store, project }
    }

    /// Gives a bare repository the refs of the rows.
    pub fn give(&self, bare: &Path) {
        let (state, refs) = self.read();
        let Some(head) = state else { return };
        for folder in ["refs/heads", "refs/tags"] {
            let folder = bare.join(folder);
            std::fs::remove_dir_all(&folder).expect("a bare repository has it");
            std::fs::create_dir(&folder).expect("the folder can be made");
        }
        let lines = refs.iter().map(|Ref { name, target, peeled }| {
            let peeled = peeled.map(|peeled| format!("^{peeled}\n")).unwrap_or_default();
            format!("{target} {name}\n{peeled}")
        });
        let packed =
            format!("# pack-refs with: peeled fully-peeled sorted \n{}", lines.collect::<String>());
        std::fs::write(bare.join("packed-refs"), packed).expect("the file can be written");
        std::fs::write(bare.join("HEAD"), format!("ref: {head}\n")).expect("it can be written");
    }

    /// Takes over the refs of a bare repository.
    pub fn take(&self, bare: &Path) {
        let RefsOnDisk { head, refs, wrong } = disk::read(bare).expect("git wrote them");
        let (state, before) = self.read();
        let before: BTreeMap<String, Ref> =
            before.into_iter().map(|one| (one.name.clone(), one)).collect();
        // A ref that holds a damaged object is in neither list of the files.
        let is_gone =
            |name: &&String| wrong.is_empty() && refs.iter().all(|one| one.name != **name);
        let gone: Vec<&str> = before.keys().filter(is_gone).map(String::as_str).collect();
        let is_new = |one: &&Ref| before.get(&one.name) != Some(*one);
        let new: Vec<Ref> = refs.iter().filter(is_new).cloned().collect();
        let taken = self.store.write::<_, StoreError>(|tx| {
            if new.is_empty() && gone.is_empty() && state.as_ref() == Some(&head) {
                return Ok(());
            }
            tx.refs().lock(self.project)?;
            tx.refs().remove(self.project, &gone)?;
            tx.refs().put(self.project, &new)?;
            tx.refs().set_head(self.project, &head)
        });
        taken.expect("the project is stored");
    }

    /// HEAD and all refs.
    fn read(&self) -> (Option<String>, Vec<Ref>) {
        let read = self.store.read::<_, StoreError>(|tx| {
            let state = tx.refs().state(self.project)?;
            Ok((state.map(|state| state.head), tx.refs().list(self.project)?))
        });
        read.expect("rows can be read")
    }
}
