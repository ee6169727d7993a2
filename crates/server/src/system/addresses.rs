//! Finds the IP addresses of this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns all addresses of this machine as the kernel reports them: a server that listens on every
/// address is reachable by each of them. Empty if the kernel does not report them.
pub fn own_addresses() -> Vec<IpAddr> {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let mut addresses = from_trie(&read("/proc/net/fib_trie"));
    addresses.extend(from_list(&read("/proc/net/if_inet6")));
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Parses IPv4 addresses: each is on one line, and its type on the next.
fn from_trie(text: &str) -> Vec<IpAddr> {
    let mut last = None;
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some((_, address)) = line.split_once("-- ") {
            last = address.trim().parse::<Ipv4Addr>().ok();
        } else if line.contains("/32 host LOCAL") {
            found.extend(last.map(IpAddr::V4));
        }
    }
    found
}

/// Parses IPv6 addresses: each is at the start of a line, as 32 hex digits.
fn from_list(text: &str) -> Vec<IpAddr> {
    let first = |line: &str| u128::from_str_radix(line.split_whitespace().next()?, 16).ok();
    text.lines().filter_map(first).map(|bits| IpAddr::V6(Ipv6Addr::from(bits))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_what_the_kernel_tells() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /24 link UNICAST\n     \
                    |-- 10.0.0.5\n        /32 host LOCAL\n     |-- 10.0.0.255\n        /32 link BROADCAST\n";
        assert_eq!(from_trie(trie), [IpAddr::from([10, 0, 0, 5])]);
        let list = "20010db8000000000000000000000001 02 40 00 80 eth0\nnonsense\n";
        let expected: IpAddr = "2001:db8::1".parse().expect("an address");
        assert_eq!(from_list(list), [expected]);
        assert!(from_trie("").is_empty());
    }
}
