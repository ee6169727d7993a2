//! Git over SSH: its socket, its keys, its start.

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

/// The folder of the host keys, in the data folder.
const FOLDER: &str = "ssh";

/// What has to be there before anything is served, so that what is missing stops the start.
pub struct Prepared {
    listener: TcpListener,
    address: SocketAddr,
    keys: HostKeys,
}

impl Prepared {
    /// Takes the address, and reads or makes the keys. With a key of the installation in the settings they are in the
    /// database, for all machines.
    pub fn new(address: SocketAddr, config: &Config, store: &DieselStore) -> Result<Self> {
        let listener = TcpListener::bind(address).with_context(|| {
            format!("the address {address} (ssh_listen) cannot be served; `off` is another choice")
        })?;
        let address = listener.local_addr().context("the socket has no address")?;
        let folder = config.data_dir.join(FOLDER);
        let keys = match config.secret_key {
            Some(_) => shared_keys(&folder, store)?,
            None => HostKeys::keep_in(&folder)?,
        };
        Ok(Self { listener, address, keys })
    }

    /// Where it will listen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves, and tells people the fingerprints that they are asked about.
    pub fn start(
        self,
        app: App,
        limiter: Arc<Limiter>,
        terminal: &mut dyn Write,
    ) -> Result<Server> {
        let (app, limits) = (Arc::new(app), Limits::default());
        let server = Server::start(self.listener, app, &self.keys, limiter, limits);
        let server = server.context("git cannot be served over SSH")?;
        let (address, fingerprints) = (self.address, self.keys.fingerprints());
        writeln!(terminal, "Git over SSH is served on {address}. The host keys are")?;
        for fingerprint in &fingerprints {
            writeln!(terminal, "  {fingerprint}")?;
        }
        tracing::info!(%address, ?fingerprints, "serving git over SSH");
        Ok(server)
    }
}

/// The keys in the database. Those of this machine become those of all if there are none yet.
fn shared_keys(folder: &Path, store: &DieselStore) -> Result<HostKeys> {
    let text = store.shared_secret::<anyhow::Error>("ssh host keys", || {
        let keys = if folder.exists() { HostKeys::keep_in(folder)? } else { HostKeys::make()? };
        Ok(keys.to_text()?)
    })?;
    Ok(HostKeys::from_text(&text)?)
}
