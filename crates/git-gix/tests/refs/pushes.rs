//! Which refs a push may change, and the report for its client.

use super::*;

/// Encodes a push, with a pack if a ref gets a new value.
fn wire(world: &World, changes: &[RefChange], capabilities: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, RefChange { name, old, new }) in changes.iter().enumerate() {
        let (old, new) = (old.unwrap_or(ObjectId::ZERO), new.unwrap_or(ObjectId::ZERO));
        let end = if number == 0 { format!("\0{capabilities}") } else { String::new() };
        let line = format!("{old} {new} {name}{end}");
        bytes.extend_from_slice(format!("{:04x}{line}", line.len() + 4).as_bytes());
    }
    bytes.extend_from_slice(b"0000");
    if changes.iter().any(|change| change.new.is_some()) {
        bytes.extend_from_slice(&world.git_bytes(&["pack-objects", "--stdout", "-q"]));
    }
    bytes
}

/// Pushes changes whose objects all exist. Returns the reported outcome of each.
fn push(world: &World, changes: &[RefChange], capabilities: &str) -> Vec<String> {
    let bytes = wire(world, changes, capabilities);
    let disconnected = DisconnectSignal::default();
    let report = refs::receive(&world.store, PROJECT, &mut &bytes[..], &disconnected);
    outcomes(&report.expect("it is answered"))
}

fn outcomes(report: &str) -> Vec<String> {
    let lines = report.lines().map(|line| line.get(4..).unwrap_or_default());
    lines
        .filter(|line| ["ok ", "ng "].iter().any(|word| line.starts_with(word)))
        .map(str::to_owned)
        .collect()
}

fn push_one(world: &World, name: &str, old: Option<ObjectId>, new: Option<ObjectId>) -> String {
    push(world, &[change(name, old, new)], "report-status").concat()
}

fn not_updated(name: &str) -> String {
    format!("ng {name} failed to update ref")
}

#[test]
fn a_ref_is_changed_only_from_what_it_was_expected_to_be() {
    let world = World::new();
    let [one, two, three] = world.commits;
    let before = world.refs();
    let name = "refs/heads/x";
    let ok = format!("ok {name}");
    assert_eq!(push_one(&world, name, None, Some(one)), ok);
    for (old, new) in [(None, Some(two)), (Some(two), Some(three)), (Some(two), None)] {
        assert_eq!(push_one(&world, name, old, new), not_updated(name), "{old:?} {new:?}");
    }
    assert_eq!(world.git(&["rev-parse", name]), one.to_string());
    assert_eq!(push_one(&world, name, Some(one), Some(two)), ok);
    assert_eq!(world.git(&["rev-parse", name]), two.to_string());
    assert_eq!(push_one(&world, name, Some(two), Some(two)), ok);
    assert_eq!(push_one(&world, name, Some(two), None), ok);
    for old in [None, Some(two)] {
        assert_eq!(push_one(&world, name, old, None), not_updated(name), "{old:?}");
    }
    let current = "ng refs/heads/master deletion of the current branch prohibited";
    assert_eq!(push_one(&world, "refs/heads/master", Some(three), None), current);
    assert_eq!(world.refs(), before);
    world.assert_sound();
}

#[test]
fn a_push_is_decided_by_the_refs_of_its_end() {
    let world = World::new();
    let [one, two, three] = world.commits;
    let names = ["refs/heads/a", "refs/heads/b", "refs/heads/c"];
    for capabilities in ["report-status", "report-status atomic"] {
        let changes = names.map(|name| change(name, None, Some(one)));
        let bytes = wire(&world, &changes, capabilities);
        let read = |bytes: &[u8]| {
            let push = world.open().receive(&mut &*bytes, &DisconnectSignal::default());
            push.expect("it can be read").expect("it has commands")
        };
        let mut push = read(&bytes);
        // Another client creates one of the branches meanwhile.
        world.update(&[change(names[1], None, Some(two))]);
        let before = world.refs();
        let report =
            refs::apply_push(&world.store, PROJECT, push.as_mut()).expect("it is answered");
        if capabilities.ends_with("atomic") {
            let expected = [
                "ng refs/heads/a atomic transaction failed".to_owned(),
                not_updated(names[1]),
                "ng refs/heads/c atomic transaction failed".to_owned(),
            ];
            assert_eq!(outcomes(&report), expected);
            assert_eq!(world.refs(), before);
            world.update(&[change(names[1], Some(two), None)]);
        } else {
            let expected =
                ["ok refs/heads/a".to_owned(), not_updated(names[1]), "ok refs/heads/c".to_owned()];
            assert_eq!(outcomes(&report), expected);
            for (name, held) in names.into_iter().zip([one, two, one]) {
                world.update(&[change(name, Some(held), None)]);
            }
        }
    }
    assert_eq!(world.refs(), BTreeSet::from([format!("refs/heads/master {three}")]));
}

#[test]
fn all_changes_are_made_or_none() {
    let world = World::new();
    let [one, two, three] = world.commits;
    let before = world.refs();
    let changes = |old| {
        [
            change("refs/heads/a", None, Some(one)),
            change("refs/tags/t", None, Some(two)),
            change("refs/heads/master", Some(old), Some(one)),
        ]
    };
    let refused = push(&world, &changes(two), "report-status atomic");
    let expected = [
        "ng refs/heads/a atomic transaction failed".to_owned(),
        "ng refs/tags/t atomic transaction failed".to_owned(),
        not_updated("refs/heads/master"),
    ];
    assert_eq!(refused, expected);
    assert_eq!(world.refs(), before);
    let made = push(&world, &changes(three), "report-status atomic");
    assert_eq!(made, ["ok refs/heads/a", "ok refs/tags/t", "ok refs/heads/master"]);
    let expected = [
        format!("refs/heads/a {one}"),
        format!("refs/heads/master {one}"),
        format!("refs/tags/t {two}"),
    ];
    assert_eq!(world.refs(), BTreeSet::from(expected));
}

#[test]
fn a_ref_holds_what_there_is_and_a_branch_a_commit() {
    let world = World::new();
    let tree = id(&world.git(&["rev-parse", "master^{tree}"]));
    world.git(&["tag", "-a", "v1", "-m", "m", "master"]);
    world.git(&["tag", "-a", "v2", "-m", "m", "v1"]);
    let tag = id(&world.git(&["rev-parse", "refs/tags/v2"]));
    let missing = id(&"1".repeat(40));
    let before = world.refs();
    for (name, new) in [
        ("refs/heads/x", tree),
        ("refs/heads/x", tag),
        ("refs/heads/x", missing),
        ("refs/tags/x", missing),
    ] {
        let outcome = push_one(&world, name, None, Some(new));
        assert_eq!(outcome, format!("ng {name} missing necessary objects"));
    }
    for name in ["refs/heads/a b", "refs/heads/..", "refs/heads/a.lock", "refs/heads/../../x"] {
        let outcome = push_one(&world, name, None, Some(world.commits[0]));
        assert_eq!(outcome, format!("ng {name} funny refname"));
    }
    assert_eq!(world.refs(), before);
    for (name, new) in [("refs/tags/tree", tree), ("refs/tags/again", tag)] {
        assert_eq!(push_one(&world, name, None, Some(new)), format!("ok {name}"));
    }
    let again = world.open().refs().find("refs/tags/again").expect("it is there").peeled;
    assert_eq!(again, Some(world.commits[2]));
    world.assert_sound();
}

/// Every ref name that git accepts is accepted, also those that other systems reserve.
#[test]
fn ref_names_that_other_systems_reserve_are_accepted() {
    let world = World::new();
    let one = Some(world.commits[0]);
    for name in ["aux", "con.txt", "nul/x", "a./b", "lt<gt>", "pipe|\"quoted\"", "COM1.x"] {
        for name in [format!("refs/heads/{name}"), format!("refs/tags/{name}")] {
            assert_eq!(push_one(&world, &name, None, one), format!("ok {name}"));
            assert_eq!(Some(id(&world.git(&["rev-parse", &name]))), one, "{name}");
            let below = format!("{name}/below");
            assert_eq!(push_one(&world, &below, None, one), not_updated(&below));
        }
    }
    assert_eq!(world.refs().len(), 15);
    assert_eq!(world.open().branches(Page::Whole).expect("they can be listed").items.len(), 8);
    world.assert_sound();
}
