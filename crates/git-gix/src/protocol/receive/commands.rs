//! Parses the commands of a push.

use std::collections::HashMap;
use std::io::{self, Read};

use gix::bstr::ByteSlice;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::{GitError, RefChange};

use crate::protocol::packet::{self, Packet};
use crate::protocol::ref_names::is_valid_ref_name;

/// The most bytes of commands in one push. 150,000 refs fit, and take less than 100 MB of memory while the push lasts.
const MOST_BYTES: usize = 16 << 20;

/// The parsed commands and capabilities.
pub(super) struct PushRequest {
    pub(super) commands: Vec<Command>,
    /// `report-status`: the client expects the outcome of each command.
    pub(super) report: bool,
    /// `side-band-64k`: the client accepts messages besides the report.
    pub(super) side_band: bool,
    /// `atomic`: either all refs are updated or none.
    pub(super) atomic: bool,
    /// Whether the client has a shallow repository.
    pub(super) shallow: bool,
}

/// The update of one ref.
pub(super) struct Command {
    /// The ref name as it was sent; it need not be UTF-8.
    pub(super) name: Vec<u8>,
    pub(super) change: RefChange,
    pub(super) outcome: Outcome,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Pending,
    Done,
    Refused(String),
}

impl Command {
    pub(super) fn refuse(&mut self, reason: &str) {
        self.outcome = Outcome::Refused(reason.to_owned());
    }

    pub(super) fn is_pending(&self) -> bool {
        self.outcome == Outcome::Pending
    }
}

/// Reads the commands. Returns `None` if there are none.
pub(super) fn read(from: &mut dyn Read) -> Result<Option<PushRequest>, GitError> {
    let mut request = PushRequest {
        commands: Vec::new(),
        report: false,
        side_band: false,
        atomic: false,
        shallow: false,
    };
    let mut bytes = 0;
    while let Some(line) = next_line(from)? {
        bytes += line.len();
        if bytes > MOST_BYTES {
            return Err(protocol_error("too many refs in one push"));
        }
        if line.starts_with(b"shallow ") {
            // The shallow commits of the client do not matter as long as all pushed objects are complete.
            request.shallow = true;
            continue;
        }
        if line.starts_with(b"push-cert") {
            return Err(protocol_error("signed pushes are not supported"));
        }
        let (command, capabilities) = match line.split_once_str(b"\0") {
            Some((command, capabilities)) if request.commands.is_empty() => (command, capabilities),
            Some(_) => return Err(protocol_error("capabilities after the first command")),
            None => (&line[..], &b""[..]),
        };
        for capability in capabilities.split(u8::is_ascii_whitespace) {
            match capability {
                b"report-status" => request.report = true,
                b"side-band-64k" => request.side_band = true,
                b"atomic" => request.atomic = true,
                // `push-options` is not advertised.
                b"push-options" => return Err(protocol_error("push options are not supported")),
                other if other.starts_with(b"object-format=") && other != b"object-format=sha1" => {
                    return Err(protocol_error("only the object format sha1 is supported"));
                }
                // Other capabilities do not change the answer.
                _ => (),
            }
        }
        request.commands.push(parse(command)?);
    }
    if request.commands.is_empty() {
        return Ok(None);
    }
    refuse_duplicates(&mut request.commands);
    Ok(Some(request))
}

/// Reads the next line. Returns `None` at a flush packet or at the end of the stream.
fn next_line(from: &mut dyn Read) -> Result<Option<Vec<u8>>, GitError> {
    match packet::read(from).map_err(packet_error)? {
        Some(Packet::Data(mut line)) => {
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            Ok(Some(line))
        }
        Some(Packet::Flush) | None => Ok(None),
        Some(Packet::Delimiter | Packet::End) => {
            Err(protocol_error("an unexpected delimiter or end packet"))
        }
    }
}

/// Parses the old value, the new value and the ref name.
fn parse(line: &[u8]) -> Result<Command, GitError> {
    let bad = || protocol_error("a command is malformed");
    let (old, rest) = line.split_once_str(b" ").ok_or_else(bad)?;
    let (new, name) = rest.split_once_str(b" ").ok_or_else(bad)?;
    let id = |text: &[u8]| {
        let text = std::str::from_utf8(text).ok()?;
        ObjectId::parse(text).map(|id| (id != ObjectId::ZERO).then_some(id))
    };
    let (old, new) = (id(old).ok_or_else(bad)?, id(new).ok_or_else(bad)?);
    let change = RefChange { name: name.to_str_lossy().into_owned(), old, new };
    let mut command = Command { name: name.to_owned(), change, outcome: Outcome::Pending };
    if !is_valid_ref_name(name, new.is_some()) {
        command.refuse("funny refname");
    }
    Ok(command)
}

fn refuse_duplicates(commands: &mut [Command]) {
    let mut times: HashMap<&[u8], u32> = HashMap::new();
    for command in commands.iter() {
        *times.entry(&command.name).or_default() += 1;
    }
    let is_twice: Vec<bool> =
        commands.iter().map(|command| times[command.name.as_slice()] > 1).collect();
    for (command, _) in commands.iter_mut().zip(is_twice).filter(|(_, is_twice)| *is_twice) {
        command.refuse("multiple updates for one ref are not allowed");
    }
}

/// The error for a line that violates the protocol.
pub(super) fn protocol_error(what: &str) -> GitError {
    GitError::Protocol(what.to_owned())
}

/// The error for a connection that breaks off or sends invalid packets.
fn packet_error(error: io::Error) -> GitError {
    GitError::Protocol(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: &str = "0000000000000000000000000000000000000000";
    const ONE: &str = "1111111111111111111111111111111111111111";

    fn request(lines: &[&str]) -> Result<Option<PushRequest>, GitError> {
        let mut wire = Vec::new();
        for line in lines {
            packet::write(&mut wire, line.as_bytes()).expect("memory");
        }
        packet::write_flush(&mut wire).expect("memory");
        read(&mut &wire[..])
    }

    #[test]
    fn nothing_is_asked_for_by_an_end_alone() {
        assert!(request(&[]).expect("packets").is_none());
        assert!(read(&mut &b""[..]).expect("packets").is_none());
    }

    #[test]
    fn commands_have_capabilities_behind_the_first() {
        let first = format!("{ZERO} {ONE} refs/heads/a\0 report-status side-band-64k atomic x=y");
        let second = format!("{ONE} {ZERO} refs/tags/b\n");
        let request = request(&[&first, &second]).expect("packets").expect("commands");
        assert!(request.report && request.side_band && request.atomic);
        let made = &request.commands[0].change;
        assert_eq!((made.name.as_str(), made.old), ("refs/heads/a", None));
        assert_eq!(request.commands[1].change.new, None);
        assert!(request.commands.iter().all(Command::is_pending));
    }

    #[test]
    fn strange_names_are_refused_one_by_one() {
        for (name, is_good) in [
            ("refs/heads/a/b", true),
            ("refs/notes/commits", true),
            ("HEAD", false),
            ("refs/heads", false),
            ("refs/replace/1111111111111111111111111111111111111111", false),
            ("refs/x", false),
            ("refs/heads/-x", false),
            ("refs/heads/a..b", false),
            ("refs/heads/../../config", false),
            ("refs/heads/a.lock", false),
            ("refs/tags/a b", false),
            ("refs//heads/a", false),
        ] {
            assert_eq!(is_valid_ref_name(name.as_bytes(), true), is_good, "{name}");
        }
        assert!(!is_valid_ref_name(b"refs/heads/\xff", true));
        assert!(is_valid_ref_name(b"refs/heads/-x", false), "what is there may go");
    }

    #[test]
    fn what_no_client_says_ends_it() {
        for lines in [&["push-cert\0x"][..], &["hello"], &["1 2 refs/heads/a"]] {
            assert!(matches!(request(lines), Err(GitError::Protocol(_))), "{lines:?}");
        }
    }

    #[test]
    fn a_ref_is_changed_once_in_a_push() {
        let line = format!("{ZERO} {ONE} refs/heads/a");
        let request = request(&[&line, &line]).expect("packets").expect("commands");
        assert!(request.commands.iter().all(|command| !command.is_pending()));
    }
}
