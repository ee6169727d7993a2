//! Releases; see [`Releases`](hexforge_domain::tag::port::Releases).

use super::check::{assert_duplicate, read, write};
use crate::builders::{a_project, a_release, a_tag, a_user, at, home_of};
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::Store;
use hexforge_domain::tag::{Release, TagName};

/// Creates two projects of a user.
fn two_projects(store: &dyn Store) -> [ProjectId; 2] {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    ["one", "two"].map(|name| a_project(name, home, ada).stored_in(store).id)
}

fn insert_release(store: &dyn Store, project: ProjectId, release: &Release) {
    write(store, |tx| tx.releases().insert(project, release, at(0)));
}

fn find_release(store: &dyn Store, project: ProjectId, tag: &str) -> Option<Release> {
    read(store, |tx| tx.releases().find(project, &a_tag(tag)))
}

/// Texts are read back unchanged, and tags are compared exactly.
pub fn a_release_is_found_by_exactly_its_tag(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let (longest_tag, longest) = (["x".repeat(249).as_str(); 4].join("/"), "🦀\n".repeat(10_000));
    for (tag, text) in [
        ("v1.0", "first"),
        ("V1.0", ""),
        ("ünï/🦀", "O'Hara \"Q\" \\n %_"),
        (longest_tag.as_str(), longest.as_str()),
    ] {
        let release = a_release(tag, text);
        insert_release(store, one, &release);
        assert_eq!(find_release(store, one, tag), Some(release));
        assert_eq!(find_release(store, two, tag), None);
    }
    for tag in ["v1", "v1_0", "v1.0.", "ÜNÏ/🦀"] {
        let tag = TagName::stored(tag.to_owned());
        assert_eq!(read(store, |tx| tx.releases().find(one, &tag)), None, "{tag}");
    }
}

/// See [`Releases::of_tags`](hexforge_domain::tag::port::Releases::of_tags).
pub fn releases_of_several_tags_are_found_at_once(store: &dyn Store) {
    let [one, two] = two_projects(store);
    for tag in ["a", "b", "c"] {
        insert_release(store, one, &a_release(tag, "of one"));
    }
    insert_release(store, two, &a_release("a", "of two"));
    let of = |project, tags: &[&str]| {
        let tags: Vec<TagName> = tags.iter().map(|tag| a_tag(tag)).collect();
        let tags: Vec<&TagName> = tags.iter().collect();
        let mut found = read(store, |tx| tx.releases().of_tags(project, &tags));
        found.sort_by(|a, b| a.tag.cmp(&b.tag));
        found
    };
    let expected = [a_release("a", "of one"), a_release("c", "of one")];
    assert_eq!(of(one, &["c", "none", "a", "c", "A"]), expected);
    assert_eq!(of(two, &["a", "b"]), [a_release("a", "of two")]);
    assert_eq!(of(one, &[]), []);
    assert_eq!(of(ProjectId(i64::MAX), &["a"]), []);
}

/// See [`Releases::insert`](hexforge_domain::tag::port::Releases::insert).
pub fn a_tag_has_one_release(store: &dyn Store) {
    let [one, two] = two_projects(store);
    insert_release(store, one, &a_release("v1", "first"));
    assert_duplicate(store, "tag", |tx| {
        tx.releases().insert(one, &a_release("v1", "second"), at(1))
    });
    insert_release(store, two, &a_release("v1", "elsewhere"));
    assert_eq!(find_release(store, one, "v1"), Some(a_release("v1", "first")));
}

/// See [`Releases::update`](hexforge_domain::tag::port::Releases::update).
pub fn a_release_is_changed_in_place(store: &dyn Store) {
    let [one, two] = two_projects(store);
    for (project, tag) in [(one, "v1"), (one, "v2"), (two, "v1")] {
        insert_release(store, project, &a_release(tag, "before"));
    }
    let update =
        |tag, text| write(store, |tx| tx.releases().update(one, &a_release(tag, text), at(1)));
    for text in ["after", "after", "🦀", ""] {
        assert!(update("v1", text));
        assert_eq!(find_release(store, one, "v1"), Some(a_release("v1", text)));
    }
    assert!(!update("v3", "after"));
    assert_eq!(find_release(store, one, "v3"), None);
    assert_eq!(find_release(store, one, "v2"), Some(a_release("v2", "before")));
    assert_eq!(find_release(store, two, "v1"), Some(a_release("v1", "before")));
}

/// See [`Releases::remove`](hexforge_domain::tag::port::Releases::remove).
pub fn a_removed_release_is_gone_alone(store: &dyn Store) {
    let [one, two] = two_projects(store);
    for (project, tag) in [(one, "v1"), (one, "v2"), (two, "v1")] {
        insert_release(store, project, &a_release(tag, "text"));
    }
    for tag in ["v1", "v1", "V2"] {
        write(store, |tx| tx.releases().remove(one, &a_tag(tag)));
    }
    assert_eq!(find_release(store, one, "v1"), None);
    assert_eq!(find_release(store, one, "v2"), Some(a_release("v2", "text")));
    assert_eq!(find_release(store, two, "v1"), Some(a_release("v1", "text")));
    insert_release(store, one, &a_release("v1", "again"));
}
