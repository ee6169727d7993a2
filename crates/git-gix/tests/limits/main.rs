//! The cost limits of pushes: CPU time and memory of hostile packs, measured by the kernel.

mod packs;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::io::{self, Read, Write};
use std::process::Command;

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::DisconnectSignal;
use hexforge_domain::refs::Snapshot;
use hexforge_git_gix::{GixStore, PushLimits};
use tempfile::TempDir;

use packs::{Bomb, PackBuilder, chains, commit, id_of};
use support::{git_command, refs};

const PROJECT: ProjectId = ProjectId(7);
const ZERO: &str = "0000000000000000000000000000000000000000";

struct Server {
    data: TempDir,
    store: GixStore,
}

impl Server {
    fn new(limits: PushLimits) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let store = refs::store_within(data.path(), limits);
        Self { data, store }
    }

    /// Pushes a new branch and returns the report.
    fn push(&self, pack: &[u8], tip: ObjectId, branch: &str) -> String {
        let wire = wire(pack, tip, branch);
        self.receive(&mut &wire[..], &DisconnectSignal::default()).expect("the push is answered")
    }

    fn receive(
        &self,
        from: &mut dyn Read,
        disconnected: &DisconnectSignal,
    ) -> Result<String, GitError> {
        refs::receive(&self.store, PROJECT, from, disconnected)
    }

    /// Asserts that a push was refused with this text, and left no file.
    #[track_caller]
    fn assert_refused(&self, report: &str, text: &str) {
        assert!(report.contains(text), "{text:?} is not in {report:?}");
        assert!(!report.contains("ok refs/"), "{report:?}");
        self.assert_clean();
    }

    #[track_caller]
    fn assert_clean(&self) {
        let scratch = fs::read_dir(self.data.path().join("repositories").join("scratch"));
        let folders = scratch.into_iter().flatten().flatten();
        let packs = folders.flat_map(|folder| fs::read_dir(folder.path().join("objects/pack")));
        assert_eq!(packs.flatten().count(), 0, "nothing is left of the push");
    }

    fn git(&self, arguments: &[&str]) -> String {
        let repository = self.store.layout().repository(PROJECT);
        let output = git_command().arg("-C").arg(repository).args(arguments).output();
        let output = output.expect("git can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Encodes a push that creates a branch.
fn wire(pack: &[u8], tip: ObjectId, branch: &str) -> Vec<u8> {
    let line = format!("{ZERO} {tip} refs/heads/{branch}\0report-status");
    let mut bytes = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
    bytes.extend_from_slice(pack);
    bytes
}

/// The environment variable with the file for the measured value.
const RESULT: &str = "HEXFORGE_TEST_MEASURED";
/// The environment variable with the task to measure.
const TASK: &str = "HEXFORGE_TEST_MEASURE";

/// Runs a test of this file again in its own process, and returns the measured value.
fn measure_in_process(test: &str, task: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("result");
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test])
        .env(TASK, task)
        .env(RESULT, &result)
        .output()
        .expect("it can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    fs::read_to_string(result).expect("a result").parse().expect("a number")
}

/// Returns the task, in a process that was started to measure one.
fn to_measure() -> Option<String> {
    std::env::var(TASK).ok()
}

fn write_result(result: u64) {
    let file = std::env::var_os(RESULT).expect("a file is named");
    fs::write(file, result.to_string()).expect("it can be written");
}

/// The CPU time of this process, in hundredths of a second.
fn cpu() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

/// The peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn chains_that_are_longer_than_git_makes_them_are_refused() {
    for (length, is_fine) in [(4095, true), (4096, false), (20_000, false)] {
        let server = Server::new(PushLimits::default());
        let (pack, tip) = chains(1, length);
        let report = server.push(&pack, tip, "master");
        if is_fine {
            assert!(report.contains("ok refs/heads/master"), "{report}");
            server.git(&["fsck", "--full"]);
        } else {
            server.assert_refused(
                &report,
                "unpack the pack is not valid: it has a chain of more than 4095 deltas",
            );
        }
    }
}

#[test]
fn the_cost_of_a_push_grows_with_its_objects_and_not_with_its_chains() {
    if let Some(what) = to_measure() {
        let (count, length) = what.split_once('x').expect("two numbers");
        let (pack, tip) =
            chains(count.parse().expect("a number"), length.parse().expect("a number"));
        let server = Server::new(PushLimits::default());
        let before = cpu();
        let report = server.push(&pack, tip, "master");
        assert!(report.contains("ok refs/heads/master"), "{report}");
        write_result(cpu() - before);
        return;
    }
    let name = "the_cost_of_a_push_grows_with_its_objects_and_not_with_its_chains";
    let cost = |what| measure_in_process(name, what);
    let (short, long, twice) = (cost("1600x10"), cost("4x4000"), cost("8x4000"));
    assert!(short >= 10, "too little to compare: {short}");
    assert!(long <= 2 * short, "the same objects in long chains: {short} and {long}");
    assert!(twice <= 3 * long, "twice as many objects: {long} and {twice}");
}

#[test]
fn large_objects_in_deltas_take_little_memory_to_push_and_to_read() {
    const MOST: u64 = 40 << 10;
    const FILE: u64 = 48 << 20;
    if to_measure().is_some() {
        let bomb = Bomb::new(2, (FILE >> 16) as usize);
        let server = Server::new(PushLimits::default());
        let before = peak();
        let report = server.push(&bomb.pack, bomb.commit, "master");
        assert!(report.contains("ok refs/heads/master"), "{report}");
        let repository = refs::open(&server.store, PROJECT);
        for id in &bomb.files {
            let id = port_id(id);
            let mut read = Counted(0);
            repository.write_blob(id, &mut read).expect("it can be read");
            assert_eq!(read.0, FILE + 1);
        }
        write_result(peak() - before);
        // The memory of the git process does not count. No large object is a delta, so all readers stream it.
        server.git(&["fsck", "--full"]);
        let index = server.git(&["rev-parse", "--git-path", "objects/pack"]);
        let packs = server.store.layout().repository(PROJECT).join(index.trim());
        for entry in fs::read_dir(packs).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "idx") {
                let lines = server.git(&["verify-pack", "-v", path.to_str().expect("text")]);
                let is_delta = |line: &&str| line.split_whitespace().count() == 7;
                assert_eq!(lines.lines().filter(is_delta).count(), 0, "{lines}");
            }
        }
        return;
    }
    let name = "large_objects_in_deltas_take_little_memory_to_push_and_to_read";
    let used = measure_in_process(name, "memory");
    assert!(used < MOST, "{used} KiB");
}

/// Builds a pack with a commit of one incompressible file.
fn file(size: usize, seed: u32) -> (Vec<u8>, ObjectId) {
    let mut state = seed;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let blob: Vec<u8> = noise.take(size).collect();
    let mut pack = PackBuilder::default();
    pack.whole(Kind::Blob, &blob);
    let mut tree = b"100644 file\0".to_vec();
    tree.extend_from_slice(id_of(Kind::Blob, &blob).as_slice());
    pack.whole(Kind::Tree, &tree);
    let text = commit(id_of(Kind::Tree, &tree), 1);
    pack.whole(Kind::Commit, &text);
    (pack.finish(), id_of(Kind::Commit, &text))
}

/// Converts an object id to the type of the ports.
fn port_id(id: &gix::oid) -> hexforge_domain::commit::ObjectId {
    hexforge_domain::commit::ObjectId::parse(&id.to_string()).expect("a name")
}

struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn large_objects_that_are_based_on_each_other_are_taken() {
    // A file of 9 MiB, a chain of two deltas on it, and a small object based on the last.
    let first: Vec<u8> = (0..9_u32 << 20).map(|at| (at ^ at >> 9) as u8).collect();
    let mut pack = PackBuilder::default();
    let mut at = pack.whole(Kind::Blob, &first);
    let (mut versions, mut last) = (vec![first.clone()], first);
    for version in 0..2_u8 {
        let mut delta = packs::delta_sizes(last.len(), last.len() + 1);
        let mut from = 0;
        while from < last.len() {
            let length = (last.len() - from).min(0xff_ffff);
            delta.push(0xff);
            delta.extend_from_slice(&(from as u32).to_le_bytes());
            delta.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
            from += length;
        }
        delta.extend([1, version]);
        at = pack.delta(at, &delta);
        last.push(version);
        versions.push(last.clone());
    }
    let mut delta = packs::delta_sizes(last.len(), 10);
    delta.extend([0x91, 3, 10]);
    pack.delta(at, &delta);
    versions.push(last[3..13].to_vec());
    let mut tree = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        tree.extend_from_slice(format!("100644 {at}\0").as_bytes());
        tree.extend_from_slice(id_of(Kind::Blob, version).as_slice());
    }
    pack.whole(Kind::Tree, &tree);
    let text = commit(id_of(Kind::Tree, &tree), 1);
    pack.whole(Kind::Commit, &text);
    let server = Server::new(PushLimits::default());
    let report = server.push(&pack.finish(), id_of(Kind::Commit, &text), "master");
    assert!(report.contains("ok refs/heads/master"), "{report}");
    server.git(&["fsck", "--full"]);
    server.assert_clean();
    let repository = refs::open(&server.store, PROJECT);
    for version in &versions {
        let id = port_id(&id_of(Kind::Blob, version));
        let mut read = Vec::new();
        repository.write_blob(id, &mut read).expect("it can be read");
        assert!(read == *version, "{} bytes", version.len());
    }
}

#[test]
fn what_is_beyond_a_limit_is_refused_and_leaves_no_byte() {
    let server = Server::new(PushLimits {
        push_bytes: 3 << 20,
        repository_bytes: 5 << 20,
        object_bytes: 10 << 20,
        ..PushLimits::default()
    });
    let (pack, tip) = file(4 << 20, 1);
    let report = server.push(&pack, tip, "large");
    server.assert_refused(&report, "unpack the push is larger than the limit of 3 MiB");
    // An object counts by its size after decompression.
    let bomb = Bomb::new(1, 11 << 4);
    let report = server.push(&bomb.pack, bomb.commit, "bomb");
    server.assert_refused(&report, "unpack an object of 11 MiB is larger than the limit of 10 MiB");
    let (pack, tip) = file(2 << 20, 2);
    assert!(server.push(&pack, tip, "one").contains("ok refs/heads/one"));
    let (pack, tip) = file(2 << 20, 3);
    assert!(server.push(&pack, tip, "two").contains("ok refs/heads/two"));
    let (pack, tip) = file(2 << 20, 4);
    let report = server.push(&pack, tip, "three");
    server.assert_refused(&report, "unpack the repository would be larger than the limit of 5 MiB");
    let packs = server.data.path().join(server.git(&["rev-parse", "--absolute-git-dir"]).trim());
    let size: u64 = fs::read_dir(packs.join("objects/pack"))
        .expect("a folder")
        .map(|entry| entry.and_then(|entry| entry.metadata()).expect("a file").len())
        .sum();
    assert!(size < 5 << 20, "{size}");
    server.git(&["fsck", "--full"]);
}

/// The transaction that adds a pack checks again whether the repository has room for it.
#[test]
fn a_push_that_finds_no_room_in_the_end_is_refused() {
    let limits = PushLimits { repository_bytes: 3 << 20, ..PushLimits::default() };
    let server = Server::new(limits);
    let (pack, tip) = file(2 << 20, 1);
    let wire = wire(&pack, tip, "b1");
    let push =
        refs::open(&server.store, PROJECT).receive(&mut &wire[..], &DisconnectSignal::default());
    let mut push = push.expect("it is read").expect("there are commands");
    let proposal =
        push.store_objects(&Snapshot::empty()).expect("it can be stored").expect("a change");
    assert_eq!((proposal.changes.len(), proposal.packs.len()), (1, 1));
    push.refuse_for_size();
    let mut answer = Vec::new();
    push.write_report(&mut answer).expect("it can be written");
    drop(push);
    let text = "unpack the repository would be larger than the limit of 3 MiB";
    server.assert_refused(&String::from_utf8_lossy(&answer), text);
}

/// A reader that signals the hang-up of its client with its last byte.
struct HangsUp<'a> {
    from: &'a [u8],
    disconnected: DisconnectSignal,
}

impl Read for HangsUp<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        if self.from.is_empty() {
            self.disconnected.signal();
        }
        Ok(length)
    }
}

#[test]
fn nothing_more_is_done_for_a_client_that_hung_up() {
    let server = Server::new(PushLimits::default());
    let (pack, tip) = chains(2, 1000);
    let (wire, disconnected) = (wire(&pack, tip, "master"), DisconnectSignal::default());
    let mut from = HangsUp { from: &wire, disconnected: disconnected.clone() };
    let ended = server.receive(&mut from, &disconnected);
    assert!(matches!(ended, Err(GitError::ReaderGone(_))), "{ended:?}");
    server.assert_clean();
    assert!(!server.store.layout().repository(PROJECT).exists());
}

#[test]
fn a_push_ends_with_its_time() {
    let limits = PushLimits { time: std::time::Duration::ZERO, ..PushLimits::default() };
    let server = Server::new(limits);
    let (pack, tip) = chains(1, 10);
    let report = server.push(&pack, tip, "master");
    server.assert_refused(&report, "unpack the push took too long");
}

#[test]
fn a_push_of_more_objects_than_memory_is_refused() {
    let limits = PushLimits { memory_bytes: 1 << 20, ..PushLimits::default() };
    let server = Server::new(limits);
    let (pack, tip) = chains(1000, 10);
    let report = server.push(&pack, tip, "master");
    server.assert_refused(&report, "more objects than the server has memory for");
}
