//! Figures and names in docs that the code defines: permits, metrics, commands, options of the benchmark.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use clap::CommandFactory;
use hexforge_application::limiter::Limiter;
use hexforge_domain::id::UserId;
use hexforge_domain::limiter::{Caller, Permit, PermitPool};
use hexforge_server::cli::Cli;

use crate::{all_pages, assert_page, code_spans, files_below, page, prose, with_generated};

/// The number of permits of a permit pool that these callers get together.
fn granted(pool: &PermitPool, callers: impl Iterator<Item = Caller>) -> usize {
    let mut permits: Vec<Permit> = Vec::new();
    for caller in callers {
        let waiting = pin!(pool.wait_for_permit(caller));
        match waiting.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(permit)) => permits.push(permit),
            Poll::Ready(Err(_)) | Poll::Pending => break,
        }
    }
    permits.len()
}

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

fn user(id: i64) -> Caller {
    Caller::of_user(Some(UserId(id)), Some(ADDRESS))
}

/// A row of the table of permits: total, per user, and for all users of one address.
fn permits_row(work: &str, pool: &PermitPool) -> String {
    let one = granted(pool, std::iter::repeat_with(|| user(1)));
    let address = granted(pool, (1..).map(user));
    format!("| {work} | {} | {one} | {address} |", pool.free())
}

#[test]
fn the_table_of_permits_is_that_of_the_limiter() {
    let limiter = Limiter::default();
    let one_writer = Limiter::default().for_one_writer();
    let by_address = |pool: &PermitPool| {
        granted(pool, std::iter::repeat_with(|| Caller::anonymous(Some(ADDRESS))))
    };
    let mut rows = vec![
        "| Permits for | In all | For one caller | For one address |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    for (work, pool) in [
        ("fetches", &limiter.fetches),
        ("pushes", &limiter.pushes),
        ("archives, also those of `git archive --remote`", &limiter.archives),
        ("files of a repository larger than 256 KiB", &limiter.blobs),
        ("comparisons", &limiter.comparisons),
        ("requests that wait for counts of contributors", &limiter.contributors),
        ("uploads and artifacts that are received", &limiter.uploads),
        ("LFS objects that are received, and batches that announce them", &limiter.lfs_uploads),
        (
            "uploads, artifacts and logs larger than 256 KiB, and LFS objects, that are sent",
            &limiter.downloads,
        ),
        ("commands over SSH, also those that wait", &limiter.ssh_commands),
        ("calls that read", &limiter.reads),
        ("calls that change something, on PostgreSQL", &limiter.writes),
        ("calls that change something, on SQLite", &one_writer.writes),
    ] {
        rows.push(permits_row(work, pool));
    }
    // These permit pools only know the caller's address.
    let searches = &limiter.searches;
    rows.push(format!(
        "| searches through a history, by address | {} | {} | |",
        searches.free(),
        by_address(searches)
    ));
    let sign_ins = &limiter.sign_ins;
    let most = sign_ins.free() * 3 / 4;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(by_address(sign_ins), processors.min(most));
    rows.push(format!(
        "| sign-ins with a password, by address | {} | as many as processors, at most {most} | |",
        sign_ins.free()
    ));
    rows.push(
        "| planning a fetch; compressing an archive | twice the processors, of each | the processors, of each | |"
            .to_owned(),
    );
    const PATH: &str = "docs/operations.md";
    assert_page(PATH, &with_generated(PATH, "permits", &rows));
}

/// All words that start with a text, in the files of these folders.
fn words_with(start: &str, folders: &[&str]) -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in folders {
        files_below(folder, &mut files);
    }
    let mut found = BTreeSet::new();
    for text in files.iter().filter(|path| path.ends_with(".rs")).map(|path| page(path)) {
        for (at, _) in text.match_indices(start) {
            let end = |c: char| !c.is_ascii_lowercase() && c != '_';
            let rest = &text[at..];
            found.insert(rest[..rest.find(end).unwrap_or(rest.len())].to_owned());
        }
    }
    found
}

#[test]
fn the_table_of_metrics_has_all_metrics() {
    let folders = ["crates/http-actix/src", "crates/ssh-russh/src", "crates/server/src"];
    let mut metrics = words_with("hexforge_", &folders);
    // Crate names and prefixes are not metrics.
    let kinds = ["_total", "_seconds", "_waiting", "_connections"];
    metrics.retain(|name| kinds.iter().any(|kind| name.ends_with(kind)));
    let text = page("docs/operations.md");
    let documented: BTreeSet<String> = text
        .lines()
        .filter(|line| line.starts_with("| `hexforge_") && !line.contains('>'))
        .filter_map(|line| code_spans(line).next().map(str::to_owned))
        .collect();
    assert_eq!(documented, metrics, "docs/operations.md, and the code");
}

/// `hexforge user create` and other commands in the code spans of a page exist.
#[test]
fn commands_that_docs_name_exist() {
    let program = Cli::command();
    let mut unknown = Vec::new();
    for path in all_pages() {
        let text = page(&path);
        let inline = prose(&text).into_iter().flat_map(|(_, line)| code_spans(line));
        let blocks = text.split("\n```").skip(1).step_by(2).flat_map(str::lines);
        for code in inline.chain(blocks) {
            // "hexforge serves …" is output of the program.
            let named = code.strip_prefix("hexforge ").filter(|rest| !rest.starts_with("serves "));
            let Some(rest) = named else { continue };
            let mut words = rest.split_whitespace();
            let Some(first) = words.next().filter(|word| is_command(word)) else { continue };
            let Some(command) = program.find_subcommand(first) else {
                unknown.push(format!("{path}: `{code}`"));
                continue;
            };
            let second = words.next().filter(|word| is_command(word));
            let is_known = |word| command.find_subcommand(word).is_some();
            if command.has_subcommands() && second.is_some_and(|word| !is_known(word)) {
                unknown.push(format!("{path}: `{code}`"));
            }
        }
    }
    assert!(unknown.is_empty(), "the program has no such commands: {unknown:#?}");
}

fn is_command(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase())
}

/// The options of the benchmark are those of the table in docs/performance.md.
#[test]
fn the_table_of_the_benchmark_has_all_options() {
    let source = page("crates/bench/src/main.rs");
    let (_, arguments) = source.split_once("struct Arguments {\n").expect("it has arguments");
    let (arguments, _) = arguments.split_once("\n}\n").expect("they end");
    let lines: Vec<&str> = arguments.lines().map(str::trim).collect();
    let is_shown =
        |attribute: &str| attribute.starts_with("#[arg(long") && !attribute.contains("hide");
    let options: BTreeSet<String> = lines
        .windows(2)
        .filter(|pair| is_shown(pair[0]))
        .filter_map(|pair| pair[1].split_once(':'))
        .map(|(name, _)| format!("--{}", name.replace('_', "-")))
        .collect();
    let text = page("docs/performance.md");
    let documented: BTreeSet<String> = text
        .lines()
        .filter(|line| line.starts_with("| `--"))
        .filter_map(|line| line.split(" | ").next())
        .flat_map(code_spans)
        .map(str::to_owned)
        .collect();
    assert_eq!(documented, options, "docs/performance.md, and the options of the benchmark");
}

/// Figures of a page, each with the file and the line of code that defines it.
const FIGURES: [(&str, &str, &str, &str); 31] = [
    ("scaling", "up to 10,000 rows", "persistence-diesel/src/query/page.rs", "EXACT: i64 = 10_000"),
    ("scaling", "4,096 totals", "persistence-diesel/src/query/page.rs", "REMEMBERED: usize = 4096"),
    ("scaling", "256 open repositories", STORE, "OPEN_REPOSITORIES: usize = 256"),
    ("scaling", "50,000 commits", STORE, "COMMITS: usize = 50_000"),
    ("scaling", "10,000 annotated tags", STORE, "ANNOTATIONS: usize = 10_000"),
    ("scaling", "32 MB of comparisons", STORE, "COMPARISONS: u64 = 32 * 1024 * 1024"),
    ("scaling", "400,000 refs", "server/src/system/ref_cache.rs", "CACHED_REFS: u64 = 400_000"),
    (
        "scaling",
        "16 MB of small files",
        "git-gix/src/content/blob/cache.rs",
        "BYTES: u64 = 16 << 20",
    ),
    (
        "scaling",
        "16 MB of last commits of folders",
        "git-gix/src/history/folder.rs",
        "CACHED_BYTES: u64 = 16 << 20",
    ),
    ("scaling", "2,000 commits or 50 ms", "git-gix/src/history/folder.rs", "from_millis(50)"),
    ("scaling", "8 MB of blames", "git-gix/src/history/browse.rs", "BLAME_BYTES: u64 = 8 << 20"),
    (
        "scaling",
        "2,000 lines of a file of at most 5 MiB",
        "git-gix/src/history/blame.rs",
        "LARGEST_FILE: u64 = 5 << 20",
    ),
    (
        "scaling",
        "1 GiB of archives",
        "git-gix/src/content/archive/cache.rs",
        "BUDGET: u64 = 1 << 30",
    ),
    (
        "scaling",
        "48 MB of plans",
        "git-gix/src/protocol/upload/plans.rs",
        "CACHED_BYTES: usize = 48 << 20",
    ),
    (
        "scaling",
        "32 MB for all repositories",
        "git-gix/src/protocol/upload/compressed.rs",
        "BYTES: u64 = 32 << 20",
    ),
    (
        "scaling",
        "200,000 commits",
        "git-gix/src/history/lineage.rs",
        "CACHED_COMMITS: usize = 200_000",
    ),
    (
        "scaling",
        "2,000,000 ids",
        "git-gix/src/history/reachable/cache.rs",
        "CACHED_IDS: u64 = 2_000_000",
    ),
    (
        "scaling",
        "most 12 at a time",
        "server/src/system/passwords.rs",
        "MAX_CONCURRENT: usize = 12",
    ),
    (
        "scaling",
        "one for each processor",
        "server/src/http.rs",
        "{\n    std::thread::available_parallelism()",
    ),
    ("scaling", "20 connections for reads", CONNECTIONS, "READERS: u32 = 20"),
    ("scaling", "PostgreSQL 20 and 10", CONNECTIONS, "WRITERS: u32 = 10"),
    ("scaling", "most 64 hooks", "server/src/worker/deliveries.rs", "LANES: usize = 64"),
    ("operations", "Up to 64 hooks", "server/src/worker/deliveries.rs", "LANES: usize = 64"),
    (
        "operations",
        "at most 32 of these failed",
        "server/src/worker/deliveries.rs",
        "FAILING_LANES: usize = 32",
    ),
    ("operations", "| connections | 1024, 128 of them from one address", SSH, "per_address: 128"),
    ("operations", "| connections | 1024, 128 of them from one address", SSH, "connections: 1024"),
    ("operations", "end of signing in | 30 s, 10 keys", SSH, "sign_in: Duration::from_secs(30)"),
    (
        "operations",
        "a connection on which nothing runs | 5 min",
        SSH,
        "idle: Duration::from_secs(5 * 60)",
    ),
    (
        "git",
        "From 24 on the small ones are merged",
        "domain/src/pack.rs",
        "MERGE_THRESHOLD: usize = 24",
    ),
    ("api", "Ten failed sign-ins within a minute", "domain/src/sign_in.rs", "LIMIT: u32 = 10"),
    (
        "api",
        "within the last 90 days",
        "domain/src/sign_in.rs",
        "REMEMBERED: TimeDelta = TimeDelta::days(90)",
    ),
];

const STORE: &str = "git-gix/src/storage/store.rs";
const CONNECTIONS: &str = "persistence-diesel/src/database/store.rs";
const SSH: &str = "ssh-russh/src/config.rs";

#[test]
fn figures_of_docs_are_those_of_the_code() {
    for (name, figure, file, code) in FIGURES {
        let words: Vec<String> =
            page(&format!("docs/{name}.md")).split_whitespace().map(str::to_owned).collect();
        assert!(words.join(" ").contains(figure), "docs/{name}.md does not say {figure:?}");
        let source = page(&format!("crates/{file}"));
        assert!(
            source.contains(code),
            "{file} does not have {code:?}, which docs/{name}.md states"
        );
    }
}
