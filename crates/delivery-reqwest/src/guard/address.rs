//! Classifies IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is publicly reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    Public,
    /// A refused address, with a description as in "leads to …".
    Refused(&'static str),
}

/// All IPv4 networks that are not public (IANA special-purpose registry): network, prefix length and description.
const REFUSED_V4: [([u8; 4], u32, &str); 17] = [
    ([0, 0, 0, 0], 8, "this machine"),
    ([127, 0, 0, 0], 8, "this machine"),
    ([10, 0, 0, 0], 8, "a private network"),
    ([172, 16, 0, 0], 12, "a private network"),
    ([192, 168, 0, 0], 16, "a private network"),
    // Carrier-grade NAT; contains the metadata address of some clouds (100.100.100.200).
    ([100, 64, 0, 0], 10, "a private network"),
    // Contains the metadata address of most clouds (169.254.169.254).
    ([169, 254, 0, 0], 16, "a link-local address"),
    // A public address at which a cloud serves metadata to its machines.
    ([168, 63, 129, 16], 32, "a metadata address"),
    // Contains the metadata address of a cloud (192.0.0.192).
    ([192, 0, 0, 0], 24, "a reserved address"),
    ([192, 88, 99, 0], 24, "a reserved address"),
    ([192, 0, 2, 0], 24, "an address for documentation"),
    ([198, 51, 100, 0], 24, "an address for documentation"),
    ([203, 0, 113, 0], 24, "an address for documentation"),
    ([198, 18, 0, 0], 15, "a network for benchmarks"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([255, 255, 255, 255], 32, "the broadcast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

/// Descriptions of IPv6 networks that are not public. Addresses outside `2000::/3` are refused even if not listed.
const REFUSED_V6: [([u16; 8], u32, &str); 12] = [
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "this machine"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "this machine"),
    // Contains the metadata address of a cloud (fd00:ec2::254).
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "a private network"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "a private network"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "a link-local address"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "a multicast address"),
    // Local-use NAT64: its targets depend on the network.
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "a private network"),
    // A Teredo tunnel, whose other end may be any address.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "a tunnel"),
    ([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "a network for benchmarks"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "an address for documentation"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "an address for documentation"),
    // The rest of the block for protocol assignments.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "a reserved address"),
];

/// Classifies an address. An IPv6 address that embeds an IPv4 address is classified as that.
pub fn classify(address: IpAddr) -> AddressKind {
    match effective_address(address) {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

/// Returns the address that a connection would reach: the IPv4 address that an IPv6 address embeds, or the address
/// itself.
pub fn effective_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(outer) => embedded_ipv4(outer).map_or(address, IpAddr::V4),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressKind {
    let inside = |network: [u8; 4], bits: u32| {
        (u32::from(address) ^ u32::from_be_bytes(network)) >> (32 - bits) == 0
    };
    let found = REFUSED_V4.iter().find(|(network, bits, _)| inside(*network, *bits));
    found.map_or(AddressKind::Public, |(_, _, what)| AddressKind::Refused(what))
}

fn classify_v6(address: Ipv6Addr) -> AddressKind {
    let inside = |network: [u16; 8], bits: u32| {
        (u128::from(address) ^ u128::from(Ipv6Addr::from(network))) >> (128 - bits) == 0
    };
    if let Some((_, _, what)) = REFUSED_V6.iter().find(|(network, bits, _)| inside(*network, *bits))
    {
        return AddressKind::Refused(what);
    }
    if inside([0x2000, 0, 0, 0, 0, 0, 0, 0], 3) {
        AddressKind::Public
    } else {
        AddressKind::Refused("a reserved address")
    }
}

/// The IPv4 address embedded in an IPv6 address.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        // The unspecified and the loopback address look like IPv4-compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // IPv4-compatible, IPv4-mapped, IPv4-translated (SIIT) and NAT64 addresses.
        [0, 0, 0, 0, 0, 0, high, low] => join(high, low),
        [0, 0, 0, 0, 0, 0xffff, high, low] => join(high, low),
        [0, 0, 0, 0, 0xffff, 0, high, low] => join(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => join(high, low),
        // A 6to4 address.
        [0x2002, high, low, ..] => join(high, low),
        // An ISATAP address in a public network: a tunnel to the embedded IPv4 address.
        [first, _, _, _, 0 | 0x200, 0x5efe, high, low] if first & 0xe000 == 0x2000 => {
            join(high, low)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_addresses() {
        const PUBLIC: &str = "public";
        for (address, expected) in [
            ("1.1.1.1", PUBLIC),
            ("8.8.8.8", PUBLIC),
            ("9.255.255.255", PUBLIC),
            ("11.0.0.0", PUBLIC),
            ("100.63.255.255", PUBLIC),
            ("100.128.0.0", PUBLIC),
            ("126.255.255.255", PUBLIC),
            ("128.0.0.0", PUBLIC),
            ("169.253.255.255", PUBLIC),
            ("169.255.0.0", PUBLIC),
            ("172.15.255.255", PUBLIC),
            ("172.32.0.0", PUBLIC),
            ("192.0.1.0", PUBLIC),
            ("192.167.255.255", PUBLIC),
            ("192.169.0.0", PUBLIC),
            ("198.17.255.255", PUBLIC),
            ("198.20.0.0", PUBLIC),
            ("223.255.255.255", PUBLIC),
            ("168.63.129.15", PUBLIC),
            ("0.0.0.0", "this machine"),
            ("0.255.255.255", "this machine"),
            ("127.0.0.1", "this machine"),
            ("127.255.255.255", "this machine"),
            ("10.0.0.0", "a private network"),
            ("10.255.255.255", "a private network"),
            ("172.16.0.0", "a private network"),
            ("172.31.255.255", "a private network"),
            ("192.168.0.0", "a private network"),
            ("192.168.255.255", "a private network"),
            ("100.64.0.0", "a private network"),
            ("100.100.100.200", "a private network"),
            ("100.127.255.255", "a private network"),
            ("169.254.0.0", "a link-local address"),
            ("169.254.169.254", "a link-local address"),
            ("168.63.129.16", "a metadata address"),
            ("192.0.0.192", "a reserved address"),
            ("192.88.99.1", "a reserved address"),
            ("192.0.2.1", "an address for documentation"),
            ("198.51.100.1", "an address for documentation"),
            ("203.0.113.1", "an address for documentation"),
            ("198.18.0.0", "a network for benchmarks"),
            ("198.19.255.255", "a network for benchmarks"),
            ("224.0.0.1", "a multicast address"),
            ("239.255.255.255", "a multicast address"),
            ("240.0.0.0", "a reserved address"),
            ("255.255.255.254", "a reserved address"),
            ("255.255.255.255", "the broadcast address"),
            ("2606:4700:4700::1111", PUBLIC),
            ("2001:4860:4860::8888", PUBLIC),
            ("2001:200::1", PUBLIC),
            ("::", "this machine"),
            ("::1", "this machine"),
            ("fc00::1", "a private network"),
            ("fd00:ec2::254", "a private network"),
            ("fdff:ffff::1", "a private network"),
            ("fec0::1", "a private network"),
            ("fe80::1", "a link-local address"),
            ("febf::1", "a link-local address"),
            ("ff02::1", "a multicast address"),
            ("2001:db8::1", "an address for documentation"),
            ("3fff:fff::1", "an address for documentation"),
            ("2001::1", "a tunnel"),
            ("2001:0:4136:e378:8000:63bf:f5ff:fffe", "a tunnel"),
            ("2001:2::1", "a network for benchmarks"),
            ("2001:10::1", "a reserved address"),
            ("2001:1ff::1", "a reserved address"),
            ("100::1", "a reserved address"),
            ("5f00::1", "a reserved address"),
            ("4000::1", "a reserved address"),
            ("64:ff9b:1::1", "a private network"),
            // Addresses that embed an IPv4 address.
            ("::ffff:127.0.0.1", "this machine"),
            ("::ffff:10.0.0.1", "a private network"),
            ("::ffff:169.254.169.254", "a link-local address"),
            ("::ffff:1.1.1.1", PUBLIC),
            ("::127.0.0.1", "this machine"),
            ("::2", "this machine"),
            ("::192.168.0.1", "a private network"),
            ("::ffff:0:127.0.0.1", "this machine"),
            ("64:ff9b::7f00:1", "this machine"),
            ("64:ff9b::a9fe:a9fe", "a link-local address"),
            ("64:ff9b::808:808", PUBLIC),
            ("2002:7f00:1::", "this machine"),
            ("2002:a00:1::1", "a private network"),
            ("2002:c0a8:1::", "a private network"),
            ("2002:808:808::1", PUBLIC),
            ("2606:4700::5efe:a00:1", "a private network"),
            ("2606:4700::200:5efe:7f00:1", "this machine"),
            ("2606:4700::5efe:808:808", PUBLIC),
        ] {
            let found = match classify(address.parse().expect("an address")) {
                AddressKind::Public => PUBLIC,
                AddressKind::Refused(what) => what,
            };
            assert_eq!(found, expected, "{address}");
        }
    }
}
