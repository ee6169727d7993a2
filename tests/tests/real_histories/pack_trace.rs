//! What a client asked for and how many objects it was sent, as git traces it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files into which one command writes its traces.
pub struct PackTrace {
    pack: PathBuf,
    packets: PathBuf,
}

/// What a command asked for, and what it received.
#[derive(Debug)]
pub struct Exchange {
    /// Objects in the first pack that was received.
    pub objects: u64,
    /// The objects that were asked for, and those that the client said it has.
    wants_and_haves: BTreeSet<String>,
}

impl PackTrace {
    /// Lets a command write its traces into files whose names begin like this.
    pub fn start(command: &mut Command, folder: &Path, name: &str) -> Self {
        let trace = Self {
            pack: folder.join(format!("{name}.pack")),
            packets: folder.join(format!("{name}.packets")),
        };
        command.env("GIT_TRACE_PACKFILE", &trace.pack);
        command.env("GIT_TRACE_PACKET", &trace.packets);
        trace
    }

    /// Reads the traces after the command ended, and removes them.
    pub fn finish(self) -> Exchange {
        let pack = std::fs::read(&self.pack).unwrap_or_default();
        let packets = std::fs::read(&self.packets).unwrap_or_default();
        for file in [self.pack, self.packets] {
            // There is none if nothing was received.
            let _ = std::fs::remove_file(file);
        }
        let packets = String::from_utf8_lossy(&packets);
        let wants_and_haves = packets.lines().filter_map(want_or_have).collect();
        Exchange { objects: objects_in(&pack), wants_and_haves }
    }
}

impl Exchange {
    /// Checks that hexforge sent no more objects than git did for the same request. Where the requests differ,
    /// because the client heard other answers meanwhile, a few more are allowed.
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

/// `want <id>` or `have <id>`, if that is what a line of the trace says was sent.
fn want_or_have(line: &str) -> Option<String> {
    let (_, packet) = line.split_once(" packet: ")?;
    let (_, sent) = packet.split_once("> ")?;
    let mut words = sent.split(' ');
    let (verb, id) = (words.next()?, words.next()?);
    // The first line of a request has capabilities behind the id.
    matches!(verb, "want" | "have").then(|| format!("{verb} {id}"))
}

/// The number of objects that the header of a pack tells; 0 if there is no pack.
fn objects_in(pack: &[u8]) -> u64 {
    match (pack.get(..4), pack.get(8..12)) {
        (Some(b"PACK"), Some(number)) => {
            number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        }
        _ => 0,
    }
}
