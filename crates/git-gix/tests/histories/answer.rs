//! Reads the answer to a fetch request.

use gix::ObjectId;

use crate::objects::Ids;
use crate::request::{Acks, Bands, Request, Wire};

/// A parsed answer of a server.
#[derive(Debug, Default)]
pub struct Answer {
    pub shallow: Ids,
    pub unshallow: Ids,
    /// The commits that were acknowledged.
    pub acks: Ids,
    /// The last line before the pack, in versions 0 and 1.
    pub last_ack: String,
    pub is_ready: bool,
    pub pack: Option<Vec<u8>>,
    /// The message of a server that refused.
    pub error: Option<String>,
}

/// A packet of the answer.
enum Packet<'a> {
    Data(&'a [u8]),
    Flush,
    Delimiter,
}

impl Answer {
    pub fn parse(request: &Request, bytes: &[u8]) -> Result<Self, String> {
        let mut answer = Self::default();
        match request.wire {
            Wire::V2 => answer.parse_v2(bytes)?,
            Wire::V0Stateless | Wire::V0Stateful | Wire::V1Stateful => {
                answer.parse_v0(request, bytes)?;
            }
        }
        Ok(answer)
    }

    fn parse_v2(&mut self, mut rest: &[u8]) -> Result<(), String> {
        let mut section = String::new();
        while !rest.is_empty() {
            match next_packet(&mut rest)? {
                Packet::Delimiter | Packet::Flush => section.clear(),
                Packet::Data(data) if section == "packfile" => self.add_band(data)?,
                Packet::Data(data) if section.is_empty() => {
                    section = text(data);
                    if let Some(error) = section.strip_prefix("ERR ") {
                        self.error = Some(error.to_owned());
                        return Ok(());
                    }
                    if section == "packfile" {
                        self.pack = Some(Vec::new());
                    }
                }
                Packet::Data(data) => self.add_line(&text(data))?,
            }
        }
        Ok(())
    }

    fn parse_v0(&mut self, request: &Request, mut rest: &[u8]) -> Result<(), String> {
        while !rest.is_empty() {
            if request.bands == Bands::None && rest.starts_with(b"PACK") {
                self.pack = Some(rest.to_vec());
                return Ok(());
            }
            match next_packet(&mut rest)? {
                Packet::Delimiter => return Err("a delimiter in version 0".into()),
                Packet::Flush if self.pack.is_some() => {
                    let left = rest.len();
                    return if left == 0 { Ok(()) } else { Err(format!("{left} bytes left")) };
                }
                Packet::Flush => {}
                Packet::Data(data) if matches!(data.first(), Some(1..=3)) => {
                    self.pack.get_or_insert_default();
                    self.add_band(data)?;
                }
                Packet::Data(data) => {
                    let line = text(data);
                    if let Some(error) = line.strip_prefix("ERR ") {
                        self.error = Some(error.to_owned());
                        return Ok(());
                    }
                    self.add_line(&line)?;
                    if request.acks == Acks::One && line.starts_with("ACK") {
                        // Git also acknowledges parents of the first commit, so ids are not compared.
                        self.last_ack = "ACK".to_owned();
                    } else if line.starts_with("ACK") || line.starts_with("NAK") {
                        self.last_ack = line;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_band(&mut self, data: &[u8]) -> Result<(), String> {
        let (band, data) = data.split_first().ok_or("an empty packet in the pack")?;
        match band {
            1 => self.pack.get_or_insert_default().extend_from_slice(data),
            2 => {}
            3 => self.error = Some(text(data)),
            other => return Err(format!("band {other}")),
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let id = |hex: &str| {
            ObjectId::from_hex(hex.as_bytes()).map_err(|_| format!("unexpected line {line:?}"))
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "shallow" => drop(self.shallow.insert(id(rest)?)),
            "unshallow" => drop(self.unshallow.insert(id(rest)?)),
            "ready" => self.is_ready = true,
            "NAK" => {}
            "ACK" => {
                let (hex, how) = rest.split_once(' ').unwrap_or((rest, ""));
                self.is_ready |= how == "ready";
                self.acks.insert(id(hex)?);
            }
            _ => return Err(format!("unexpected line {line:?}")),
        }
        Ok(())
    }
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).trim_end().to_owned()
}

fn next_packet<'a>(rest: &mut &'a [u8]) -> Result<Packet<'a>, String> {
    let early = || format!("the answer ends in a packet: {:?}", text(rest));
    let digits = rest.get(..4).ok_or_else(early)?;
    let digits = std::str::from_utf8(digits).map_err(|_| early())?;
    let length = usize::from_str_radix(digits, 16).map_err(|_| early())?;
    let (packet, used) = match length {
        0 => (Packet::Flush, 4),
        1 => (Packet::Delimiter, 4),
        2..=4 => return Err(format!("a packet of the length {length}")),
        _ => (Packet::Data(rest.get(4..length).ok_or_else(early)?), length),
    };
    *rest = &rest[used..];
    Ok(packet)
}

/// Returns the bytes after the first flush packet: the conversation without the advertisement.
pub fn after_advertisement(mut bytes: &[u8]) -> Result<&[u8], String> {
    while !bytes.is_empty() {
        if let Packet::Flush = next_packet(&mut bytes)? {
            break;
        }
    }
    Ok(bytes)
}
