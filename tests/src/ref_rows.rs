//! Keeps a bare repository, which tests change with git, in step with the database rows and packs that hexforge reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::GitStore;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::refs::{Ref, Snapshot};
use hexforge_git_gix::GixStore;
use hexforge_git_gix::refs::disk::{self, RefsOnDisk};
use hexforge_pack_store::FolderPacks;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

/// The refs and packs of one project in the database.
#[derive(Clone)]
pub struct RefRows {
    store: Arc<dyn Store>,
    project: ProjectId,
    /// The store of the packs; `None` for the data folder of the bare repository.
    packs: Option<Arc<dyn PackStore>>,
}

/// Replaces refs, packs and default branch of a project by those of a bare repository.
pub fn adopt_repository(database: &TestDatabase, project: i64, bare: &Path) {
    let store: Arc<dyn Store> = Arc::new(database.open(Options::default()));
    let project = ProjectId(project);
    RefRows::new(Arc::clone(&store), project).read_from(bare);
    let stored = store.write::<_, StoreError>(|tx| {
        let (state, refs) = (tx.refs().lock(project)?, tx.refs().list(project)?);
        let default = Snapshot::new(&state, &refs, &[]).default_branch();
        tx.projects().set_default_branch(project, default.as_ref())
    });
    stored.expect("the project is stored");
}

impl RefRows {
    pub fn new(store: Arc<dyn Store>, project: ProjectId) -> Self {
        Self { store, project, packs: None }
    }

    /// The same, with another pack store.
    #[must_use]
    pub fn with_packs(self, packs: Arc<dyn PackStore>) -> Self {
        Self { packs: Some(packs), ..self }
    }

    /// Writes the packs and refs of the database into a bare repository.
    pub fn write_to(&self, bare: &Path) {
        let (state, refs) = self.read();
        let Some(head) = state else { return };
        self.link(bare);
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

    /// Copies the objects and refs of a bare repository into the database and the pack store.
    pub fn read_from(&self, bare: &Path) {
        self.take_objects(bare);
        let RefsOnDisk { head, refs, wrong } = disk::read(bare).expect("git wrote them");
        let (state, before) = self.read();
        let before: BTreeMap<String, Ref> =
            before.into_iter().map(|one| (one.name.clone(), one)).collect();
        // `refs` lacks refs to damaged objects, so nothing is removed if there are any.
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

    /// Creates or overwrites refs.
    pub fn put(&self, refs: &[Ref]) {
        let stored = self.store.write::<_, StoreError>(|tx| {
            tx.refs().lock(self.project)?;
            tx.refs().put(self.project, refs)
        });
        stored.expect("the project is stored");
    }

    /// Moves the packs and loose objects that git wrote into the pack store, and links the packs into the repository.
    fn take_objects(&self, bare: &Path) {
        let own = own_files(bare);
        if own.is_empty() {
            return;
        }
        let git = self.store_of(bare);
        let found = git.take_over(bare).expect("git wrote them");
        let taken = self.store.write::<_, StoreError>(|tx| {
            tx.refs().lock(self.project)?;
            let live = tx.packs().live(self.project)?;
            let is_new = |pack: &&Pack| live.iter().all(|one| one.name != pack.name);
            let new: Vec<Pack> = found.iter().filter(is_new).copied().collect();
            tx.packs().add(self.project, &new, chrono::Utc::now())?;
            Ok(())
        });
        taken.expect("the project is stored");
        self.link(bare);
        for file in own {
            std::fs::remove_file(file).expect("git wrote it");
        }
    }

    /// Links the packs that the database names into a bare repository.
    fn link(&self, bare: &Path) {
        let refs = self.store.read::<_, StoreError>(|tx| {
            let state = tx.refs().state(self.project)?.unwrap_or_default();
            let (refs, packs) = (tx.refs().list(self.project)?, tx.packs().live(self.project)?);
            Ok(Snapshot::new(&state, &refs, &packs))
        });
        let refs = Arc::new(refs.expect("rows can be read"));
        let opened = self.store_of(bare).open(self.project, refs, Caller::BACKGROUND);
        opened.expect("the packs can be linked");
    }

    /// A git store in the data folder of a bare repository.
    fn store_of(&self, bare: &Path) -> GixStore {
        let data = bare.ancestors().nth(4).expect("repositories are four folders deep");
        let packs = self.packs.clone();
        let packs = packs
            .unwrap_or_else(|| Arc::new(FolderPacks::with_size_check_only(data.join("packs"))));
        GixStore::new(data, packs, |doomed: &Path| std::fs::remove_dir_all(doomed))
    }

    /// HEAD and all refs in the database.
    fn read(&self) -> (Option<String>, Vec<Ref>) {
        let read = self.store.read::<_, StoreError>(|tx| {
            let state = tx.refs().state(self.project)?;
            Ok((state.map(|state| state.head), tx.refs().list(self.project)?))
        });
        read.expect("rows can be read")
    }
}

/// The loose objects and packs that git wrote. Linked packs are recognized by their longer names.
fn own_files(bare: &Path) -> Vec<PathBuf> {
    let objects = bare.join("objects");
    let mut own = Vec::new();
    for folder in std::fs::read_dir(&objects).expect("a repository has objects") {
        let folder = folder.expect("it can be read").path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != "pack" && name.len() != 2 {
            continue;
        }
        for file in std::fs::read_dir(&folder).expect("it is a folder") {
            let file = file.expect("it can be read").path();
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let linked = stem.strip_prefix("pack-").is_some_and(|name| name.len() == 64);
            if !linked {
                own.push(file);
            }
        }
    }
    own
}
