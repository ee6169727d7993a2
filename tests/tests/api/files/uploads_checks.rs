//! POST /projects/:id/uploads: refused requests, and the order of checks. Reference sections 1.1 and 4.11.

use hexforge_tests::client::exchange;
use hexforge_tests::forge::{MAX_BODY, MAX_UPLOAD, ROOT};
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::json;

use crate::api::files::upload_support::{
    assert_nothing_kept, file_at, projects_with_files, url_of,
};
use crate::api::groups::group_support::{error, new_project, no_project, path_of_project};
use crate::api::projects::project_support::not_given;
use crate::api::support::{MISSING, message};

on_every_store!(
    a_file_is_needed,
    the_caller_comes_before_the_project_and_the_project_before_the_file,
    a_file_may_be_as_large_as_the_limit_and_no_larger,
    a_file_in_chunks_is_measured_too,
    other_parts_do_not_get_round_the_limits,
    interrupted_uploads_are_not_stored,
    only_multipart_forms_are_accepted,
    tokens_and_sudo_may_be_parts_before_the_file,
    parameters_after_the_file_do_not_count,
    a_refused_file_is_not_taken_for_the_next_request,
);

/// A project of ada's, her token, and the path for uploads.
fn a_place(forge: &Forge) -> (serde_json::Value, String, String) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = format!("{}/uploads", path_of_project(&project));
    (project, token, path)
}

/// POST /projects/:id/uploads
fn a_file_is_needed(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let ask = || forge.post(&path).token(&token);
    for (what, request) in [
        ("nothing", ask()),
        ("an empty form", ask().form(&[])),
        ("a form", ask().form(&[("file", "x")])),
        ("the query", ask().query(&[("file", "x")])),
        ("JSON", ask().json(&json!({"file": "x"}))),
        ("a part that is a text", ask().multipart(&[("file", "x")])),
        ("a file of another name", ask().form_data(&[("name=\"f\"; filename=\"a.txt\"", b"x")])),
        ("no file was chosen", ask().form_data(&[("name=\"file\"; filename=\"\"", b"")])),
        ("no parts", ask().form_data(&[])),
    ] {
        assert_eq!(request.send().expect(400), not_given("file"), "{what}");
    }
    assert_nothing_kept(forge);
}

/// POST /projects/:id/uploads
fn the_caller_comes_before_the_project_and_the_project_before_the_file(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let missing = format!("/projects/{MISSING}/uploads");
    let large = vec![b'x'; MAX_UPLOAD + 1];
    assert_eq!(forge.post(&missing).send().expect(401), message("401 Unauthorized"));
    assert_eq!(forge.post(&missing).token(&token).send().expect(404), no_project());
    assert_eq!(forge.post(&path).token(&token).send().expect(400), not_given("file"));
    // The request is refused before the file is read.
    for (request, status) in [(forge.post(&path), 401), (forge.post(&missing).token(&token), 404)] {
        let refused = request.file("a.txt", &large[..100_000]).send();
        assert_eq!(refused.status, status);
    }
    let sudo = forge.post(&path).token(&token).query(&[("sudo", "root")]);
    assert_eq!(sudo.file("a.txt", b"x").send().status, 403);
    assert_nothing_kept(forge);
}

fn too_large() -> serde_json::Value {
    message("413 Request Entity Too Large")
}

/// POST /projects/:id/uploads
fn a_file_may_be_as_large_as_the_limit_and_no_larger(forge: &Forge) {
    let (project, token, path) = a_place(forge);
    let content: Vec<u8> = (0..=MAX_UPLOAD).map(|at| (at % 251) as u8).collect();
    let refused = forge.post(&path).token(&token).file("a.bin", &content).send();
    assert_eq!(refused.expect(413), too_large());
    assert_nothing_kept(forge);
    let exact = &content[..MAX_UPLOAD];
    let url = url_of(&forge.post(&path).token(&token).file("a.bin", exact).send().expect(201));
    let file = file_at(forge, &project, &url).token(&token).send();
    assert_eq!(file.header("Content-Length"), Some(MAX_UPLOAD.to_string().as_str()));
    assert!(file.body == exact, "the file came back as it was sent");
}

/// The request head of an upload, up to the headers about its length.
fn head(path: &str, token: &str) -> String {
    format!(
        "POST /api/v3{path} HTTP/1.1\r\nHost: forge\r\nConnection: close\r\nPRIVATE-TOKEN: {token}\r\n\
         Content-Type: multipart/form-data; boundary=frontier\r\n"
    )
}

const PART: &str =
    "--frontier\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";

/// POST /projects/:id/uploads
fn a_file_in_chunks_is_measured_too(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let send = |length: usize| {
        let body = format!("{PART}{}\r\n--frontier--\r\n", "x".repeat(length));
        let mut bytes = head(&path, &token);
        bytes.push_str("Transfer-Encoding: chunked\r\n\r\n");
        let chunks = body.as_bytes().chunks(50_000);
        for chunk in chunks.map(|chunk| std::str::from_utf8(chunk).expect("ASCII")) {
            bytes.push_str(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
        }
        bytes.push_str("0\r\n\r\n");
        Response::parse(&exchange(forge.address, bytes.as_bytes()))
    };
    assert_eq!(send(MAX_UPLOAD + 1).expect(413), too_large());
    assert_nothing_kept(forge);
    send(MAX_UPLOAD).expect(201);
    assert_eq!(projects_with_files(forge), 1);
}

/// POST /projects/:id/uploads
fn other_parts_do_not_get_round_the_limits(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let (file, text) = ("name=\"file\"; filename=\"a.txt\"", "name=\"text\"");
    let other = "name=\"other\"; filename=\"b.txt\"";
    let large = vec![b'x'; MAX_BODY + 1];
    for parts in [
        vec![(text, &large[..]), (file, b"x")],
        vec![(other, &large), (other, &large), (other, &large), (file, b"x")],
        vec![(file, b"x"), (other, &large), (other, &large), (other, &large)],
    ] {
        let refused = forge.post(&path).token(&token).form_data(&parts).send();
        assert_eq!(refused.expect(413), too_large());
    }
    assert_nothing_kept(forge);
}

/// POST /projects/:id/uploads
fn interrupted_uploads_are_not_stored(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let bodies = [
        format!("{PART}{}", "x".repeat(400_000)),
        format!("{PART}x"),
        format!("{PART}x\r\n--fron"),
        format!("{PART}x\r\n--frontier\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\ny"),
        PART.to_owned(),
    ];
    for body in bodies {
        // The body ends early: by its `Content-Length`, or because the connection ends.
        let whole = format!("{}Content-Length: {}\r\n\r\n{body}", head(&path, &token), body.len());
        let answer = Response::parse(&exchange(forge.address, whole.as_bytes()));
        let expected = error("the body is not valid multipart/form-data");
        assert_eq!(answer.expect(400), expected, "{} bytes", body.len());
        let more = format!(
            "{}Content-Length: {}\r\n\r\n{body}",
            head(&path, &token),
            body.len() + 100_000
        );
        cut_off(forge, more.as_bytes());
    }
    assert_nothing_kept_soon(forge);
}

/// Sends bytes, and closes the connection.
fn cut_off(forge: &Forge, bytes: &[u8]) {
    use std::io::Write;
    let mut stream = std::net::TcpStream::connect(forge.address).expect("the server listens");
    stream.write_all(bytes).expect("the server reads");
    stream.shutdown(std::net::Shutdown::Both).expect("a connection can be ended");
}

/// Waits until nothing of an upload is left. The server notices the end of a connection later than the client.
fn assert_nothing_kept_soon(forge: &Forge) {
    let receiving = forge.folder.path().join("uploads/receiving");
    let half = || std::fs::read_dir(&receiving).map_or(0, Iterator::count);
    for _ in 0..200 {
        if half() == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    assert_nothing_kept(forge);
}

/// POST /projects/:id/uploads: reference section 1.4
fn only_multipart_forms_are_accepted(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let ask = |content_type: &str| {
        forge.post(&path).token(&token).header("Content-Type", content_type).body("x").send()
    };
    let refused = ask("application/octet-stream").expect(406);
    let text = "The requested content-type 'application/octet-stream' is not supported.";
    assert_eq!(refused, error(text));
    assert_eq!(ask("image/png").status, 406);
    let broken = error("the body is not valid multipart/form-data");
    assert_eq!(ask("multipart/form-data").expect(400), broken);
    assert_eq!(ask("multipart/form-data; boundary=frontier").expect(400), broken);
    assert_nothing_kept(forge);
}

/// POST /projects/:id/uploads: reference section 1.2
fn tokens_and_sudo_may_be_parts_before_the_file(forge: &Forge) {
    let (project, token, path) = a_place(forge);
    let file: (&str, &[u8]) = ("name=\"file\"; filename=\"a.txt\"", b"x");
    let private = ("name=\"private_token\"", token.as_bytes());
    let url = url_of(&forge.post(&path).form_data(&[private, file]).send().expect(201));
    assert_eq!(file_at(forge, &project, &url).token(&token).send().text(), "x");
    for name in ["private_token", "access_token"] {
        let query = [(name, token.as_str())];
        forge.post(&path).query(&query).form_data(&[file]).send().expect(201);
    }
    let bearer = forge.post(&path).header("Authorization", &format!("Bearer {token}"));
    bearer.form_data(&[file]).send().expect(201);
    // With sudo, an administrator sees what the stranger sees.
    forge.user("stranger");
    let root = ("name=\"private_token\"", ROOT.as_bytes());
    for (target, status) in [("ada", 201), ("stranger", 404)] {
        let sudo = ("name=\"sudo\"", target.as_bytes());
        let answer = forge.post(&path).form_data(&[root, sudo, file]).send();
        assert_eq!(answer.status, status, "{target}");
        let header = forge.post(&path).token(ROOT).header("SUDO", target);
        assert_eq!(header.form_data(&[file]).send().status, status, "{target}");
    }
}

/// POST /projects/:id/uploads
fn parameters_after_the_file_do_not_count(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let file: (&str, &[u8]) = ("name=\"file\"; filename=\"a.txt\"", b"x");
    let private = ("name=\"private_token\"", token.as_bytes());
    assert_eq!(forge.post(&path).form_data(&[file, private]).send().status, 401);
    assert_nothing_kept(forge);
}

/// POST /projects/:id/uploads
fn a_refused_file_is_not_taken_for_the_next_request(forge: &Forge) {
    let (_, token, path) = a_place(forge);
    let missing = format!("/projects/{MISSING}/uploads");
    for (path, token, length, status) in [
        (&path, "nonsense", 10, "401"),
        (&missing, token.as_str(), 10, "404"),
        (&path, token.as_str(), MAX_UPLOAD, "413"),
        (&path, token.as_str(), 10, "201"),
    ] {
        let smuggled = format!("DELETE {} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(length));
        let body = format!("{PART}{smuggled}\r\n--frontier--\r\n");
        let head = head(path, token).replace("Connection: close\r\n", "");
        let bytes = format!(
            "{head}Content-Length: {}\r\n\r\n{body}GET /api/v3/version HTTP/1.1\r\nHost: x\r\n\
             PRIVATE-TOKEN: {ROOT}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let answers = exchange(forge.address, bytes.as_bytes());
        let text = String::from_utf8_lossy(&answers);
        let statuses: Vec<&str> =
            text.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
        // The server may also close the connection instead of answering the second request.
        assert!(statuses == [status, "200"] || statuses == [status], "{status}: {text}");
    }
}
