//! Runs git and parses its output.

use std::path::Path;
use std::process::Command;

use gix::ObjectId;

use crate::objects::Ids;
use crate::support::{self, git_command};

/// Options that make git faster: no data has to survive a crash, and histories are small.
pub const FAST: [&str; 4] = ["-c", "core.fsync=none", "-c", "pack.threads=1"];

/// Runs git, which must succeed, and returns its output.
pub fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut git = git_command();
    git.current_dir(folder).args(FAST).args(arguments);
    let (is_ok, stdout, stderr) = run_command(git, input);
    assert!(is_ok, "git {arguments:?}: {stderr}");
    stdout
}

pub fn run_command(git: Command, input: &[u8]) -> (bool, Vec<u8>, String) {
    let (is_ok, stdout, stderr) = support::run_command(git, input);
    (is_ok, stdout, String::from_utf8_lossy(&stderr).into_owned())
}

pub fn parse_id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).expect("git prints ids")
}

pub fn parse_ids(output: &[u8]) -> Ids {
    String::from_utf8_lossy(output).lines().map(parse_id).collect()
}
