//! Sends requests to another server in protocol version 2, or in an earlier version if the server answers so.

use std::io::{BufRead, BufReader, Read};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use hexforge_domain::ports::imports::ImportError;
use hexforge_domain::ports::outgoing::{
    Outgoing, OutgoingBody, OutgoingError, OutgoingMethod, OutgoingRequest, OutgoingResponse,
    Redirects,
};

use super::address::Address;
use super::advertisement::{self, Advertisement, Capabilities, shallow};
use super::listing::{Listing, split_id};
use super::packet::{Packets, SideBand, push_line};
use super::stream::{Bounded, ImportStop};
use super::{ImportLimits, invalid_answer};
use crate::protocol::packet::{DELIMITER, FLUSH};

/// The user agent. Some servers distinguish git from browsers by the prefix `git/`.
const AGENT: &str = concat!("git/hexforge-", env!("CARGO_PKG_VERSION"));

/// The most bytes of a list of refs.
const LONGEST_LISTING: u64 = 256 << 20;

/// A repository on another server.
pub(crate) struct Remote<'a> {
    outgoing: &'a dyn Outgoing,
    address: Address,
    limits: ImportLimits,
    stop: ImportStop,
    advertisement: Advertisement,
}

impl<'a> Remote<'a> {
    /// Requests the refs of the repository at a URL, or at the URL with `.git` appended.
    pub(crate) fn find(
        outgoing: &'a dyn Outgoing,
        address: &Address,
        limits: ImportLimits,
        stop: ImportStop,
    ) -> Result<Self, ImportError> {
        let ask = |address: &Address| {
            let request = OutgoingRequest {
                redirects: Redirects::Checked,
                time_outs: limits.time_outs,
                ..OutgoingRequest::new(OutgoingMethod::Get, address.info_refs())
            };
            let request = request.header("git-protocol", "version=2").header("user-agent", AGENT);
            outgoing.send(request).map_err(request_error)
        };
        let mut answer = ask(address)?;
        if answer.status == 404
            && let Some(longer) = address.with_suffix()
        {
            answer = ask(&longer)?;
        }
        check_response(&answer, address, "application/x-git-upload-pack-advertisement")?;
        let base = address.redirected(&answer.url);
        let address = base
            .ok_or_else(|| invalid_answer("it redirects to an address that is not a repository"))?;
        let bytes = LONGEST_LISTING.min(limits.bytes);
        let body = BufReader::new(Bounded::new(answer.body, bytes, stop.clone()));
        let advertisement = advertisement::read(&mut Packets::new(body), limits.refs)?;
        Ok(Self { outgoing, address, limits, stop, advertisement })
    }

    /// Returns all branches and tags.
    pub(crate) fn listing(&mut self) -> Result<Listing, ImportError> {
        match &mut self.advertisement {
            Advertisement::WithRefs(listing, _) => std::mem::take(listing).checked(),
            Advertisement::Version2(_) => self.request_refs()?.checked(),
        }
    }

    fn request_refs(&self) -> Result<Listing, ImportError> {
        let mut body = begin_command("ls-refs", self.capabilities());
        for line in
            ["symrefs", "ref-prefix HEAD", "ref-prefix refs/heads/", "ref-prefix refs/tags/"]
        {
            push_line(&mut body, line);
        }
        body.extend_from_slice(FLUSH);
        let mut packets = self.post(body, LONGEST_LISTING.min(self.limits.bytes))?;
        let mut listing = Listing::new(self.limits.refs);
        while let Some(line) = packets.line()? {
            // A branch without commits is not imported.
            if line.starts_with(b"unborn ") {
                continue;
            }
            let (id, rest) = split_id(line)?;
            let mut words = rest.split_str(" ");
            let name = words.next().unwrap_or_default();
            let target = words.find_map(|word| word.strip_prefix(b"symref-target:"));
            if let Some(target) = target.filter(|_| name == b"HEAD") {
                listing.set_head_target(target);
            }
            listing.add(id, name)?;
        }
        Ok(listing)
    }

    fn capabilities(&self) -> &Capabilities {
        match &self.advertisement {
            Advertisement::Version2(capabilities) | Advertisement::WithRefs(_, capabilities) => {
                capabilities
            }
        }
    }

    /// Requests a pack of all objects of a listing.
    pub(crate) fn pack(&self, listing: &Listing) -> Result<Box<dyn BufRead + Send>, ImportError> {
        let wanted = listing.wanted();
        match &self.advertisement {
            Advertisement::Version2(capabilities) => {
                let mut body = begin_command("fetch", capabilities);
                push_line(&mut body, "ofs-delta");
                for id in wanted {
                    push_line(&mut body, &format!("want {id}"));
                }
                push_line(&mut body, "done");
                body.extend_from_slice(FLUSH);
                let mut packets = self.post(body, self.limits.bytes)?;
                match packets.line()? {
                    Some(b"packfile") => Ok(buffered(SideBand::new(packets))),
                    Some(b"shallow-info") => Err(shallow()),
                    _ => Err(invalid_answer("it contains no objects")),
                }
            }
            Advertisement::WithRefs(_, capabilities) => {
                let (body, banded) = version0_request(wanted, capabilities);
                let mut packets = self.post(body, self.limits.bytes)?;
                if packets.line()? != Some(b"NAK") {
                    return Err(invalid_answer("it contains no objects"));
                }
                Ok(if banded {
                    buffered(SideBand::new(packets))
                } else {
                    Box::new(packets.into_inner())
                })
            }
        }
    }

    fn post(&self, body: Vec<u8>, bytes: u64) -> Result<Packets<BufReader<Bounded>>, ImportError> {
        let mut request = OutgoingRequest {
            body: OutgoingBody::Bytes(body),
            time_outs: self.limits.time_outs,
            ..OutgoingRequest::new(OutgoingMethod::Post, self.address.upload_pack())
        };
        request = request
            .header("content-type", "application/x-git-upload-pack-request")
            .header("accept", "application/x-git-upload-pack-result")
            .header("user-agent", AGENT);
        if matches!(self.advertisement, Advertisement::Version2(_)) {
            request = request.header("git-protocol", "version=2");
        }
        let answer = self.outgoing.send(request).map_err(request_error)?;
        check_response(&answer, &self.address, "application/x-git-upload-pack-result")?;
        let body = Bounded::new(answer.body, bytes, self.stop.clone());
        Ok(Packets::new(BufReader::with_capacity(64 * 1024, body)))
    }
}

fn buffered(band: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(64 * 1024, band))
}

/// Begins a command of version 2.
fn begin_command(name: &str, capabilities: &Capabilities) -> Vec<u8> {
    let mut body = Vec::new();
    push_line(&mut body, &format!("command={name}"));
    if capabilities.value("agent").is_some() {
        push_line(&mut body, &format!("agent={AGENT}"));
    }
    if capabilities.value("object-format").is_some() {
        push_line(&mut body, "object-format=sha1");
    }
    body.extend_from_slice(DELIMITER);
    body
}

/// Builds the request of version 0. Also returns whether the answer will be in side bands.
fn version0_request(
    wanted: impl Iterator<Item = ObjectId>,
    capabilities: &Capabilities,
) -> (Vec<u8>, bool) {
    let band = ["side-band-64k", "side-band"].into_iter().find(|band| capabilities.has(band));
    let mut words: Vec<String> = band.into_iter().map(str::to_owned).collect();
    words.extend(capabilities.has("ofs-delta").then(|| "ofs-delta".to_owned()));
    words.extend(capabilities.value("agent").map(|_| format!("agent={AGENT}")));
    let mut body = Vec::new();
    for (index, id) in wanted.enumerate() {
        match index {
            0 => push_line(&mut body, &format!("want {id} {}", words.join(" "))),
            _ => push_line(&mut body, &format!("want {id}")),
        }
    }
    body.extend_from_slice(FLUSH);
    push_line(&mut body, "done");
    (body, band.is_some())
}

/// Maps the error of a request without an answer.
fn request_error(error: OutgoingError) -> ImportError {
    match error {
        OutgoingError::Refused(why) => ImportError::Refused(why),
        OutgoingError::Unreachable(_) | OutgoingError::TimedOut => {
            ImportError::Failed(error.to_string())
        }
    }
}

/// Checks the status and content type of an answer.
fn check_response(
    answer: &OutgoingResponse,
    address: &Address,
    kind: &str,
) -> Result<(), ImportError> {
    let refused = |why: &str| Err(ImportError::Refused(why.to_owned()));
    match answer.status {
        200 => (),
        401 if address.has_credentials() => {
            return refused("the server did not accept the user name and password");
        }
        401 => return refused("the server asks for a user name and a password"),
        403 => return refused("the server denied access to the repository"),
        404 | 410 => return refused("there is no repository at this address"),
        status @ (408 | 429 | 500..) => {
            return Err(ImportError::Failed(format!("the server answered with status {status}")));
        }
        status => return refused(&format!("the server answered with status {status}")),
    }
    if answer.header("content-type") != Some(kind) {
        return refused("there is no repository at this address that speaks git's smart protocol");
    }
    Ok(())
}
