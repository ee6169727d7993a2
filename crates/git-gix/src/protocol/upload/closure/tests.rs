//! Clones of repositories whose largest pack has only a part of the reachable objects, or more.

use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::commit::ObjectId as DomainId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::pack::{Pack as StoredPack, PackName};
use hexforge_domain::refs::{Ref, RepositoryState, Snapshot};
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use super::super::output::Bands;
use super::*;
use crate::storage::repository::GixRepository;
use crate::storage::store::GixStore;
use crate::support::{Scratch, refs};

const PROJECT: ProjectId = ProjectId(1);

/// A store with packs of one repository, whose only branch is `master`.
struct Forge {
    _data: TempDir,
    store: GixStore,
    packs: Vec<StoredPack>,
    tip: ObjectId,
}

impl Forge {
    /// Stores a pack for each list of objects.
    fn of(scratch: &Scratch, packs: &[Vec<String>]) -> Self {
        let data = tempfile::tempdir().expect("a folder for temporary files exists");
        let store = refs::store(data.path());
        let folder = data.path().join("source");
        let folder = folder.to_str().expect("a path");
        scratch.git(&["init", "-q", "--bare", folder]);
        for ids in packs {
            let name = format!("{folder}/objects/pack/pack");
            scratch.git_bytes(&["pack-objects", "-q", &name], ids.join("\n").as_bytes());
        }
        let packs = store.take_over(folder.as_ref()).expect("the packs can be stored");
        let tip = scratch.git(&["rev-parse", "master"]);
        let tip = ObjectId::from_hex(tip.as_bytes()).expect("an id");
        Self { _data: data, store, packs, tip }
    }

    fn source(&self) -> Source {
        let state =
            RepositoryState { head: "refs/heads/master".into(), refs_version: 1, packs_version: 0 };
        let target = DomainId::parse(&self.tip.to_string()).expect("an id");
        let one = Ref { name: "refs/heads/master".into(), target, peeled: None };
        let refs = Arc::new(Snapshot::new(&state, &[one], &self.packs));
        let shared = Arc::clone(self.store.shared());
        let repository = GixRepository::open(shared, PROJECT, refs, Caller::BACKGROUND);
        Source::open(&repository.expect("it opens")).expect("it opens")
    }

    /// Finds the objects of a clone. Returns the processor time too.
    fn find(&self) -> (Closure, Duration) {
        let source = self.source();
        let mut to = Vec::new();
        let mut output = Output::new(&mut to, Bands::None, false);
        let (repo, pack) = (source.repo().expect("it has files"), source.packs.largest());
        let begin = processor_time();
        let pack = pack.expect("it has a pack");
        let found = Closure::find(&source, repo, pack, &[self.tip], &mut output);
        (found.expect("it is complete"), processor_time() - begin)
    }

    fn largest(&self) -> PackName {
        self.source().packs.largest().and_then(Pack::name).expect("a pack of the store")
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn count(closure: &Closure) -> (Option<u32>, usize) {
    (closure.in_pack.as_ref().map(Positions::count), closure.others.len())
}

/// A linear history of which one pack has every second commit, and the larger one all others.
fn alternating(commits: usize) -> Forge {
    let scratch = Scratch::new();
    let commit = |at: usize| {
        let time = 1_500_000_000 + at;
        format!("commit refs/heads/master\ncommitter A <a@example.com> {time} +0000\ndata 1\nx\n")
    };
    let history: String = (0..commits).map(commit).collect();
    scratch.git_bytes(&["fast-import", "--quiet"], history.as_bytes());
    let ids = scratch.git(&["rev-list", "master"]);
    let ids: Vec<String> = ids.lines().map(str::to_owned).collect();
    let every_second = |first: usize| ids.iter().skip(first).step_by(2).cloned();
    let mut small: Vec<String> = every_second(0).collect();
    small.push(scratch.git(&["rev-parse", "master^{tree}"]));
    let mut large: Vec<String> = every_second(1).collect();
    for at in 0..10 {
        let blob = scratch
            .git_bytes(&["hash-object", "-w", "--stdin"], format!("more objects {at}").as_bytes());
        large.push(String::from_utf8(blob).expect("an id").trim().to_owned());
    }
    Forge::of(&scratch, &[small, large])
}

#[test]
fn a_history_that_alternates_between_packs_takes_linear_time() {
    let (few, many) = (2_000, 16_000);
    let [short, long] = [few, many].map(|commits| {
        let forge = alternating(commits);
        let (closure, time) = forge.find();
        assert_eq!(count(&closure), (Some(commits as u32 / 2), commits / 2 + 1));
        time
    });
    // Eight times as many commits would take 64 times as long if the time were quadratic.
    assert!(long < short * 24, "{few} commits: {short:?}, {many} commits: {long:?}");
}

#[test]
fn the_result_is_used_again_if_the_history_leaves_the_pack() {
    let forge = alternating(100);
    let (first, _) = forge.find();
    let (shared, name) = (forge.store.shared(), forge.largest());
    // The parent of the tip is in the pack, and leads to all others.
    let source = forge.source();
    let tip = source.repo().expect("it has files").find_commit(forge.tip).expect("a commit");
    let reached = tip.parent_ids().map(gix::Id::detach).collect();
    let part = shared.parts.find(name, &reached).expect("the first clone left it");
    assert!(part.leaves_pack);
    assert_eq!((part.summary.roots.len(), part.summary.outside.len()), (1, 50));
    let (second, _) = forge.find();
    assert_eq!(count(&first), count(&second));
    assert_eq!(count(&second), (Some(50), 51));
    assert!(second.in_pack == first.in_pack && second.others == first.others);
}

#[test]
fn the_summary_of_another_pack_sends_nothing_that_is_not_reachable() {
    let scratch = Scratch::new();
    scratch.write("file", "visible");
    scratch.commit("visible");
    scratch.git(&["checkout", "-q", "-b", "secret"]);
    scratch.write("file", "secret");
    scratch.commit("secret");
    let ids = scratch.git(&["rev-list", "--objects", "--all"]);
    let ids = ids.lines().map(|line| line[..40].to_owned()).collect();
    let forge = Forge::of(&scratch, &[ids]);
    let pack = forge.packs[0];
    let other = PackName::from_bytes([7; 32]);
    let summary = PackSummary::of([forge.tip], [], true).expect("few ids");
    for (name, summary) in [(other, summary), (pack.name, PackSummary::default())] {
        let bytes = summary.encode(name, pack.objects).expect("few ids");
        forge.store.shared().packs.put_summary(pack.name, &bytes).expect("it can be stored");
        let (closure, _) = forge.find();
        assert_eq!(count(&closure), (Some(3), 0), "the commit, its tree and its file");
    }
}
