//! Ref files that git or other programs wrote.

use hexforge_git_gix::refs::disk;

use super::*;

#[test]
fn refs_in_files_are_read_as_git_lists_them() {
    let world = World::new();
    world.git(&["tag", "-a", "packed", "-m", "m", "master"]);
    world.git(&["tag", "-a", "nested", "-m", "m", "packed"]);
    world.git(&["update-ref", "refs/tags/tree", "master^{tree}"]);
    world.git(&["pack-refs", "--all", "--prune"]);
    // Loose refs take precedence over packed refs.
    world.git(&["update-ref", "refs/heads/master", "master~1"]);
    world.git(&["tag", "-a", "loose", "-m", "m", "master"]);
    world.git(&["branch", "a/b", "master"]);
    world.git(&["update-ref", "refs/notes/commits", "master"]);
    world.git(&["symbolic-ref", "HEAD", "refs/heads/unborn"]);
    let read = disk::read(&world.bare()).expect("they can be read");
    assert_eq!((read.head.as_str(), read.wrong.len()), ("refs/heads/unborn", 0));
    let line = |one: &Ref| {
        let last = one.peeled.unwrap_or(one.target);
        format!("{} {} {last}", one.name, one.target)
    };
    let listed: Vec<String> = read.refs.iter().map(line).collect();
    let names = world.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    let peeled = |line: &str| {
        let (name, _) = line.split_once(' ').expect("two words");
        format!("{line} {}", world.git(&["rev-parse", &format!("{name}^{{}}")]))
    };
    assert_eq!(listed, names.lines().map(peeled).collect::<Vec<_>>());
    assert_eq!(listed.len(), 7);
    let new = World::new();
    new.git(&["update-ref", "-d", "refs/heads/master"]);
    assert_eq!(disk::read(&new.bare()).expect("they can be read"), disk::RefsOnDisk::default());
}

#[test]
fn refs_in_files_that_make_no_sense_are_told() {
    let world = World::new();
    let write = |file: &str, content: &[u8]| {
        std::fs::write(world.bare().join(file), content).expect("the repository can be written");
    };
    let [one, ..] = world.commits;
    let no_text = [format!("{one} refs/heads/gr").as_bytes(), b"\xfcn\n"].concat();
    write("packed-refs", &no_text);
    write("refs/heads/gone", format!("{}\n", "1".repeat(40)).as_bytes());
    write("refs/heads/master", format!("{one}\n").as_bytes());
    write("refs/heads/nonsense", b"nonsense\n");
    for (head, expected) in [
        (format!("{one}\n").as_bytes(), "HEAD points to no branch"),
        (
            b"ref: refs/heads/gr\xfcn\n",
            "HEAD points to refs/heads/gr\u{fffd}n, which is not valid UTF-8",
        ),
    ] {
        write("HEAD", head);
        let read = disk::read(&world.bare()).expect("the rest can be read");
        let names: Vec<&str> = read.refs.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((read.head.as_str(), names), ("refs/heads/master", vec!["refs/heads/master"]));
        let wrong = read.wrong.join("; ");
        assert_eq!(read.wrong.len(), 4, "{wrong}");
        let of_refs = [
            "a ref cannot be read",
            "the target of refs/heads/gone cannot be read",
            "refs/heads/gr\u{fffd}n cannot",
        ];
        for expected in [expected].iter().chain(&of_refs) {
            assert!(wrong.contains(expected), "{expected:?} is not in {wrong}");
        }
    }
}

#[test]
fn nothing_is_shown_in_place_of_something_else() {
    let world = World::new();
    let [one, _, three] = world.commits;
    world.git(&["replace", &three.to_string(), &one.to_string()]);
    let anew = refs::store(world.data.path());
    let repository = refs::open(&anew, PROJECT);
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
