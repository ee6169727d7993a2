//! Encodes fetch requests in each protocol version.

use gix::ObjectId;
use hexforge_domain::ports::git_transport::{Conversation, ProtocolVersion};

/// The depth with which clients ask for the complete history.
pub const ENDLESS: u32 = 0x7fff_ffff;

/// The protocol version, and whether the conversation is stateful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    V2,
    V0Stateless,
    V0Stateful,
    V1Stateful,
}

impl Wire {
    pub const ALL: [Wire; 4] = [Wire::V2, Wire::V0Stateless, Wire::V0Stateful, Wire::V1Stateful];

    pub fn version(self) -> ProtocolVersion {
        match self {
            Wire::V2 => ProtocolVersion::V2,
            Wire::V0Stateless | Wire::V0Stateful => ProtocolVersion::V0,
            Wire::V1Stateful => ProtocolVersion::V1,
        }
    }

    pub fn conversation(self) -> Conversation {
        match self {
            Wire::V2 | Wire::V0Stateless => Conversation::Stateless,
            Wire::V0Stateful | Wire::V1Stateful => Conversation::Stateful,
        }
    }
}

/// The acknowledgment mode. Version 2 has only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    One,
    Many,
    Detailed,
}

/// The side band of the pack in versions 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bands {
    None,
    Small,
    Large,
}

/// The requested depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    pub commits: Option<u32>,
    pub is_relative: bool,
    pub since: Option<i64>,
    pub not: Vec<String>,
}

/// A fetch request.
#[derive(Clone, Debug)]
pub struct Request {
    pub wire: Wire,
    pub wants: Vec<ObjectId>,
    pub haves: Vec<ObjectId>,
    pub shallow: Vec<ObjectId>,
    pub depth: Depth,
    pub filter: Option<String>,
    pub thin: bool,
    pub offset_deltas: bool,
    pub include_tag: bool,
    pub acks: Acks,
    pub bands: Bands,
    /// Whether the client sends `done`. Otherwise the server decides whether the haves suffice.
    pub done: bool,
}

impl Request {
    /// Creates a request for these objects from a client without objects.
    pub fn clone_of(wire: Wire, wants: Vec<ObjectId>) -> Self {
        Self {
            wire,
            wants,
            haves: Vec::new(),
            shallow: Vec::new(),
            depth: Depth::default(),
            filter: None,
            thin: true,
            offset_deltas: true,
            include_tag: true,
            acks: Acks::Detailed,
            bands: Bands::Large,
            done: true,
        }
    }

    /// The bytes of the request.
    pub fn encode(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        match self.wire {
            Wire::V2 => self.write_v2(&mut lines),
            Wire::V0Stateless | Wire::V0Stateful | Wire::V1Stateful => self.write_v0(&mut lines),
        }
        let packet = |line: String| match line.as_str() {
            "0000" | "0001" => line,
            _ => format!("{:04x}{line}\n", line.len() + 5),
        };
        lines.into_iter().map(packet).collect::<String>().into_bytes()
    }

    fn write_v2(&self, lines: &mut Vec<String>) {
        lines.extend(["command=fetch".to_owned(), "0001".to_owned()]);
        let options = [
            ("thin-pack", self.thin),
            ("ofs-delta", self.offset_deltas),
            ("include-tag", self.include_tag),
            ("no-progress", true),
            ("deepen-relative", self.depth.is_relative),
        ];
        lines.extend(options.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.to_owned()));
        lines.extend(self.wants.iter().map(|id| format!("want {id}")));
        self.write_limits(lines);
        lines.extend(self.haves.iter().map(|id| format!("have {id}")));
        if self.done {
            lines.push("done".to_owned());
        }
        lines.push("0000".to_owned());
    }

    fn write_v0(&self, lines: &mut Vec<String>) {
        let mut capabilities = String::from("no-progress");
        let options = [
            ("thin-pack", self.thin),
            ("ofs-delta", self.offset_deltas),
            ("include-tag", self.include_tag),
            ("deepen-relative", self.depth.is_relative),
            ("multi_ack", self.acks == Acks::Many),
            ("multi_ack_detailed", self.acks == Acks::Detailed),
            ("side-band", self.bands == Bands::Small),
            ("side-band-64k", self.bands == Bands::Large),
            ("filter", self.filter.is_some()),
            ("no-done", !self.done),
        ];
        for (name, _) in options.into_iter().filter(|(_, on)| *on) {
            capabilities.push(' ');
            capabilities.push_str(name);
        }
        for (number, id) in self.wants.iter().enumerate() {
            lines.push(match number {
                0 => format!("want {id} {capabilities}"),
                _ => format!("want {id}"),
            });
        }
        self.write_limits(lines);
        lines.push("0000".to_owned());
        for (number, id) in self.haves.iter().enumerate() {
            // Haves come in rounds only in a stateful conversation.
            if self.wire.conversation() == Conversation::Stateful && number % 4 == 3 {
                lines.push("0000".to_owned());
            }
            lines.push(format!("have {id}"));
        }
        lines.push(if self.done { "done" } else { "0000" }.to_owned());
    }

    fn write_limits(&self, lines: &mut Vec<String>) {
        lines.extend(self.shallow.iter().map(|id| format!("shallow {id}")));
        lines.extend(self.depth.commits.map(|depth| format!("deepen {depth}")));
        lines.extend(self.depth.since.map(|date| format!("deepen-since {date}")));
        lines.extend(self.depth.not.iter().map(|name| format!("deepen-not {name}")));
        lines.extend(self.filter.as_ref().map(|filter| format!("filter {filter}")));
    }
}
