//! Fuzz targets: parsers of untrusted input as functions of bytes, which must neither panic nor fail in a way that
//! becomes a 500. `tests/fuzz` runs them with libFuzzer, and `tests/tests/faults/bytes.rs` with a small driver in every
//! run of the tests.

pub mod pack;

use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hexforge_domain::ci::config::{Configuration, Target};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::{GitError, GitStore, Repository};
use hexforge_domain::ports::git_transport::{Conversation, DisconnectSignal, ProtocolVersion};
use hexforge_domain::ports::public_keys::PublicKeys;
use hexforge_domain::push::RefKind;
use hexforge_domain::ref_name::{BranchName, TagName};
use hexforge_domain::refs::{RepositoryState, Snapshot};
use hexforge_git_gix::refs::disk;
use hexforge_git_gix::{GixStore, Layout};
use hexforge_http_actix::Dialect;
use hexforge_pack_store::FolderPacks;
use hexforge_server::system::OpensshKeys;
use hexforge_yaml_saphyr::SaphyrReader;
use tempfile::TempDir;

use crate::client::Request;
use crate::forge::{Backend, Forge, ForgeOptions, ROOT};
use crate::work_tree::WorkTree;

/// The name of a fuzz target and its function.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// All fuzz targets.
pub const TARGETS: [FuzzTarget; 8] = [
    ("pkt_lines_of_pushes", pkt_lines_of_pushes),
    ("pkt_lines_of_fetches", pkt_lines_of_fetches),
    ("pack_streams", pack_streams),
    ("ref_names", ref_names),
    ("ci_configuration", ci_configuration),
    ("ssh_keys", ssh_keys),
    ("query_parameters", query_parameters),
    ("bodies", bodies),
];

/// A repository with a commit, a tag and a second branch.
struct Scene {
    _folder: TempDir,
    store: GixStore,
    refs: Arc<Snapshot>,
    commit: String,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let tree = WorkTree::new(&Layout::new(folder.path()).repository(ProjectId(1)));
        tree.write("README", "hello\n").commit("Begin\n");
        let commit = tree.write("src/main", "fn\n").commit("Go on\n");
        tree.git(&["branch", "other", "HEAD^"]);
        tree.git(&["tag", "-m", "sealed", "v1"]);
        tree.push();
        let packs = Arc::new(FolderPacks::new(folder.path().join("packs")));
        let discard = |doomed: &std::path::Path| std::fs::remove_dir_all(doomed);
        let store = GixStore::new(folder.path(), packs, discard);
        let on_disk = disk::read(tree.bare()).expect("git wrote them");
        let refs = Arc::new(Snapshot::new(&RepositoryState::default(), &on_disk.refs, &[]));
        Self { _folder: folder, store, refs, commit }
    }

    fn open(&self) -> Box<dyn Repository> {
        let refs = Arc::clone(&self.refs);
        let opened = self.store.open(ProjectId(1), refs, Caller::BACKGROUND);
        opened.expect("the repository is sound")
    }
}

fn with_scene(work: impl FnOnce(&Scene)) {
    thread_local! {
        static SCENE: RefCell<Option<Scene>> = const { RefCell::new(None) };
    }
    SCENE.with_borrow_mut(|scene| work(scene.get_or_insert_with(Scene::new)));
}

/// Returns the value, or `None` for an error that the client caused. Panics for an error of the server.
#[track_caller]
fn assert_no_server_error<T>(outcome: Result<T, GitError>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(GitError::Protocol(_) | GitError::Missing | GitError::TooLarge) => None,
        Err(GitError::ReaderGone(_) | GitError::Busy | GitError::Unfinished) => None,
        Err(GitError::Conflict(_) | GitError::Invalid(_)) => None,
        Err(
            error @ (GitError::Failed(_)
            | GitError::Corrupt(_)
            | GitError::Full(_)
            | GitError::Unreachable(_)),
        ) => {
            panic!("{error}")
        }
    }
}

/// Parses a whole push request.
pub fn pkt_lines_of_pushes(data: &[u8]) {
    with_scene(|scene| receive(scene, &mut &data[..]));
}

fn receive(scene: &Scene, from: &mut dyn Read) {
    let repository = scene.open();
    let Some(Some(mut push)) =
        assert_no_server_error(repository.receive(from, &DisconnectSignal::default()))
    else {
        return;
    };
    for change in push.changes() {
        let _ = RefKind::of(&change.name);
        let _ = push.action(change);
    }
    push.refuse_all("nothing is taken here");
    push.write_report(&mut std::io::sink()).expect("nothing is in the way of the answer");
}

/// Parses the pack after a valid push command; see `pack::build`.
pub fn pack_streams(data: &[u8]) {
    with_scene(|scene| {
        let zero = "0".repeat(40);
        let line = format!("{zero} {} refs/heads/new\0report-status", scene.commit);
        let command = format!("{:04x}{line}0000", line.len() + 4);
        receive(scene, &mut command.as_bytes().chain(&pack::build(data)[..]));
    });
}

/// Parses a whole fetch request. The first byte chooses the protocol version and whether the conversation is stateful.
pub fn pkt_lines_of_fetches(data: &[u8]) {
    let Some((choice, mut wishes)) = data.split_first() else { return };
    let version = if choice & 1 == 0 { ProtocolVersion::V0 } else { ProtocolVersion::V2 };
    let conversation =
        if choice & 2 == 0 { Conversation::Stateless } else { Conversation::Stateful };
    with_scene(|scene| {
        let repository = scene.open();
        let sink = &mut std::io::sink();
        assert_no_server_error(repository.upload_pack(version, conversation, &mut wishes, sink));
    });
}

/// Checks ref names, and asserts that hexforge accepts the same ones as git.
pub fn ref_names(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = RefKind::of(text);
    let branch = BranchName::parse(text).map(|name| name.full());
    let tag = TagName::parse(text).map(|name| name.full());
    for full in [branch.ok(), tag.ok()].into_iter().flatten() {
        let bad = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        assert!(!full.split('/').any(bad), "{full:?}");
        assert!(!full.contains("..") && !full.ends_with('.') && !full.contains("@{"), "{full:?}");
        let odd = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
        assert!(!full.contains(odd), "{full:?}");
    }
}

/// Parses a `.gitlab-ci.yml`.
pub fn ci_configuration(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(configuration) = Configuration::parse(&SaphyrReader, &text) else { return };
    for is_tag in [false, true] {
        let target =
            Target { reference: "master", is_tag, triggered: is_tag, project_path: "ada/ship" };
        let _ = configuration.jobs_for(target);
    }
}

/// Parses a public SSH key as users register it.
pub fn ssh_keys(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = OpensshKeys.fingerprint(&text);
}

/// A server in this process, on the fake store.
fn forge() -> &'static Forge {
    static FORGE: OnceLock<Forge> = OnceLock::new();
    FORGE.get_or_init(|| {
        let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
        let forge = Forge::start(options).expect("the fake needs nothing");
        let form = [("name", "ship"), ("public", "true")];
        forge.post("/projects").token(ROOT).form(&form).send().expect(201);
        forge
    })
}

const READS: [&str; 10] = [
    "/users",
    "/projects",
    "/projects/all",
    "/projects/1/issues",
    "/projects/1/labels",
    "/projects/1/events",
    "/projects/1/repository/tree",
    "/projects/1/repository/branches",
    "/groups",
    "/namespaces",
];

/// Sends the query of a read request. The first byte chooses the path.
pub fn query_parameters(data: &[u8]) {
    let Some((choice, query)) = data.split_first() else { return };
    let path = READS[usize::from(*choice) % READS.len()];
    // Bytes that would end the request line are percent-encoded.
    let query: String = query
        .iter()
        .map(|byte| match byte {
            b'!'..=b'~' => char::from(*byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let answer = forge().get(&format!("{path}?{query}")).token(ROOT).send();
    assert!(answer.status < 500, "{path}?{query}: {}", answer.status);
}

const WRITES: [(&str, &str); 10] = [
    ("POST", "/users"),
    ("PUT", "/projects/1"),
    ("POST", "/projects/1/issues"),
    ("POST", "/projects/1/labels"),
    ("POST", "/projects/1/hooks"),
    ("POST", "/user/keys"),
    ("POST", "/session"),
    ("POST", "/groups"),
    ("POST", "/projects/1/variables"),
    ("POST", "/projects/1/repository/tags"),
];

const TYPES: [&str; 4] = [
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=frontier",
    "text/plain",
];

/// Sends the body of a write request. The first two bytes choose the call and the content type.
pub fn bodies(data: &[u8]) {
    let [call, kind, body @ ..] = data else { return };
    let (method, path) = WRITES[usize::from(*call) % WRITES.len()];
    let media_type = TYPES[usize::from(*kind) % TYPES.len()];
    let address = forge().address;
    let request = Request::new(address, method, &format!("/api/v3{path}")).token(ROOT);
    let answer = request.header("Content-Type", media_type).body(body).send();
    let text = String::from_utf8_lossy(body);
    assert!(answer.status < 500, "{method} {path} {media_type} {text:?}: {}", answer.status);
}

/// Valid inputs of a target, from which the fuzzer starts.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let id = "1".repeat(40);
    let zero = "0".repeat(40);
    let line = |text: &str| format!("{:04x}{text}", text.len() + 4);
    let texts: Vec<String> = match target {
        "pkt_lines_of_pushes" => vec![
            format!("{}0000", line(&format!("{zero} {id} refs/heads/x\0report-status atomic"))),
            format!("{}0000", line(&format!("{id} {zero} refs/tags/v1\0 delete-refs"))),
            format!("{}{}0000", line(&format!("shallow {id}\n")), line(&format!("{zero} {id} a\0"))),
        ],
        "pkt_lines_of_fetches" => vec![
            format!("\0{}0000{}", line(&format!("want {id} side-band-64k\n")), line("done\n")),
            format!("\u{1}{}0001{}0000", line("command=ls-refs\n"), line("ref-prefix refs/\n")),
            format!(
                "\u{1}{}0001{}{}0000",
                line("command=fetch\n"),
                line(&format!("want {id}\n")),
                line("filter blob:none\n")
            ),
            format!("\u{2}{}{}", line(&format!("want {id} multi_ack\n")), line("deepen 1\n")),
        ],
        "ref_names" => ["master", "feature/x.y", "v1.0-rc.1", "a/b/c", "été"].map(Into::into).into(),
        "ci_configuration" => vec![
            "stages: [build]\nimage: ruby\njob: &a {stage: build, script: [x], only: [/^a.*$/]}\n\
             other: {<<: *a, when: manual, artifacts: {paths: [a], expire_in: 1 week}}\n"
                .into(),
            "variables: {A: b}\ncache: {key: \"$A\", paths: [v]}\nx: {script: y, needs: z}\n".into(),
        ],
        "ssh_keys" => vec![crate::ssh_keys::an_ssh_key(1), "ssh-rsa AAAAB3NzaC1yc2E= a@b".into()],
        "query_parameters" => vec![
            "\0page=2&per_page=1&search=a".into(),
            "\u{3}labels=a,b&state=opened&order_by=id&sort=asc&milestone=x".into(),
            "\u{6}path=a&ref_name=master".into(),
        ],
        "bodies" => vec![
            "\0\0{\"username\":\"a\",\"name\":\"b\",\"email\":\"c@d\",\"password\":\"12345678\"}".into(),
            "\u{2}\u{1}title=a&labels=b%2Cc&due_date=2016-01-01&confidential=true".into(),
            "\u{2}\u{2}--frontier\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nx\r\n--frontier--\r\n".into(),
            "\u{4}\0{\"url\":\"http://example.com\",\"push_events\":true,\"token\":null}".into(),
            "\u{8}\0{\"key\":\"A\",\"value\":[1,{\"a\":2}]}".into(),
        ],
        _ => Vec::new(),
    };
    let mut seeds: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    if target == "pack_streams" {
        seeds.extend(pack::seeds());
    }
    seeds
}

/// Writes the seeds of a target into the folder `HEXFORGE_FUZZ_SEEDS`.
pub fn write_seeds(target: &str) {
    let Some(folder) = std::env::var_os("HEXFORGE_FUZZ_SEEDS").map(PathBuf::from) else { return };
    for (number, seed) in seeds(target).iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), seed).expect("it can be written");
    }
}
