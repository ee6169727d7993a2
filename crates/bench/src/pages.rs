//! Measures the web pages: processor time and bytes of each kind of page, first and again.

use std::fmt;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hexforge_persistence_diesel::testing::TestDatabase;
use serde_json::json;

use super::history;
use super::load::{Answer, connect, measure_each};
use super::tracker_world::post;
use hexforge_tests::program::{PASSWORD, Program, ROOT, RUNNERS};

/// The number of commits, of folders, of long files, and of commits that change 50 files.
const COMMITS: usize = 400;
const DISTINCT: usize = 8;
/// The number of files in each folder, and of lines in each long file.
const ENTRIES: usize = 100;
const LINES: usize = 1000;
/// The files that a large commit changes, and the lines of each that it changes.
const CHANGED: usize = 50;
const CHANGED_LINES: usize = 20;
const ISSUES: usize = 60;
const COMMENTS: usize = 50;
const LISTS: usize = 5;
/// The size of the log of a build in bytes.
const LOG: usize = 10 << 20;
/// The number of requests per warm figure.
const REQUESTS: usize = 200;
/// The goal for a first visit with all assets, in compressed bytes, and for a later page.
const FIRST_VISIT: u64 = 60 * 1024;
const LATER_PAGE: u64 = 20 * 1024;

/// The cost of one kind of page.
pub struct Figure {
    what: String,
    cpu: Duration,
    goal: Duration,
    /// The length of the HTML, and of its compressed form.
    bytes: [u64; 2],
}

impl fmt::Display for Figure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (cpu, goal) = (milliseconds(self.cpu), milliseconds(self.goal));
        let [html, compressed] = self.bytes.map(|bytes| bytes as f64 / 1024.0);
        let holds = if self.cpu <= self.goal { "held" } else { "MISSED" };
        write!(
            to,
            "{:<44} cpu {cpu:>8.2} ms  html {html:>7.1} KB  compressed {compressed:>6.1} KB  \
             goal: {goal} ms, {holds}",
            self.what
        )
    }
}

/// Measures all pages, and reports each figure as soon as it is known.
pub fn measure(
    database: &TestDatabase,
    program: &Path,
    report: &mut dyn FnMut(String),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bare = folder.path().join("source.git");
    let commits = make_repository(&bare)?;
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    let server = Program::start(program, &data, &database.url)?;
    let project = post(&server, "/projects", &[("name", "ship"), ("public", "true")])?;
    let url = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
    let mut push = history::command(&bare, &["push", "-q", "--mirror", &url]);
    ensure!(push.stdout(Stdio::null()).status()?.success(), "the repository cannot be pushed");
    fill_tracker(&server, project)?;
    let build = run_build(&server)?;
    let stage = Stage { database, cookie: sign_in(&server)?, server };
    let page = |address: &str| format!("/root/ship{address}");
    let each = |address: &dyn Fn(usize) -> String| (0..DISTINCT).map(address).collect::<Vec<_>>();
    let folders = each(&|number| page(&format!("/tree/master/part-{number}")));
    let files = each(&|number| page(&format!("/blob/master/src/long_{number}.rs")));
    let large = each(&|number| page(&format!("/commit/{}", commits[number])));
    let (folder, file, commit) = (folders[0].clone(), files[0].clone(), large[0].clone());
    for (what, goal, addresses) in [
        ("folder of 100 entries, first", 30, folders),
        ("file of 1,000 lines, first", 120, files),
        ("commit with 50 files, first", 60, large),
    ] {
        report(stage.figure(what, ms(goal), &addresses)?.to_string());
    }
    for (what, goal, address) in [
        ("project home", 3, page("")),
        ("folder of 100 entries", 3, folder),
        ("file of 1,000 lines", 2, file),
        ("commit with 50 files", 5, commit),
        ("commits", 3, page("/commits/master")),
        ("issues", 3, page("/issues")),
        ("issue with 50 comments", 4, page("/issues/1")),
        ("board of 5 lists", 3, page("/boards")),
        ("build with a log of 10 MB", 5, page(&format!("/builds/{build}"))),
        ("search", 5, "/search?search=issue&scope=issues".to_owned()),
        ("explore", 3, "/explore".to_owned()),
    ] {
        let addresses = vec![address; REQUESTS];
        report(stage.figure(what, ms(goal), &addresses)?.to_string());
    }
    // Only pages that are named by a commit have an ETag.
    let at_commit = page(&format!("/blob/{}/src/long_0.rs", commits[0]));
    report(stage.unchanged(&at_commit)?.to_string());
    report(stage.first_visit(&page(""))?);
    Ok(())
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

struct Stage<'a> {
    database: &'a TestDatabase,
    server: Program,
    cookie: String,
}

impl Stage<'_> {
    /// The bytes of a request for a page, with more headers.
    fn request(&self, address: &str, headers: &str) -> String {
        format!(
            "GET {address} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{headers}\r\n",
            self.server.address, self.cookie
        )
    }

    /// Requests each address once, and averages the processor time.
    fn figure(&self, what: &str, goal: Duration, addresses: &[String]) -> Result<Figure> {
        let requests: Vec<String> =
            addresses.iter().map(|address| self.request(address, "")).collect();
        // A request for another page opens the connections of the pools.
        self.length(&self.request("/help", ""))?;
        let cost = measure_each(self.server.address, &self.processes(), &requests);
        let last = addresses.last().context("each figure has an address")?;
        let bytes = [
            self.length(&self.request(last, ""))?,
            self.length(&self.request(last, "Accept-Encoding: gzip\r\n"))?,
        ];
        Ok(Figure { what: what.to_owned(), cpu: cost.cpu, goal, bytes })
    }

    fn processes(&self) -> Vec<u32> {
        let mut pids = self.database.processes();
        pids.push(self.server.pid());
        pids
    }

    /// The length of a response, which must be a success.
    fn length(&self, request: &str) -> Result<u64> {
        let mut reader = connect(self.server.address);
        std::io::Write::write_all(reader.get_mut(), request.as_bytes())?;
        let answer = Answer::read(&mut reader, &mut |_| ());
        ensure!(matches!(answer.status, 200..300), "{} to {request}", answer.status);
        Ok(answer.length)
    }

    /// The cost of a page that the browser has already.
    fn unchanged(&self, address: &str) -> Result<Figure> {
        let shown = self.server.page("GET", address).header("Cookie", &self.cookie).send();
        let tag = shown.header("ETag").context("the page of a file has an ETag")?;
        let request = self.request(address, &format!("If-None-Match: {tag}\r\n"));
        let requests = vec![request; REQUESTS];
        let cost = measure_each(self.server.address, &self.processes(), &requests);
        let what = "an unchanged page (304)".to_owned();
        Ok(Figure { what, cpu: cost.cpu, goal: Duration::from_micros(300), bytes: [0, 0] })
    }

    /// The compressed bytes of a page and of everything that it loads.
    fn first_visit(&self, address: &str) -> Result<String> {
        let shown = self.server.page("GET", address).header("Cookie", &self.cookie).send();
        let mut assets: Vec<&str> = shown
            .text()
            .split(['"', '#'])
            .filter(|part| part.starts_with("/-/") && !part.contains("color_scheme"))
            .collect();
        assets.sort_unstable();
        assets.dedup();
        let compressed =
            |address: &str| self.length(&self.request(address, "Accept-Encoding: gzip\r\n"));
        let page = compressed(address)?;
        let rest = assets.iter().map(|asset| compressed(asset)).sum::<Result<u64>>()?;
        let holds = |bytes, goal| if bytes <= goal { "held" } else { "MISSED" };
        Ok(format!(
            "first visit of a project with {} assets: {:.1} KB, goal 60 KB, {}; the page alone {:.1} KB, goal 20 KB, {}",
            assets.len(),
            (page + rest) as f64 / 1024.0,
            holds(page + rest, FIRST_VISIT),
            page as f64 / 1024.0,
            holds(page, LATER_PAGE),
        ))
    }
}

/// Creates the repository, and returns the ids of the commits that change 50 files.
fn make_repository(bare: &Path) -> Result<Vec<String>> {
    history::init(bare)?;
    history::import(bare, &[], |to| {
        history::begin_commit(to, "master", 0)?;
        for folder in 0..DISTINCT {
            for entry in 0..ENTRIES {
                history::write_file(to, &entry_path(folder, entry), &text(entry, 0))?;
            }
            history::write_file(to, &format!("src/long_{folder}.rs"), &rust(folder))?;
        }
        history::write_file(to, "README.md", &readme())?;
        history::write_file(to, ".gitlab-ci.yml", "test:\n  script: make\n")?;
        for commit in 1..COMMITS {
            history::begin_commit(to, "master", commit)?;
            let (folder, entry) = (commit % DISTINCT, commit * 7 % ENTRIES);
            history::write_file(to, &entry_path(folder, entry), &text(entry, commit))?;
        }
        for number in 0..DISTINCT {
            history::begin_commit(to, "large", COMMITS + number)?;
            if number == 0 {
                writeln!(to, "from refs/heads/master")?;
            }
            for entry in 0..CHANGED {
                let path = entry_path(number, entry);
                history::write_file(to, &path, &text(entry, COMMITS + number))?;
            }
        }
        Ok(())
    })?;
    let count = format!("-{DISTINCT}");
    let commits = history::git(bare, &["rev-list", &count, "refs/heads/large"])?;
    Ok(commits.lines().map(str::to_owned).collect())
}

fn entry_path(folder: usize, entry: usize) -> String {
    format!("part-{folder}/entry-{entry:03}.txt")
}

/// A file of 60 lines. Twenty of them differ from version to version.
fn text(entry: usize, version: usize) -> String {
    let line = |line: usize| {
        let version = if line.is_multiple_of(3) && line / 3 < CHANGED_LINES { version } else { 0 };
        format!("line {line} of entry {entry} in version {version}\n")
    };
    (0..60).map(line).collect()
}

/// A Rust file of 1,000 lines.
fn rust(number: usize) -> String {
    let mut text = format!("//! Functions of part {number}.\n\nuse std::fmt;\n\n");
    for function in 0..LINES / 8 {
        let _ = write!(
            text,
            "/// Adds `{function}` to a number.\n\
             pub fn add_{function}(number: Option<&u64>) -> Result<u64, String> {{\n\
             \x20   let sum = match number {{\n\
             \x20       Some(value) if *value > 0x{function:x} => value + {function},\n\
             \x20       _ => return Err(format!(\"no number in {{}}\", \"part {number}\")),\n\
             \x20   }};\n\
             \x20   Ok(sum) // {function}\n}}\n"
        );
    }
    text
}

/// A README of some 10 KB.
fn readme() -> String {
    let mut text = "# Ship\n\nCarries things.\n".to_owned();
    for section in 0..30 {
        let _ = write!(
            text,
            "\n## Part {section}\n\nIt has a [link](docs/part-{section}.md), `code` and **emphasis**, \
             as prose has.\n\n- first item of {section}\n- second item\n\n\
             ```rust\nfn part() -> usize {{ {section} }}\n```\n\n| a | b |\n|---|---|\n| {section} | 2 |\n"
        );
    }
    text
}

/// Creates issues, comments on the first of them, labels, and a board with a list for each label.
fn fill_tracker(server: &Program, project: i64) -> Result<()> {
    let path = |rest: &str| format!("/projects/{project}{rest}");
    for number in 0..LISTS {
        let label = format!("label-{number}");
        post(server, &path("/labels"), &[("name", &label), ("color", "#228833")])?;
    }
    let mut first = None;
    for number in 0..ISSUES {
        let (title, label) =
            (format!("Issue number {number}"), format!("label-{}", number % LISTS));
        let form =
            [("title", title.as_str()), ("labels", &label), ("description", "It **sinks**.")];
        first.get_or_insert(post(server, &path("/issues"), &form)?);
    }
    let first = first.context("there are issues")?;
    for number in 0..COMMENTS {
        let body = format!("Comment {number} with `code`, #2 and a [link](https://example.com).");
        post(server, &path(&format!("/issues/{first}/notes")), &[("body", &body)])?;
    }
    let boards = server.request("GET", &path("/boards")).token(ROOT).send().expect(200);
    let board = boards[0]["id"].as_i64().context("each project has a board")?;
    let labels = server.request("GET", &path("/labels")).token(ROOT).send().expect(200);
    for label in labels.as_array().context("labels are a list")? {
        let label = label["id"].as_i64().context("labels have ids")?.to_string();
        post(server, &path(&format!("/boards/{board}/lists")), &[("label_id", &label)])?;
    }
    Ok(())
}

/// Takes the build that the push created, and sends its log. Returns the id of the build.
fn run_build(server: &Program) -> Result<i64> {
    let call = |path: &str| {
        hexforge_tests::Request::new(server.address, "POST", &format!("/ci/api/v1{path}"))
    };
    let runner =
        call("/runners/register.json").json(&json!({ "token": RUNNERS })).send().expect(201);
    let body = json!({ "token": runner["token"] });
    let build = call("/builds/register.json").json(&body).send().expect(201);
    let id = build["id"].as_i64().context("builds have ids")?;
    let line = "\u{1b}[32mok\u{1b}[0m compiled a file with some words in a line\n";
    let log = line.repeat(LOG / line.len());
    let path = format!("/ci/api/v1/builds/{id}.json");
    let done = json!({ "token": runner["token"], "state": "success", "trace": log });
    hexforge_tests::Request::new(server.address, "PUT", &path).json(&done).send().expect(200);
    Ok(id)
}

/// Signs in as `root`, and returns the cookies.
fn sign_in(server: &Program) -> Result<String> {
    let cookie = |answer: &hexforge_tests::Response| -> Result<String> {
        let header = answer.header("Set-Cookie").context("the response sets a cookie")?;
        Ok(header.split(';').next().unwrap_or_default().to_owned())
    };
    let form = server.page("GET", "/users/sign_in").send();
    let token = form
        .text()
        .split("name=\"authenticity_token\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .context("the form has a token")?;
    let fields = [("authenticity_token", token), ("login", "root"), ("password", PASSWORD)];
    let first = cookie(&form)?;
    let sent = server.page("POST", "/users/sign_in").header("Cookie", &first).form(&fields).send();
    ensure!(sent.status == 303, "not signed in: {}", sent.status);
    cookie(&sent)
}
