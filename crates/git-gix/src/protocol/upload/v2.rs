//! Protocol version 2: the client sends commands, one after the other.

use std::io;

use gix::bstr::{BStr, BString, ByteSlice};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::Conversation;

use super::objects::Roots;
use super::output::{Bands, Output};
use super::refs::{Listing, Ref};
use super::request::Request;
use super::wire::{Wire, parse_id, printable, unexpected};
use super::{Source, depth, reachable, send};
use crate::protocol::packet::Packet;

/// The most ref prefixes per request. No known client sends more, and each takes memory.
const MOST_PREFIXES: usize = 65_536;

/// The most bytes of all prefixes of a request.
const MOST_PREFIX_BYTES: usize = 1 << 20;

/// The longest useful prefix: no ref name is longer, see `receive/commands.rs`.
const LONGEST_PREFIX: usize = 4096;

/// Serves commands until the client sends no more. A stateless conversation has only one.
pub(super) fn serve(
    source: &Source,
    conversation: Conversation,
    wire: &mut Wire<'_>,
) -> Result<(), GitError> {
    let mut is_first = true;
    loop {
        wire.begin_request(0);
        let command = match read_command(wire) {
            Ok(Some(command)) => command,
            Ok(None) => return Ok(()),
            // A client that stays idle after its first command is done: the connection ends without an error.
            Err(GitError::ReaderGone(cause))
                if !is_first && cause.kind() == io::ErrorKind::TimedOut =>
            {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        is_first = false;
        match command.as_slice() {
            b"ls-refs" => list_refs(source, wire)?,
            b"fetch" => fetch(source, wire)?,
            other => {
                let why = format!("unknown command '{}'", printable(other));
                return Err(GitError::Protocol(why));
            }
        }
        if conversation == Conversation::Stateless {
            return Ok(());
        }
    }
}

/// Reads the name of the next command. Its arguments follow.
fn read_command(wire: &mut Wire<'_>) -> Result<Option<Vec<u8>>, GitError> {
    let mut command: Option<Vec<u8>> = None;
    loop {
        match wire.next()? {
            None if command.is_none() => return Ok(None),
            Some(Packet::Flush) if command.is_none() => return Ok(None),
            Some(Packet::Data(line)) => match line.strip_prefix(b"command=") {
                Some(name) if command.is_none() => command = Some(name.to_vec()),
                Some(_) => return Err(GitError::Protocol("more than one command".into())),
                None if line == b"object-format=sha1" => {}
                None if line.starts_with(b"object-format=") => {
                    return Err(GitError::Protocol(
                        "only the object format sha1 is supported".into(),
                    ));
                }
                // These capabilities of the client do not change the answer.
                None if line.starts_with(b"agent=")
                    || line.starts_with(b"server-option")
                    || line.starts_with(b"session-id=") => {}
                None => return Err(unexpected(&line)),
            },
            Some(Packet::Delimiter) if command.is_some() => return Ok(command),
            Some(Packet::Flush) => {
                // The command has no arguments. The reader of the arguments expects the flush packet.
                wire.put_back(Packet::Flush);
                return Ok(command);
            }
            _ => return Err(GitError::Protocol("the command ends early".into())),
        }
    }
}

/// Reads the next argument. Returns `None` after the last one.
fn read_argument(wire: &mut Wire<'_>) -> Result<Option<Vec<u8>>, GitError> {
    match wire.next()? {
        Some(Packet::Data(line)) => Ok(Some(line)),
        Some(Packet::Flush) => Ok(None),
        _ => Err(GitError::Protocol("the arguments end early".into())),
    }
}

fn list_refs(source: &Source, wire: &mut Wire<'_>) -> Result<(), GitError> {
    let (mut peel, mut symbolic, mut unborn) = (false, false, false);
    let mut prefixes: Vec<BString> = Vec::new();
    // With too many prefixes all refs are listed, like git does.
    let (mut too_many, mut bytes) = (false, 0);
    let mut has_hopeless = false;
    while let Some(line) = read_argument(wire)? {
        match line.as_slice() {
            b"peel" => peel = true,
            b"symrefs" => symbolic = true,
            b"unborn" => unborn = true,
            other => match other.strip_prefix(b"ref-prefix ") {
                // No ref name is that long, so nothing matches the prefix.
                Some(prefix) if prefix.len() > LONGEST_PREFIX => has_hopeless = true,
                Some(_) if too_many => {}
                Some(prefix) => {
                    bytes += prefix.len();
                    prefixes.push(prefix.into());
                    too_many = prefixes.len() > MOST_PREFIXES || bytes > MOST_PREFIX_BYTES;
                    if too_many {
                        prefixes = Vec::new();
                    }
                }
                None => return Err(unexpected(other)),
            },
        }
    }
    prefixes.sort();
    let all = prefixes.is_empty() && (too_many || !has_hopeless);
    let is_requested = |name: &BStr| all || starts_with_any(name, &prefixes);
    let listing = Listing::of(&source.refs);
    if let Some(branch) = listing.unborn().filter(|_| unborn && is_requested("HEAD".into())) {
        wire.write_bytes(&[b"unborn HEAD symref-target:", branch, b"\n"])?;
    }
    for one in listing.all().filter(|one| is_requested(one.name)) {
        let line = ref_line(&one, symbolic, peel);
        wire.write_bytes(&[&line])?;
    }
    wire.end()
}

fn ref_line(one: &Ref<'_>, symbolic: bool, peel: bool) -> Vec<u8> {
    let mut line = format!("{} ", one.target).into_bytes();
    line.extend_from_slice(one.name);
    if let Some(target) = one.symbolic.filter(|_| symbolic) {
        line.extend_from_slice(b" symref-target:");
        line.extend_from_slice(target);
    }
    if let Some(peeled) = one.peeled.filter(|_| peel) {
        line.extend_from_slice(format!(" peeled:{peeled}").as_bytes());
    }
    line.push(b'\n');
    line
}

/// Whether a name starts with one of the sorted prefixes.
fn starts_with_any(name: &BStr, prefixes: &[BString]) -> bool {
    // Searches for each prefix of the name, from the empty one to the full name.
    (0..=name.len()).any(|length| {
        let prefix = &name[..length];
        prefixes.binary_search_by(|one| one.as_slice().cmp(prefix)).is_ok()
    })
}

/// Arguments of `fetch` that only exist in this version.
#[derive(Default)]
struct FetchOptions {
    haves: bool,
    done: bool,
    wait_for_done: bool,
}

fn fetch(source: &Source, wire: &mut Wire<'_>) -> Result<(), GitError> {
    let listing = Listing::of(&source.refs);
    let mut request = Request::default();
    let mut options = FetchOptions::default();
    wire.begin_request(listing.len() + 1);
    while let Some(line) = read_argument(wire)? {
        parse_fetch_argument(source, &listing, &mut request, &mut options, &line)?;
    }
    if request.wants.is_empty() && !(options.wait_for_done && options.haves) {
        // A request without wants gets an empty answer.
        return wire.flush();
    }
    reachable::check(source, &listing, &request.wants)?;
    let repo = source.repo()?;
    // A clone does not need the commits: reading them takes as long as all else, if it wants many refs.
    let is_negotiated = options.haves && !options.done;
    let wants = match request.depth.is_requested() || is_negotiated {
        true => Roots::of(repo, &request.wants)?.commits,
        false => Vec::new(),
    };
    // Computed before the first line of the answer, so that the request can still be refused with an error.
    let ends = depth::shallow_boundary(source, &listing, &request, &wants)?;
    if is_negotiated {
        wire.write_line("acknowledgments")?;
        if request.common.is_empty() {
            wire.write_line("NAK")?;
        }
        for id in &request.common {
            wire.write_line(&format!("ACK {id}"))?;
        }
        if options.wait_for_done || !send::is_ready(source, &request, &wants, &ends)? {
            return wire.end();
        }
        wire.write_line("ready")?;
        wire.end_section()?;
    }
    if request.wants.is_empty() {
        return wire.end();
    }
    if request.depth.is_requested() {
        wire.write_line("shallow-info")?;
        for id in &ends.shallow {
            wire.write_line(&format!("shallow {id}"))?;
        }
        for id in &ends.unshallow {
            wire.write_line(&format!("unshallow {id}"))?;
        }
        wire.end_section()?;
    }
    if !request.refs.is_empty() {
        wire.write_line("wanted-refs")?;
        for (name, id) in &request.refs {
            wire.write_bytes(&[id.to_string().as_bytes(), b" ", name, b"\n"])?;
        }
        wire.end_section()?;
    }
    wire.write_line("packfile")?;
    wire.packing = true;
    let output = Output::new(wire.to, Bands::Large, !request.no_progress);
    send::pack(source, &listing, &request, &ends, output)
}

fn parse_fetch_argument(
    source: &Source,
    listing: &Listing,
    request: &mut Request,
    options: &mut FetchOptions,
    line: &[u8],
) -> Result<(), GitError> {
    if let Some(hex) = line.strip_prefix(b"have ") {
        options.haves = true;
        request.have(parse_id(hex)?, source)?;
    } else if let Some(hex) = line.strip_prefix(b"want ") {
        request.want(parse_id(hex)?);
    } else if let Some(name) = line.strip_prefix(b"want-ref ") {
        let found = listing.find(name.as_bstr());
        let unknown = || GitError::Protocol(format!("unknown ref {}", printable(name)));
        let target = found.ok_or_else(unknown)?.target;
        if request.refs.insert(name.into(), target).is_some() {
            return Err(GitError::Protocol(format!("duplicate want-ref {}", printable(name))));
        }
        request.want(target);
    } else {
        match line {
            b"done" => options.done = true,
            b"wait-for-done" => options.wait_for_done = true,
            b"thin-pack" => request.thin = true,
            b"ofs-delta" => request.ofs_delta = true,
            b"include-tag" => request.include_tag = true,
            b"no-progress" => request.no_progress = true,
            b"deepen-relative" => request.depth.relative = true,
            _ if request.parse_line(line, listing, source)? => {}
            _ => return Err(unexpected(line)),
        }
    }
    Ok(())
}
