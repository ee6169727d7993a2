//! The client's address and scheme, also behind trusted proxies.
//!
//! Anybody can write `X-Forwarded-For`, `Forwarded` and `X-Forwarded-Proto` into a request. They are read only when the
//! connection comes from a proxy that the settings list, and only as far as listed proxies wrote them.

use std::net::{IpAddr, SocketAddr};

use actix_web::http::header::{
    FORWARDED, HeaderMap, HeaderName, X_FORWARDED_FOR, X_FORWARDED_PROTO,
};
use actix_web::{HttpRequest, web};
use hexforge_domain::network::Network;

use crate::edge::Edge;

/// The maximum number of proxies that are followed. Requests do not pass through more.
const MOST_PROXIES: usize = 32;

/// The origin of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The address of the client. Sign-in throttling, rate limits, permits and the log use it.
    pub address: IpAddr,
    /// The scheme by which the client reached the first trusted proxy, or this server: `https` or `http`.
    pub scheme: &'static str,
}

/// The address of the client that sent a request.
pub fn client_address(request: &HttpRequest) -> Option<IpAddr> {
    Some(origin(request)?.address)
}

/// The client's address; `None` for requests without a connection.
pub fn origin(request: &HttpRequest) -> Option<Origin> {
    let peer = request.peer_addr()?.ip();
    Some(forwarded_origin(peer, request.headers(), trusted(request)))
}

/// The peer of a request whose forwarded headers are ignored, because the settings do not list it.
pub fn unlisted_forwarder(request: &HttpRequest) -> Option<IpAddr> {
    let headers = request.headers();
    if !headers.contains_key(X_FORWARDED_FOR) && !headers.contains_key(FORWARDED) {
        return None;
    }
    let peer = request.peer_addr()?.ip().to_canonical();
    (!is_listed(trusted(request), peer)).then_some(peer)
}

fn trusted(request: &HttpRequest) -> &[Network] {
    let edge = request.app_data::<web::Data<Edge>>();
    edge.map_or(&[], |edge| edge.trusted_proxies.as_slice())
}

fn is_listed(trusted: &[Network], address: IpAddr) -> bool {
    trusted.iter().any(|network| network.contains(address))
}

/// Follows the forwarded addresses from proxy to proxy, starting at the peer. The first address that is not a listed
/// proxy is the client; entries beyond it may be forged. If a listed proxy wrote no address, that proxy is the client.
///
/// The scheme was written by the proxy that wrote the client's address: in the same element of `Forwarded`, or in the
/// entry of `X-Forwarded-Proto` at the same place from the right. A proxy that replaces `X-Forwarded-Proto` leaves
/// fewer entries than there are addresses, and the first of them counts.
fn forwarded_origin(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> Origin {
    let mut address = peer.to_canonical();
    if !is_listed(trusted, address) {
        return Origin { address, scheme: "http" };
    }
    // A proxy that writes one of the headers passes on the other one as the client wrote it, so only one is used.
    let is_standard = !headers.contains_key(X_FORWARDED_FOR) && headers.contains_key(FORWARDED);
    let name = if is_standard { FORWARDED } else { X_FORWARDED_FOR };
    let mut last = None;
    for entry in entries_from_the_right(headers, &name).take(MOST_PROXIES).enumerate() {
        last = Some(entry);
        let (_, Some(text)) = entry else { break };
        let node = if is_standard { pair(text, "for") } else { Some(text) };
        let Some(next) = node.and_then(parse_node) else { break };
        address = next;
        if !is_listed(trusted, address) {
            break;
        }
    }
    let scheme = match last {
        Some((_, element)) if is_standard => element.and_then(|element| pair(element, "proto")),
        last => {
            let place = last.map_or(0, |(place, _)| place);
            entries_from_the_right(headers, &X_FORWARDED_PROTO).take(place + 1).last().flatten()
        }
    };
    let is_https = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    Origin { address, scheme: if is_https { "https" } else { "http" } }
}

/// The entries of all headers with this name, the last one first; `None` for an entry that is not text. Quotes are
/// ignored: no address contains a comma, and an open quote of a client must not hide the entries of proxies after it.
fn entries_from_the_right<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = Option<&'a str>> {
    let lines: Vec<_> = headers.get_all(name).collect();
    lines.into_iter().rev().flat_map(|line| {
        line.as_bytes()
            .rsplit(|byte| *byte == b',')
            .map(|entry| std::str::from_utf8(entry).ok().map(str::trim))
    })
}

/// The value of a pair in an element of `Forwarded`, such as `for="[2001:db8::1]:4711";proto=https`.
fn pair<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(other, _)| other.trim().eq_ignore_ascii_case(name))?;
    let value = value.trim();
    match value.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"'),
        None => Some(value),
    }
}

/// Parses an address with or without a port; an IPv6 address with or without brackets.
fn parse_node(node: &str) -> Option<IpAddr> {
    let bracketed = node.strip_prefix('[').and_then(|node| node.strip_suffix(']'));
    let address = bracketed.unwrap_or(node).parse::<IpAddr>().ok();
    let address = address.filter(|address| bracketed.is_none() || address.is_ipv6());
    let address = address.or_else(|| node.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("the table has addresses")
    }

    fn client(peer: &str, lines: &[(HeaderName, &[u8])]) -> IpAddr {
        origin_of(peer, lines).address
    }

    /// The client behind headers, as seen by a server that trusts `10.0.0.0/8`, `::1` and `fd00::/8`.
    fn origin_of(peer: &str, lines: &[(HeaderName, &[u8])]) -> Origin {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.clone(), HeaderValue::from_bytes(value).expect("a header"));
        }
        let trusted =
            ["10.0.0.0/8", "::1", "fd00::/8"].map(|text| text.parse().expect("a network"));
        forwarded_origin(address(peer), &headers, &trusted)
    }

    #[test]
    fn the_rightmost_address_that_is_not_a_proxy_is_the_client() {
        let hundreds = format!("{}198.51.100.7", "203.0.113.9, ".repeat(500));
        let proxies = format!("203.0.113.9{}", ", 10.0.0.3".repeat(500));
        for (peer, header, client_is) in [
            ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
            ("10.0.0.1", "10.0.0.9,198.51.100.7 ,10.0.0.2,fd00::2", "198.51.100.7"),
            ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
            ("::ffff:10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"),
            ("::1", "198.51.100.7:4711", "198.51.100.7"),
            ("::1", "[2001:db8::7]:4711", "2001:db8::7"),
            ("::1", "[2001:db8::7]", "2001:db8::7"),
            ("::1", "2001:db8::7", "2001:db8::7"),
            ("10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, _hidden, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "203.0.113.9,", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, [198.51.100.7]", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.7:99999", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.7\"", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("10.0.0.1", ", ,", "10.0.0.1"),
            ("10.0.0.1", hundreds.as_str(), "198.51.100.7"),
            ("10.0.0.1", proxies.as_str(), "10.0.0.3"),
        ] {
            let seen = client(peer, &[(X_FORWARDED_FOR, header.as_bytes())]);
            assert_eq!(seen, address(client_is), "{peer} {header}");
        }
    }

    #[test]
    fn forwarded_is_read_with_quotes_and_parameters() {
        for (header, client_is) in [
            ("for=198.51.100.7", "198.51.100.7"),
            ("For=\"198.51.100.7:4711\"; proto=https", "198.51.100.7"),
            ("proto=https;by=10.0.0.1;FOR=\"[2001:db8::7]:4711\"", "2001:db8::7"),
            ("for=203.0.113.9, for=\"[2001:db8::7]\"", "2001:db8::7"),
            // A quote that the client left open.
            ("for=\"203.0.113.9, for=198.51.100.7", "198.51.100.7"),
            ("for=198.51.100.7, for=\"203.0.113.9", "10.0.0.1"),
            ("for=unknown", "10.0.0.1"),
            ("proto=https", "10.0.0.1"),
            ("198.51.100.7", "10.0.0.1"),
        ] {
            let seen = client("10.0.0.1", &[(FORWARDED, header.as_bytes())]);
            assert_eq!(seen, address(client_is), "{header}");
        }
    }

    #[test]
    fn headers_of_several_lines_count_in_their_order() {
        let lines: [(HeaderName, &[u8]); 2] =
            [(X_FORWARDED_FOR, b"203.0.113.9"), (X_FORWARDED_FOR, b"198.51.100.7, 10.0.0.2")];
        assert_eq!(client("10.0.0.1", &lines), address("198.51.100.7"));
        // What a proxy wrote counts, and not what the client wrote into the other header.
        let both: [(HeaderName, &[u8]); 2] =
            [(FORWARDED, b"for=203.0.113.9"), (X_FORWARDED_FOR, b"198.51.100.7")];
        assert_eq!(client("10.0.0.1", &both), address("198.51.100.7"));
        let bytes: [(HeaderName, &[u8]); 1] = [(X_FORWARDED_FOR, b"203.0.113.9, \xff\xfe")];
        assert_eq!(client("10.0.0.1", &bytes), address("10.0.0.1"));
    }

    #[test]
    fn the_scheme_is_that_of_the_proxy_that_met_the_client() {
        let common =
            |addresses, schemes| [(X_FORWARDED_FOR, addresses), (X_FORWARDED_PROTO, schemes)];
        for (peer, lines, scheme) in [
            ("10.0.0.1", common("198.51.100.7", "https"), "https"),
            ("10.0.0.1", common("198.51.100.7", "HTTPS"), "https"),
            ("10.0.0.1", common("198.51.100.7", "gopher"), "http"),
            ("10.0.0.1", common("198.51.100.7", ""), "http"),
            // Two proxies, of which the second is reached by plain HTTP.
            ("10.0.0.1", common("198.51.100.7, 10.0.0.2", "https, http"), "https"),
            ("10.0.0.1", common("198.51.100.7, 10.0.0.2", "http, https"), "http"),
            // The second one replaced the entry, or passed it on.
            ("10.0.0.1", common("198.51.100.7, 10.0.0.2", "https"), "https"),
            // Entries that the client made up.
            ("10.0.0.1", common("203.0.113.9, 198.51.100.7", "https, http"), "http"),
            ("10.0.0.1", common("198.51.100.7", "https, https, http"), "http"),
            (
                "10.0.0.1",
                common("203.0.113.9, 198.51.100.7, 10.0.0.2", "https, http, http"),
                "http",
            ),
            ("10.0.0.1", common("203.0.113.9, unknown", "https, http"), "http"),
            // A client that is no listed proxy.
            ("192.0.2.1", common("198.51.100.7", "https"), "http"),
        ] {
            let bytes = lines.clone().map(|(name, value): (_, &str)| (name, value.as_bytes()));
            assert_eq!(origin_of(peer, &bytes).scheme, scheme, "{peer} {lines:?}");
        }
        let alone: [(HeaderName, &[u8]); 1] = [(X_FORWARDED_PROTO, b"http, https")];
        assert_eq!(origin_of("10.0.0.1", &alone).scheme, "https");
    }

    #[test]
    fn the_scheme_of_forwarded_stands_beside_the_address() {
        for (header, scheme) in [
            ("for=198.51.100.7;proto=https", "https"),
            ("proto=\"https\"; for=198.51.100.7", "https"),
            ("for=198.51.100.7;Proto=HTTPS, for=10.0.0.2;proto=http", "https"),
            ("for=198.51.100.7, for=10.0.0.2;proto=https", "http"),
            ("for=unknown;proto=https", "https"),
            ("for=198.51.100.7", "http"),
            // Elements that the client made up, and one with a quote that it left open.
            ("for=203.0.113.9;proto=https, for=198.51.100.7;proto=http", "http"),
            ("for=203.0.113.9;proto=https, for=198.51.100.7", "http"),
            ("for=\"203.0.113.9;proto=https, for=198.51.100.7;proto=http", "http"),
        ] {
            let lines: [(HeaderName, &[u8]); 1] = [(FORWARDED, header.as_bytes())];
            assert_eq!(origin_of("10.0.0.1", &lines).scheme, scheme, "{header}");
        }
        // A proxy that writes `Forwarded` passes on what the client wrote into the other headers.
        let lines: [(HeaderName, &[u8]); 2] =
            [(FORWARDED, b"for=198.51.100.7;proto=http"), (X_FORWARDED_PROTO, b"https")];
        assert_eq!(origin_of("10.0.0.1", &lines).scheme, "http");
        let lines: [(HeaderName, &[u8]); 2] =
            [(FORWARDED, b"for=198.51.100.7;proto=https"), (X_FORWARDED_FOR, b"198.51.100.7")];
        assert_eq!(origin_of("10.0.0.1", &lines).scheme, "http");
    }
}
