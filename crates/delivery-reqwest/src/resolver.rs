//! Resolves host names and checks the addresses found.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::guard::Guard;

/// A resolver of host names.
pub trait Lookup: Send + Sync + 'static {
    /// Returns all addresses of a host. May block.
    fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Resolves hosts with the system resolver.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// The only resolver of the client. It checks the addresses that it returns, and the client connects to exactly these:
/// there is no second lookup that could give another result.
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
            // Port 0 is replaced by the port of the URL.
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))))
        };
        Box::pin(async move { tokio::task::spawn_blocking(check).await? })
    }
}
