//! Creates repositories for benchmarks with the real git, always with the same content.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The dimensions of the repository on which other services were measured.
const COMMITS: usize = 3830;
const BRANCHES: usize = 1000;
const TAGS: usize = 123;
const FOLDERS: usize = 40;
const FILES: usize = 560;
/// The number of files that a commit changes. Two commits that are [`APART`] commits apart differ in 57 files.
const CHANGED: usize = 3;
/// The distance of two commits between which 57 files differ.
pub const APART: usize = 19;
/// A file of 7 KB, and a directory of files.
pub const README: &str = "README.md";
pub const FOLDER: &str = "src/part-07";

const AUTHORS: usize = 37;
const FIRST: u64 = 1_400_000_000;

/// Creates a repository of 3,830 commits, 1,000 branches and 123 tags. Returns the ids of its commits, oldest first.
pub fn make(bare: &Path) -> Result<Vec<String>> {
    init(bare)?;
    import(bare, &[], |to| {
        let mut random = Random(1);
        let mut files: Vec<Vec<u64>> =
            (0..FILES).map(|_| (0..60).map(|_| random.next()).collect()).collect();
        for commit in 0..COMMITS {
            let changed: Vec<usize> = if commit == 0 {
                (0..FILES).collect()
            } else {
                (0..CHANGED).map(|n| (commit * CHANGED + n) * 197 % FILES).collect()
            };
            begin_commit(to, "master", commit)?;
            for &file in &changed {
                if commit > 0 {
                    edit_lines(&mut files[file], &mut random);
                }
                let path = format!("src/part-{:02}/file-{file:03}.txt", file % FOLDERS);
                write_file(to, &path, &render_lines(&files[file]))?;
            }
            if commit == 0 {
                let lines: Vec<u64> = (0..160).map(|_| random.next()).collect();
                write_file(to, README, &render_lines(&lines))?;
            }
        }
        let at = |number: usize, of: usize| 1 + number * (COMMITS - 1) / of;
        for branch in 0..BRANCHES {
            let mark = at(branch, BRANCHES);
            write!(to, "reset refs/heads/topic-{branch:04}\nfrom :{mark}\n\n")?;
        }
        for tag in 0..TAGS {
            let (mark, name) = (at(tag, TAGS), format!("v{}.{}", tag / 10, tag % 10));
            if tag % 2 == 0 {
                write!(to, "reset refs/tags/{name}\nfrom :{mark}\n\n")?;
            } else {
                let when = FIRST + mark as u64 * 3600;
                let message = format!("Release {name}\n");
                write!(
                    to,
                    "tag {name}\nfrom :{mark}\ntagger Ada <ada@example.com> {when} +0000\n"
                )?;
                write!(to, "data {}\n{message}\n", message.len())?;
            }
        }
        Ok(())
    })?;
    git(bare, &["repack", "-a", "-d", "-q"])?;
    git(bare, &["pack-refs", "--all"])?;
    let commits = git(bare, &["rev-list", "--reverse", "refs/heads/master"])?;
    Ok(commits.lines().map(str::to_owned).collect())
}

/// Creates a repository with one incompressible file of this size. Returns the id of its blob.
pub fn make_large(bare: &Path, bytes: u64) -> Result<String> {
    init(bare)?;
    // Compressing incompressible data takes minutes and does not change the measurement.
    import(bare, &["-c", "core.compression=0", "-c", "pack.compression=0"], |to| {
        begin_commit(to, "master", 0)?;
        write!(to, "M 100644 inline large\ndata {bytes}\n")?;
        let mut random = Random(2);
        let mut left = bytes;
        while left > 0 {
            let piece = random.next().to_le_bytes();
            let taken = left.min(8) as usize;
            to.write_all(&piece[..taken])?;
            left -= taken as u64;
        }
        writeln!(to)?;
        Ok(())
    })?;
    git(bare, &["rev-parse", "master:large"])
}

/// Creates an empty bare repository.
pub fn init(bare: &Path) -> Result<()> {
    std::fs::create_dir_all(bare)?;
    git(bare, &["init", "-q", "--bare", "-b", "master", "."]).map(drop)
}

/// Runs git in a repository and returns its output.
pub fn git(bare: &Path, arguments: &[&str]) -> Result<String> {
    let output = command(bare, arguments).output().context("git cannot be started")?;
    ensure!(
        output.status.success(),
        "git {arguments:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// A git command in a repository, without user or system configuration.
pub fn command(bare: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(bare)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null());
    command
}

/// Runs `git fast-import` with the stream that `write` produces.
pub fn import(
    bare: &Path,
    options: &[&str],
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let arguments = [options, &["fast-import", "--quiet", "--force"]].concat();
    let mut child = command(bare, &arguments).stdin(Stdio::piped()).spawn()?;
    let input = child.stdin.take().context("git fast-import has no input pipe")?;
    let mut input = BufWriter::with_capacity(1 << 20, input);
    write(&mut input)?;
    drop(input);
    ensure!(child.wait()?.success(), "git fast-import failed");
    Ok(())
}

/// Writes the beginning of the commit with this number, whose mark is the next number.
pub fn begin_commit(to: &mut dyn Write, branch: &str, number: usize) -> Result<()> {
    let (author, when) = (number * number % AUTHORS, FIRST + number as u64 * 3600);
    let message = format!("Change number {number}\n\nBecause it was time for it.\n");
    write!(to, "commit refs/heads/{branch}\nmark :{}\n", number + 1)?;
    writeln!(to, "author Author {author} <author-{author}@example.com> {when} +0200")?;
    writeln!(to, "committer Bob <bob@example.com> {when} +0200")?;
    write!(to, "data {}\n{message}", message.len())?;
    Ok(())
}

/// Writes a file of the commit that was begun.
pub fn write_file(to: &mut dyn Write, path: &str, content: &str) -> Result<()> {
    write!(to, "M 100644 inline {path}\ndata {}\n{content}\n", content.len())?;
    Ok(())
}

/// Replaces some lines, and adds or removes a few.
fn edit_lines(lines: &mut Vec<u64>, random: &mut Random) {
    for _ in 0..4 {
        let at = random.below(lines.len());
        lines[at] = random.next();
    }
    if lines.len() > 90 {
        lines.drain(10..20);
    }
    let at = random.below(lines.len());
    lines.insert(at, random.next());
}

/// Renders each number as a line of words.
fn render_lines(lines: &[u64]) -> String {
    let mut text = String::new();
    for line in lines {
        let mut random = Random(*line | 1);
        for word in 0..7 {
            let gap = if word == 0 { "" } else { " " };
            let number = random.below(500);
            let _ =
                write!(text, "{gap}{}{}", ["ab", "the", "for", "git", "on"][number % 5], number);
        }
        text.push('\n');
    }
    text
}

/// A pseudo-random generator with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }
}
