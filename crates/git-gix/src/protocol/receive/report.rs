//! Writes the final report of a push.

use std::io::{self, Write};

use super::commands::{Asked, Outcome};
use crate::protocol::packet::{self, Band};

/// Writes the outcome of each command, and a message for the user.
pub(super) fn write(
    asked: &Asked,
    unpacked: &Result<(), String>,
    message: Option<&str>,
    to: &mut dyn Write,
) -> io::Result<()> {
    if asked.side_band
        && let Some(message) = message
    {
        let lines: String = message.lines().map(|line| format!("GitLab: {line}\n")).collect();
        packet::band(to, Band::Progress, lines.as_bytes())?;
    }
    let mut report = Vec::new();
    if asked.report {
        outcomes(asked, unpacked, &mut report)?;
    }
    match asked.side_band {
        true => {
            packet::band(to, Band::Data, &report)?;
            packet::flush(to)?;
        }
        false => to.write_all(&report)?,
    }
    to.flush()
}

fn outcomes(asked: &Asked, unpacked: &Result<(), String>, to: &mut dyn Write) -> io::Result<()> {
    match unpacked {
        Ok(()) => packet::line(to, "unpack ok")?,
        Err(reason) => packet::line(to, &format!("unpack {}", one_line(reason)))?,
    }
    for command in &asked.commands {
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
            Outcome::Waiting => {
                line.extend_from_slice(b"ng ");
                line.extend_from_slice(&command.name);
                line.extend_from_slice(b" failed to update ref");
            }
        }
        line.push(b'\n');
        line.truncate(packet::LONGEST);
        packet::write(to, &line)?;
    }
    packet::flush(to)
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::receive::commands;

    fn asked(capabilities: &str) -> Asked {
        let (zero, one) = ("0".repeat(40), "1".repeat(40));
        let mut wire = Vec::new();
        let first = format!("{zero} {one} refs/heads/a\0{capabilities}");
        packet::write(&mut wire, first.as_bytes()).expect("memory");
        packet::write(&mut wire, format!("{zero} {one} refs/heads/b").as_bytes()).expect("memory");
        packet::flush(&mut wire).expect("memory");
        commands::read(&mut &wire[..]).expect("packets").expect("commands")
    }

    fn written(asked: &Asked, message: Option<&str>) -> Vec<u8> {
        let mut to = Vec::new();
        write(asked, &Ok(()), message, &mut to).expect("memory");
        to
    }

    #[test]
    fn each_command_has_its_line() {
        let mut asked = asked("report-status");
        asked.commands[0].outcome = Outcome::Done;
        asked.commands[1].refuse("no\nway");
        let expected =
            b"000eunpack ok\n0014ok refs/heads/a\n001bng refs/heads/b no way\n0000".to_vec();
        assert_eq!(written(&asked, Some("unseen")), expected);
    }

    #[test]
    fn in_side_bands_people_are_told_more() {
        let asked = asked("side-band-64k");
        assert_eq!(written(&asked, Some("No.")), b"0011\x02GitLab: No.\n0000");
    }
}
