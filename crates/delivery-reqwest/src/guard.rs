//! Decides to which addresses requests on behalf of users may go. Does no I/O.

mod address;

use std::net::IpAddr;

use hexforge_domain::ports::outgoing::OutgoingError;
use url::{Host, Url};

pub use address::{AddressKind, classify, effective_address};

/// The address rules of one server.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    own: Vec<IpAddr>,
    /// Detects further addresses of this server that are not in `own`.
    is_own: Option<fn(IpAddr) -> bool>,
    excepted: Vec<IpAddr>,
    allow_local: bool,
}

/// The refusal of an address, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for OutgoingError {
    fn from(refusal: Refusal) -> Self {
        OutgoingError::Refused(refusal.0)
    }
}

impl Guard {
    /// Allows only public addresses, except those of the server itself, which may be public too.
    pub fn public_only(own: impl IntoIterator<Item = IpAddr>) -> Self {
        let own = own.into_iter().map(effective_address).collect();
        Self { own, ..Self::default() }
    }

    /// Also refuses the addresses for which `is_own` returns `true`. A server that listens on all interfaces has more
    /// addresses than its configuration names.
    #[must_use]
    pub fn refusing_own(mut self, is_own: fn(IpAddr) -> bool) -> Self {
        self.is_own = Some(is_own);
        self
    }

    /// Also allows these addresses although they are not public, such as a forge in the operator's network.
    #[must_use]
    pub fn allowing(mut self, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.excepted.extend(addresses.into_iter().map(effective_address));
        self
    }

    /// Allows every address: for servers whose operator trusts all users, and for tests.
    pub fn allow_local() -> Self {
        Self { allow_local: true, ..Self::default() }
    }

    /// Parses and checks a URL from a user or a redirect. Any port is allowed: forges listen on any port, and protected
    /// services are kept out by their address.
    ///
    /// A host that is an IP address is checked here, because it will not be resolved. Unusual notations (`2130706433`,
    /// `0177.0.0.1`, `0x7f.1`) become the same address when the URL is parsed.
    pub fn check_url(&self, text: &str) -> Result<Url, Refusal> {
        // The URL standard silently drops line breaks, but other programs may treat them differently.
        if text.chars().any(char::is_control) {
            return Err(Refusal("the address must not contain control characters".into()));
        }
        let url = Url::parse(text).map_err(|_| Refusal("the address is not a valid URL".into()))?;
        self.check_parsed(&url)?;
        Ok(url)
    }

    /// Like [`check_url`](Self::check_url), for a parsed URL.
    pub fn check_parsed(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal("only http and https addresses are allowed".into()));
        }
        match url.host() {
            None => Err(Refusal("the address has no host".into())),
            Some(Host::Ipv4(address)) => self.check(&address.to_string(), [address.into()]),
            Some(Host::Ipv6(address)) => self.check(&address.to_string(), [address.into()]),
            Some(Host::Domain(name)) => self.check_name(name),
        }
    }

    /// Checks the resolved addresses of a host. One refused address refuses the host, because the client may connect to
    /// any of them.
    pub fn check(
        &self,
        host: &str,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<(), Refusal> {
        if self.allow_local {
            return Ok(());
        }
        // The message does not contain the address, so that users cannot resolve names of the internal network through
        // it.
        for address in addresses {
            let address = effective_address(address);
            if self.own.contains(&address) || self.is_own.is_some_and(|is_own| is_own(address)) {
                return Err(Refusal(format!("`{host}` is this server itself")));
            }
            match classify(address) {
                AddressKind::Public => (),
                AddressKind::Refused(_) if self.excepted.contains(&address) => (),
                AddressKind::Refused(what) => {
                    return Err(Refusal(format!("`{host}` leads to {what}, which is not allowed")));
                }
            }
        }
        Ok(())
    }

    /// Refuses names that always mean this machine, whatever DNS says (RFC 6761).
    fn check_name(&self, name: &str) -> Result<(), Refusal> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_local = name == "localhost" || name.ends_with(".localhost");
        if is_local && !self.allow_local {
            return Err(Refusal(format!("`{name}` leads to this machine, which is not allowed")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detected_addresses_of_the_server_are_refused() {
        let guard = Guard::public_only([]).refusing_own(|address| address.to_string() == "1.1.1.1");
        assert!(guard.check_url("http://1.1.1.1:9/").is_err());
        assert!(guard.check_url("http://1.1.1.2:9/").is_ok());
    }

    #[test]
    fn urls_are_checked_however_their_host_is_written() {
        let guard = Guard::public_only([]);
        for (url, allowed) in [
            ("https://example.com/a.git", true),
            ("http://example.com:8080/a.git", true),
            ("https://user:word@example.com/a.git", true),
            ("https://1.1.1.1/", true),
            ("https://[2606:4700:4700::1111]/", true),
            ("http://127.0.0.1/", false),
            ("http://127.0.0.1./", false),
            ("http://127.1/", false),
            ("http://2130706433/", false),
            ("http://017700000001/", false),
            ("http://0177.0.0.1/", false),
            ("http://0x7f.1/", false),
            ("http://0x7f000001/", false),
            ("http://0/", false),
            ("http://127.0.0.1:22/", false),
            ("http://user@127.0.0.1/", false),
            ("http://example.com@127.0.0.1/", false),
            ("http:127.0.0.1/", false),
            ("http:\\\\127.0.0.1\\", false),
            ("http://%31%32%37.0.0.1/", false),
            ("http://①②⑦.0.0.1/", false),
            ("http://127。0。0。1/", false),
            ("http://[::1]/", false),
            ("http://[::]/", false),
            ("http://[::ffff:127.0.0.1]/", false),
            ("http://[::ffff:7f00:1]/", false),
            ("http://[::127.0.0.1]/", false),
            ("http://[64:ff9b::a9fe:a9fe]/", false),
            ("http://[fe80::1]/", false),
            ("http://[fe80::1%25eth0]/", false),
            ("http://[fd00:ec2::254]/", false),
            ("http://169.254.169.254/latest/meta-data/", false),
            ("http://localhost/", false),
            ("http://LOCALHOST:3000/", false),
            ("http://localhost./", false),
            ("http://api.localhost/", false),
            ("http://999.1.1.1/", false),
            ("http://?a", false),
            ("http://", false),
            ("", false),
            ("/a.git", false),
            ("file:///etc/passwd", false),
            ("ftp://example.com/", false),
            ("gopher://example.com/", false),
            ("ssh://git@example.com/a.git", false),
            ("git://example.com/a.git", false),
            ("ext::sh -c true", false),
            ("http://example.com/\r\nHost: other", false),
            ("http://example\n.com/", false),
            ("ht\ttp://example.com/", false),
        ] {
            assert_eq!(guard.check_url(url).is_ok(), allowed, "{url:?}");
        }
    }

    #[test]
    fn a_local_guard_allows_every_address_but_no_other_scheme() {
        let guard = Guard::allow_local();
        for (url, allowed) in [
            ("http://127.0.0.1:3000/", true),
            ("http://localhost/", true),
            ("http://[::1]/", true),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(guard.check_url(url).is_ok(), allowed, "{url:?}");
        }
    }

    #[test]
    fn the_servers_own_addresses_are_refused_in_every_form() {
        let own: [IpAddr; 2] =
            ["8.8.4.4", "2606:4700::1"].map(|text| text.parse().expect("an address"));
        let guard = Guard::public_only(own);
        for (url, allowed) in [
            ("http://8.8.8.8/", true),
            ("http://8.8.4.4/", false),
            ("http://134743044/", false),
            ("http://[::ffff:8.8.4.4]/", false),
            ("http://[64:ff9b::808:404]/", false),
            ("http://[2606:4700::1]/", false),
            ("http://[2606:4700::2]/", true),
        ] {
            assert_eq!(guard.check_url(url).is_ok(), allowed, "{url:?}");
        }
    }

    #[test]
    fn one_refused_address_refuses_the_host() {
        let guard = Guard::public_only([]);
        let addresses = ["1.1.1.1", "10.0.0.1"].map(|text| text.parse().expect("an address"));
        assert_eq!(
            guard.check("example.com", addresses),
            Err(Refusal("`example.com` leads to a private network, which is not allowed".into()))
        );
    }

    #[test]
    fn no_refusal_contains_a_password() {
        let guard = Guard::public_only([]);
        for url in ["http://ada:s3cret@127.0.0.1/", "ftp://ada:s3cret@x/", "http://ada:s3cret@/"] {
            let refusal = guard.check_url(url).expect_err(url);
            assert!(!refusal.0.contains("s3cret") && !refusal.0.contains("ada"), "{refusal}");
        }
    }
}
