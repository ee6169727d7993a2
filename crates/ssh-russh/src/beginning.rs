//! Decides how much client input must arrive before work on it begins.
//!
//! A client that pushes sends the ref updates first and may compute for minutes before it sends the pack. Until
//! then it needs no permit and no thread.

use std::time::Duration;

use hexforge_io_bridge::PieceReader;

/// The maximum number of bytes of a push that are buffered before it has a permit. Commands for some 10,000 refs fit.
/// For a fetch the first piece is enough.
const MAX_EARLY_BYTES: usize = 1 << 20;

/// Parses the beginning of client input while it arrives.
pub(crate) enum Beginning {
    /// The first byte is enough.
    Anything,
    Push(PushBeginning),
}

/// Parses a push up to the first byte of its pack, or up to the end of its commands if no pack follows.
#[derive(Default)]
pub(crate) struct PushBeginning {
    /// The position up to which input was parsed, so that no byte is parsed twice.
    at: usize,
    part: Part,
    needs_pack: bool,
    has_options: bool,
}

#[derive(Default)]
enum Part {
    #[default]
    FirstCommand,
    Commands,
    Options,
    Pack,
}

impl Beginning {
    pub(crate) fn for_fetch() -> Self {
        Self::Anything
    }

    pub(crate) fn for_push() -> Self {
        Self::Push(PushBeginning::default())
    }

    /// Waits, without blocking a thread, until enough input has arrived, the client has sent everything, or the
    /// buffer is full. Returns true if any input arrived.
    pub(crate) async fn wait(mut self, input: &mut PieceReader, patience: Duration) -> bool {
        let is_enough = |input_so_far: &[u8]| {
            input_so_far.len() >= MAX_EARLY_BYTES || self.is_enough(input_so_far)
        };
        input.begin(patience, is_enough).await
    }

    /// Returns true if the input so far is enough. Invalid input is enough too: the code that reads it reports the
    /// error.
    fn is_enough(&mut self, input_so_far: &[u8]) -> bool {
        match self {
            Self::Anything => !input_so_far.is_empty(),
            Self::Push(push) => push.is_enough(input_so_far),
        }
    }
}

impl PushBeginning {
    fn is_enough(&mut self, input_so_far: &[u8]) -> bool {
        loop {
            let mut rest = &input_so_far[self.at..];
            if let Part::Pack = self.part {
                return !self.needs_pack || !rest.is_empty();
            }
            let packet = read_packet(&mut rest);
            match (packet, &self.part) {
                (Packet::Incomplete, _) => return false,
                (Packet::Malformed, _) => return true,
                (Packet::Flush, Part::FirstCommand | Part::Commands) if self.has_options => {
                    self.part = Part::Options;
                }
                (Packet::Flush, _) => self.part = Part::Pack,
                (Packet::Line(line), Part::FirstCommand) => {
                    self.has_options = has_options(line);
                    self.needs_pack = sets_ref(line);
                    self.part = Part::Commands;
                }
                (Packet::Line(line), Part::Commands) => self.needs_pack |= sets_ref(line),
                (Packet::Line(_), Part::Options | Part::Pack) => (),
            }
            self.at = input_so_far.len() - rest.len();
        }
    }
}

/// Returns true if the client sends push options, by the capabilities after its first command.
fn has_options(line: &[u8]) -> bool {
    let capabilities = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    capabilities.split(u8::is_ascii_whitespace).any(|capability| capability == b"push-options")
}

/// Returns true if a line `old new name` creates or updates a ref, so that a pack follows: `new` is not all zeros.
fn sets_ref(line: &[u8]) -> bool {
    line.get(41..81).is_some_and(|new| new.iter().any(|digit| *digit != b'0'))
}

enum Packet<'a> {
    Line(&'a [u8]),
    Flush,
    Incomplete,
    Malformed,
}

/// Reads the next pkt-line, and advances `rest` behind it if it is complete.
fn read_packet<'a>(rest: &mut &'a [u8]) -> Packet<'a> {
    let Some((length, behind)) = rest.split_at_checked(4) else { return Packet::Incomplete };
    let length = std::str::from_utf8(length).ok();
    let length = length.and_then(|digits| usize::from_str_radix(digits, 16).ok());
    match length {
        Some(0) => {
            *rest = behind;
            Packet::Flush
        }
        Some(length) if length >= 4 => match behind.split_at_checked(length - 4) {
            Some((line, behind)) => {
                *rest = behind;
                Packet::Line(line)
            }
            None => Packet::Incomplete,
        },
        Some(_) | None => Packet::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        format!("{:04x}{text}", text.len() + 4)
    }

    #[test]
    fn a_push_begins_with_its_pack() {
        let (zero, one) = ("0".repeat(40), "1".repeat(40));
        let update =
            |capabilities: &str| line(&format!("{zero} {one} refs/heads/a\0{capabilities}"));
        let delete = line(&format!("{one} {zero} refs/heads/a\0report-status"));
        for (input_so_far, is_enough) in [
            (String::new(), false),
            ("0".to_owned(), false),
            (update("report-status"), false),
            (update("report-status")[..50].to_owned(), false),
            (format!("{}0000", update("report-status")), false),
            (format!("{}0000P", update("report-status")), true),
            (format!("{}0000", update("report-status push-options")), false),
            (format!("{}0000{}", update("push-options"), line("ci.skip")), false),
            (format!("{}0000{}0000", update("push-options"), line("ci.skip")), false),
            (format!("{}0000{}0000PACK", update("push-options"), line("ci.skip")), true),
            (format!("{}0000PACK", update("push-optionsx")), true),
            (format!("{delete}0000"), true),
            (format!("{delete}{}0000", update("")), false),
            ("0000".to_owned(), true),
            ("zzzz".to_owned(), true),
            ("0003".to_owned(), true),
            (line("hello"), false),
            (format!("{}0000", line("shallow")), true),
        ] {
            let at_once = Beginning::for_push().is_enough(input_so_far.as_bytes());
            let mut beginning = Beginning::for_push();
            let byte_by_byte = (0..=input_so_far.len())
                .any(|end| beginning.is_enough(&input_so_far.as_bytes()[..end]));
            assert_eq!((at_once, byte_by_byte), (is_enough, is_enough), "{input_so_far:?}");
        }
    }
}
