//! Writes the final report of a push.

use std::io::{self, Write};

use super::commands::{Outcome, PushRequest};
use crate::protocol::packet::{self, Band};

/// Writes the outcome of each command, and a message for the user.
pub(super) fn write(
    request: &PushRequest,
    unpacked: &Result<(), String>,
    message: Option<&str>,
    to: &mut dyn Write,
) -> io::Result<()> {
    if request.side_band
        && let Some(message) = message
    {
        let lines: String = message.lines().map(|line| format!("GitLab: {line}\n")).collect();
        packet::write_band(to, Band::Progress, lines.as_bytes())?;
    }
    let mut report = Vec::new();
    if request.report {
        write_outcomes(request, unpacked, &mut report)?;
    }
    match request.side_band {
        true => {
            packet::write_band(to, Band::Data, &report)?;
            packet::write_flush(to)?;
        }
        false => to.write_all(&report)?,
    }
    to.flush()
}

fn write_outcomes(
    request: &PushRequest,
    unpacked: &Result<(), String>,
    to: &mut dyn Write,
) -> io::Result<()> {
    match unpacked {
        Ok(()) => packet::write_line(to, "unpack ok")?,
        Err(reason) => packet::write_line(to, &format!("unpack {}", one_line(reason)))?,
    }
    for command in &request.commands {
        let mut line = Vec::new();
        match &command.outcome {
            Outcome::Done => {
                line.extend_from_slice(b"ok ");
                line.extend_from_slice(&command.name);
            }
            Outcome::Refused(reason) => {
                line.extend_from_slice(b"ng ");
                line.extend_from_slice(&command.name);
                line.extend_from_slice(format!(" {}", one_line(reason)).as_bytes());
            }
            Outcome::Pending => {
                line.extend_from_slice(b"ng ");
                line.extend_from_slice(&command.name);
                line.extend_from_slice(b" failed to update ref");
            }
        }
        line.push(b'\n');
        line.truncate(packet::LONGEST);
        packet::write(to, &line)?;
    }
    packet::write_flush(to)
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::receive::commands;

    fn request(capabilities: &str) -> PushRequest {
        let (zero, one) = ("0".repeat(40), "1".repeat(40));
        let mut wire = Vec::new();
        let first = format!("{zero} {one} refs/heads/a\0{capabilities}");
        packet::write(&mut wire, first.as_bytes()).expect("memory");
        packet::write(&mut wire, format!("{zero} {one} refs/heads/b").as_bytes()).expect("memory");
        packet::write_flush(&mut wire).expect("memory");
        commands::read(&mut &wire[..]).expect("packets").expect("commands")
    }

    fn written(request: &PushRequest, message: Option<&str>) -> Vec<u8> {
        let mut to = Vec::new();
        write(request, &Ok(()), message, &mut to).expect("memory");
        to
    }

    #[test]
    fn each_command_has_its_line() {
        let mut request = request("report-status");
        request.commands[0].outcome = Outcome::Done;
        request.commands[1].refuse("no\nway");
        let expected =
            b"000eunpack ok\n0014ok refs/heads/a\n001bng refs/heads/b no way\n0000".to_vec();
        assert_eq!(written(&request, Some("unseen")), expected);
    }

    #[test]
    fn in_side_bands_people_are_told_more() {
        let request = request("side-band-64k");
        assert_eq!(written(&request, Some("No.")), b"0011\x02GitLab: No.\n0000");
    }
}
