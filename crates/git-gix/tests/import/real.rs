//! Imports from git's own server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::ports::imports::{ImportError, Imported};
use hexforge_domain::ports::outgoing::OutgoingError;
use hexforge_domain::refs::Ref;
use hexforge_git_gix::ImportLimits;

use crate::backend::{Answer, Backend, Network};
use crate::fixture::{PROJECT, Source, Store, git, refs};
use crate::support::refs::{open, refs_of, write_refs};

fn refused(why: &str) -> Result<Imported, ImportError> {
    Err(ImportError::Refused(why.into()))
}

/// Asserts that the import has the objects and the refs of the source, and writes the refs to the project.
fn assert_imported(store: &Store, source: &Source, imported: &Imported) {
    assert_objects_alone(store);
    let (to, from) = (store.repository(), source.repository());
    let head = git(&from, &["symbolic-ref", "HEAD"]);
    assert_eq!(imported.head.as_ref(), Some(&head));
    let is_imported =
        |one: &&Ref| ["refs/heads/", "refs/tags/"].iter().any(|kind| one.name.starts_with(kind));
    let expected = refs_of(&from);
    let expected: Vec<&Ref> = expected.iter().filter(is_imported).collect();
    assert!(imported.refs.iter().eq(expected), "only branches and tags: {imported:?}");
    write_refs(&to, imported.head.as_deref(), &imported.refs);
    assert_eq!(refs(&to), refs(&from));
    assert_eq!(git(&to, &["symbolic-ref", "HEAD"]), head);
    git(&to, &["fsck", "--strict", "--full"]);
}

/// Asserts that an import writes objects only: no refs and no leftovers.
fn assert_objects_alone(store: &Store) {
    assert_eq!(git(&store.repository(), &["for-each-ref"]), "");
    assert!(store.is_tidy());
    let odd = |file: &std::path::Path| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("keep" | "lock"))
    };
    assert!(!store.files().iter().any(|file| odd(file)), "{:?}", store.files());
}

#[test]
fn all_branches_and_tags_come_in_each_version_of_the_protocol() {
    let source = Source::filled();
    for protocol in [None, Some("version=2"), Some("version=1"), Some("version=0"), Some("")] {
        let backend = Backend { protocol, ..source.backend() };
        let network = Arc::new(Network::new(move |request| Ok(backend.answer(&request))));
        let store = Store::new();
        let imported = store.import(&network, "http://h/a.git");
        let imported = imported.unwrap_or_else(|error| panic!("{protocol:?}: {error}"));
        assert_imported(&store, &source, &imported);
        // In version 2 the refs take a request of their own.
        let asked = network.urls.lock().expect("no panic").len();
        let is_second = matches!(protocol, None | Some("version=2"));
        assert_eq!(asked, if is_second { 3 } else { 2 }, "{protocol:?}");
        // The store reads the imported objects.
        let repository = open(&store.store, PROJECT);
        let default = repository.refs().default_branch().expect("there");
        assert_eq!(default.as_str(), "trunk");
        assert!(repository.branch(&default).expect("readable").is_some());
    }
}

#[test]
fn thousands_of_refs_come() {
    let source = Source::filled();
    let head = git(&source.repository(), &["rev-parse", "HEAD"]);
    let mut lines = std::fs::read_to_string(source.repository().join("packed-refs")).expect("text");
    for number in 0..5000 {
        lines.push_str(&format!("{head} refs/tags/z/{number:05}\n"));
    }
    std::fs::write(source.repository().join("packed-refs"), lines).expect("written");
    let store = Store::new();
    let imported = store.import(&Arc::new(source.network()), "http://h/a.git").expect("it comes");
    assert_imported(&store, &source, &imported);
}

#[test]
fn an_empty_repository_leaves_the_project_empty() {
    let source = Source::empty();
    for protocol in [None, Some("version=1"), Some("")] {
        let backend = Backend { protocol, ..source.backend() };
        let network = Arc::new(Network::new(move |request| Ok(backend.answer(&request))));
        let store = Store::new();
        let imported = store.import(&network, "http://h/a.git");
        assert_eq!(imported, Ok(Imported::default()), "{protocol:?}");
        assert_eq!(store.files(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn the_suffix_of_repositories_may_be_left_out() {
    let source = Source::filled();
    // git's own server would try the longer name by itself.
    let backend = source.backend();
    let network =
        Arc::new(Network::new(move |request| match request.path.starts_with("/a.git/") {
            true => Ok(backend.answer(&request)),
            false => Ok(Answer::new(404, "text/plain", "")),
        }));
    let store = Store::new();
    let imported = store.import(&network, "http://h/a/").expect("it comes");
    assert_imported(&store, &source, &imported);
    let asked = network.urls.lock().expect("no panic").clone();
    assert_eq!(asked[0], "http://h/a/info/refs?service=git-upload-pack");
    assert_eq!(asked[1], "http://h/a.git/info/refs?service=git-upload-pack");
    assert_eq!(asked[2], "http://h/a.git/git-upload-pack");
}

#[test]
fn a_missing_repository_is_told() {
    let source = Source::empty();
    let store = Store::new();
    assert_eq!(
        store.import(&Arc::new(source.network()), "http://h/b"),
        refused("there is no repository at this address")
    );
}

#[test]
fn after_a_redirect_objects_are_asked_for_at_the_new_place() {
    let source = Source::filled();
    for (to, expected) in [
        ("http://h", "http://ada:s3cret@h"),
        // The password is not sent to another server.
        ("https://h", "https://h"),
        ("http://other", "http://other"),
    ] {
        let backend = source.backend();
        let network = Arc::new(Network::new(move |mut request| {
            if request.path.starts_with("/old") {
                assert!(request.follows, "redirects of the first request are followed");
                request.path = "/a.git/info/refs".into();
                let url = format!("{to}/a.git/info/refs?service=git-upload-pack");
                return Ok(Answer { url: Some(url), ..backend.answer(&request) });
            }
            assert!(!request.follows, "those of others are not");
            assert_eq!(request.origin, expected);
            Ok(backend.answer(&request))
        }));
        let store = Store::new();
        let imported = store.import(&network, "http://ada:s3cret@h/old").expect("it comes");
        assert_imported(&store, &source, &imported);
    }
}

#[test]
fn a_redirect_to_something_else_is_no_repository() {
    let source = Source::filled();
    let backend = source.backend();
    let network = Arc::new(Network::new(move |request| {
        Ok(Answer { url: Some("http://h/login".into()), ..backend.answer(&request) })
    }));
    let imported = Store::new().import(&network, "http://h/a.git");
    assert_eq!(
        imported,
        refused(
            "the server's answer is not valid: it redirects to an address that is not a repository"
        )
    );
}

#[test]
fn what_no_request_can_change_is_refused_and_the_rest_may_be_tried_again() {
    let failed = |why: &str| Err(ImportError::Failed(why.into()));
    for (url, status, expected) in [
        ("http://h/a", 401, refused("the server asks for a user name and a password")),
        ("http://u:p@h/a", 401, refused("the server did not accept the user name and password")),
        ("http://h/a", 403, refused("the server denied access to the repository")),
        ("http://h/a", 404, refused("there is no repository at this address")),
        ("http://h/a", 410, refused("there is no repository at this address")),
        ("http://h/a", 302, refused("the server answered with status 302")),
        ("http://h/a", 400, refused("the server answered with status 400")),
        ("http://h/a", 429, failed("the server answered with status 429")),
        ("http://h/a", 500, failed("the server answered with status 500")),
        ("http://h/a", 503, failed("the server answered with status 503")),
        (
            "http://h/a",
            200,
            refused("there is no repository at this address that speaks git's smart protocol"),
        ),
        ("ssh://git@h/a", 200, refused("only http and https addresses can be imported")),
        ("git://h/a", 200, refused("only http and https addresses can be imported")),
        ("file:///etc", 200, refused("only http and https addresses can be imported")),
    ] {
        let network = Arc::new(Network::new(move |_| Ok(Answer::new(status, "text/html", ""))));
        assert_eq!(Store::new().import(&network, url), expected, "{url} {status}");
    }
    for (error, expected) in [
        (OutgoingError::Refused("no".into()), refused("no")),
        (OutgoingError::Unreachable("no".into()), failed("no")),
        (OutgoingError::TimedOut, failed("the server did not answer in time")),
        (OutgoingError::Unreachable("bad p4ss".into()), failed("bad [hidden]")),
    ] {
        let network = Arc::new(Network::new(move |_| Err(error.clone())));
        assert_eq!(Store::new().import(&network, "http://ada:p4ss@h/a"), expected);
    }
}

#[test]
fn repositories_that_cannot_be_here_are_refused() {
    let source = Source::filled();
    let folder = source.0.path();
    let url = format!("file://{}", source.repository().display());
    git(folder, &["clone", "-q", "--bare", "--depth", "2", &url, "shallow.git"]);
    git(folder, &["init", "-q", "--object-format=sha256", "long"]);
    git(&folder.join("long"), &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(folder, &["clone", "-q", "--bare", "long", "long.git"]);
    for protocol in [None, Some("")] {
        let backend = Backend { protocol, ..source.backend() };
        let network = Arc::new(Network::new(move |request| Ok(backend.answer(&request))));
        let store = Store::new();
        assert_eq!(
            store.import(&network, "http://h/shallow.git"),
            refused("the repository is shallow: a part of its history is missing")
        );
        assert_eq!(
            store.import(&network, "http://h/long.git"),
            refused("only repositories whose objects are named by SHA-1 can be imported")
        );
        assert_eq!(store.files(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn an_import_takes_no_more_than_allowed() {
    let source = Source::filled();
    let network = Arc::new(source.network());
    let within = |limits: ImportLimits| {
        let store = Store::new();
        let imported = store.import_within(&network, "http://h/a.git", limits);
        assert_eq!(store.files(), Vec::<std::path::PathBuf>::new());
        imported
    };
    let few = ImportLimits { bytes: 2000, ..ImportLimits::default() };
    assert_eq!(within(few), refused("the repository is too large"));
    let short = ImportLimits { time: Duration::ZERO, ..ImportLimits::default() };
    assert_eq!(within(short), Err(ImportError::Failed("the import took too long".into())));
}

/// Lists all objects in a repository.
fn objects(repository: &std::path::Path) -> BTreeSet<String> {
    let all = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
    git(repository, &all).lines().map(str::to_owned).collect()
}

/// A step after the import may fail, and then the whole import is repeated.
#[test]
fn an_import_may_be_done_again() {
    let source = Source::filled();
    let (store, network) = (Store::new(), Arc::new(source.network()));
    let first = store.import(&network, "http://h/a.git").expect("it comes");
    let before = objects(&store.repository());
    let again = store.import(&network, "http://h/a.git");
    assert_eq!(again.as_ref(), Ok(&first));
    assert_eq!(objects(&store.repository()), before);
    assert_imported(&store, &source, &first);
}

#[test]
fn a_project_that_has_something_keeps_it() {
    let source = Source::filled();
    let (store, network) = (Store::new(), Arc::new(source.network()));
    let imported = store.import(&network, "http://h/a.git").expect("it comes");
    assert_imported(&store, &source, &imported);
    let before = (refs(&store.repository()), objects(&store.repository()));
    let other = Source::filled();
    let tree = git(&other.repository(), &["rev-parse", "HEAD^{tree}"]);
    let new = git(&other.repository(), &["commit-tree", &tree, "-m", "of the other"]);
    git(&other.repository(), &["update-ref", "refs/heads/trunk", &new]);
    let elsewhere = store.import(&Arc::new(other.network()), "http://h/a.git").expect("it comes");
    let trunk = elsewhere.refs.iter().find(|one| one.name == "refs/heads/trunk").expect("a branch");
    assert_eq!(trunk.target.to_string(), new);
    assert_eq!(refs(&store.repository()), before.0);
    let after = objects(&store.repository());
    assert!(before.1.is_subset(&after) && after.contains(&new));
    git(&store.repository(), &["fsck", "--strict", "--full"]);
}

#[test]
fn what_is_put_into_the_project_meanwhile_stays() {
    let source = Source::filled();
    let tree = git(&source.repository(), &["rev-parse", "HEAD^{tree}"]);
    let mine = git(&source.repository(), &["commit-tree", &tree, "-m", "mine"]);
    let store = Store::new();
    let (backend, folder, from) = (source.backend(), store.repository(), source.repository());
    let commit = mine.clone();
    let network = Arc::new(Network::new(move |request| {
        if request.path.ends_with("git-upload-pack") && !folder.exists() {
            std::fs::create_dir_all(folder.parent().expect("a parent")).expect("a folder");
            let to = folder.to_str().expect("text");
            git(&from, &["init", "-q", "--bare", to]);
            git(&from, &["push", "-q", to, &format!("{commit}:refs/heads/mine")]);
        }
        Ok(backend.answer(&request))
    }));
    let imported = store.import(&network, "http://h/a.git").expect("it comes");
    assert_eq!(refs(&store.repository()), format!("{mine} refs/heads/mine"));
    git(&store.repository(), &["update-ref", "-d", "refs/heads/mine"]);
    assert!(objects(&store.repository()).contains(&mine));
    assert_imported(&store, &source, &imported);
}

#[test]
fn a_repository_without_refs_is_filled() {
    let source = Source::filled();
    let store = Store::new();
    let folder = store.repository();
    std::fs::create_dir_all(folder.parent().expect("a parent")).expect("a folder");
    git(source.0.path(), &["init", "-q", "--bare", folder.to_str().expect("text")]);
    // The store has opened the empty repository before.
    let before = open(&store.store, PROJECT);
    assert!(!before.refs().has_branches());
    let imported = store.import(&Arc::new(source.network()), "http://h/a.git").expect("it comes");
    assert_imported(&store, &source, &imported);
    let after = open(&store.store, PROJECT);
    assert!(after.refs().has_branches());
    let (branch, tip) = after.refs().default_tip().expect("there");
    for repository in [&before, &after] {
        assert!(repository.commit(tip).expect("readable").is_some(), "{}", branch.as_str());
    }
}
