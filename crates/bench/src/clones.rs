//! Many concurrent clones of one repository: their memory, and how long other requests wait meanwhile.

use std::io::{BufWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::load::{processor_time, quantile};
use super::long_history::{History, git};
use super::streams::{repeat_call, user_call};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ref_rows::adopt_repository;

/// The number of concurrent clones.
const CLONES: usize = 64;

/// The number of incompressible files of one megabyte, besides the history.
const FILES: u64 = 100;

/// Runs the measurements, and reports each figure as soon as it is known.
pub fn measure(
    database: &TestDatabase,
    program: &Path,
    history: History,
    megabytes: u64,
    report: &mut dyn FnMut(&str, String),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(program, folder.path(), &database.url)?;
    let form = [("name", "much"), ("visibility_level", "20")];
    program.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let bare = Layout::new(folder.path()).repository(ProjectId(1));
    std::fs::create_dir_all(bare.parent().context("the repository path has no parent")?)?;
    history.make(&bare)?;
    add_files(&bare, FILES, 1 << 20)?;
    adopt_repository(database, 1, &bare);
    let tips = Command::new("git")
        .args(["for-each-ref", "--format=%(objectname)"])
        .current_dir(&bare)
        .output()?;
    let request = clone_request(program.address, &String::from_utf8(tips.stdout)?);
    let before = program.memory();
    for (name, clients) in [("one clone", 1), ("the same again", 1), ("64 clones at once", CLONES)]
    {
        program.reset_peak_memory();
        let cpu = processor_time(&[program.pid()]);
        let (mut times, waits) = clone_concurrently(&program, &request, clients)?;
        let cpu = processor_time(&[program.pid()]).saturating_sub(cpu) / u32::try_from(clients)?;
        times.sort_unstable();
        let more = program.peak_memory() - before;
        let (first, last) = (times[0], times[times.len() - 1]);
        let wait = quantile(&waits, 0.99);
        report(
            name,
            format!(
                "{more:.0} MB more than before at most (goal 300), the first done in {first:.1?} and the \
                 last in {last:.1?}, cpu {cpu:.1?} each; GET /user p99 {wait:.1?} meanwhile (goal 50 ms)"
            ),
        );
    }
    push(&program, megabytes, report)
}

/// Pushes `megabytes` in files of 16 MB.
fn push(program: &Program, megabytes: u64, report: &mut dyn FnMut(&str, String)) -> Result<()> {
    let form = [("name", "large")];
    program.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let folder = tempfile::tempdir()?;
    git(Some(folder.path()), &["init", "-q", "--bare", "-b", "much", "."])?;
    add_files(folder.path(), megabytes / 16, 16 << 20)?;
    let url = format!("http://root:{ROOT}@{}/root/large.git", program.address);
    let (before, started) = (program.own_memory(), Instant::now());
    let over = AtomicBool::new(false);
    let peak = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut peak = before;
            while !over.load(Ordering::Relaxed) {
                peak = program.own_memory().max(peak);
                std::thread::sleep(Duration::from_millis(5));
            }
            peak
        });
        let pushed = git(Some(folder.path()), &["push", "-q", &url, "much"]);
        over.store(true, Ordering::Relaxed);
        let peak = watching.join().expect("it does not panic");
        pushed.map(|()| peak)
    })?;
    let (more, time) = (peak - before, started.elapsed());
    let what = format!("push of {megabytes} MB");
    report(&what, format!("{more:.0} MB more than before at most, {time:.1?}"));
    Ok(())
}

/// Adds files that cannot be compressed.
fn add_files(bare: &Path, files: u64, bytes: u64) -> Result<()> {
    let mut import = Command::new("git")
        .args(["-c", "core.compression=0", "-c", "pack.compression=0", "fast-import", "--quiet"])
        .current_dir(bare)
        .stdin(Stdio::piped())
        .spawn()?;
    let mut to = BufWriter::new(import.stdin.take().context("git fast-import has no input pipe")?);
    writeln!(to, "commit refs/heads/much\ncommitter Ada <ada@example.com> 1600000000 +0000")?;
    writeln!(to, "data 5\nMuch\n")?;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for file in 0..files {
        writeln!(to, "M 644 inline {file}.bin\ndata {bytes}")?;
        for _ in 0..bytes / 8 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            to.write_all(&random.to_le_bytes())?;
        }
        writeln!(to)?;
    }
    to.flush()?;
    drop(to);
    ensure!(import.wait()?.success(), "git fast-import failed");
    git(Some(bare), &["-c", "pack.compression=0", "repack", "-adq", "--no-write-bitmap-index"])?;
    git(Some(bare), &["pack-refs", "--all"])
}

/// Builds the request of a client that clones everything. No real git is used: 64 of them would overload the machine.
fn clone_request(server: SocketAddr, tips: &str) -> Vec<u8> {
    let mut body = b"0011command=fetch0001000eofs-delta\n".to_vec();
    let mut tips: Vec<&str> = tips.lines().collect();
    tips.sort_unstable();
    tips.dedup();
    for tip in tips {
        body.extend(format!("0032want {tip}\n").bytes());
    }
    body.extend(b"0009done\n0000");
    let head = format!(
        "POST /root/much.git/git-upload-pack HTTP/1.1\r\nHost: {server}\r\nGit-Protocol: version=2\r\n\
         Content-Type: application/x-git-upload-pack-request\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// Returns the duration of each clone, and how long other requests took meanwhile.
fn clone_concurrently(
    program: &Program,
    request: &[u8],
    clients: usize,
) -> Result<(Vec<Duration>, Vec<Duration>)> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope
            .spawn(|| repeat_call(program, &user_call(), &mut |_| !over.load(Ordering::Relaxed)));
        let clones: Vec<_> =
            (0..clients).map(|_| scope.spawn(|| clone(program.address, request))).collect();
        let times: Result<Vec<Duration>> =
            clones.into_iter().map(|clone| clone.join().expect("no clone panics")).collect();
        over.store(true, Ordering::Relaxed);
        Ok((times?, asking.join().expect("it does not panic")))
    })
}

fn clone(server: SocketAddr, request: &[u8]) -> Result<Duration> {
    let started = Instant::now();
    let mut stream = TcpStream::connect(server)?;
    stream.write_all(request)?;
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => break,
            read => total += read,
        }
    }
    ensure!(total as u64 > FILES << 20, "a clone was cut off after {total} bytes");
    Ok(started.elapsed())
}
