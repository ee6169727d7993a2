//! The search of projects; see [`ProjectFilter::search`].

use super::check::{all_projects, read, write};
use crate::builders::{a_group, a_project, a_user, at, home_of};
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::query::ProjectFilter;
use hexforge_domain::project::{Description, Project, ProjectName, ProjectPath};

/// Returns the paths of the projects that a search finds, in creation order.
fn search_paths(store: &dyn Store, search: &str) -> Vec<String> {
    let filter = ProjectFilter { search: Some(search.into()), ..all_projects() };
    let page = read(store, |tx| tx.projects().list(&filter, Page::Whole));
    assert_eq!(page.total, page.items.len() as u64, "{search:?}");
    page.map(|project| project.path.as_str().to_owned()).items
}

/// Creates a user whose name no search contains; returns it with its personal namespace.
fn a_home(store: &dyn Store) -> (UserId, NamespaceId) {
    let user = a_user("zzz").stored_in(store).id;
    (user, home_of(store, user))
}

/// Creates a project with this path, name and description.
fn insert_project(
    store: &dyn Store,
    (user, home): (UserId, NamespaceId),
    texts: [&str; 3],
) -> Project {
    let [path, name, description] = texts;
    a_project(name, home, user).path(path).described(description).stored_in(store)
}

/// Checks the results of searches.
#[track_caller]
fn assert_results(store: &dyn Store, expected: &[(&str, &[&str])]) {
    for (search, paths) in expected {
        assert_eq!(search_paths(store, search), *paths, "{search:?}");
    }
}

/// The search finds substrings of path, name and description, ignoring case.
pub fn a_search_of_projects_finds_parts_of_path_name_and_description(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["engine", "Difference Machine", "computes Polynomials"]);
    insert_project(store, home, ["Loom.js", "Weaver", ""]);
    a_project("plain", home.1, home.0).stored_in(store);
    assert_results(
        store,
        &[
            ("engine", &["engine"]),
            ("NGIN", &["engine"]),
            ("difference MACHINE", &["engine"]),
            ("e m", &["engine"]),
            ("POLY", &["engine"]),
            ("loom.JS", &["Loom.js"]),
            ("eave", &["Loom.js"]),
            ("in", &["engine", "plain"]),
            ("machine difference", &[]),
            ("nothing", &[]),
        ],
    );
}

/// The search finds the projects of a namespace by its name, but not by its path.
pub fn a_search_of_projects_finds_the_name_of_the_namespace(store: &dyn Store) {
    let home = a_home(store);
    let group = a_group("pathonly").named("Größe und Würde").stored_in(store).id;
    a_project("inside", group, home.0).stored_in(store);
    insert_project(store, home, ["outside", "Outside", ""]);
    assert_results(
        store,
        &[
            ("größe", &["inside"]),
            ("WÜRDE", &["inside"]),
            ("e u", &["inside"]),
            ("ZZ", &["outside"]),
            ("pathonly", &[]),
        ],
    );
}

/// Case is ignored for non-ASCII letters too.
pub fn a_search_of_projects_ignores_the_case_of_every_letter(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["one", "Ödön", "Владимир ИЛЬИЧ"]);
    insert_project(store, home, ["two", "josé", "éva"]);
    assert_results(
        store,
        &[
            ("öDÖN", &["one"]),
            ("ильич", &["one"]),
            ("МИР И", &["one"]),
            ("JOSÉ", &["two"]),
            ("ÉV", &["two"]),
            ("Odon", &[]),
        ],
    );
}

/// Wildcards and other special characters of databases are literal.
pub fn a_search_of_projects_takes_every_character_literally(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["percent", "one", "100% sure"]);
    insert_project(store, home, ["under_score", "two", "x"]);
    insert_project(store, home, ["back", "three", r"back\slash"]);
    insert_project(store, home, ["quote", "four", r#"O'Hara "Q" *star* [x] ?"#]);
    insert_project(store, home, ["plain", "five", "100 sure"]);
    assert_results(
        store,
        &[
            ("%", &["percent"]),
            ("0%", &["percent"]),
            ("100% s", &["percent"]),
            ("1%s", &[]),
            ("%%", &[]),
            ("_", &["under_score"]),
            ("er_sc", &["under_score"]),
            ("1_0", &[]),
            (r"\", &["back"]),
            (r"k\s", &["back"]),
            (r"100\%", &[]),
            ("'", &["quote"]),
            ("o'hara", &["quote"]),
            ("\"q\"", &["quote"]),
            ("*star*", &["quote"]),
            ("*", &["quote"]),
            ("[x]", &["quote"]),
            (" ?", &["quote"]),
            ("one or two", &[]),
            ("-one", &[]),
        ],
    );
}

/// A trigram index must not make searches of one or two characters miss anything.
pub fn a_search_of_projects_works_with_one_or_two_characters(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["kl", "Mn", "xy"]);
    insert_project(store, home, ["pq", "🦀 r", "x"]);
    assert_results(
        store,
        &[
            ("K", &["kl"]),
            ("n", &["kl"]),
            ("Y", &["kl"]),
            ("x", &["kl", "pq"]),
            ("xY", &["kl"]),
            ("🦀", &["pq"]),
            ("🦀 ", &["pq"]),
            ("z", &["kl", "pq"]),
            ("zZ", &["kl", "pq"]),
            ("w", &[]),
            ("yx", &[]),
        ],
    );
}

/// The empty search matches everything.
pub fn a_search_of_projects_for_nothing_finds_everything(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["one", "One", ""]);
    a_project("two", home.1, home.0).stored_in(store);
    assert_eq!(search_paths(store, ""), ["one", "two"]);
}

/// No input makes a search fail, however long or strange it is.
pub fn an_unusual_search_of_projects_finds_nothing(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["one", "One", "one"]);
    for search in ["\0", "one\0", "\0one", "\u{fffe}", &"one".repeat(2000)] {
        assert_eq!(search_paths(store, search), Vec::<String>::new(), "{search:?}");
    }
}

/// A search covers the longest description up to its end, and may be as long.
pub fn a_search_of_projects_reaches_the_end_of_a_description(store: &dyn Store) {
    let home = a_home(store);
    let longest = format!("{}needle 🦀", "ü".repeat(1992));
    insert_project(store, home, ["one", "One", &longest]);
    for search in ["üNEEDLE 🦀", "🦀", longest.as_str()] {
        assert_eq!(search_paths(store, search), ["one"]);
    }
}

/// Each field is searched on its own.
pub fn a_search_of_projects_does_not_run_from_one_field_into_the_next(store: &dyn Store) {
    let home = a_home(store);
    insert_project(store, home, ["path", "name", "words"]);
    let fields = ["path", "name", "words", "zzz"];
    for first in fields {
        for second in fields {
            for between in ["", " ", "\n", "\t", "|", "/", " / ", "\u{1}", "\u{1f}"] {
                let search = format!("{first}{between}{second}");
                assert_eq!(search_paths(store, &search), Vec::<String>::new(), "{search:?}");
            }
        }
    }
}

/// A search reflects all changes of the project and its namespace.
pub fn a_search_of_projects_follows_every_change(store: &dyn Store) {
    let (user, home) = a_home(store);
    let group = a_group("team").named("Formerly").stored_in(store);
    let one = a_project("before", group.id, user).described("once").stored_in(store);
    let changed = Project {
        path: ProjectPath::stored("after".into()),
        name: ProjectName::stored("Later".into()),
        description: Description::parse("nowadays").ok(),
        ..one
    };
    write(store, |tx| tx.projects().update(&changed));
    assert_results(
        store,
        &[
            ("after", &["after"]),
            ("later", &["after"]),
            ("nowadays", &["after"]),
            ("formerly", &["after"]),
            ("before", &[]),
            ("once", &[]),
        ],
    );
    write(store, |tx| tx.groups().update(&Namespace { name: "At Present".into(), ..group }));
    assert_results(store, &[("PRESENT", &["after"]), ("formerly", &[])]);
    let moved = Project { namespace: home, description: None, ..changed };
    write(store, |tx| tx.projects().update(&moved));
    assert_results(store, &[("zzz", &["after"]), ("present", &[]), ("nowadays", &[])]);
    let renamed = NamespacePath::parse("yyy").expect("letters make a path");
    write(store, |tx| tx.namespaces().rename_personal(user, &renamed, at(1)));
    assert_results(store, &[("yyy", &["after"]), ("zzz", &[])]);
    write(store, |tx| tx.projects().delete(moved.id));
    assert_results(store, &[("yyy", &[]), ("after", &[]), ("later", &[])]);
}

/// Projects of a deleted group are no longer found.
pub fn a_search_of_projects_forgets_a_deleted_group(store: &dyn Store) {
    let (user, _) = a_home(store);
    let group = a_group("team").named("Gone Tomorrow").stored_in(store).id;
    a_project("site", group, user).stored_in(store);
    write(store, |tx| tx.groups().delete(group));
    assert_results(store, &[("site", &[]), ("tomorrow", &[]), ("", &[])]);
    assert_eq!(read(store, |tx| tx.groups().find(&GroupRef::new("team"))), None);
}
