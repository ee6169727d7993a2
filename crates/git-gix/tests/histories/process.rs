//! Runs git, and reads what it prints.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use gix::ObjectId;

use crate::objects::Ids;
use crate::support::git_command;

/// Nothing has to outlive the machine, and histories are small.
pub const QUICK: [&str; 4] = ["-c", "core.fsync=none", "-c", "pack.threads=1"];

/// What git prints. It must succeed.
pub fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut git = git_command();
    git.current_dir(folder).args(QUICK).args(arguments);
    let (is_ok, stdout, stderr) = run_command(git, input);
    assert!(is_ok, "git {arguments:?}: {stderr}");
    stdout
}

pub fn run_command(mut git: std::process::Command, input: &[u8]) -> (bool, Vec<u8>, String) {
    git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = git.spawn().expect("git is installed");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let output = std::thread::scope(|scope| {
        // git may end without reading everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("git ends")
    });
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), output.stdout, stderr)
}

pub fn parse_id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).expect("git prints ids")
}

pub fn parse_ids(output: &[u8]) -> Ids {
    String::from_utf8_lossy(output).lines().map(parse_id).collect()
}
