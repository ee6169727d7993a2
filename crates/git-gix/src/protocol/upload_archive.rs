//! Serves `git archive --remote` (upload-archive).

use std::io::{self, Read, Write};

use hexforge_domain::ports::git::{GitError, GitHistory, GitObjects, Resolved};
use hexforge_domain::repository::{Archive, ArchiveFormat};

use crate::content::commit::to_gix;
use crate::error::reader_gone;
use crate::protocol::packet::{self, Band, LONGEST_IN_BAND, Packet};
use crate::storage::repository::GixRepository;

/// The most arguments of a request; git has the same limit.
const MOST_ARGUMENTS: usize = 64;

/// The formats that a client can request by name.
const FORMATS: [ArchiveFormat; 4] =
    [ArchiveFormat::Tar, ArchiveFormat::TarGz, ArchiveFormat::TarBz2, ArchiveFormat::Zip];

/// The parsed request.
#[derive(Debug, Default, PartialEq, Eq)]
struct ArchiveRequest {
    list: bool,
    format: Option<ArchiveFormat>,
    folder: String,
    revision: Option<String>,
}

/// Sends the requested archive, or a `NACK` with the reason.
pub(crate) fn serve(
    repository: &GixRepository,
    from: &mut dyn Read,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    match prepare(repository, from) {
        Ok(answer) => {
            packet::write_line(to, "ACK")
                .and_then(|()| packet::write_flush(to))
                .map_err(reader_gone)?;
            let mut banded = BandWriter { to, buffer: Vec::new() };
            let written = match answer {
                Answer::Formats => {
                    let names = FORMATS.map(|format| format!("{}\n", format.extension())).concat();
                    banded.write_all(names.as_bytes()).map_err(reader_gone)
                }
                Answer::Archive(archive) => repository.write_archive(&archive, &mut banded),
            };
            banded.end(written)
        }
        Err(GitError::Protocol(why)) => {
            // A write error is ignored: the client may be gone, and the first error is the one to return.
            let _ = packet::write_line(to, &format!("NACK {why}"))
                .and_then(|()| packet::write_flush(to))
                .and_then(|()| to.flush());
            Err(GitError::Protocol(why))
        }
        Err(error) => Err(error),
    }
}

enum Answer {
    Formats,
    Archive(Archive),
}

fn prepare(repository: &GixRepository, from: &mut dyn Read) -> Result<Answer, GitError> {
    let request = ArchiveRequest::parse(&read_arguments(from)?)?;
    if request.list {
        return Ok(Answer::Formats);
    }
    let revision =
        request.revision.ok_or_else(|| GitError::Protocol("must specify tree-ish".into()))?;
    let unknown = || GitError::Protocol("no such ref or commit".into());
    let Resolved { commit, through_ref } = repository.resolve(&revision)?.ok_or_else(unknown)?;
    // Deleted or rewritten commits stay hidden, even from a client that knows the id.
    if !through_ref && !repository.is_reachable_until(to_gix(commit), &[], None)? {
        return Err(unknown());
    }
    let format = request.format.unwrap_or(ArchiveFormat::Tar);
    Ok(Answer::Archive(Archive { commit, format, folder: request.folder }))
}

fn read_arguments(from: &mut dyn Read) -> Result<Vec<String>, GitError> {
    let mut arguments = Vec::new();
    loop {
        let packet = packet::read(from).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                GitError::Protocol("a packet is malformed".into())
            }
            _ => reader_gone(error),
        })?;
        match packet {
            Some(Packet::Data(line)) if arguments.len() < MOST_ARGUMENTS => {
                let line = String::from_utf8(line).ok();
                let argument = line.as_deref().and_then(|line| line.strip_prefix("argument "));
                let argument = argument
                    .ok_or_else(|| GitError::Protocol("expected an argument line".into()))?;
                arguments.push(argument.strip_suffix('\n').unwrap_or(argument).to_owned());
            }
            Some(Packet::Data(_)) => return Err(GitError::Protocol("too many arguments".into())),
            _ => return Ok(arguments),
        }
    }
}

impl ArchiveRequest {
    fn parse(arguments: &[String]) -> Result<Self, GitError> {
        let refused = |what: &str| GitError::Protocol(format!("{what} is not supported"));
        let mut request = Self::default();
        let mut options = true;
        for argument in arguments {
            let argument = argument.as_str();
            if !options || !argument.starts_with('-') {
                if request.revision.replace(argument.to_owned()).is_some() {
                    return Err(refused("an archive of some paths only"));
                }
            } else if let Some(format) = argument.strip_prefix("--format=") {
                let known = FORMATS.into_iter().find(|one| one.extension() == format);
                let known = known.or((format == "tgz").then_some(ArchiveFormat::TarGz));
                request.format = Some(known.ok_or_else(|| refused("this archive format"))?);
            } else if let Some(prefix) = argument.strip_prefix("--prefix=") {
                request.folder = parse_prefix(prefix).ok_or_else(|| refused("this prefix"))?;
            } else {
                match argument {
                    "--" => options = false,
                    "-l" | "--list" => request.list = true,
                    // The compression level is decided by the server, and no progress is sent.
                    "-v" | "--verbose" | "-0" | "-1" | "-2" | "-3" | "-4" | "-5" | "-6" | "-7"
                    | "-8" | "-9" => {}
                    _ => return Err(refused("this option")),
                }
            }
        }
        Ok(request)
    }
}

/// Parses the folder name from a prefix. Returns `None` if the prefix is not a folder.
fn parse_prefix(prefix: &str) -> Option<String> {
    if prefix.is_empty() {
        return Some(String::new());
    }
    let folder = prefix.strip_suffix('/')?;
    let is_plain = |part: &str| {
        !part.is_empty() && part != "." && part != ".." && !part.chars().any(char::is_control)
    };
    (folder.len() <= 1000 && folder.split('/').all(is_plain)).then(|| folder.to_owned())
}

/// Writes the archive in the data band.
struct BandWriter<'a> {
    to: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl BandWriter<'_> {
    fn send(&mut self) -> io::Result<()> {
        packet::write_band(self.to, Band::Data, &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Ends the stream, or sends an error message if the archive was not written completely.
    fn end(mut self, written: Result<(), GitError>) -> Result<(), GitError> {
        if matches!(written, Err(GitError::ReaderGone(_))) {
            return written;
        }
        let end = match &written {
            Ok(()) => self.send(),
            Err(_) => packet::write_band(self.to, Band::Error, b"the server failed\n"),
        };
        let end = end.and_then(|()| packet::write_flush(self.to)).and_then(|()| self.to.flush());
        written.and(end.map_err(reader_gone))
    }
}

impl Write for BandWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = data.len().min(LONGEST_IN_BAND - self.buffer.len());
        self.buffer.extend_from_slice(&data[..taken]);
        if self.buffer.len() == LONGEST_IN_BAND {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Result<ArchiveRequest, String> {
        let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
        ArchiveRequest::parse(&arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn what_git_archive_sends_is_understood() {
        let zip = request(&["--format=zip", "--prefix=a/b/", "-9", "v1.0"]).expect("served");
        let expected = ArchiveRequest {
            list: false,
            format: Some(ArchiveFormat::Zip),
            folder: "a/b".to_owned(),
            revision: Some("v1.0".to_owned()),
        };
        assert_eq!(zip, expected);
        assert_eq!(request(&["--", "-x"]).expect("served").revision.as_deref(), Some("-x"));
        assert!(request(&["--list"]).expect("served").list);
    }

    #[test]
    fn the_rest_is_refused_with_a_reason() {
        for arguments in [
            &["HEAD", "src"][..],
            &["--format=rar", "HEAD"],
            &["--output=/etc/x", "HEAD"],
            &["--exec=id", "HEAD"],
            &["--prefix=/etc/", "HEAD"],
            &["--prefix=../", "HEAD"],
            &["--prefix=a", "HEAD"],
        ] {
            let why = request(arguments).expect_err("refused");
            assert!(why.contains("is not supported"), "{arguments:?}: {why}");
        }
    }
}
