//! The processes of one installation: one process with a data folder, or several machines with an object store.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::testing::TestDatabase;

use crate::program::{self, Program};
use crate::s3::S3Server;

/// The secret key of these installations.
pub const SECRET_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// The common settings of all processes, and the data folder of each.
pub struct Installation {
    database: DatabaseUrl,
    folders: Vec<PathBuf>,
    settings: Vec<(String, String)>,
    object_store: Option<S3Server>,
}

impl Installation {
    /// An installation of one process with this data folder.
    pub fn single(database: &TestDatabase, data: &Path) -> Self {
        let (database, folders) = (database.url.clone(), vec![data.to_owned()]);
        Self { database, folders, settings: vec![], object_store: None }
    }

    /// An installation of several machines with an object store. Each machine has its own data folder below `folder`.
    pub fn machines(database: &TestDatabase, folder: &Path, number: usize) -> Self {
        let folders = (0..number).map(|machine| folder.join(format!("machine-{machine}")));
        let object_store = S3Server::start();
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        let mut settings: Vec<(String, String)> =
            object_store.variables().into_iter().map(named).collect();
        settings.push(named(("HEXFORGE_OBJECT_STORE_URL", object_store.url())));
        settings.push(named(("HEXFORGE_SECRET_KEY", SECRET_KEY.to_owned())));
        Self {
            database: database.url.clone(),
            folders: folders.collect(),
            settings,
            object_store: Some(object_store),
        }
    }

    /// Adds a setting for all processes that are started later.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The number of machines.
    pub fn machine_count(&self) -> usize {
        self.folders.len()
    }

    /// Whether there is one process, without an object store.
    pub fn is_single(&self) -> bool {
        self.object_store.is_none()
    }

    /// The data folder of a machine.
    pub fn folder(&self, machine: usize) -> &Path {
        &self.folders[machine]
    }

    /// The settings, without those that every [`Program`] gets.
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// The object store.
    pub fn object_store(&self) -> &S3Server {
        self.object_store.as_ref().expect("an installation of several machines has one")
    }

    /// Starts the process of a machine, with an SSH server.
    pub fn start(&self, machine: usize) -> Program {
        let settings = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut settings: Vec<(&str, &str)> = settings.collect();
        settings.push(("HEXFORGE_SSH_LISTEN", "127.0.0.1:0"));
        let (folder, log) = (&self.folders[machine], Stdio::inherit());
        Program::start_with(&program::executable(), folder, &self.database, log, &settings)
            .expect("the program serves")
    }
}
