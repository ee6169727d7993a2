//! How refs lie on disk, and what others have put there.

use super::*;

#[test]
fn a_branch_makes_room_for_those_below_it_in_one_change() {
    for is_packed in [false, true] {
        let world = World::new();
        let [one, two, _] = world.commits;
        world.update(&[change("refs/heads/a", None, Some(one))]).expect("it is free");
        if is_packed {
            world.git(&["pack-refs", "--all"]);
        }
        let down =
            [change("refs/heads/a", Some(one), None), change("refs/heads/a/b", None, Some(two))];
        world.update(&down).expect("there is room");
        assert_eq!(world.git(&["rev-parse", "refs/heads/a/b"]), two.to_string());
        let up =
            [change("refs/heads/a/b", Some(two), None), change("refs/heads/a", None, Some(one))];
        world.update(&up).expect("there is room again");
        assert_eq!(world.git(&["rev-parse", "refs/heads/a"]), one.to_string());
        world.assert_sound();
    }
}

#[test]
fn folders_of_refs_that_went_go_too() {
    let world = World::new();
    let [one, ..] = world.commits;
    world.update(&[change("refs/heads/x/y/z", None, Some(one))]).expect("it is free");
    world.update(&[change("refs/heads/x/y/z", Some(one), None)]).expect("it is there");
    assert!(!world.bare().join("refs/heads/x").exists());
    assert!(world.bare().join("refs/heads").exists());
}

#[test]
fn packed_refs_are_as_git_packs_them() {
    let world = World::new();
    let [one, two, _] = world.commits;
    world.git(&["tag", "-a", "old", "-m", "m", "master"]);
    world.git(&["pack-refs", "--all"]);
    // Files by hexforge before it wrote this kind, and by old gits, say less about tags.
    let file = world.bare().join("packed-refs");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let plain: Vec<&str> =
        text.lines().filter(|line| !line.starts_with(['#', '^'])).collect::<Vec<_>>();
    std::fs::write(&file, plain.join("\n") + "\n").expect("it can be written");
    world.git(&["tag", "-a", "new", "-m", "m", &one.to_string()]);
    let tag = id(&world.git(&["rev-parse", "refs/tags/new"]));
    world.git(&["update-ref", "-d", "refs/tags/new"]);
    let mut changes: Vec<RefChange> = (0..30)
        .map(|number| change(&format!("refs/heads/many-{number}"), None, Some(two)))
        .collect();
    changes.push(change("refs/tags/new", None, Some(tag)));
    world.update(&changes).expect("they are free");
    assert!(!world.bare().join("refs/heads/many-1").exists());
    let ours = std::fs::read(&file).expect("it is there");
    world.git(&["pack-refs", "--all"]);
    assert_eq!(String::from_utf8(ours), String::from_utf8(std::fs::read(&file).expect("there")));
    let gone: Vec<RefChange> = (0..30)
        .map(|number| change(&format!("refs/heads/many-{number}"), Some(two), None))
        .collect();
    world.update(&gone).expect("they are there");
    assert_eq!(world.git(&["for-each-ref", "refs/heads/many-*"]), "");
    world.assert_sound();
}

#[test]
fn nothing_is_shown_in_place_of_something_else() {
    let world = World::new();
    let [one, _, three] = world.commits;
    world.git(&["replace", &three.to_string(), &one.to_string()]);
    let anew = store(world.data.path());
    let repository = anew.open(PROJECT).expect("it opens");
    let commit = repository.commit(three).expect("it reads").expect("it is there");
    assert_eq!(commit.message.trim(), "three");
}

#[test]
fn pages_hold_tags_of_commits_alone() {
    let world = World::new();
    for (name, of) in [("a", "master"), ("b", "master^{tree}"), ("c", "master:file")] {
        world.git(&["tag", "-a", name, "-m", "m", of]);
    }
    world.git(&["tag", "d", "master~1"]);
    let page = Page::Numbered { number: 1, size: 1 };
    let first = world.open().tags(page).expect("it reads");
    assert_eq!((first.items.len(), first.total), (1, 2));
    assert_eq!(first.items[0].name.as_str(), "d");
}

#[test]
fn several_refs_change_together_though_the_process_ends_between() {
    let world = World::new();
    let [one, two, _] = world.commits;
    let names = ["refs/heads/a", "refs/heads/b", "refs/heads/c"];
    for name in names {
        world.update(&[change(name, None, Some(one))]).expect("it is free");
    }
    let gone = store(world.data.path());
    let changes = [
        change(names[0], Some(one), Some(two)),
        change(names[1], Some(one), Some(two)),
        change(names[2], Some(one), None),
    ];
    gone.open(PROJECT).expect("it opens").update(&changes, "note").expect("they are as expected");
    drop(gone);
    // It ended after the file of all refs was replaced and before those of single ones were removed.
    for name in &names[1..] {
        std::fs::write(world.bare().join(name), format!("{one}\n")).expect("a file");
    }
    let left = store(world.data.path()).unsettled(None).expect("it reads");
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].changes, changes);
    assert_eq!(world.git(&["rev-parse", "refs/heads/b"]), two.to_string());
    assert_eq!(world.git(&["for-each-ref", "refs/heads/c"]), "");
    world.assert_sound();
}
