//! The server under test with one repository to which histories are pushed, and git on the same repository.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::Repository;
use hexforge_domain::ports::git_transport::DisconnectSignal;
use hexforge_git_gix::GixStore;
use tempfile::TempDir;

use crate::answer::after_advertisement;
use crate::history::{History, Refs};
use crate::objects::Ids;
use crate::operation::Maintenance;
use crate::process::{FAST, parse_id, parse_ids, run, run_command};
use crate::request::{Request, Wire};
use crate::support::{git_command, refs};

const WRITE_GRAPH: &[&[&str]] = &[&["commit-graph", "write", "--reachable"]];

/// A repository on the server, and the source repository of the pushes.
pub struct Server {
    pub folder: TempDir,
    /// The data folder of the store.
    pub data: PathBuf,
    pub store: GixStore,
    pub project: ProjectId,
    source: PathBuf,
    pub refs: Refs,
    /// All objects in the server's repository, reachable or not.
    pub stored: Ids,
    /// Shell commands that create the same repository with git alone.
    pub script: String,
}

impl Server {
    /// Creates an empty server, and a source repository with all objects of a history.
    pub fn new(history: &History) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let source = folder.path().join("source");
        init_bare(&source);
        let stream = history.stream();
        run(&source, &["fast-import", "--quiet", "--done"], stream.as_bytes());
        let script = format!(
            "git init -q --bare source\n\
             git init -q --bare --initial-branch=master server\n\
             git -C source fast-import --quiet --done <<'END'\n{stream}END\n"
        );
        let data = folder.path().join("data");
        let (store, project) = (open_store(&data), ProjectId(7));
        let (refs, stored) = (Refs::new(), Ids::new());
        Self { folder, data, store, project, source, refs, stored, script }
    }

    pub fn path(&self) -> PathBuf {
        self.store.layout().repository(self.project)
    }

    pub fn open(&self) -> Box<dyn Repository> {
        refs::open(&self.store, self.project)
    }

    /// Runs git in the repository of the server and returns its output.
    pub fn git(&self, arguments: &[&str]) -> Vec<u8> {
        run(&self.path(), arguments, b"")
    }

    /// Pushes until the server has exactly these refs.
    pub fn push(&mut self, history: &History, refs: &Refs) {
        let mut tips = String::new();
        refs.values().for_each(|id| writeln!(tips, "{id}").expect("strings grow"));
        self.refs.values().for_each(|id| writeln!(tips, "^{id}").expect("strings grow"));
        let pack = run(&self.source, PACK_REVISIONS, tips.as_bytes());
        let commands = changes(&self.refs, refs);
        if commands.is_empty() {
            return;
        }
        let report = self.receive(&commands, "report-status", &pack);
        let accepted = report.lines().filter(|line| line.contains("ok refs/")).count();
        assert_eq!(accepted, commands.len(), "a complete push is accepted: {report}");
        self.note_push(&tips, &commands);
        self.refs.clone_from(refs);
        self.stored.extend(history.reachable(refs));
    }

    /// Sends a push and returns the report as text.
    pub fn receive(&self, commands: &[RefCommand], capabilities: &str, pack: &[u8]) -> String {
        let mut bytes = Vec::new();
        for (number, (name, old, new)) in commands.iter().enumerate() {
            let (old, new) = (old.unwrap_or(ZERO), new.unwrap_or(ZERO));
            let line = match number {
                0 => format!("{old} {new} {name}\0{capabilities}"),
                _ => format!("{old} {new} {name}"),
            };
            bytes.extend_from_slice(format!("{:04x}{line}", line.len() + 4).as_bytes());
        }
        bytes.extend_from_slice(b"0000");
        if commands.iter().any(|(_, _, new)| new.is_some()) {
            bytes.extend_from_slice(pack);
        }
        let report =
            refs::receive(&self.store, self.project, &mut &bytes[..], &DisconnectSignal::default());
        report.expect("the push is answered")
    }

    /// Opens the store again, without anything that it kept in memory.
    pub fn reopen(&mut self) {
        self.store = open_store(&self.data);
    }

    /// Reorganizes the repository with git. The store notices the change, or is opened again.
    pub fn maintain(&mut self, how: Maintenance, reopen: bool) {
        let folder = self.path();
        if !folder.exists() {
            return;
        }
        let commands: &[&[&str]] = match how {
            Maintenance::Repack => &[&["repack", "-adq"]],
            Maintenance::Gc => &[&["gc", "-q"]],
            Maintenance::Bitmap => &[&["repack", "-adbq"]],
            Maintenance::CommitGraph => WRITE_GRAPH,
            Maintenance::Loose => {
                self.loosen();
                &[]
            }
        };
        // Repacking drops unreachable objects. For git, a commit-graph that still names them is damaged.
        let graph: &[&[&str]] = match how {
            Maintenance::Repack | Maintenance::Bitmap if self.has_commit_graph() => WRITE_GRAPH,
            _ => &[],
        };
        for arguments in commands.iter().chain(graph) {
            run(&folder, arguments, b"");
            let line = arguments.join(" ");
            writeln!(self.script, "git -C server {line}").expect("strings grow");
        }
        if !matches!(how, Maintenance::CommitGraph) {
            refs::forget_packs(&folder);
        }
        if reopen {
            self.reopen();
        }
        self.stored = self.list_stored();
    }

    fn has_commit_graph(&self) -> bool {
        let info = self.path().join("objects/info");
        info.join("commit-graph").exists() || info.join("commit-graphs").exists()
    }

    /// Turns all packs into loose objects.
    fn loosen(&mut self) {
        let packs = self.path().join("objects/pack");
        let apart = self.folder.path().join("apart");
        fs::rename(&packs, &apart).expect("packs can be moved");
        fs::create_dir(&packs).expect("a folder can be made");
        for file in fs::read_dir(&apart).expect("a folder").map(|file| file.expect("a file").path())
        {
            if file.extension().is_some_and(|extension| extension == "pack") {
                let pack = fs::read(&file).expect("the pack can be read");
                run(&self.path(), &["unpack-objects", "-q"], &pack);
            }
        }
        fs::remove_dir_all(&apart).expect("the packs can be removed");
        self.script.push_str(
            "mv server/objects/pack apart; mkdir server/objects/pack\n\
             for pack in apart/*.pack; do git -C server unpack-objects -q < $pack; done; rm -rf apart\n",
        );
    }

    /// Lists all objects in the repository of the server with git.
    pub fn list_stored(&self) -> Ids {
        if !self.path().exists() {
            return Ids::new();
        }
        let arguments = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
        parse_ids(&run(&self.path(), &arguments, b""))
    }

    fn note_push(&mut self, tips: &str, commands: &[RefCommand]) {
        let arguments = PACK_REVISIONS.join(" ");
        let script = &mut self.script;
        writeln!(script, "git -C source {arguments} > pack <<'END'\n{tips}END").expect("it grows");
        writeln!(script, "git -C server index-pack --fix-thin --stdin < pack").expect("it grows");
        for (name, _, new) in commands {
            match new {
                Some(id) => writeln!(script, "git -C server update-ref {name} {id}"),
                None => writeln!(script, "git -C server update-ref -d {name}"),
            }
            .expect("strings grow");
        }
    }

    /// Sends a request to the server under test.
    pub fn ask_hexforge(&self, request: &Request) -> (Result<(), String>, Vec<u8>) {
        let repository = self.open();
        let (wire, bytes, mut answer) = (request.wire, request.encode(), Vec::new());
        let from = &mut &bytes[..];
        let result = repository.upload_pack(wire.version(), wire.conversation(), from, &mut answer);
        (result.map_err(|error| format!("{error:?}")), answer)
    }

    /// Sends the same bytes to git.
    pub fn ask_git(&self, request: &Request) -> (Result<(), String>, Vec<u8>) {
        let mut git = git_command();
        git.args(FAST).args(UPLOAD_OPTIONS).arg("upload-pack");
        match request.wire {
            Wire::V2 => drop(git.arg("--stateless-rpc").env("GIT_PROTOCOL", "version=2")),
            Wire::V0Stateless => drop(git.arg("--stateless-rpc")),
            Wire::V0Stateful => {}
            Wire::V1Stateful => drop(git.env("GIT_PROTOCOL", "version=1")),
        }
        git.arg(self.path());
        let (is_ok, stdout, stderr) = run_command(git, &request.encode());
        let result = if is_ok { Ok(()) } else { Err(stderr) };
        match request.wire {
            Wire::V2 | Wire::V0Stateless => (result, stdout),
            Wire::V0Stateful | Wire::V1Stateful => {
                let answer = after_advertisement(&stdout).expect("git sends packets");
                (result, answer.to_vec())
            }
        }
    }

    /// Runs `git rev-list` in the repository of the server.
    pub fn rev_list(&self, shallow: &Ids, arguments: &[String]) -> Ids {
        let file = self.folder.path().join("shallow");
        let lines: String = shallow.iter().map(|id| format!("{id}\n")).collect();
        fs::write(&file, lines).expect("a file can be written");
        let file = file.to_str().expect("temporary folders have plain names");
        let mut all = vec!["--shallow-file", file, "rev-list", "--objects", "--no-object-names"];
        all.extend(arguments.iter().map(String::as_str));
        parse_ids(&run(&self.path(), &all, b""))
    }

    /// Runs git in the source repository.
    pub fn run_in_source(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        run(&self.source, arguments, input)
    }

    /// Lists the refs on the server with git.
    pub fn refs_by_git(&self) -> Refs {
        if !self.path().exists() {
            return Refs::new();
        }
        let output = run(&self.path(), &["for-each-ref", "--format=%(objectname) %(refname)"], b"");
        let text = String::from_utf8_lossy(&output).into_owned();
        let refs = text.lines().filter_map(|line| line.split_once(' '));
        refs.map(|(id, name)| (name.to_owned(), parse_id(id))).collect()
    }
}

/// A ref with its old and its new value.
pub type RefCommand = (String, Option<ObjectId>, Option<ObjectId>);

const ZERO: ObjectId = ObjectId::Sha1([0; 20]);

const PACK_REVISIONS: &[&str] =
    &["pack-objects", "--thin", "--revs", "--stdout", "--delta-base-offset", "-q"];

const UPLOAD_OPTIONS: [&str; 4] =
    ["-c", "uploadpack.allowAnySHA1InWant=true", "-c", "uploadpack.allowFilter=true"];

/// Returns the commands that turn the old refs into the new ones.
pub fn changes(old: &Refs, new: &Refs) -> Vec<RefCommand> {
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let command = |name: &String| (name.clone(), old.get(name).copied(), new.get(name).copied());
    names.into_iter().map(command).filter(|(_, old, new)| old != new).collect()
}

pub fn open_store(data: &Path) -> GixStore {
    refs::store(data)
}

/// Creates the files of `git init --bare`, without a process.
fn init_bare(folder: &Path) {
    for name in ["objects/pack", "objects/info", "refs/heads", "refs/tags"] {
        fs::create_dir_all(folder.join(name)).expect("a folder can be made");
    }
    fs::write(folder.join("HEAD"), "ref: refs/heads/master\n").expect("a file can be written");
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
    fs::write(folder.join("config"), config).expect("a file can be written");
}
