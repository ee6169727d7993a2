//! The nginx settings of docs/operations.md, with a real nginx.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::address::free_address;
use hexforge_tests::client::exchange;
use hexforge_tests::program::{self, Program};

/// Spellings of the path of `POST /session` that some server accepts.
const FORMS: [&str; 9] = [
    "/api/v3/session",
    "/api/v3/session/",
    "/api/v3/session//",
    "/api/v3//session",
    "//api/v3/session",
    "/api/v3/sess%69on",
    "/api/v3/%73ession/",
    "/api/v3/./session",
    "/api/v3/x/../session",
];

#[test]
#[expect(clippy::print_stderr, reason = "what is skipped is to be seen")]
fn the_limit_on_sign_ins_covers_every_form_of_the_path() {
    if Command::new("nginx").arg("-v").stderr(Stdio::null()).status().is_err() {
        assert!(std::env::var_os("HEXFORGE_REQUIRE_NGINX").is_none(), "there is no nginx");
        eprintln!("SKIPPED: there is no nginx");
        return;
    }
    let database = TestDatabase::sqlite();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    let program = Program::start(&program::executable(), &data, &database.url).expect("it starts");
    let mut accepted = 0;
    for form in FORMS {
        // A sign-in without a password does not hash anything.
        if status(program.address, "POST", form) == 404 {
            continue;
        }
        accepted += 1;
        let nginx = Nginx::start(folder.path(), program.address);
        let statuses = (0..20).map(|_| status(nginx.address, "POST", form));
        let refused = statuses.filter(|&status| status == 429).count();
        // Eleven requests pass at once, then one every two seconds.
        assert!((5..=9).contains(&refused), "{refused} of 20 requests for {form} were refused");
        // Other calls are not limited.
        assert!((0..20).all(|_| status(nginx.address, "GET", "/api/v3/version") == 401));
    }
    assert!(accepted > 0, "no form of the path is accepted");
}

/// The status of the response, from nginx or from hexforge.
fn status(address: SocketAddr, method: &str, path: &str) -> u16 {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: forge.example.com\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let answer = exchange(address, request.as_bytes());
    let line = String::from_utf8_lossy(&answer);
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("no answer for {method} {path}"))
}

/// A running nginx. It is killed when dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    /// Starts nginx with the documented settings, without TLS.
    fn start(folder: &Path, upstream: SocketAddr) -> Self {
        let address = free_address();
        let folder = folder.join(format!("nginx-{}", address.port()));
        std::fs::create_dir(&folder).expect("the folder is new");
        let settings = folder.join("nginx.conf");
        let text = settings_for(&folder, address, upstream);
        std::fs::write(&settings, text).expect("the folder can be written");
        let mut nginx = Command::new("nginx");
        nginx.arg("-p").arg(&folder).arg("-e").arg(folder.join("error.log"));
        let mut child = nginx.arg("-c").arg(&settings).spawn().expect("nginx can be started");
        for _ in 0..100 {
            if TcpStream::connect(address).is_ok() {
                return Self { child, address };
            }
            if let Ok(Some(status)) = child.try_wait() {
                panic!("nginx ended: {status}");
            }
            sleep(Duration::from_millis(50));
        }
        panic!("nginx does not listen");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM also ends its workers.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// The documented settings, for these addresses.
fn settings_for(folder: &Path, address: SocketAddr, upstream: SocketAddr) -> String {
    let page = include_str!("../../docs/operations.md");
    let (_, text) = page.split_once("```nginx\n").expect("the settings are documented");
    let (text, _) = text.split_once("```").expect("they end");
    let (server, http) = text.split_once("# in the part `http`:\n").expect("they have two parts");
    let http: String =
        http.lines().map(|line| line.trim_start_matches('#').to_owned() + "\n").collect();
    let is_tls = |line: &str| line.trim_start().starts_with("ssl_certificate");
    let server: String =
        server.lines().filter(|line| !is_tls(line)).map(|line| format!("{line}\n")).collect();
    assert!(server.contains("listen 443 ssl http2;") && server.contains("http://127.0.0.1:8080"));
    let server = server
        .replace("listen 443 ssl http2;", &format!("listen {address};"))
        .replace("127.0.0.1:8080", &upstream.to_string())
        .replace("/var/log/nginx", &folder.display().to_string());
    let own = |name: &str| format!("{name}_temp_path {}/{name};\n", folder.display());
    let temporary: String =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].into_iter().map(own).collect();
    format!(
        "daemon off;\npid {}/pid;\nevents {{}}\nhttp {{\n{temporary}{http}{server}}}\n",
        folder.display()
    )
}
