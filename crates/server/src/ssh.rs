//! Starts the SSH server for git: its socket and its host keys.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::limiter::Limiter;
use hexforge_persistence_diesel::DieselStore;
use hexforge_ssh_russh::{HostKeys, Limits, Server};

use crate::config::Config;

/// The directory of the host keys in the data folder.
const FOLDER: &str = "ssh";

/// The bound socket and the host keys, prepared before anything is served, so that an error stops the start.
pub struct Prepared {
    listener: TcpListener,
    address: SocketAddr,
    keys: HostKeys,
}

impl Prepared {
    /// Binds the address, and reads or creates the host keys. If the settings contain an
    /// installation key, the host keys are in the database, shared by all machines.
    pub fn new(address: SocketAddr, config: &Config, store: &DieselStore) -> Result<Self> {
        let listener = TcpListener::bind(address).with_context(|| {
            format!("the address {address} (ssh_listen) cannot be served; `off` is another choice")
        })?;
        let address =
            listener.local_addr().context("the address of the SSH socket cannot be read")?;
        let folder = config.data_dir.join(FOLDER);
        let keys = match config.secret_key {
            Some(_) => shared_keys(&folder, store)?,
            None => HostKeys::load_or_create(&folder)?,
        };
        Ok(Self { listener, address, keys })
    }

    /// The address on which it will listen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts the server, and prints the fingerprints of the host keys.
    pub fn start(
        self,
        app: App,
        limiter: Arc<Limiter>,
        terminal: &mut dyn Write,
    ) -> Result<Server> {
        let (app, limits) = (Arc::new(app), Limits::default());
        let server = Server::start(self.listener, app, &self.keys, limiter, limits);
        let server = server.context("the SSH server cannot be started")?;
        let (address, fingerprints) = (self.address, self.keys.fingerprints());
        writeln!(terminal, "Git over SSH is served on {address}. The host keys are")?;
        for fingerprint in &fingerprints {
            writeln!(terminal, "  {fingerprint}")?;
        }
        tracing::info!(%address, ?fingerprints, "serving git over SSH");
        Ok(server)
    }
}

/// Reads the host keys from the database. If it has none, stores those of this machine, or new ones.
fn shared_keys(folder: &Path, store: &DieselStore) -> Result<HostKeys> {
    let text = store.shared_secret::<anyhow::Error>("ssh host keys", || {
        let keys =
            if folder.exists() { HostKeys::load_or_create(folder)? } else { HostKeys::generate()? };
        Ok(keys.to_text()?)
    })?;
    Ok(HostKeys::from_text(&text)?)
}
