//! Every command of docs/tour.md, run against the real program.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hexforge_tests::program;

use crate::page;

/// A fenced block of a page.
struct Block {
    kind: String,
    text: String,
}

/// The server of the tour. It is killed when dropped.
struct Server {
    child: Child,
    /// Its output until it serves.
    printed: Vec<String>,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(program::executable())
            .current_dir(folder)
            .env("HEXFORGE_LISTEN", "127.0.0.1:0")
            .env("HEXFORGE_SSH_LISTEN", "127.0.0.1:0")
            .env("HEXFORGE_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut output = BufReader::new(child.stdout.take().expect("the output is ours"));
        let mut printed = Vec::new();
        loop {
            let mut line = String::new();
            let length = output.read_line(&mut line).expect("the output can be read");
            assert!(length > 0, "the program ended: {printed:?}");
            printed.push(line.trim_end().to_owned());
            if line.contains("listening on ") {
                break;
            }
        }
        // The pipe stays open, because the program may print more.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Self { child, printed }
    }

    fn value(&self, start: &str, end: &str) -> String {
        let found = self.printed.iter().find_map(|line| line.split_once(start));
        let (_, rest) = found.unwrap_or_else(|| panic!("no {start:?} in {:?}", self.printed));
        rest.split_once(end).map_or(rest, |(value, _)| value).to_owned()
    }

    /// Fills in the addresses and secrets of this server.
    fn fill(&self, text: &str) -> String {
        let ssh = self.value("SSH is served on ", ". ");
        let port = ssh.rsplit(':').next().expect("an address has a port");
        text.replace("127.0.0.1:8080", &self.value("listening on ", ")"))
            .replace("127.0.0.1:2222", &ssh)
            .replace("-p 2222", &format!("-p {port}"))
            .replace("'the password'", &format!("'{}'", self.value(" password: ", "\n")))
            .replace("'the private token'", &format!("'{}'", self.value("private token: ", "\n")))
            .replace("'the runners token'", &format!("'{}'", self.value("runners token: ", "\n")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_command_of_the_tour_works() {
    for name in ["bash", "curl", "git", "ssh", "ssh-keygen", "tar"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
        assert!(found.is_ok_and(|found| found.status.success()), "the tour needs `{name}`");
    }
    let blocks = blocks(&page("docs/tour.md"));
    let [start, greeting, commands @ ..] = &blocks[..] else { panic!("the tour has commands") };
    assert_eq!(start.text, "hexforge\n", "the first command starts the server");
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let server = Server::start(folder.path());
    assert_printed(&server, greeting, &server.printed.join("\n"));
    for (block, printed) in commands.iter().zip(run(folder.path(), &server, commands)) {
        assert_printed(&server, block, &printed);
    }
}

fn assert_printed(server: &Server, block: &Block, printed: &str) {
    for expected in expected_texts(block) {
        let expected = server.fill(&expected);
        assert!(matches(printed, &expected), "{expected:?} is not in\n{printed}");
    }
}

/// Runs all blocks in one shell, and returns the output of each. A block of expected output gets that of the block
/// before it.
fn run(folder: &Path, server: &Server, blocks: &[Block]) -> Vec<String> {
    const MARK: &str = "@@ end of block @@";
    let mut script = String::from("set -euo pipefail\n");
    for block in blocks.iter().filter(|block| block.kind == "sh") {
        script += &format!("{}echo; echo '{MARK}'\n", server.fill(&block.text));
    }
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .expect("there is a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{printed}\n{errors}", output.status);
    let mut outputs = printed.split(MARK).map(str::to_owned);
    let mut all = Vec::new();
    for block in blocks {
        let next = if block.kind == "sh" { outputs.next() } else { all.last().cloned() };
        all.push(next.expect("each block of commands prints its end"));
    }
    all
}

/// The texts that the output of a block must contain, in any order.
fn expected_texts(block: &Block) -> Vec<String> {
    let comment = |line: &str| line.split_once("# prints ").map(|(_, text)| text.to_owned());
    match block.kind.as_str() {
        "sh" => block.text.lines().filter_map(comment).collect(),
        _ => block.text.lines().map(str::to_owned).collect(),
    }
}

/// Whether a line of the text matches a pattern, in which `*` stands for anything.
fn matches(text: &str, pattern: &str) -> bool {
    text.lines().any(|line| {
        let mut rest = line;
        pattern.split('*').filter(|part| !part.is_empty()).all(|part| match rest.split_once(part) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    })
}

fn blocks(page: &str) -> Vec<Block> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    let blocks = fenced.map(|block| {
        let (kind, text) = block.split_once('\n').expect("a fence is a line");
        Block { kind: kind.to_owned(), text: format!("{text}\n") }
    });
    blocks.collect()
}
