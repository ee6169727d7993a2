//! `hexforge serve --with-runner`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hexforge_tests::program::{self, ROOT};
use hexforge_tests::{Request, WorkTree};

use super::scene::{has_bubblewrap, sleeps, wait_at_most, wait_until};

struct Server {
    child: Child,
    address: std::net::SocketAddr,
    printed: String,
}

impl Server {
    fn start(data: &std::path::Path) -> Self {
        let mut command = Command::new(program::executable());
        command.args(["serve", "--with-runner"]).env("HEXFORGE_LISTEN", "127.0.0.1:0");
        command.env("HEXFORGE_SSH_LISTEN", "off").env("HEXFORGE_DATA_DIR", data);
        command.env("HEXFORGE_ROOT_TOKEN", ROOT).env("HEXFORGE_LOG", "warn");
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it can be started");
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut printed = String::new();
        while !printed.contains("listening on ") {
            assert!(output.read_line(&mut printed).expect("it is text") > 0, "{printed}");
        }
        let (_, address) = printed.rsplit_once("listening on ").expect("it was found");
        let address = address.trim_end().trim_end_matches([')', '.']).parse().expect("an address");
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Self { child, address, printed }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        Request::new(self.address, method, &format!("/api/v3{path}")).token(ROOT)
    }

    fn status(&self) -> String {
        let builds = self.request("GET", "/projects/1/builds").send().expect(200);
        builds[0]["status"].as_str().unwrap_or_default().to_owned()
    }

    fn push(&self, tree: &WorkTree, configuration: &str) {
        tree.write(".gitlab-ci.yml", configuration).commit("Build it");
        let url = format!("http://root:{ROOT}@{}/root/ship.git", self.address);
        tree.git(&["push", "-q", &url, "master"]);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The ids of the processes that a process has started.
fn children_of(pid: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let children = threads.map(|thread| {
        let thread = thread.expect("it is listed").path();
        // The thread may have ended.
        std::fs::read_to_string(thread.join("children")).unwrap_or_default()
    });
    children
        .flat_map(|list| list.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .filter(|pid| !pid.trim().is_empty())
        .collect()
}

/// Builds run as another user or in a sandbox, and cannot read the data of the server. A second start uses the same
/// runner, and a killed server takes its runner with it.
#[test]
fn a_server_with_a_runner_builds_what_is_pushed() {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    if !has_bubblewrap() {
        return;
    }
    let server = Server::start(&data);
    assert!(
        server.printed.contains("WARNING: --with-runner is for trying out"),
        "{}",
        server.printed
    );
    server.request("POST", "/projects").form(&[("name", "ship")]).send().expect(201);
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    let secrets = data.join("secret.key");
    server.push(
        &tree,
        &format!("job: {{script: ['! cat {} 2>/dev/null', 'id']}}\n", secrets.display()),
    );
    assert!(secrets.exists());
    assert!(wait_until(|| server.status() == "success"), "{}", server.status());
    // A runner that ends before the server is started again.
    for child in children_of(server.child.id()) {
        let killed = Command::new("kill").args(["-KILL", &child]).status();
        assert!(killed.is_ok_and(|status| status.success()), "the runner is a child of the server");
    }
    server.push(&tree, "job: {script: [sleep 3014.5]}\n");
    assert!(wait_until(|| sleeps("3014.5")));
    drop(server);
    assert!(wait_at_most(Duration::from_secs(8), &mut || !sleeps("3014.5")), "a process is left");

    let mut server = Server::start(&data);
    let runners = server.request("GET", "/runners/all").send().expect(200);
    assert_eq!(runners.as_array().map(Vec::len), Some(1), "{runners}");
    let id = server.request("GET", "/projects/1/builds").send().expect(200)[0]["id"].clone();
    server.request("POST", &format!("/projects/1/builds/{id}/cancel")).send().expect(201);
    server.push(&tree, "job: {script: [sleep 3016.5]}\n");
    assert!(wait_until(|| sleeps("3016.5")));
    let stopped = Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status();
    assert!(stopped.is_ok_and(|status| status.success()));
    assert!(server.child.wait().expect("it was started here").success());
    assert!(!sleeps("3016.5"), "a process is left");
}
