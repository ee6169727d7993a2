//! The requests of the attackers.

use std::io::Write;
use std::net::SocketAddr;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use sha1::{Digest, Sha1};

use super::attack::{Attacker, Target};
use super::packs;
use super::wire::{packet, request};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const ZERO: &str = "0000000000000000000000000000000000000000";
/// The size of uploads in bytes. It exceeds the limit without a `Content-Length`, so the server
/// receives and discards it.
const UPLOAD: usize = 11 << 20;

/// Requests that are sent without a pause, on several connections.
pub(super) struct Busy {
    pub name: &'static str,
    pub connections: usize,
    /// Builds the request of each turn.
    pub request: Box<dyn Fn(usize) -> Vec<u8> + Send + Sync>,
}

/// A request of a slow client, on several connections.
pub(super) struct Slow {
    pub name: &'static str,
    pub count: usize,
    pub to: SocketAddr,
    pub beginning: Vec<u8>,
    /// The byte that is sent repeatedly; a client without one reads 512 bytes of the response each time.
    pub byte: Option<u8>,
}

/// The id of an object that no repository has, derived from a number.
fn made_up_id(number: usize) -> String {
    Sha1::digest(number.to_be_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Attacks that occupy connections and permits.
pub(super) fn slow(attacker: &Attacker, target: &Target) -> Vec<Slow> {
    let sign_in = &attacker.sign_in;
    let attack = |name, count, beginning: Vec<u8>, byte| Slow {
        name,
        count,
        to: target.http,
        beginning,
        byte,
    };
    let head = |method: &str, path: &str, headers: &str| {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: hexforge\r\n{sign_in}{headers}\r\n");
        head.into_bytes()
    };
    let (trap, noise) = (target.trap, target.noise);
    let repository = |project: i64| format!("/api/v3/projects/{project}/repository");
    let mut push = head(
        "POST",
        "/eve/trap.git/git-receive-pack",
        "Content-Type: application/x-git-receive-pack-request\r\nContent-Length: 9000000\r\n",
    );
    let line = format!("{ZERO} {} refs/heads/slow\0report-status", target.tip);
    push.extend((packet(&line) + "0000PACK\0\0\0\x02\0\0\0\x09").bytes());
    let want = packet(&format!("want {} ofs-delta\n", target.tip));
    let fetch = request(
        "POST",
        "/eve/noise.git/git-upload-pack",
        &format!("{sign_in}Content-Type: application/x-git-upload-pack-request\r\n"),
        (want + "0000" + &packet("done\n")).as_bytes(),
    );
    let mut upload = head(
        "POST",
        &format!("/api/v3/projects/{trap}/uploads"),
        "Content-Type: multipart/form-data; boundary=frontier\r\nContent-Length: 9000000\r\n",
    );
    upload.extend(UPLOAD_BEGINNING);
    let issue = format!("/api/v3/projects/{trap}/issues");
    let long_body = "Content-Type: application/json\r\nContent-Length: 9000000\r\n";
    let blob = format!("{}/raw_blobs/{}", repository(noise), target.blob);
    vec![
        attack("slow heads", 64, b"GET /api/v3/user HTTP/1.1\r\nX: ".to_vec(), Some(b'x')),
        attack("slow bodies", 48, head("POST", &issue, long_body), Some(b' ')),
        attack("slow pushes", 32, push, Some(b'x')),
        attack("slow uploads", 24, upload, Some(b'x')),
        attack(
            "slow readers of archives",
            12,
            head("GET", &format!("{}/archive.tar", repository(noise)), ""),
            None,
        ),
        attack("slow readers of a large file", 16, head("GET", &blob, ""), None),
        attack("slow clones", 30, fetch, None),
        Slow {
            name: "silent SSH connections",
            count: 32,
            to: target.ssh,
            beginning: Vec::new(),
            byte: None,
        },
    ]
}

const UPLOAD_BEGINNING: &[u8] =
    b"--frontier\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n";

/// Attacks that send requests as fast as the server answers.
pub(super) fn busy(attacker: &Attacker, target: &Target) -> Vec<Busy> {
    let mut all = floods(attacker, target);
    all.extend(heavy_reads(attacker, target));
    all.extend(pages(target));
    all.extend(git_requests(attacker, target));
    if attacker.is_user() {
        all.extend(pushes(attacker, target));
    }
    all
}

fn attack(
    name: &'static str,
    connections: usize,
    request: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static,
) -> Busy {
    Busy { name, connections, request: Box::new(request) }
}

/// Cheap requests, on eight connections in total.
fn floods(attacker: &Attacker, target: &Target) -> Vec<Busy> {
    let get = |paths: Vec<String>| {
        let headers = attacker.sign_in.clone();
        let requests: Vec<_> =
            paths.iter().map(|path| request("GET", path, &headers, b"")).collect();
        move |turn: usize| requests[turn % requests.len()].clone()
    };
    let at = |paths: &[&str]| -> Vec<String> {
        let path = |path: &&str| format!("/api/v3{}", path.replace("ID", &target.trap.to_string()));
        paths.iter().map(path).collect()
    };
    let long = "word+".repeat(400);
    let issue = format!("/api/v3/projects/{}/issues", target.trap);
    let post = request("POST", &issue, &format!("{}{FORM}", attacker.sign_in), b"title=Flood");
    vec![
        attack(
            "reads",
            3,
            get(at(&[
                "/user",
                "/projects?per_page=100",
                "/projects/ID/issues?per_page=100",
                "/projects/ID/repository/branches?per_page=100",
                "/projects/ID/repository/tree?recursive=true",
            ])),
        ),
        attack("writes", 2, move |_| post.clone()),
        attack("wrong passwords", 1, |turn| {
            let form = format!("login=nobody-{turn}&password=wrong-password");
            request("POST", "/api/v3/session", FORM, form.as_bytes())
        }),
        attack("missing pages", 1, get(at(&["/projects/999999999", "/nothing", "/users/0"]))),
        attack(
            "searches",
            1,
            get(at(&[
                &format!("/projects/ID/issues?search={long}"),
                "/projects/all?search=e",
                "/users?search=o",
                &format!("/projects?search={long}"),
            ])),
        ),
    ]
}

/// Requests that make the server compute or allocate much.
fn heavy_reads(attacker: &Attacker, target: &Target) -> Vec<Busy> {
    let get = {
        let repository = format!("/api/v3/projects/{}/repository", target.trap);
        let sign_in = attacker.sign_in.clone();
        move |path: String| request("GET", &format!("{repository}/{path}"), &sign_in, b"")
    };
    let commit = {
        let commits = target.commits.clone();
        move |turn: usize| commits[turn % commits.len()].clone()
    };
    let (compare, contributors, archive, blob) = (get.clone(), get.clone(), get.clone(), get);
    let other = commit.clone();
    let headers = format!("{}Content-Type: application/json\r\n", attacker.sign_in);
    let body = json!({ "title": "Large", "description": "x".repeat(9 << 20) }).to_string();
    let issue = format!("/api/v3/projects/{}/issues", target.trap);
    let large = request("POST", &issue, &headers, body.as_bytes());
    vec![
        attack("comparisons", 3, move |turn| {
            compare(format!("compare?from={}&to={}", commit(turn * 7), commit(turn * 13 + 1)))
        }),
        attack("contributors", 2, move |_| contributors("contributors".to_owned())),
        attack("archives", 3, move |turn| archive(format!("archive.tar.bz2?sha={}", other(turn)))),
        attack("blobs by made-up ids", 1, move |turn| {
            blob(format!("raw_blobs/{}", made_up_id(turn)))
        }),
        attack("large JSON", 2, move |_| large.clone()),
    ]
}

/// Requests for web pages, as crawlers send them. A token does not open pages, so both attackers are strangers here.
fn pages(target: &Target) -> Vec<Busy> {
    let get = |paths: Vec<String>| {
        let requests: Vec<_> = paths.iter().map(|path| request("GET", path, "", b"")).collect();
        move |turn: usize| requests[turn % requests.len()].clone()
    };
    let of_commits = |page: &str| -> Vec<String> {
        target.commits.iter().map(|commit| format!("/eve/trap/{page}/{commit}")).collect()
    };
    let cheap = ["/", "/explore/projects?search=e", "/eve/trap", "/eve/missing", "/users/sign_in"];
    vec![
        attack("pages", 2, get(cheap.map(str::to_owned).to_vec())),
        attack("pages of folders", 2, get(of_commits("tree"))),
        attack("pages of histories", 2, get(of_commits("commits"))),
        attack("pages of commits", 2, get(of_commits("commit"))),
    ]
}

/// Requests of git protocol version 2.
fn git_requests(attacker: &Attacker, target: &Target) -> Vec<Busy> {
    let post = |body: &[u8], headers: &str| {
        let headers = format!(
            "{}Git-Protocol: version=2\r\nContent-Type: application/x-git-upload-pack-request\r\n{headers}",
            attacker.sign_in
        );
        request("POST", "/eve/trap.git/git-upload-pack", &headers, body)
    };
    let zipped = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).expect("memory");
        post(&encoder.finish().expect("memory"), "Content-Encoding: gzip\r\n")
    };
    let prefixes: String =
        (0..65_000).map(|number| packet(&format!("ref-prefix refs/heads/{number}\n"))).collect();
    let prefixes = zipped(&format!("{}0001{prefixes}0000", packet("command=ls-refs\n")));
    let newest = target.commits.last().map(String::as_str).unwrap_or_default();
    let fetch = |arguments: &str| {
        let want = packet(&format!("want {newest}\n"));
        format!("{}0001{want}{arguments}{}0000", packet("command=fetch\n"), packet("done\n"))
    };
    let many = |word: &str| -> String {
        let line = |number| packet(&format!("{word} {}\n", made_up_id(number)));
        (0..20_000).map(line).collect()
    };
    let haves = zipped(&fetch(&many("have")));
    let shallow = zipped(&fetch(&(many("shallow") + &packet("deepen 1000\n"))));
    let clone = post(fetch("").as_bytes(), "");
    vec![
        attack("many prefixes of refs", 2, move |_| prefixes.clone()),
        attack("many haves", 1, move |_| haves.clone()),
        attack("many shallow commits", 1, move |_| shallow.clone()),
        attack("clones", 2, move |_| clone.clone()),
    ]
}

/// Pushes and uploads, which need a user account.
fn pushes(attacker: &Attacker, target: &Target) -> Vec<Busy> {
    let headers =
        format!("{}Content-Type: application/x-git-receive-pack-request\r\n", attacker.sign_in);
    let push = move |tip: &str, branch: &str, pack: &[u8]| {
        let line = packet(&format!("{ZERO} {tip} refs/heads/{branch}\0report-status")) + "0000";
        let body = [line.as_bytes(), pack].concat();
        request("POST", "/eve/trap.git/git-receive-pack", &headers, &body)
    };
    // The pushes are refused only after they were read and checked.
    let nothing = made_up_id(0);
    let too_long = push(&nothing, "x", &packs::delta_chain(20_000).0);
    let large = push(&nothing, "x", &packs::large_deltas(256));
    let zeros = push(&nothing, "x", &packs::zeros(200));
    let (chain, tip) = packs::delta_chain(4000);
    let mut upload = format!(
        "POST /api/v3/projects/{}/uploads HTTP/1.1\r\nHost: hexforge\r\n{}\
         Content-Type: multipart/form-data; boundary=frontier\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n",
        target.trap,
        attacker.sign_in,
        UPLOAD_BEGINNING.len() + UPLOAD
    )
    .into_bytes();
    upload.extend(UPLOAD_BEGINNING);
    upload.extend(vec![b'x'; UPLOAD]);
    upload.extend(b"\r\n0\r\n\r\n");
    vec![
        attack("pushes of a too long chain", 1, move |_| too_long.clone()),
        attack("pushes of a long chain", 1, move |turn| push(&tip, &format!("c{turn}"), &chain)),
        attack("pushes of large deltas", 2, move |_| large.clone()),
        attack("pushes of zeros", 1, move |_| zeros.clone()),
        attack("large uploads", 2, move |_| upload.clone()),
    ]
}
