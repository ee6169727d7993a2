//! Tests of commits between others, and of ancestors.

use hexforge_domain::commit::Commit;

use super::super::{
    AncestorCache, Effort, PUSH_LIMITS, commits_between, first_containing, is_ancestor,
};
use super::{Scratch, compare, id, open};

fn titles(commits: &[Commit]) -> Vec<&str> {
    commits.iter().map(|commit| commit.message.trim_end()).collect()
}

#[test]
fn the_newest_are_returned_oldest_first_and_all_are_counted() {
    let scratch = Scratch::new();
    let first = scratch.commit("1");
    for title in ["2", "3", "4"] {
        scratch.commit(title);
    }
    let last = scratch.commit("5");
    let repo = open(&scratch);
    let missing = id(&"1".repeat(40));
    for (hidden, limit, count, expected) in [
        (vec![], 10, 5, &["1", "2", "3", "4", "5"][..]),
        (vec![id(&first)], 10, 4, &["2", "3", "4", "5"]),
        (vec![id(&first), missing], 2, 4, &["4", "5"]),
        (vec![id(&first)], 0, 4, &[]),
        (vec![id(&first), id(&last)], 10, 0, &[]),
    ] {
        // From the third call on, the cached ancestors are used.
        let ancestry = AncestorCache::default();
        for _ in 0..4 {
            let effort = Effort::new(PUSH_LIMITS);
            let between = commits_between(&repo, &ancestry, &hidden, id(&last), limit, &effort);
            let (total, commits) = between.expect("the commits exist");
            assert_eq!((total, titles(&commits)), (count, expected.to_vec()));
        }
    }
}

/// A commit with a date before all others comes last in the queue, and its ancestors are newer.
#[test]
fn what_is_behind_a_commit_of_the_year_1970_is_hidden_too() {
    let scratch = Scratch::new();
    scratch.commit("base");
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = |time: i64, parents: &[&str]| {
        let parents: String = parents.iter().map(|id| format!("parent {id}\n")).collect();
        let person = format!("Ada <ada@example.com> {time} +0000");
        let text = format!("tree {tree}\n{parents}author {person}\ncommitter {person}\n\nx\n");
        let made = ["hash-object", "-t", "commit", "-w", "--stdin"];
        let id = scratch.git_bytes(&made, text.as_bytes());
        String::from_utf8(id).expect("an id").trim().to_owned()
    };
    let mut last = commit(1_400_000_000, &[]);
    for number in 1..40 {
        last = commit(1_400_000_000 + number * 1000, &[&last]);
    }
    let to = commit(1_400_100_000, &[&last]);
    let wrong = commit(0, &[&to]);
    let twice_wrong = commit(0, &[&wrong]);
    let side = commit(1_400_100_001, &[&last]);
    let from = commit(1_400_100_002, &[&side, &twice_wrong]);
    let compared = compare(&scratch, &from, &to);
    assert!(compared.commits.is_empty(), "{:?}", titles(&compared.commits));
    // `git rev-list` lists `to`, but `git merge-base` knows that it is an ancestor.
    scratch.git(&["merge-base", "--is-ancestor", &to, &from]);
    // Such a commit does not hide a branch from `first_containing` either.
    let tips = [id(&twice_wrong), id(&to)];
    assert_eq!(first_containing(&open(&scratch), &tips, id(&to)).expect("they exist"), Some(0));
}

#[test]
fn parents_come_first_when_dates_are_equal() {
    let scratch = Scratch::new();
    let base = scratch.commit("base");
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = |title: &str, parents: &[&str]| {
        let mut args = vec!["commit-tree", &*tree, "-m", title];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        scratch.git(&args)
    };
    // All commits have the same date; the longer path must not be cut short.
    let one = commit("one", &[&base]);
    let two = commit("two", &[&one]);
    let three = commit("three", &[&two]);
    let side = commit("side", &[&one]);
    let merge = commit("merge", &[&side, &three]);
    let commits = compare(&scratch, &base, &merge).commits;
    let order = titles(&commits);
    let at = |title: &str| order.iter().position(|&other| other == title);
    assert_eq!(order.len(), 5);
    for (parent, child) in
        [("one", "two"), ("two", "three"), ("one", "side"), ("side", "merge"), ("three", "merge")]
    {
        assert!(at(parent) < at(child), "{parent} before {child} in {order:?}");
    }
}

#[test]
fn parents_come_first_whatever_the_dates_say() {
    let scratch = Scratch::new();
    let base = scratch.commit("base");
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let mut tip = base.clone();
    let titles_and_dates = [("one", 300), ("two", 200), ("three", 400), ("four", 100)];
    for (title, date) in titles_and_dates {
        let who = format!("Ada <ada@example.com> {date} +0000");
        let text = format!("tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n\n{title}\n");
        let made = ["hash-object", "-t", "commit", "-w", "--stdin"];
        let made = scratch.git_bytes(&made, text.as_bytes());
        tip = String::from_utf8_lossy(&made).trim().to_owned();
    }
    let commits = compare(&scratch, &base, &tip).commits;
    assert_eq!(titles(&commits), titles_and_dates.map(|(title, _)| title));
}

#[test]
fn ancestors() {
    let scratch = Scratch::new();
    let base = scratch.commit("base");
    let master = scratch.commit("master");
    scratch.git(&["checkout", "--quiet", "-b", "topic", &base]);
    let topic = scratch.commit("topic");
    scratch.git(&["checkout", "--quiet", "--orphan", "stranger"]);
    let stranger = scratch.commit("stranger");
    let check = || {
        let repo = open(&scratch);
        for (ancestor, descendant, expected) in [
            (&base, &base, true),
            (&base, &master, true),
            (&base, &topic, true),
            (&master, &base, false),
            (&master, &topic, false),
            (&stranger, &topic, false),
        ] {
            let result = is_ancestor(&repo, id(ancestor), id(descendant));
            assert_eq!(result.expect("both exist"), expected);
        }
        let tips = [&stranger, &topic, &master].map(|tip| id(tip));
        for (wanted, expected) in
            [(&base, Some(1)), (&topic, Some(1)), (&master, Some(2)), (&stranger, Some(0))]
        {
            let place = first_containing(&repo, &tips, id(wanted));
            assert_eq!(place.expect("it exists"), expected);
        }
        assert_eq!(first_containing(&repo, &tips[..1], id(&base)).expect("it exists"), None);
        assert_eq!(first_containing(&repo, &[], id(&base)).expect("it exists"), None);
    };
    check();
    scratch.git(&["branch", "master-tip", &master]);
    scratch.git(&["commit-graph", "write", "--reachable"]);
    check();
}
