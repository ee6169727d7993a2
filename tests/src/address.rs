//! Addresses of servers that have to be known before the servers start.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// The lowest port that is tried, and the number of ports. Linux gives ports from 32768 on to outgoing connections.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// Finds an address of loopback with a free port.
///
/// The system would choose a port of those for outgoing connections. Between the choice and the start of the server,
/// or while the server is restarted, another connection could get the same one.
pub fn free_address() -> SocketAddr {
    // Test processes that run at the same time begin at different ports.
    let start = u16::try_from(std::process::id() % u32::from(PORTS)).expect("it is below `PORTS`");
    let candidates = (0..PORTS).map(|_| {
        let next = NEXT.fetch_add(1, Ordering::Relaxed) % PORTS;
        SocketAddr::from((Ipv4Addr::LOCALHOST, FIRST_PORT + (start + next) % PORTS))
    });
    let mut free = candidates.filter(|address| TcpListener::bind(address).is_ok());
    free.next().expect("a port is free")
}
