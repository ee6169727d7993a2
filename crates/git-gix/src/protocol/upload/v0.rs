//! Protocol versions 0 and 1: the client sends its wants, then its haves until enough common commits are known.

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::Conversation;

use super::depth::ShallowBoundary;
use super::objects::Roots;
use super::output::{Bands, Output};
use super::refs::Listing;
use super::request::Request;
use super::wire::{Wire, parse_id, unexpected};
use super::{Source, depth, reachable, send};
use crate::protocol::packet::Packet;

/// The acknowledgment mode that the client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    /// Only the first common commit is acknowledged.
    One,
    /// `multi_ack`: each common commit is acknowledged.
    Many,
    /// `multi_ack_detailed`: each common commit is acknowledged, and `ready` ends the negotiation.
    Detailed,
}

/// The capabilities that the client chose.
#[derive(Clone, Copy)]
struct Capabilities {
    acks: Acks,
    bands: Bands,
    no_done: bool,
}

/// Serves one fetch.
pub(super) fn serve(
    source: &Source,
    conversation: Conversation,
    wire: &mut Wire<'_>,
) -> Result<(), GitError> {
    let listing = Listing::of(&source.refs);
    let mut request = Request::default();
    wire.begin_request(listing.len() + 1);
    let Some(capabilities) = read_wants(source, &listing, &mut request, wire)? else {
        return Ok(());
    };
    reachable::check(source, &listing, &request.wants)?;
    let repo = source.repo()?;
    let wants = Roots::of(repo, &request.wants)?.commits;
    let ends = depth::shallow_boundary(source, &listing, &request, &wants)?;
    if request.depth.is_requested() {
        for id in &ends.shallow {
            wire.write_line(&format!("shallow {id}"))?;
        }
        for id in &ends.unshallow {
            wire.write_line(&format!("unshallow {id}"))?;
        }
        wire.end()?;
    }
    let mut negotiation =
        Negotiation { source, wants: &wants, ends: &ends, capabilities, last: None };
    wire.begin_haves(conversation);
    if !negotiation.run(&mut request, conversation, wire)? {
        return Ok(());
    }
    wire.packing = true;
    let output = Output::new(wire.to, capabilities.bands, !request.no_progress);
    send::pack(source, &listing, &request, &ends, output)
}

/// Reads the wants. Returns `None` if the client only read the advertisement.
fn read_wants(
    source: &Source,
    listing: &Listing,
    request: &mut Request,
    wire: &mut Wire<'_>,
) -> Result<Option<Capabilities>, GitError> {
    let mut capabilities = None;
    loop {
        let line = match wire.next()? {
            Some(Packet::Data(line)) => line,
            Some(Packet::Flush) => return Ok(capabilities),
            None if capabilities.is_none() => return Ok(None),
            _ => return Err(GitError::Protocol("the list of wants ends early".into())),
        };
        if let Some(want) = line.strip_prefix(b"want ") {
            // Some clients separate the object id and the capabilities by a space, some do not.
            let (hex, rest) = want.split_at(want.len().min(40));
            request.want(parse_id(hex)?);
            if capabilities.is_none() {
                capabilities = Some(read_capabilities(rest, request)?);
            } else if !rest.is_empty() {
                return Err(unexpected(&line));
            }
        } else if !request.parse_line(&line, listing, source)? {
            return Err(unexpected(&line));
        }
    }
}

fn read_capabilities(text: &[u8], request: &mut Request) -> Result<Capabilities, GitError> {
    let mut read = Capabilities { acks: Acks::One, bands: Bands::None, no_done: false };
    for word in text.split(|&byte| byte == b' ' || byte == 0) {
        match word {
            b"multi_ack" if read.acks == Acks::One => read.acks = Acks::Many,
            b"multi_ack_detailed" => read.acks = Acks::Detailed,
            b"side-band" if read.bands == Bands::None => read.bands = Bands::Small,
            b"side-band-64k" => read.bands = Bands::Large,
            b"no-done" => read.no_done = true,
            b"thin-pack" => request.thin = true,
            b"ofs-delta" => request.ofs_delta = true,
            b"include-tag" => request.include_tag = true,
            b"no-progress" => request.no_progress = true,
            b"deepen-relative" => request.depth.relative = true,
            other if other.starts_with(b"object-format=") && other != b"object-format=sha1" => {
                return Err(GitError::Protocol("only the object format sha1 is supported".into()));
            }
            // Other capabilities do not change the answer.
            _ => {}
        }
    }
    Ok(read)
}

/// The negotiation: finds commits that both sides have.
struct Negotiation<'a> {
    source: &'a Source,
    wants: &'a [ObjectId],
    ends: &'a ShallowBoundary,
    capabilities: Capabilities,
    /// The last common commit.
    last: Option<ObjectId>,
}

impl Negotiation<'_> {
    /// Runs the negotiation. Returns whether the pack is to be sent.
    fn run(
        &mut self,
        request: &mut Request,
        conversation: Conversation,
        wire: &mut Wire<'_>,
    ) -> Result<bool, GitError> {
        let mut first = true;
        loop {
            let packet = wire.next()?;
            let line = match packet {
                Some(Packet::Data(line)) => line,
                Some(Packet::Flush) => {
                    if self.end_of_round(request, wire)? {
                        return Ok(true);
                    }
                    if conversation == Conversation::Stateless {
                        return Ok(false);
                    }
                    first = false;
                    continue;
                }
                // A stateless request may end here: then the client only asked for the shallow boundary.
                None if first && conversation == Conversation::Stateless => return Ok(false),
                None if conversation == Conversation::Stateful => return Ok(false),
                _ => return Err(GitError::Protocol("the list of haves ends early".into())),
            };
            first = false;
            if let Some(hex) = line.strip_prefix(b"have ") {
                self.have(parse_id(hex)?, request, wire)?;
            } else if line == b"done" {
                match self.last.filter(|_| self.capabilities.acks != Acks::One) {
                    Some(last) => wire.write_line(&format!("ACK {last}"))?,
                    None if self.last.is_none() => wire.write_line("NAK")?,
                    None => {}
                }
                return Ok(true);
            } else {
                return Err(unexpected(&line));
            }
        }
    }

    fn have(
        &mut self,
        id: ObjectId,
        request: &mut Request,
        wire: &mut Wire<'_>,
    ) -> Result<(), GitError> {
        if !request.have(id, self.source)? {
            return Ok(());
        }
        let is_first = self.last.replace(id).is_none();
        match self.capabilities.acks {
            Acks::Detailed => wire.write_line(&format!("ACK {id} common")),
            Acks::Many => wire.write_line(&format!("ACK {id} continue")),
            Acks::One if is_first => wire.write_line(&format!("ACK {id}")),
            Acks::One => Ok(()),
        }
    }

    /// Answers a flush packet. Returns whether the negotiation is over.
    fn end_of_round(&self, request: &Request, wire: &mut Wire<'_>) -> Result<bool, GitError> {
        let acks = self.capabilities.acks;
        let mut ready = None;
        if let Some(last) = self.last.filter(|_| acks == Acks::Detailed)
            && send::is_ready(self.source, request, self.wants, self.ends)?
        {
            ready = Some(last);
            wire.write_line(&format!("ACK {last} ready"))?;
        }
        if self.last.is_none() || acks != Acks::One {
            wire.write_line("NAK")?;
        }
        if let Some(last) = ready.filter(|_| self.capabilities.no_done) {
            wire.write_line(&format!("ACK {last}"))?;
            return Ok(true);
        }
        wire.flush()?;
        Ok(false)
    }
}
