//! Creates a long history, the same in each run.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The dimensions of a history.
#[derive(Clone, Copy, Debug)]
pub struct History {
    pub commits: usize,
    pub branches: usize,
    pub tags: usize,
}

const FILES: usize = 2000;
const LINES: usize = 60;

impl History {
    /// Creates a bare repository, packed by git without a bitmap.
    pub fn make(&self, bare: &Path) -> Result<()> {
        git(None, &["init", "-q", "--bare", "-b", "master", &bare.to_string_lossy()])?;
        let mut import = Command::new("git")
            .args(["fast-import", "--quiet"])
            .current_dir(bare)
            .stdin(Stdio::piped())
            .spawn()?;
        let input = import.stdin.take().context("git fast-import has no input pipe")?;
        self.write(&mut BufWriter::with_capacity(1 << 20, input))?;
        ensure!(import.wait()?.success(), "git fast-import failed");
        git(Some(bare), &["repack", "-adFq", "--no-write-bitmap-index"])?;
        git(Some(bare), &["pack-refs", "--all"])
    }

    fn write(&self, to: &mut dyn Write) -> Result<()> {
        let mut files: Vec<Vec<String>> = (0..FILES)
            .map(|file| (0..LINES).map(|line| text(file * LINES + line)).collect())
            .collect();
        for commit in 0..self.commits {
            let message = format!("Commit {commit}\n\n{}", text(commit));
            writeln!(to, "commit refs/heads/master")?;
            writeln!(to, "mark :{}", commit + 1)?;
            let time = 1_400_000_000 + commit * 600;
            writeln!(to, "author Ada <ada@example.com> {time} +0000")?;
            writeln!(to, "committer Bob <bob@example.com> {time} +0000")?;
            writeln!(to, "data {}\n{message}", message.len())?;
            let changed: Vec<usize> = if commit == 0 {
                (0..FILES).collect()
            } else {
                vec![random(commit * 2) % FILES, random(commit * 2 + 1) % FILES]
            };
            for file in changed {
                files[file][random(commit + file) % LINES] = text(commit * 7919 + file);
                let content = files[file].concat();
                writeln!(to, "M 644 inline d{}/d{}/f{file}.txt", file % 20, file % 200)?;
                writeln!(to, "data {}\n{content}", content.len())?;
            }
        }
        for branch in 0..self.branches {
            let at = self.commits - branch * self.commits / (self.branches * 2);
            writeln!(to, "reset refs/heads/branch-{branch:04}\nfrom :{at}\n")?;
        }
        for tag in 0..self.tags {
            let at = self.commits - tag * self.commits / (self.tags * 2);
            writeln!(to, "tag v{tag}\nfrom :{at}\ntagger Ada <ada@example.com> 1500000000 +0000")?;
            writeln!(to, "data 8\nRelease\n")?;
        }
        Ok(to.flush()?)
    }
}

/// A line of words.
fn text(seed: usize) -> String {
    const WORDS: [&str; 16] = [
        "forge", "hex", "branch", "commit", "tree", "blob", "merge", "push", "fetch", "clone",
        "index", "delta", "pack", "graph", "tag", "ref",
    ];
    let mut number = random(seed);
    let mut line = String::new();
    for _ in 0..6 {
        line.push_str(WORDS[number % WORDS.len()]);
        line.push(' ');
        number /= WORDS.len();
    }
    line.push_str(&format!("{:x}\n", random(seed + 1) & 0xffff));
    line
}

/// A pseudo-random number for a seed.
pub fn random(seed: usize) -> usize {
    let mut number = (seed as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((number ^ (number >> 31)) >> 8) as usize
}

/// Runs git. Fails if git fails.
pub fn git(folder: Option<&Path>, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    ensure!(command.args(arguments).status()?.success(), "git {arguments:?} failed");
    Ok(())
}
