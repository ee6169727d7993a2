//! The requests of a client and the number of received objects, from traces of git.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The trace files of one command.
pub struct PackTrace {
    pack: PathBuf,
    packets: PathBuf,
}

/// The requests of a command, and what it received.
#[derive(Debug)]
pub struct Exchange {
    /// The number of objects in the first received pack.
    pub objects: u64,
    /// The wanted objects, and those that the client already has.
    wants_and_haves: BTreeSet<String>,
}

impl PackTrace {
    /// Lets a command write its traces into files with this prefix.
    pub fn start(command: &mut Command, folder: &Path, name: &str) -> Self {
        let trace = Self {
            pack: folder.join(format!("{name}.pack")),
            packets: folder.join(format!("{name}.packets")),
        };
        command.env("GIT_TRACE_PACKFILE", &trace.pack);
        command.env("GIT_TRACE_PACKET", &trace.packets);
        trace
    }

    /// Reads and removes the traces after the command.
    pub fn finish(self) -> Exchange {
        let pack = std::fs::read(&self.pack).unwrap_or_default();
        let packets = std::fs::read(&self.packets).unwrap_or_default();
        for file in [self.pack, self.packets] {
            // There is no file if nothing was received.
            let _ = std::fs::remove_file(file);
        }
        let packets = String::from_utf8_lossy(&packets);
        let wants_and_haves = packets.lines().filter_map(want_or_have).collect();
        Exchange { objects: objects_in(&pack), wants_and_haves }
    }
}

impl Exchange {
    /// Checks that hexforge sent at most as many objects as git for the same request. Where the requests differ,
    /// because the client got other answers before, a few more are allowed.
    pub fn compare(&self, with_git: &Self) -> Result<(), String> {
        let equal = self.wants_and_haves == with_git.wants_and_haves;
        let allowed =
            if equal { with_git.objects } else { with_git.objects + with_git.objects / 20 + 20 };
        if self.objects == 0 && with_git.objects > 0 {
            return Err(format!(
                "no pack was received, and git sends {} objects",
                with_git.objects
            ));
        }
        if self.objects <= allowed {
            return Ok(());
        }
        Err(format!(
            "too many objects were sent: {}, and git sends {} for {} wants and haves",
            self.objects,
            with_git.objects,
            if equal { "the same" } else { "other" },
        ))
    }
}

/// Parses `want <id>` or `have <id>` from a trace line of the client.
fn want_or_have(line: &str) -> Option<String> {
    let (_, packet) = line.split_once(" packet: ")?;
    let (_, sent) = packet.split_once("> ")?;
    let mut words = sent.split(' ');
    let (verb, id) = (words.next()?, words.next()?);
    // The first line of a request has capabilities after the id.
    matches!(verb, "want" | "have").then(|| format!("{verb} {id}"))
}

/// The number of objects in the header of a pack; 0 if there is no pack.
fn objects_in(pack: &[u8]) -> u64 {
    match (pack.get(..4), pack.get(8..12)) {
        (Some(b"PACK"), Some(number)) => {
            number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        }
        _ => 0,
    }
}
