//! The transfer of LFS objects: section 16.3 of the reference of the rest of v3.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::lfs::{self, LfsIdentity, LfsRefusal, LfsRequester, UploadError};
use hexforge_application::removal;
use hexforge_blobs_object_store::BucketLfsFiles;
use hexforge_domain::id::{ForkNetworkId, ProjectId, UserId};
use hexforge_domain::lfs::{LfsObject, LfsOid, LfsOperation};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{Mode, Store, StoreError, Tx, Verdict};
use hexforge_domain::project::ProjectRef;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{PASSWORD, ROOT, Restrictions};
use hexforge_tests::s3::S3Server;
use hexforge_tests::{Backend, Forge, ForgeOptions, on_every_store};

use super::lfs::{Client, NOT_FOUND, assert_error, fork_to_bob, oid_of};
use super::support::Scene;

on_every_store!(
    an_object_is_downloaded_whole_or_in_parts,
    content_that_differs_is_refused_and_nothing_is_kept,
    an_interrupted_upload_leaves_nothing,
    an_object_is_stored_once,
    files_and_rows_agree_after_random_operations,
    objects_go_with_the_last_project_of_their_network,
    a_lost_file_is_uploaded_again,
    a_repeated_transaction_leaves_no_row_without_a_file,
    an_upload_that_outlives_its_project_leaves_no_file,
);

/// The files below the folder of LFS objects, except directories.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.extend([path]),
        }
    }
    found
}

/// The files on disk; empty for the fake, which keeps them in memory.
fn stored(forge: &Forge) -> BTreeSet<PathBuf> {
    files(&forge.folder.path().join("lfs"))
}

fn put(client: &Client<'_>, oid: &str, size: usize, body: &[u8]) -> u16 {
    let request = client.request("PUT", &format!("gitlab-lfs/objects/{oid}/{size}"));
    request.body(body).send().status
}

fn network(forge: &Forge, project: i64) -> ForkNetworkId {
    let network =
        forge.app.store.read::<_, StoreError>(|tx| tx.lfs_objects().network(ProjectId(project)));
    network.expect("it can be read").expect("the project exists")
}

fn has_row(forge: &Forge, network: ForkNetworkId, oid: &str) -> bool {
    let oid = LfsOid::parse(oid).expect("a valid name");
    let found = forge.app.store.read::<_, StoreError>(|tx| tx.lfs_objects().find(network, oid));
    found.expect("it can be read").is_some()
}

fn an_object_is_downloaded_whole_or_in_parts(forge: &Forge) {
    let _scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let oid = oid_of(&content);
    assert_eq!(put(&ada, &oid, content.len(), &content), 200);
    let path = format!("gitlab-lfs/objects/{oid}");
    let get = |range: Option<&str>| {
        let request = ada.request("GET", &path);
        range.iter().fold(request, |request, range| request.header("Range", range)).send()
    };
    let whole = get(None);
    assert_eq!((whole.status, whole.header("content-length")), (200, Some("3000000")));
    assert_eq!(whole.header("content-type"), Some("application/octet-stream"));
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert!(whole.body == content);
    for (range, first, end) in [
        ("bytes=0-", 0, 3_000_000),
        ("bytes=1000000-1000009", 1_000_000, 1_000_010),
        ("bytes=2999999-", 2_999_999, 3_000_000),
        ("bytes=-10", 2_999_990, 3_000_000),
        ("bytes=2999990-9999999", 2_999_990, 3_000_000),
    ] {
        let part = get(Some(range));
        assert_eq!(part.status, 206, "{range}");
        let shown = format!("bytes {first}-{}/3000000", end - 1);
        assert_eq!(part.header("content-range"), Some(shown.as_str()));
        let length = (end - first).to_string();
        assert_eq!(part.header("content-length"), Some(length.as_str()));
        assert!(part.body == content[first..end], "{range}");
    }
    let beyond = get(Some("bytes=3000000-"));
    assert_eq!((beyond.status, beyond.header("content-range")), (416, Some("bytes */3000000")));
    let odd = get(Some("lines=1-2"));
    assert_eq!(odd.status, 200);
    let tag = whole.header("etag").expect("it has a tag").to_owned();
    for (condition, status) in [(tag.as_str(), 206), ("\"other\"", 200)] {
        let request = ada.request("GET", &path).header("Range", "bytes=5-");
        assert_eq!(request.header("If-Range", condition).send().status, status);
    }
    let head = ada.request("HEAD", &path).send();
    assert_eq!((head.status, head.header("content-length")), (200, Some("3000000")));
    assert!(head.body.is_empty());
    for unknown in [oid_of(b"other"), "abc".to_owned(), "../x".to_owned(), "A".repeat(65)] {
        let path = format!("gitlab-lfs/objects/{unknown}");
        assert_eq!(ada.request("GET", &path).send().status, 404, "{unknown}");
    }
    assert_error(
        &ada.request("GET", &format!("gitlab-lfs/objects/{}", "0".repeat(64))).send(),
        404,
        NOT_FOUND,
    );
    let empty = oid_of(b"");
    assert_eq!(put(&ada, &empty, 0, b""), 200);
    let found = ada.request("GET", &format!("gitlab-lfs/objects/{empty}")).send();
    assert_eq!((found.status, found.header("content-length")), (200, Some("0")));
}

/// Sends raw bytes, and returns the status of the answer, if there is one.
fn exchange(forge: &Forge, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(forge.address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out can be set");
    // The server may answer and close the connection early.
    let _ = stream.write_all(bytes);
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).ok()?;
    String::from_utf8_lossy(&answer[9..]).parse().ok()
}

fn chunked_head(client: &Client<'_>, oid: &str, size: usize) -> String {
    let authorization = client.authorization.as_deref().expect("it has credentials");
    format!(
        "PUT /{}.git/gitlab-lfs/objects/{oid}/{size} HTTP/1.1\r\nHost: forge.test\r\n\
         Authorization: {authorization}\r\nTransfer-Encoding: chunked\r\n\r\n",
        client.project
    )
}

fn content_that_differs_is_refused_and_nothing_is_kept(forge: &Forge) {
    forge.pin_to_first_server();
    let scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let network = network(forge, scene.project);
    let oid = oid_of(b"content");
    for (size, body) in [(7, "CONTENT"), (6, "conten"), (8, "content!"), (0, "")] {
        assert_eq!(put(&ada, &oid, size, body.as_bytes()), 422, "{size}");
    }
    // The length of the request differs from the announced size.
    assert_eq!(put(&ada, &oid, 9, b"content"), 422);
    assert_eq!(put(&ada, &oid, 3, b"content"), 422);
    // Without a length, the server stops as soon as it has more than was announced.
    let mut long = chunked_head(&ada, &oid, 7).into_bytes();
    for _ in 0..1_000 {
        long.extend_from_slice(format!("{:x}\r\n{}\r\n", 65_536, "x".repeat(65_536)).as_bytes());
    }
    long.extend_from_slice(b"0\r\n\r\n");
    assert!(matches!(exchange(forge, &long), Some(422) | None));
    let short = format!("{}3\r\nabc\r\n0\r\n\r\n", chunked_head(&ada, &oid, 7));
    assert_eq!(exchange(forge, short.as_bytes()), Some(422));
    for path in [
        format!("{oid}/-1"),
        format!("{oid}/x"),
        format!("{oid}/99999999999999999999"),
        "abc/7".to_owned(),
    ] {
        let request = ada.request("PUT", &format!("gitlab-lfs/objects/{path}"));
        assert_eq!(request.body("content").send().status, 422, "{path}");
    }
    assert!(!has_row(forge, network, &oid));
    assert_eq!(stored(forge), BTreeSet::new());
    assert_eq!(ada.download(b"content"), None);
    let exact = format!("{}7\r\ncontent\r\n0\r\n\r\n", chunked_head(&ada, &oid, 7));
    assert_eq!(exchange(forge, exact.as_bytes()), Some(200));
    assert_eq!(ada.download(b"content").as_deref(), Some(&b"content"[..]));
}

fn an_interrupted_upload_leaves_nothing(forge: &Forge) {
    forge.pin_to_first_server();
    let scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let content = vec![b'x'; 1_000_000];
    let oid = oid_of(&content);
    let authorization = ada.authorization.as_deref().expect("it has credentials");
    let head = format!(
        "PUT /ada/ship.git/gitlab-lfs/objects/{oid}/1000000 HTTP/1.1\r\nHost: forge.test\r\n\
         Authorization: {authorization}\r\nContent-Length: 1000000\r\n\r\n"
    );
    let mut stream = TcpStream::connect(forge.address).expect("the server listens");
    stream.write_all(head.as_bytes()).expect("it can be sent");
    stream.write_all(&content[..500_000]).expect("it can be sent");
    std::thread::sleep(Duration::from_millis(300));
    drop(stream);
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while !stored(forge).is_empty() && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(stored(forge), BTreeSet::new());
    assert!(!has_row(forge, network(forge, scene.project), &oid));
    ada.upload(&content);
    assert!(ada.download(&content).is_some_and(|found| found == content));
}

fn an_object_is_stored_once(forge: &Forge) {
    let scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let oid = oid_of(b"content");
    let network = network(forge, scene.project);
    let total = || {
        let total =
            forge.app.store.read::<_, StoreError>(|tx| tx.lfs_objects().total_bytes(network));
        total.expect("it can be read")
    };
    for _ in 0..2 {
        assert_eq!(put(&ada, &oid, 7, b"content"), 200);
        assert_eq!(total(), 7);
    }
    // Several uploads at once.
    let other = vec![7; 100_000];
    let name = oid_of(&other);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(put(&ada, &name, other.len(), &other), 200));
        }
    });
    assert_eq!(total(), 100_007);
    assert_eq!(ada.download(&other), Some(other));
}

/// After random uploads, the rows, the files and the counters of LFS objects agree.
fn files_and_rows_agree_after_random_operations(forge: &Forge) {
    forge.pin_to_first_server();
    let scene = Scene::of_visibility(forge, "20");
    let (_, bob) = forge.user("bob");
    fork_to_bob(forge, scene.project, &bob);
    let clients = [
        Client::new(forge, "ada/ship", Some(("ada", PASSWORD))),
        Client::new(forge, "bob/ship", Some(("bob", PASSWORD))),
    ];
    let mut state = 7_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let mut expected = BTreeSet::new();
    for _ in 0..60 {
        let content = format!("content {}", next(12)).repeat(100).into_bytes();
        let client = &clients[next(2) as usize];
        let oid = oid_of(&content);
        match next(4) {
            0 => {
                assert_eq!(put(client, &oid, content.len() + 1, &content), 422);
            }
            1 => {
                let wrong = vec![b'x'; content.len()];
                let status = put(client, &oid, wrong.len(), &wrong);
                // An object that is there already is not read again.
                let is_there = expected.contains(&(oid.clone(), content.len() as u64));
                assert_eq!(status, if is_there { 200 } else { 422 });
            }
            _ => {
                assert_eq!(put(client, &oid, content.len(), &content), 200);
                expected.insert((oid, content.len() as u64));
            }
        }
    }
    let network = network(forge, scene.project);
    let (total, rows) = forge
        .app
        .store
        .read::<_, StoreError>(|tx| {
            let oids: Vec<LfsOid> =
                expected.iter().filter_map(|(oid, _)| LfsOid::parse(oid)).collect();
            let rows = tx.lfs_objects().find_all(network, &oids)?;
            Ok((tx.lfs_objects().total_bytes(network)?, rows))
        })
        .expect("rows can be read");
    let rows: BTreeSet<_> =
        rows.into_iter().map(|object| (object.oid.to_string(), object.size)).collect();
    assert_eq!(rows, expected);
    assert_eq!(total, expected.iter().map(|(_, size)| size).sum::<u64>());
    let on_disk = stored(forge);
    // The fake and object stores have no files here.
    if !on_disk.is_empty() {
        let names: BTreeSet<_> = on_disk
            .iter()
            .map(|path| {
                let content = std::fs::read(path).expect("it can be read");
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                assert_eq!(oid_of(&content), name);
                (name, content.len() as u64)
            })
            .collect();
        assert_eq!(names, expected);
    }
}

/// 16.3: "Deleting the last project of the network frees its objects (a job)."
fn objects_go_with_the_last_project_of_their_network(forge: &Forge) {
    forge.pin_to_first_server();
    let scene = Scene::of_visibility(forge, "20");
    let (_, bob) = forge.user("bob");
    let fork = fork_to_bob(forge, scene.project, &bob);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    for number in 0..5 {
        ada.upload(format!("content {number}").as_bytes());
    }
    let (network, oid) = (network(forge, scene.project), oid_of(b"content 1"));
    let before = stored(forge);
    let work = || while removal::step(&forge.app).expect("it can be done") {};
    let path = format!("/projects/{}", scene.project);
    forge.delete(&path).token(&scene.ada).send().expect(200);
    work();
    assert!(has_row(forge, network, &oid));
    assert_eq!(stored(forge), before);
    let bob_client = Client::new(forge, "bob/ship", Some(("bob", PASSWORD)));
    assert_eq!(bob_client.download(b"content 1").as_deref(), Some(&b"content 1"[..]));
    forge.delete(&format!("/projects/{fork}")).token(ROOT).send().expect(200);
    work();
    assert!(!has_row(forge, network, &oid));
    assert_eq!(stored(forge), BTreeSet::new());
    let name = LfsOid::parse(&oid).expect("a valid name");
    let file = forge.app.lfs_files.open(network, name, 0).expect("it can be looked for");
    assert!(file.is_none());
}

/// The objects of a network have a limit together.
#[test]
fn objects_beyond_the_limit_are_refused() {
    let options = ForgeOptions { backend: Backend::Sqlite, dialect: Dialect::Specification };
    let restrictions = Restrictions { lfs_bytes: Some(1_000), ..Restrictions::default() };
    let forge = Forge::start_restricted(options, restrictions).expect("SQLite is always there");
    let _scene = Scene::new(&forge);
    let ada = Client::new(&forge, "ada/ship", Some(("ada", PASSWORD)));
    let (first, second) = (vec![1; 600], vec![2; 401]);
    ada.upload(&first);
    let entry = ada.batch("upload", &[&second]).remove(0);
    assert_eq!(entry["error"]["code"], 422);
    assert_eq!(put(&ada, &oid_of(&second), 401, &second), 413);
    assert_eq!(stored(&forge).len(), 1);
    let third = vec![3; 400];
    ada.upload(&third);
    assert_eq!(ada.download(&first), Some(first));
}

fn total_bytes(forge: &Forge, network: ForkNetworkId) -> u64 {
    let total = forge.app.store.read::<_, StoreError>(|tx| tx.lfs_objects().total_bytes(network));
    total.expect("it can be read")
}

fn object_of(content: &[u8]) -> LfsObject {
    let oid = LfsOid::parse(&oid_of(content)).expect("a valid name");
    LfsObject { oid, size: content.len() as u64 }
}

fn size_of_file(app: &App, network: ForkNetworkId, content: &[u8]) -> Option<u64> {
    let sizes = app.lfs_files.sizes(network, &[object_of(content).oid]);
    sizes.expect("it can be looked for")[0]
}

/// Loses the file of an object, as an operator does by accident.
fn lose_file(app: &App, network: ForkNetworkId, content: &[u8]) {
    app.lfs_files.remove(network, object_of(content).oid).expect("it can be removed");
    assert_eq!(size_of_file(app, network, content), None);
}

/// A batch offers the upload of an object whose file is missing or has another size, and the upload repairs it. Its size
/// counts once.
fn a_lost_file_is_uploaded_again(forge: &Forge) {
    forge.pin_to_first_server();
    let scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let (content, other) = (&b"lost content"[..], &b"other"[..]);
    ada.upload(content);
    ada.upload(other);
    let network = network(forge, scene.project);
    let total = (content.len() + other.len()) as u64;
    let file = stored(forge).into_iter().find(|path| path.ends_with(oid_of(content)));
    let truncate = || {
        let file = file.as_ref().expect("it was stored");
        std::fs::write(file, &content[1..]).expect("it can be written");
    };
    let damages: [&dyn Fn(); 2] = [&|| lose_file(&forge.app, network, content), &truncate];
    // Only files on disk can be truncated here.
    for damage in damages.iter().take(if file.is_some() { 2 } else { 1 }) {
        damage();
        let entries = ada.batch("upload", &[content, other]);
        assert!(entries[0]["actions"]["upload"].is_object(), "{}", entries[0]);
        assert!(entries[1]["actions"].is_null(), "{}", entries[1]);
        let action = &entries[0]["actions"]["upload"];
        // Only the right content is accepted.
        assert_eq!(ada.follow("PUT", action, Some(b"LOST CONTENT")).status, 422);
        assert_ne!(size_of_file(&forge.app, network, content), Some(content.len() as u64));
        assert_eq!(ada.follow("PUT", action, Some(content)).status, 200);
        assert_eq!(total_bytes(forge, network), total);
        assert_eq!(ada.download(content).as_deref(), Some(content));
        assert!(ada.batch("upload", &[content])[0]["actions"].is_null());
    }
}

/// A lost file is repaired even if the network has no room.
#[test]
fn a_lost_file_needs_no_room() {
    let forge = forge_with_room(1_000);
    let scene = Scene::new(&forge);
    let ada = Client::new(&forge, "ada/ship", Some(("ada", PASSWORD)));
    let (first, second) = (vec![1; 600], vec![2; 400]);
    ada.upload(&first);
    ada.upload(&second);
    let network = network(&forge, scene.project);
    lose_file(&forge.app, network, &first);
    ada.upload(&first);
    assert_eq!(total_bytes(&forge, network), 1_000);
    assert_eq!(ada.download(&first), Some(first));
}

fn forge_with_room(lfs_bytes: u64) -> Forge {
    let options = ForgeOptions { backend: Backend::Sqlite, dialect: Dialect::Specification };
    let restrictions = Restrictions { lfs_bytes: Some(lfs_bytes), ..Restrictions::default() };
    Forge::start_restricted(options, restrictions).expect("SQLite is always there")
}

/// Begins an upload, sends half of it, and waits until the server has received that.
fn begin_upload(client: &Client<'_>, content: &[u8]) -> TcpStream {
    let authorization = client.authorization.as_deref().expect("it has credentials");
    let (oid, size) = (oid_of(content), content.len());
    let head = format!(
        "PUT /{}.git/gitlab-lfs/objects/{oid}/{size} HTTP/1.1\r\nHost: forge.test\r\n\
         Authorization: {authorization}\r\nContent-Length: {size}\r\n\r\n",
        client.project
    );
    let half = size / 2;
    let mut stream = TcpStream::connect(client.forge.address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out can be set");
    stream.write_all(head.as_bytes()).expect("it can be sent");
    stream.write_all(&content[..half]).expect("it can be sent");
    let received = || {
        let files = files(&client.forge.folder.path().join("lfs/receiving"));
        let sizes = files.iter().filter_map(|path| std::fs::metadata(path).ok());
        sizes.map(|found| found.len()).max()
    };
    wait_until(|| received() >= Some(half as u64));
    stream
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "it does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// `max_lfs_mb` counts what is received at the moment too.
#[test]
fn uploads_in_progress_take_up_room() {
    let forge = forge_with_room(1_000_000);
    let scene = Scene::of_visibility(&forge, "20");
    let (_, bob) = forge.user("bob");
    fork_to_bob(&forge, scene.project, &bob);
    let ada = Client::new(&forge, "ada/ship", Some(("ada", PASSWORD)));
    let bob = Client::new(&forge, "bob/ship", Some(("bob", PASSWORD)));
    let [first, second, third] =
        [(1, 600_000), (2, 400_001), (3, 400_000)].map(|(byte, size)| vec![byte; size]);
    let put = |client: &Client<'_>, content: &Vec<u8>| {
        let path = format!("gitlab-lfs/objects/{}/{}", oid_of(content), content.len());
        client.request("PUT", &path).body(content.clone()).send()
    };
    // A failed upload gives its room back.
    let given_up = begin_upload(&ada, &first);
    assert_eq!(put(&bob, &second).status, 503);
    drop(given_up);
    wait_until(|| stored(&forge).is_empty());
    wait_until(|| put(&bob, &second).status != 503);
    let network = network(&forge, scene.project);
    assert_eq!(total_bytes(&forge, network), 400_001);
    let fork_free = put(&ada, &first);
    assert_eq!(fork_free.status, 413, "it would never fit");

    let forge = forge_with_room(1_000_000);
    let _scene = Scene::new(&forge);
    let ada = Client::new(&forge, "ada/ship", Some(("ada", PASSWORD)));
    let mut running = begin_upload(&ada, &first);
    let refused = put(&ada, &second);
    let text = "Other uploads to this project and its forks take up the room for this object. Try again later.";
    assert_error(&refused, 503, text);
    assert_eq!(refused.header("retry-after"), Some("10"));
    // The same object needs room for its second copy too.
    assert_eq!(put(&ada, &first).status, 503);
    assert_eq!(put(&ada, &third).status, 200);
    running.write_all(&first[300_000..]).expect("it can be sent");
    let mut answer = [0; 12];
    running.read_exact(&mut answer).expect("there is an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(put(&ada, &second).status, 413);
    assert_eq!(put(&ada, &first).status, 200, "the project has it");
    assert_eq!(stored(&forge).len(), 2);
}

/// Who can fork a project cannot use up its room.
#[test]
fn uploads_to_a_fork_leave_room_for_its_source() {
    let forge = forge_with_room(1_000);
    let scene = Scene::of_visibility(&forge, "20");
    let (_, bob) = forge.user("bob");
    fork_to_bob(&forge, scene.project, &bob);
    let ada = Client::new(&forge, "ada/ship", Some(("ada", PASSWORD)));
    let bob = Client::new(&forge, "bob/ship", Some(("bob", PASSWORD)));
    let refused = |client: &Client<'_>, content: &[u8]| {
        let entry = client.batch("upload", &[content]).remove(0);
        assert_eq!(entry["error"]["code"], 422, "{entry}");
        assert_eq!(put(client, &oid_of(content), content.len(), content), 413);
    };
    refused(&bob, &[1; 501]);
    bob.upload(&[1; 500]);
    refused(&bob, &[2; 1]);
    refused(&ada, &[3; 501]);
    ada.upload(&[3; 500]);
    refused(&ada, &[4; 1]);
    let network = network(&forge, scene.project);
    assert_eq!(total_bytes(&forge, network), 1_000);
    // What its source has counts for a fork too, and a lost file is repaired nevertheless.
    lose_file(&forge.app, network, &[1; 500]);
    bob.upload(&[1; 500]);
    assert_eq!(bob.download(&[1; 500]), Some(vec![1; 500]));
}

/// A client that uploads slowly holds no permit that artifacts and uploaded files need.
#[test]
fn slow_lfs_uploads_leave_permits_for_artifacts() {
    let forge = forge_with_room(1_000_000);
    let _scene = Scene::new(&forge);
    let ada = Client::new(&forge, "ada/ship", Some(("ada", PASSWORD)));
    let free = || (forge.limiter().uploads.free(), forge.limiter().lfs_uploads.free());
    let before = free();
    let running = begin_upload(&ada, &vec![1; 400_000]);
    assert_eq!(free(), (before.0, before.1 - 1));
    drop(running);
    wait_until(|| free() == before);
}

/// A transfer that runs ends when its caller may not transfer any more. It is checked every 30 s.
#[test]
fn permissions_are_checked_again_during_a_transfer() {
    let forge = forge_with_room(1_000);
    let scene = Scene::new(&forge);
    scene.member("bob", "30");
    let users = forge.get("/users?username=bob").token(ROOT).send().expect(200);
    let bob = users[0]["id"].as_i64().expect("users have ids");
    let actor = Actor::User { id: UserId(bob), external: false };
    let requester = LfsRequester::with_credentials(LfsIdentity::Actor(actor));
    let named = ProjectRef::Id(ProjectId(scene.project));
    let project = lfs::admit(&forge.app, requester, LfsOperation::Upload, &named);
    let project = project.expect("developers may upload");
    let may = || {
        [LfsOperation::Download, LfsOperation::Upload]
            .map(|operation| lfs::may_continue(&forge.app, requester, operation, &project))
    };
    assert_eq!(may(), [true, true]);
    let path = format!("/projects/{}/members/{bob}", scene.project);
    forge.put(&path).token(ROOT).form(&[("access_level", "20")]).send().expect(200);
    assert_eq!(may(), [true, false]);
    forge.put(&format!("/users/{bob}/block")).token(ROOT).send().expect(200);
    assert_eq!(may(), [false, false]);
}

/// An upload that announces much and sends little takes little room from others.
#[test]
fn a_slow_upload_reserves_room_in_steps() {
    let forge = forge_with_room(100 << 20);
    let scene = Scene::new(&forge);
    let attempt = |mebibytes: u64, more: u64, event: Option<&dyn Fn()>| {
        let object = LfsObject { size: (mebibytes << 20) + more, ..object_of(b"never sent") };
        let mut from = EventfulContent { content: b"x", event };
        receive(&forge, &forge.app, (&scene.ada, scene.project), object, &mut from)
    };
    let is_admitted = |outcome: Result<(), UploadError>| match outcome {
        // There was room, but not enough content.
        Err(UploadError::Mismatch) => true,
        Err(UploadError::NoRoomNow) => false,
        other => panic!("{other:?}"),
    };
    let during = || {
        assert!(is_admitted(attempt(36, 0, None)));
        assert!(!is_admitted(attempt(36, 1, None)));
        // The next step does not fit while the first upload goes on.
        let next = || assert!(!is_admitted(attempt(1, 0, None)));
        assert!(is_admitted(attempt(36, 0, Some(&next))));
    };
    assert!(is_admitted(attempt(100, 0, Some(&during))));
    assert!(is_admitted(attempt(100, 0, None)), "failed uploads keep no room");
    assert!(matches!(attempt(100, 1, None), Err(UploadError::TooLarge)));
}

/// A store whose next write transactions are rolled back, as if they conflicted with others.
struct ConflictingStore {
    store: Arc<dyn Store>,
    conflicts: AtomicUsize,
    /// Called after each conflict.
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Store for ConflictingStore {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        let left = self.conflicts.load(Ordering::Relaxed);
        if !matches!(mode, Mode::Write) || left == 0 {
            return self.store.transact(mode, work);
        }
        self.conflicts.store(left - 1, Ordering::Relaxed);
        self.store.transact(mode, &mut |tx| {
            let _ = work(tx);
            Verdict::RollBack
        })?;
        (self.meanwhile)();
        Err(StoreError::Busy)
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready()
    }
}

/// The application with its own storage of LFS objects, and with an object store.
fn with_each_storage(forge: &Forge, case: impl Fn(App)) {
    case(forge.app.clone());
    let (server, folder) = (S3Server::start(), tempfile::tempdir().expect("a folder"));
    let lfs_files = Arc::new(BucketLfsFiles::new(server.bucket(), folder.path()));
    case(App { lfs_files, ..forge.app.clone() });
    assert_eq!(server.unfinished_uploads(), Vec::<String>::new());
}

/// Uploads an object of ada's without HTTP.
fn receive(
    forge: &Forge,
    app: &App,
    (ada, project): (&str, i64),
    object: LfsObject,
    content: &mut dyn Read,
) -> Result<(), UploadError> {
    let ada = forge.get("/user").token(ada).send().expect(200);
    let id = UserId(ada["id"].as_i64().expect("users have ids"));
    let identity = LfsIdentity::Actor(Actor::User { id, external: false });
    let requester = LfsRequester::with_credentials(identity);
    let named = ProjectRef::Id(ProjectId(project));
    let admitted = lfs::admit(app, requester, LfsOperation::Upload, &named);
    let admitted = admitted.expect("she may upload");
    lfs::receive(app, requester, &admitted, object, content)
}

/// A transaction that conflicts is repeated. If a failed upload of the same object removes the file between the
/// attempts, no row is left without a file.
fn a_repeated_transaction_leaves_no_row_without_a_file(forge: &Forge) {
    let scene = Scene::new(forge);
    let (network, next) = (network(forge, scene.project), Cell::new(0));
    with_each_storage(forge, |app| {
        for is_removed in [false, true] {
            next.set(next.get() + 1);
            let content = format!("content {}", next.get());
            let object = object_of(content.as_bytes());
            let (files, oid) = (Arc::clone(&app.lfs_files), object.oid);
            let remove = move || files.remove(network, oid).expect("it can be removed");
            let meanwhile: Box<dyn Fn() + Send + Sync> =
                if is_removed { Box::new(remove) } else { Box::new(|| ()) };
            let conflicts = AtomicUsize::new(1);
            let store =
                Arc::new(ConflictingStore { store: Arc::clone(&app.store), conflicts, meanwhile });
            let conflicting = App { store, ..app.clone() };
            let upload = |app: &App| {
                let caller = (scene.ada.as_str(), scene.project);
                receive(forge, app, caller, object, &mut content.as_bytes())
            };
            let uploaded = upload(&conflicting);
            let size = || size_of_file(&app, network, content.as_bytes());
            let name = oid_of(content.as_bytes());
            if is_removed {
                let failed = LfsRefusal::Failed(Error::Store(StoreError::Busy));
                assert_eq!(
                    format!("{uploaded:?}"),
                    format!("{:?}", Err::<(), _>(UploadError::Refused(failed)))
                );
                assert_eq!((has_row(forge, network, &name), size()), (false, None));
                upload(&app).expect("the next upload is stored");
            } else {
                uploaded.expect("the second attempt is stored");
            }
            let expected = Some(content.len() as u64);
            assert_eq!((has_row(forge, network, &name), size()), (true, expected));
        }
    });
}

/// Content during whose upload something happens.
struct EventfulContent<'a> {
    content: &'a [u8],
    event: Option<&'a dyn Fn()>,
}

impl Read for EventfulContent<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if let Some(event) = self.event.take() {
            event();
        }
        self.content.read(to)
    }
}

/// An upload removes its file if its project, or all of its network, was removed meanwhile.
fn an_upload_that_outlives_its_project_leaves_no_file(forge: &Forge) {
    forge.pin_to_first_server();
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let next = Cell::new(0);
    with_each_storage(forge, |app| {
        for (has_fork, has_object) in [(false, false), (false, true), (true, false), (true, true)] {
            next.set(next.get() + 1);
            let name = format!("ship-{}", next.get());
            let fields = [("name", name.as_str()), ("visibility_level", "20")];
            let made = forge.post("/projects").token(&ada).form(&fields).send().expect(201);
            let project = made["id"].as_i64().expect("projects have ids");
            if has_fork {
                fork_to_bob(forge, project, &bob);
            }
            let network = network(forge, project);
            let upload = |content: &[u8], event: Option<&dyn Fn()>| {
                let mut from = EventfulContent { content, event };
                receive(forge, &app, (&ada, project), object_of(content), &mut from)
            };
            if has_object {
                upload(b"kept", None).expect("it is stored");
            }
            let work = || while removal::step(&app).expect("it can be done") {};
            let remove = || {
                forge.delete(&format!("/projects/{project}")).token(&ada).send().expect(200);
                work();
            };
            let late = upload(b"late", Some(&remove));
            let is_refused = matches!(&late, Err(UploadError::Refused(LfsRefusal::NoProject)));
            assert!(is_refused, "{late:?}");
            assert_eq!(size_of_file(&app, network, b"late"), None);
            let kept = (has_fork && has_object).then_some(4);
            assert_eq!(size_of_file(&app, network, b"kept"), kept);
            work();
            assert_eq!(total_bytes(forge, network), kept.unwrap_or(0));
            let locked =
                forge.app.store.write::<_, StoreError>(|tx| tx.lfs_objects().lock_if_used(network));
            assert_eq!(locked.expect("it can be asked"), has_fork);
        }
    });
}
