//! IP networks, and the network by which a caller is identified.

use std::net::IpAddr;
use std::str::FromStr;

/// The network that identifies a caller who is not signed in. The owner of an IPv6 address usually
/// has the whole /64 network, so the lower 64 bits are cleared. An IPv4 address is kept unchanged.
pub fn caller_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
        }
    }
}

/// A network such as `10.0.0.0/8`, or a single address such as `::1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not an address or network such as `10.0.0.0/8`")]
pub struct NotANetwork;

impl Network {
    /// Returns whether an address belongs to the network. An IPv4-mapped IPv6 address counts as
    /// IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing_bits = own.to_bits() ^ other.to_bits();
                differing_bits.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing_bits = own.to_bits() ^ other.to_bits();
                differing_bits.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, prefix) = match text.trim().split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text.trim(), None),
        };
        let address = address.parse::<IpAddr>().map_err(|_| NotANetwork)?.to_canonical();
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => longest,
            Some(text) if text.bytes().all(|digit| digit.is_ascii_digit()) => {
                text.parse().map_err(|_| NotANetwork)?
            }
            Some(_) => return Err(NotANetwork),
        };
        if prefix > longest { Err(NotANetwork) } else { Ok(Self { address, prefix }) }
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("the table has addresses")
    }

    #[test]
    fn ipv6_callers_are_identified_by_their_network() {
        let network = |text| caller_network(address(text));
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:3::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix() {
        for (network, other, contains) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.6", false),
            ("192.0.2.7/32", "192.0.2.7", true),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "203.0.113.9", false),
            ("::1", "::1", true),
            ("fd00::/8", "fd12:3456::1", true),
            ("fd00::/8", "fe80::1", false),
            ("2001:db8::/33", "2001:db8:8000::1", false),
        ] {
            let parsed: Network = network.parse().expect("the table has networks");
            assert_eq!(parsed.contains(address(other)), contains, "{network} {other}");
        }
    }

    #[test]
    fn texts_that_are_not_networks_are_refused() {
        for text in [
            "",
            "proxy",
            "10.0.0.0/33",
            "10.0.0/8",
            "::1/129",
            "::1/",
            "::1/+8",
            "10.0.0.0/8/8",
            "/8",
        ] {
            assert_eq!(text.parse::<Network>(), Err(NotANetwork), "{text}");
        }
    }
}
