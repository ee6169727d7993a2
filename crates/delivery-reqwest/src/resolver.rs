//! Looking up hosts, and the check of what was found.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::guard::Guard;

/// Finds the addresses of hosts.
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of a host. May block.
    fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Looks up hosts as every program of this machine does.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// The only way by which the client gets from a name to addresses. What it hands out was checked, and is
/// what is connected to: there is no second look-up whose answer could be another.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    pub(crate) guard: Guard,
    pub(crate) lookup: Arc<dyn Lookup>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { guard, lookup } = self.clone();
        let host = name.as_str().to_owned();
        let check = move || -> Result<Addrs, Box<dyn std::error::Error + Send + Sync>> {
            let addresses = lookup.lookup(&host)?;
            if addresses.is_empty() {
                return Err("the host has no address".into());
            }
            guard.check(&host, addresses.iter().copied())?;
            // Port 0 stands for that of the URL.
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))))
        };
        Box::pin(async move { tokio::task::spawn_blocking(check).await? })
    }
}
