//! Minimal servers for one repository.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use flate2::read::GzDecoder;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::Repository;
use hexforge_domain::ports::git_transport::{Conversation, ProtocolVersion, Service};
use hexforge_git_gix::GixStore;
use tempfile::TempDir;

use crate::support::refs::{open, store};
use crate::support::{Scratch, git_command};

pub const PROJECT: ProjectId = ProjectId(7);

/// A store with one repository, served over HTTP and by git's own protocol.
pub struct Server {
    data: TempDir,
    pub store: Arc<GixStore>,
    http: SocketAddr,
    git: SocketAddr,
}

impl Server {
    /// Serves a repository that does not exist on disk.
    pub fn empty() -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let store = Arc::new(store(data.path()));
        let http = listen(Arc::clone(&store), |store, stream| {
            while http(store, &stream).expect("a request that is answered") {}
        });
        let git = listen(Arc::clone(&store), |store, stream| daemon(store, &stream));
        Self { data, store, http, git }
    }

    /// Serves a copy of a repository.
    pub fn of(scratch: &Scratch) -> Self {
        let server = Self::empty();
        fs::create_dir_all(server.repository().parent().expect("a parent")).expect("a folder");
        run(server.data.path(), &["init", "-q", "--bare", path(&server.repository())]);
        // Pushed objects stay loose until a test packs them.
        server.run(&["config", "receive.unpackLimit", "1000000"]);
        server.push(scratch);
        let head = fs::read(scratch.git_dir().join("HEAD")).expect("a HEAD");
        fs::write(server.repository().join("HEAD"), head).expect("a HEAD");
        server
    }

    /// Pushes all refs of a repository.
    pub fn push(&self, scratch: &Scratch) {
        if scratch.git(&["for-each-ref"]).is_empty() {
            return;
        }
        scratch.git(&["push", "-q", "--force", "--mirror", path(&self.repository())]);
    }

    pub fn repository(&self) -> PathBuf {
        self.store.layout().repository(PROJECT)
    }

    /// Runs git in the served repository and returns its output.
    pub fn run(&self, args: &[&str]) -> String {
        run(&self.repository(), args)
    }

    pub fn http_url(&self) -> String {
        format!("http://{}/x.git", self.http)
    }

    pub fn git_url(&self) -> String {
        format!("git://{}/x.git", self.git)
    }

    pub fn transport(&self) -> Box<dyn Repository> {
        open(&self.store, PROJECT)
    }

    /// Returns the answer to one stateless request.
    pub fn ask(
        &self,
        version: ProtocolVersion,
        mut from: &[u8],
    ) -> (Result<(), hexforge_domain::ports::git::GitError>, Vec<u8>) {
        let mut to = Vec::new();
        let result =
            self.transport().upload_pack(version, Conversation::Stateless, &mut from, &mut to);
        (result, to)
    }
}

pub fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Runs git in a folder and returns its output.
pub fn run(folder: &Path, args: &[&str]) -> String {
    let (ok, stdout, stderr) = try_run(folder, args);
    assert!(ok, "git {args:?}: {stdout}{stderr}");
    stdout.trim_end().to_owned()
}

pub fn try_run(folder: &Path, args: &[&str]) -> (bool, String, String) {
    let output = git_command().current_dir(folder).args(args).output().expect("git is installed");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn listen(store: Arc<GixStore>, answer: fn(&GixStore, TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let store = Arc::clone(&store);
            let stream = stream.expect("a connection");
            stream.set_nodelay(true).expect("an option");
            thread::spawn(move || answer(&store, stream));
        }
    });
    address
}

/// Answers one request. Returns whether there was one.
fn http(store: &GixStore, stream: &TcpStream) -> io::Result<bool> {
    let mut from = BufReader::new(stream);
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(false);
    }
    let target = line.split(' ').nth(1).expect("a target").to_owned();
    let (mut length, mut chunked, mut gzip) = (0, false, false);
    let mut version = ProtocolVersion::V0;
    loop {
        line.clear();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().expect("a length"),
            "transfer-encoding" => chunked = value == "chunked",
            "content-encoding" => gzip = value == "gzip",
            "git-protocol" => version = ProtocolVersion::parse(value),
            "expect" => (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            line.clear();
            from.read_line(&mut line)?;
            let size = u64::from_str_radix(line.trim(), 16).expect("a length");
            from.by_ref().take(size).read_to_end(&mut body)?;
            from.read_line(&mut line)?;
            if size == 0 {
                break;
            }
        }
    } else {
        from.by_ref().take(length).read_to_end(&mut body)?;
    }
    if gzip {
        let packed = std::mem::take(&mut body);
        GzDecoder::new(&packed[..]).read_to_end(&mut body)?;
    }
    let repository = open(store, PROJECT);
    let mut answer = Vec::new();
    let kind = if target.contains("info/refs") {
        if version != ProtocolVersion::V2 {
            answer.extend_from_slice(b"001e# service=git-upload-pack\n0000");
        }
        repository.advertise(Service::UploadPack, version, &mut answer).expect("an advertisement");
        "advertisement"
    } else {
        // The client sees the error.
        let _ =
            repository.upload_pack(version, Conversation::Stateless, &mut &body[..], &mut answer);
        "result"
    };
    let to = &mut &*stream;
    write!(to, "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\n")?;
    write!(to, "Content-Length: {}\r\n\r\n", answer.len())?;
    // The client may have closed the connection.
    Ok(to.write_all(&answer).is_ok())
}

fn daemon(store: &GixStore, mut stream: &TcpStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("a length");
    let length = std::str::from_utf8(&length).expect("digits");
    let mut line = vec![0; usize::from_str_radix(length, 16).expect("a length") - 4];
    stream.read_exact(&mut line).expect("a line");
    let line = String::from_utf8(line).expect("plain text");
    let version = ProtocolVersion::parse(&line.split('\0').collect::<Vec<_>>().join(":"));
    let repository = open(store, PROJECT);
    let mut to = stream;
    repository.advertise(Service::UploadPack, version, &mut to).expect("an advertisement");
    let _ = repository.upload_pack(version, Conversation::Stateful, &mut { stream }, &mut to);
}
