//! Merge commits and cherry-picks.

use hexforge_domain::repository::{MergeOutcome, PickOutcome};

use super::*;

/// A file of these lines.
fn lines(words: &str) -> String {
    words.split(' ').map(|word| format!("{word}\n")).collect()
}

#[test]
fn a_merge_has_both_parents_and_one_pack() {
    let scratch = Scratch::new();
    scratch.write("a", lines("1 2 3 4 5 6 7"));
    scratch.write("folder/b", "b\n");
    scratch.commit("base");
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.write("a", lines("1 2 3 4 5 6 seven"));
    let theirs = id(&scratch.commit("theirs"));
    scratch.git(&["checkout", "-q", "master"]);
    scratch.write("a", lines("one 2 3 4 5 6 7"));
    let ours = id(&scratch.commit("ours"));
    let world = World::with(&scratch);
    assert!(world.open().can_merge(ours, theirs).expect("both exist"));
    let merged = world.open().merge(ours, theirs, &text("Merge")).expect("both exist");
    let MergeOutcome::Merged(merged) = merged else { panic!("{merged:?}") };
    // The commit, its root tree and the merged file.
    assert_eq!(merged.pack.objects, 3);
    let commit = world.keep(merged);
    assert_eq!(
        world.git(&["log", "-1", "--format=%P %s", &commit]),
        format!("{ours} {theirs} Merge")
    );
    let file = world.git(&["cat-file", "blob", &format!("{commit}:a")]);
    assert_eq!(file, lines("one 2 3 4 5 6 seven").trim_end());
    world.git(&["fsck", "--strict", "--full"]);
}

#[test]
fn a_conflict_writes_nothing() {
    let scratch = Scratch::new();
    scratch.write("a", "1\n");
    scratch.commit("base");
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.write("a", "2\n");
    let theirs = id(&scratch.commit("theirs"));
    scratch.git(&["checkout", "-q", "master"]);
    scratch.write("a", "3\n");
    let ours = id(&scratch.commit("ours"));
    let world = World::with(&scratch);
    assert!(!world.open().can_merge(ours, theirs).expect("both exist"));
    let merged = world.open().merge(ours, theirs, &text("Merge")).expect("both exist");
    assert_eq!(merged, MergeOutcome::Conflict);
    let picked = world.open().cherry_pick(theirs, ours, &text("Pick")).expect("both exist");
    assert_eq!(picked, PickOutcome::Conflict);
}

#[test]
fn cherry_picks_apply_the_change_against_the_first_parent() {
    let scratch = Scratch::new();
    scratch.write("a", lines("1 2 3 4 5 6 7"));
    let base = scratch.commit("base");
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.write("topic", "x\n");
    scratch.commit("on topic");
    scratch.rename("a", "moved");
    scratch.write("moved", lines("1 2 3 4 5 6 seven"));
    let picked = scratch.commit("picked");
    scratch.git(&["checkout", "-q", "-b", "side", &base]);
    scratch.write("side", "x\n");
    scratch.commit("on side");
    let merge = scratch.merge("topic");
    scratch.git(&["checkout", "-q", "master"]);
    scratch.write("a", lines("one 2 3 4 5 6 7"));
    let tip = scratch.commit("ours");
    let world = World::with(&scratch);
    for (commit, mainline) in [(&picked, false), (&merge, true)] {
        scratch.git(&["checkout", "-q", "--detach", &tip]);
        let mut pick = vec!["cherry-pick", "--allow-empty"];
        if mainline {
            pick.extend(["-m", "1"]);
        }
        pick.push(commit);
        scratch.git(&pick);
        let expected = scratch.git(&["rev-parse", "HEAD^{tree}"]);
        let outcome = world.open().cherry_pick(id(commit), id(&tip), &text("Pick"));
        let PickOutcome::Picked(written) = outcome.expect("both exist") else { panic!("{commit}") };
        let made = world.keep(written);
        assert_eq!(world.git(&["rev-parse", &format!("{made}^{{tree}}")]), expected);
        assert_eq!(world.git(&["log", "-1", "--format=%P", &made]), tip);
        let again = world.open().cherry_pick(id(commit), id(&made), &text("Pick"));
        assert_eq!(again.expect("both exist"), PickOutcome::Unchanged);
    }
    // A root commit is picked against nothing.
    let again = world.open().cherry_pick(id(&base), id(&base), &text("Pick")).expect("it exists");
    assert_eq!(again, PickOutcome::Unchanged);
}
