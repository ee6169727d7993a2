//! Builds, their logs and artifacts.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Runner, on_every_store};
use serde_json::Value;

use super::pipelines::{ci_project, runner};
use super::support::{Browser, team};

on_every_store!(
    a_build_shows_its_log,
    a_running_build_is_followed,
    a_long_log_is_cut,
    sections_of_a_log_are_folded_when_the_build_ended,
    builds_are_canceled_retried_and_erased,
    artifacts_are_downloaded_and_kept,
    files_in_artifacts_are_listed_and_run_nothing,
);

const CONFIGURATION: &str = "rspec: {script: x, artifacts: {paths: [a], expire_in: 1 week}}\n";

/// A running build of a private project, with its runner and the address of its page.
fn started(forge: &Forge) -> (i64, Runner, Value, String) {
    let id = ci_project(forge, "ship", "0", CONFIGURATION);
    team(forge, &[id]);
    let path = format!("/projects/{id}/pipeline");
    forge.post(&path).token(ROOT).form(&[("ref", "master")]).send().expect(201);
    let worker = runner(forge, id);
    let build = worker.take().expect("a build waits");
    let page = format!("/root/ship/builds/{}", build["id"]);
    (id, worker, build, page)
}

fn a_build_shows_its_log(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    let text = "\x1b[32;1mfine\x1b[0m <script>alert(1)</script>\nsecond\n";
    worker.log(&build, &[text]);
    for who in [None, Some("guest")] {
        for part in ["", "/raw", "/trace.json", "/artifacts/download"] {
            let seen = Browser::of(forge, who).get(&format!("{page}{part}"));
            assert_eq!(seen.0.status, 404, "{who:?} {part}");
        }
    }
    let reporter = Browser::signed_in(forge, "reporter");
    let running = reporter.get(&page).page(200);
    assert_eq!(running.heading(), format!("Build #{}", build["id"]));
    assert_eq!(running.all("[role=status]"), ["running"]);
    assert_eq!(running.all("main a[href$='/raw']"), ["Raw log"]);
    assert!(running.all("main a").iter().any(|name| name == "Refresh"));
    assert_eq!(running.all("[role=log] .f2.bold"), ["fine"]);
    assert_eq!(running.all("#L1"), ["1 fine <script>alert(1)</script>"]);
    assert_eq!(running.attributes("#L2 a", "href"), ["#L2"]);
    assert_eq!(running.attributes("main script", "src").len(), 1);
    assert!(running.all("main button").is_empty(), "reporters change nothing");
    assert!(!running.1.contains("Only the last"));
    worker.end(&build, "success");
    let done = reporter.get(&page).page(200);
    assert_eq!(done.all("[role=status]"), ["success"]);
    assert!(done.all("main script").is_empty());
    let raw = reporter.get(&format!("{page}/raw")).0;
    assert_eq!(raw.header("Content-Type"), Some("text/plain; charset=utf-8"));
    assert_eq!(raw.header("Content-Security-Policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(raw.text(), text);
    let list = reporter.get("/root/ship/builds").page(200);
    assert_eq!(list.heading(), "Builds");
    assert_eq!(list.all("table[aria-label=Builds] td:nth-child(6)"), ["rspec"]);
    let time = list.all("table[aria-label=Builds] td:nth-child(7)").remove(0);
    assert!(time.starts_with("took ") && time.ends_with(" · finished just now"), "{time}");
    let pipelines = reporter.get("/root/ship/pipelines").page(200);
    let time = pipelines.all("table[aria-label=Pipelines] td:nth-child(4) .muted").remove(0);
    assert!(time.starts_with("took ") && time.ends_with(" · created just now"), "{time}");
    let script = running.attributes("main script", "src").remove(0);
    let script = reporter.get(&script).0;
    assert_eq!(script.header("Content-Type"), Some("text/javascript; charset=utf-8"));
}

fn a_running_build_is_followed(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    // The log ends with a letter that no token begins with: what may be the beginning of a secret is held back.
    worker.log(&build, &["\x1b[31mone\nbegin:"]);
    let reporter = Browser::signed_in(forge, "reporter");
    let shown = reporter.get(&page).page(200);
    let data = |name: &str| shown.attributes("[role=log]", name).remove(0);
    let (offset, line, style) = (data("data-offset"), data("data-line"), data("data-style"));
    assert_eq!((line.as_str(), style.as_str()), ("2", "f1"));
    assert_eq!(shown.all("[data-rest] .f1"), ["begin:"]);
    let length = "\x1b[31mone\nbegin:".len();
    assert_eq!(worker.append_request(&build, length, " end\nthree\n").send().status, 202);
    let follow = format!("{page}/trace.json?from={offset}&line={line}&style={style}");
    let answer = reporter.get(&follow).0.expect(200);
    let html = answer["html"].as_str().expect("HTML");
    assert!(html.contains("id=\"L2\"") && html.contains("begin: end"), "{html}");
    assert!(html.contains("id=\"L3\"") && !html.contains("one"), "{html}");
    assert_eq!((&answer["status"], &answer["rest"]), (&"running".into(), &"".into()));
    assert_eq!(answer["offset"], (length + " end\nthree\n".len()).to_string());
    for odd in
        ["from=99999999999", "from=-1&line=x&style=%3Cb%3E", "from=3&line=18446744073709551615"]
    {
        reporter.get(&format!("{page}/trace.json?{odd}")).0.expect(200);
    }
}

fn a_long_log_is_cut(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    let line = "x".repeat(1023) + "\n";
    worker.log(&build, &[&line.repeat(600), "the end\n"]);
    let reporter = Browser::signed_in(forge, "reporter");
    let shown = reporter.get(&page).page(200);
    assert!(shown.1.contains("Only the last 512 KiB are shown."));
    assert!(shown.all("[role=log]")[0].ends_with("the end"));
    assert!(shown.1.len() < 700 << 10, "{}", shown.1.len());
    assert_eq!(reporter.get(&format!("{page}/raw")).0.text().len(), 600 * 1024 + 8);
}

fn sections_of_a_log_are_folded_when_the_build_ended(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    let marker =
        |kind: &str, name: &str| format!("\x1b[0Ksection_{kind}:1600000000:{name}\r\x1b[0K");
    let (start, end) = (|name: &str| marker("start", name), |name: &str| marker("end", name));
    let text = format!(
        "{}Get <b>\ncloned\n{}{}\x1b[1mRun\x1b[0m\nbuilt\n{}{}Never ends\nfailed\n",
        start("get_sources"),
        end("get_sources"),
        start("step_script"),
        end("step_script"),
        start("a_test")
    );
    worker.log(&build, &[&text]);
    let reporter = Browser::signed_in(forge, "reporter");
    let running = reporter.get(&page).page(200);
    let lines = ["1 Get <b>", "2 cloned", "3 Run", "4 built", "5 Never ends", "6 failed"];
    assert_eq!(running.all("[role=log] .ll"), lines);
    assert!(running.all("[role=log] details").is_empty());
    worker.end(&build, "success");
    let done = reporter.get(&page).page(200);
    assert_eq!(done.all("[role=log] .ll"), lines);
    assert_eq!(done.all("[role=log] summary"), ["1 Get <b>", "3 Run"]);
    assert_eq!(done.all("[role=log] details"), ["1 Get <b> 2 cloned", "3 Run 4 built"]);
    assert_eq!(done.all("[role=log] details[open] summary"), ["3 Run"]);
    assert_eq!(done.faults(), Vec::<String>::new());
    assert!(reporter.get(&format!("{page}/raw")).0.text().contains("section_start"));
}

fn builds_are_canceled_retried_and_erased(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    worker.log(&build, &["a log\n"]);
    let developer = Browser::signed_in(forge, "developer");
    let buttons = || developer.get(&page).page(200).all("main button");
    assert_eq!(buttons(), ["Cancel build"]);
    let reporter = Browser::signed_in(forge, "reporter");
    let refused = reporter.post_from(&page, &format!("{page}/cancel"), &[]);
    assert_eq!(refused.page(403).heading(), "Not allowed");
    developer.post_from(&page, &format!("{page}/cancel"), &[]).redirects(303, &page);
    assert_eq!(developer.get(&page).page(200).all("main .state"), ["canceled"]);
    assert_eq!(buttons(), ["Retry build", "Erase build"]);
    let again = developer.post_from(&page, &format!("{page}/retry"), &[]);
    let next = again.0.header("Location").expect("it leads to the new build").to_owned();
    assert_ne!(next, page);
    assert_eq!(developer.get(&next).page(200).all("main .state"), ["pending"]);
    assert!(developer.get(&next).page(200).1.contains("waits for a runner"));
    developer.post_from(&page, &format!("{page}/erase"), &[]).redirects(303, &page);
    let erased = developer.get(&page).page(200);
    assert!(erased.1.contains("were erased") && !erased.1.contains("a log"));
    developer.post_from(&page, &format!("{page}/play"), &[]).redirects(303, &page);
    let told = developer.get(&page).page(200).all("[role=alert]");
    assert_eq!(told, ["Nothing was changed: it is not possible any more."]);
}

fn artifacts_are_downloaded_and_kept(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    let sent = worker
        .artifacts("POST", &build)
        .query(&[("expire_in", "1 week")])
        .file("a \"b\".zip", b"PK-zip");
    assert_eq!(sent.send().status, 201);
    worker.end(&build, "success");
    let developer = Browser::signed_in(forge, "developer");
    let shown = developer.get(&page).page(200);
    let download = format!("{page}/artifacts/download");
    assert_eq!(shown.all(&format!("a[href='{download}']")), ["Download artifacts"]);
    let file = developer.get(&download).0;
    assert_eq!((file.status, file.text()), (200, "PK-zip"));
    assert_eq!(file.header("Content-Type"), Some("application/octet-stream"));
    let name = file.header("Content-Disposition").expect("it is saved").to_owned();
    assert!(name.starts_with("attachment; filename=") && !name.contains('"'), "{name}");
    assert!(shown.all("main button").iter().any(|name| name == "Keep artifacts"));
    developer.post_from(&page, &format!("{page}/artifacts/keep"), &[]).redirects(303, &page);
    let kept = developer.get(&page).page(200).all("main button");
    assert!(!kept.iter().any(|name| name == "Keep artifacts"), "{kept:?}");
}

/// A zip archive of files that are not compressed.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let checksum = |bytes: &[u8]| {
        let step = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        !bytes.iter().fold(!0_u32, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
    };
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let start = u32::try_from(archive.len()).expect("it is small").to_le_bytes();
        let size = u32::try_from(bytes.len()).expect("it is small").to_le_bytes();
        let length = u16::try_from(name.len()).expect("it is short").to_le_bytes();
        let sum = checksum(bytes).to_le_bytes();
        let head = [&[0; 8][..], &sum, &size, &size, &length, &[0; 2]].concat();
        archive.extend([b"PK\x03\x04\x0a\0", &head[..], name.as_bytes(), bytes].concat());
        let entry = [b"PK\x01\x02\x0a\0\x0a\0", &head[..], &[0; 10], &start, name.as_bytes()];
        directory.extend(entry.concat());
    }
    let count = u16::try_from(files.len()).expect("they are few").to_le_bytes();
    let size = u32::try_from(directory.len()).expect("it is small").to_le_bytes();
    let start = u32::try_from(archive.len()).expect("it is small").to_le_bytes();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &size, &start, &[0; 2]].concat();
    [archive, directory, end].concat()
}

fn files_in_artifacts_are_listed_and_run_nothing(forge: &Forge) {
    let (_, worker, build, page) = started(forge);
    let files: [(&str, &[u8]); 4] = [
        ("log/a <b>.html", b"<script>alert(1)</script>"),
        ("log/b.bin", b"\0\x01"),
        ("top.txt", b"top"),
        ("../up.txt", b"up"),
    ];
    let sent = worker.artifacts("POST", &build).file("a.zip", &zip(&files)).send();
    assert_eq!(sent.status, 201, "{}", sent.text());
    worker.end(&build, "success");
    let (browse, file) = (format!("{page}/artifacts/browse"), format!("{page}/artifacts/file"));
    for who in [None, Some("guest")] {
        for address in [&browse, &format!("{browse}/log"), &format!("{file}/top.txt")] {
            assert_eq!(Browser::of(forge, who).get(address).0.status, 404, "{who:?} {address}");
        }
    }
    let reporter = Browser::signed_in(forge, "reporter");
    let link = reporter.get(&page).page(200).all(&format!("a[href='{browse}']"));
    assert_eq!(link, ["Browse artifacts"]);
    let root = reporter.get(&browse).page(200);
    assert_eq!(root.heading(), format!("Artifacts of build #{}", build["id"]));
    let names = root.all("table[aria-label=Artifacts] a");
    assert_eq!(names, ["..", "log", "top.txt"]);
    let folder = reporter.get(&format!("{browse}/log")).page(200);
    assert_eq!(folder.all("table[aria-label=Artifacts] a"), ["a <b>.html", "b.bin"]);
    assert_eq!(folder.all("nav[aria-label=Path] a"), ["artifacts"]);
    let address = folder.attributes("table[aria-label=Artifacts] a", "href").remove(0);
    let html = reporter.get(&address).0;
    assert_eq!((html.status, html.text()), (200, "<script>alert(1)</script>"));
    assert_eq!(html.header("Content-Type"), Some("text/plain; charset=utf-8"));
    assert_eq!(html.header("Content-Security-Policy"), Some("default-src 'none'; sandbox"));
    let binary = reporter.get(&format!("{file}/log/b.bin")).0;
    assert_eq!(binary.header("Content-Type"), Some("application/octet-stream"));
    assert_eq!(binary.header("Content-Disposition"), Some("attachment"));
    for missing in ["none", "log", "log/none", "top.txt/x", "%2e%2e/%2e%2e/etc/passwd"] {
        assert_eq!(reporter.get(&format!("{file}/{missing}")).0.status, 404, "{missing}");
    }
    assert_eq!(reporter.get(&format!("{browse}/none")).0.status, 404);
}
