//! A hostile user who uses all permits, over SSH and HTTP, while others work.

use std::io::Write;
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::time::Duration;

use hexforge_application::limiter::Limiter;
use hexforge_application::project::upload;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::{PermitPool, TransferLimits};
use hexforge_http_actix::Dialect;
use hexforge_tests::ssh_client::Identity;
use hexforge_tests::{Backend, Forge, ForgeOptions, Request, Restrictions, WorkTree};

use super::support::{Scene, register};

/// More bytes than all buffers between server and client hold.
const NOISE: usize = 24 << 20;

fn forge(transfer: TransferLimits) -> Forge {
    let options = ForgeOptions { backend: Backend::Sqlite, dialect: Dialect::Specification };
    let restrictions = Restrictions { transfer, ..Restrictions::default() };
    Forge::start_restricted(options, restrictions).expect("SQLite is there")
}

fn noise() -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..NOISE).map(next).collect()
}

fn packet(line: &str) -> String {
    format!("{:04x}{line}", line.len() + 4)
}

/// The hostile user eve, with a key and a project that has a large file.
struct Hostile<'a> {
    forge: &'a Forge,
    token: String,
    key: Identity,
    project: i64,
    tip: String,
    blob: String,
    /// The path of a large uploaded file.
    upload: String,
}

impl<'a> Hostile<'a> {
    fn new(forge: &'a Forge) -> Self {
        let (_, token) = forge.user("eve");
        let fields = [("name", "trap"), ("visibility_level", "0")];
        let made = forge.post("/projects").token(&token).form(&fields).send().expect(201);
        let project = made["id"].as_i64().expect("projects have ids");
        let tree = forge.work_tree(project);
        let tip = tree.write("noise", noise()).commit("Noise\n");
        let blob = tree.git(&["rev-parse", "HEAD:noise"]);
        let tip = tree.write("text", "line\n".repeat(100_000)).commit(&format!("After {tip}\n"));
        forge.fill(project, &tree);
        let key = Identity::new();
        register(forge, &token, &key);
        // The file exceeds the limit of uploads over HTTP in tests, so it is stored directly.
        let mut file = upload::begin(&forge.app, ProjectId(project), "noise").expect("it begins");
        file.append(&noise()).expect("there is room");
        let place = file.finish(&forge.app).expect("there is room");
        let upload = format!("/eve/trap{}", place.url());
        Self { forge, token, key, project, tip, blob, upload }
    }

    /// Starts pushes over SSH that send the start of a push or one byte, and then nothing. Up to ten channels share a
    /// connection.
    fn start_pushes(&self, count: usize) -> Vec<SlowPush> {
        let start = |number: usize| {
            let socket = self.key.path().join(format!("connection-{}", number / 9));
            let share = ["-o", "ControlMaster=auto", "-S", &socket.display().to_string()]
                .map(str::to_owned);
            let share: Vec<&str> = share.iter().map(String::as_str).collect();
            let ssh = self.forge.ssh();
            let mut command = self.key.ssh(ssh, &share, &["git-receive-pack 'eve/trap.git'"]);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().expect("ssh can be started");
            let mut stdin = child.stdin.take().expect("it is ours");
            let command =
                format!("{} {} refs/heads/x{number}\0report-status", "0".repeat(40), self.tip);
            let said = if number % 4 == 3 { "0".to_owned() } else { packet(&command) + "0000PACK" };
            // Channels beyond the share of the user are refused after a while.
            let _ = stdin.write_all(said.as_bytes()).and_then(|()| stdin.flush());
            SlowPush { child, stdin }
        };
        (0..count).map(start).collect()
    }

    /// Sends a request over HTTP, and does not read the response.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.forge.address).expect("the server listens");
        let token = &self.token;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {token}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        stream.write_all(body.as_bytes()).expect("it reads");
        stream
    }

    fn get(&self, path: &str) -> TcpStream {
        self.send("GET", &format!("/api/v3/projects/{}/repository/{path}", self.project), "", "")
    }

    /// Requests a fetch of everything, and does not read it.
    fn fetch(&self) -> TcpStream {
        let wish = format!(
            "{}0000{}",
            packet(&format!("want {} ofs-delta\n", self.tip)),
            packet("done\n")
        );
        let headers = format!(
            "Content-Type: application/x-git-upload-pack-request\r\nContent-Length: {}\r\n",
            wish.len()
        );
        self.send("POST", "/eve/trap.git/git-upload-pack", &headers, &wish)
    }
}

struct SlowPush {
    child: Child,
    stdin: ChildStdin,
}

impl Drop for SlowPush {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The free permits for pushes, fetches, archives, large files and downloads of stored files.
fn free_permits(forge: &Forge) -> [usize; 5] {
    let Limiter { pushes, fetches, archives, blobs, downloads, .. } = forge.limiter();
    [pushes, fetches, archives, blobs, downloads].map(PermitPool::free)
}

#[track_caller]
fn wait_until_free(forge: &Forge, expected: [usize; 5]) {
    for _ in 0..1200 {
        if free_permits(forge) == expected {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{:?} are free and not {expected:?}", free_permits(forge));
}

/// Clones, and removes the clone.
fn clone(tree: &WorkTree, ssh_command: &str, address: &str) {
    let target = tempfile::tempdir().expect("a folder for temporary files exists");
    let target = target.path().join("clone").display().to_string();
    let mut command = tree.command(&["clone", "-q", address, &target]);
    let output = command.env("GIT_SSH_COMMAND", ssh_command).output().expect("git can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Findings 4 and 7 of the audit: 36 channels of one user blocked all pushes, and eight slow readers of one user
/// blocked all archives.
#[test]
fn one_hostile_user_does_not_keep_others_waiting() {
    // The hostile user keeps its permits for the whole test.
    let forge = forge(TransferLimits { idle: Duration::from_secs(3600), min_rate: 0 });
    let scene = Scene::filled(&forge);
    let hostile = Hostile::new(&forge);
    let _pushes = hostile.start_pushes(36);
    let _archives: Vec<_> = (0..12).map(|_| hostile.get("archive.tar")).collect();
    let _blobs: Vec<_> =
        (0..16).map(|_| hostile.get(&format!("raw_blobs/{}", hostile.blob))).collect();
    let _fetches: Vec<_> = (0..30).map(|_| hostile.fetch()).collect();
    let _comparisons: Vec<_> =
        (0..40).map(|_| hostile.get("compare?from=master~1&to=master")).collect();
    let _contributors: Vec<_> = (0..40).map(|_| hostile.get("contributors")).collect();
    let _downloads: Vec<_> =
        (0..40).map(|_| hostile.send("GET", &hostile.upload, "", "")).collect();
    let shares = [24, 72, 12, 24, 48];
    wait_until_free(&forge, shares);

    let over_http = format!(
        "http://ada:{}@{}/ada/ship.git",
        hexforge_tests::forge::PASSWORD.replace(' ', "%20"),
        forge.address
    );
    for (number, address) in [scene.address(), over_http].iter().enumerate() {
        scene.tree.write("file", number.to_string()).commit("Work\n");
        scene.git(&["push", "-q", address, "master"]).ok();
        scene.git(&["fetch", "-q", address, "master"]).ok();
        let ssh_command = scene.key.git_ssh_command(scene.ssh);
        clone(&scene.tree, &ssh_command, address);
    }
    let at = |path: &str| format!("/projects/{}/repository/{path}", scene.project);
    for path in ["archive.tar.gz", "compare?from=master~1&to=master", "contributors", "tree"] {
        assert_eq!(forge.get(&at(path)).token(&scene.ada).send().status, 200, "{path}");
    }
    let upload = format!("/projects/{}/uploads", scene.project);
    let large = vec![b'x'; 1 << 20];
    let upload = forge.post(&upload).token(&scene.ada).file("a.txt", &large).send().expect(201);
    let path = format!("/ada/ship{}", upload["url"].as_str().expect("an upload has an address"));
    let file = Request::new(forge.address, "GET", &path).token(&scene.ada).send();
    assert!(file.status == 200 && file.body == large);
    wait_until_free(&forge, shares);
}

/// Clients that send or read too slowly lose their permits.
#[test]
fn slow_clients_lose_their_permits() {
    let forge = forge(TransferLimits { idle: Duration::from_secs(3), min_rate: 64 * 1024 });
    let hostile = Hostile::new(&forge);
    let mut pushes = hostile.start_pushes(6);
    let _archives: Vec<_> = (0..2).map(|_| hostile.get("archive.tar")).collect();
    let _blobs = hostile.get(&format!("raw_blobs/{}", hostile.blob));
    let _fetch = hostile.fetch();
    let _download = hostile.send("GET", &hostile.upload, "", "");
    let mut tries = 0;
    while pushes.iter_mut().any(|push| push.child.try_wait().is_ok_and(|end| end.is_none())) {
        for push in &mut pushes {
            // The write fails once the server has closed the connection.
            let _ = push.stdin.write_all(b"\0").and_then(|()| push.stdin.flush());
        }
        std::thread::sleep(Duration::from_millis(100));
        tries += 1;
        assert!(tries < 1200, "slow pushes are still served");
    }
    wait_until_free(&forge, [32, 96, 16, 32, 64]);
}
