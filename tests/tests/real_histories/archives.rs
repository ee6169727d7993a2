//! `GET /projects/:id/repository/archive.tar` against `git archive`: reference section 4.4.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use hexforge_tests::{RandomNumbers, Response};

use super::checks::{Checks, same_set};
use super::oracle::Oracle;
use super::server::Server;

/// The number of archives of random commits, in addition to that of the default branch.
const ARCHIVES: usize = 2;

/// Unpacks the archives of hexforge and of git, and compares the files.
pub fn check(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    random: &mut RandomNumbers,
    checks: &mut Checks,
) {
    let mut commits = vec![oracle.tip().to_owned()];
    commits.extend((0..ARCHIVES).map(|_| oracle.random_commit(random)));
    for commit in &commits {
        checks.check(&format!("archive of {commit}"), || check_one(server, oracle, commit));
    }
}

fn check_one(server: &Server<'_>, oracle: &Oracle<'_>, commit: &str) -> Result<(), String> {
    let answer = server.get("archive.tar", &[("sha", commit)])?;
    let prefix = format!("--prefix=ship-{commit}-{commit}/");
    let expected = oracle.git.bytes(&oracle.twin, &["archive", "--format=tar", &prefix, commit]);
    let ours = unpack(&whole_body(&answer)?)?;
    let theirs = unpack(&expected)?;
    let names = |files: &Files| files.keys().cloned().collect::<Vec<String>>();
    same_set("files", &names(&ours), &names(&theirs))?;
    match theirs.iter().find(|(name, content)| ours.get(*name) != Some(content)) {
        None => Ok(()),
        Some((name, _)) => Err(format!("{name} has other content or another mode")),
    }
}

/// Decodes a chunked body. Fails if the last chunk is missing.
fn whole_body(answer: &Response) -> Result<Vec<u8>, String> {
    if answer.header("transfer-encoding") != Some("chunked") {
        return Ok(answer.body.clone());
    }
    let (mut rest, mut body) = (answer.body.as_slice(), Vec::new());
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n");
        let end = end.ok_or_else(|| format!("the answer breaks off after {} bytes", body.len()))?;
        let size = String::from_utf8_lossy(&rest[..end]);
        let size = usize::from_str_radix(&size, 16).map_err(|error| error.to_string())?;
        if size == 0 {
            return Ok(body);
        }
        let chunk = rest.get(end + 2..end + 2 + size);
        let chunk =
            chunk.ok_or_else(|| format!("the answer breaks off after {} bytes", body.len()))?;
        body.extend_from_slice(chunk);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
}

/// Mode and content of each path.
type Files = BTreeMap<String, (u32, Vec<u8>)>;

fn unpack(archive: &[u8]) -> Result<Files, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut tar = Command::new("tar");
    tar.args(["-x", "-p", "-f", "-", "-C"]).arg(folder.path()).env("LC_ALL", "C");
    let mut tar =
        tar.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("tar can be started");
    let mut input = tar.stdin.take().expect("the input is ours");
    // tar may end before it has read everything; its exit status is checked instead.
    let _ = input.write_all(archive);
    drop(input);
    let output = tar.wait_with_output().expect("tar ends");
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("tar cannot unpack {} bytes: {stderr}", archive.len()));
    }
    let mut files = Files::new();
    read_folder(folder.path(), "", &mut files);
    Ok(files)
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).expect("what was unpacked can be read") {
        let path = entry.expect("what was unpacked can be read").path();
        let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
        let name = format!("{prefix}{name}");
        let facts = fs::symlink_metadata(&path).expect("what was unpacked can be read");
        let content = if facts.is_symlink() {
            let target = fs::read_link(&path).expect("links have targets");
            target.into_os_string().into_encoded_bytes()
        } else if facts.is_dir() {
            read_folder(&path, &format!("{name}/"), files);
            Vec::new()
        } else {
            fs::read(&path).expect("what was unpacked can be read")
        };
        files.insert(name, (facts.permissions().mode(), content));
    }
}
