//! A crawler that follows every link of a small site, as a master and as a stranger.

use std::collections::{BTreeSet, VecDeque};

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, team};

on_every_store!(no_link_is_dead);

const CONFIGURATION: &str = "build:\n  script: make\n";

/// Fills a site with one thing of each kind.
fn fill(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write(".gitlab-ci.yml", CONFIGURATION);
    tree.commit("Build it");
    forge.fill(id, &tree);
    team(forge, &[id]);
    let post = |path: &str, fields: &[(&str, &str)]| {
        let made = forge.post(path).token(ROOT).form(fields).send();
        assert!([200, 201].contains(&made.status), "{path}: {}", made.text());
    };
    let of = |part: &str| format!("/projects/{id}/{part}");
    post(&of("labels"), &[("name", "bug & more"), ("color", "#ff0000")]);
    post(&of("milestones"), &[("title", "First <1>")]);
    let fields =
        [("title", "It sinks <b>"), ("description", "See #1 and @guest"), ("labels", "bug & more")];
    let issue = forge.post(&of("issues")).token(ROOT).form(&fields).send().expect(201);
    post(&of(&format!("issues/{}/notes", issue["id"])), &[("body", "**Hm.**")]);
    post(&of("repository/branches"), &[("branch_name", "feature/x"), ("ref", "master")]);
    let fields = [
        ("file_path", "new.md"),
        ("branch_name", "feature/x"),
        ("content", "# New\n\n[home](README.md) [gone](https://example.com/)\n"),
        ("commit_message", "Add a file"),
    ];
    post(&of("repository/files"), &fields);
    let fields =
        [("source_branch", "feature/x"), ("target_branch", "master"), ("title", "Merge it")];
    post(&of("merge_requests"), &fields);
    post(&of("repository/tags"), &[("tag_name", "v1"), ("ref", "master")]);
    post(&of("hooks"), &[("url", "http://hook.test/x")]);
    post(&of("variables"), &[("key", "KEY"), ("value", "x")]);
    post(&of("triggers"), &[]);
    let on = forge.put(&format!("/projects/{id}")).token(ROOT);
    on.form(&[("name", "ship"), ("snippets_enabled", "true")]).send().expect(200);
    let fields = [
        ("title", "A snippet"),
        ("file_name", "a.rb"),
        ("code", "puts 1"),
        ("visibility_level", "20"),
    ];
    post(&of("snippets"), &fields);
    post("/groups", &[("name", "Crew"), ("path", "crew"), ("visibility_level", "20")]);
    let pipeline = forge.post(&of("pipeline")).token(ROOT).form(&[("ref", "master")]).send();
    assert_eq!(pipeline.status, 201, "{}", pipeline.text());
    project(forge, "hidden", "0");
}

/// The address of a link of this service, without its fragment.
fn own(link: &str) -> Option<String> {
    let address = link.split('#').next().unwrap_or_default();
    (address.starts_with('/') && !address.starts_with("//")).then(|| address.to_owned())
}

/// What is crawled once: the path, and the names in the query.
fn kind(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    let names: BTreeSet<&str> = names.collect();
    format!("{path} {names:?}")
}

/// Opens every page that links lead to, `most` at most, and returns what is wrong.
fn crawl(browser: &Browser<'_>, start: &str, most: usize) -> Vec<String> {
    let (mut known, mut wrong) = (BTreeSet::new(), Vec::new());
    let mut queue = VecDeque::from([(start.to_owned(), "the crawler".to_owned())]);
    while let Some((address, from)) = queue.pop_front() {
        if !known.insert(kind(&address)) || known.len() > most {
            continue;
        }
        let seen = browser.get(&address).0;
        let mut fault = |what: String| wrong.push(format!("{address} (from {from}): {what}"));
        if let 301..=303 = seen.status {
            match seen.header("Location").and_then(own) {
                Some(target) => queue.push_back((target, address.clone())),
                None => fault(format!("it leads to {:?}", seen.header("Location"))),
            }
            continue;
        }
        if seen.status != 200 {
            fault(format!("status {}", seen.status));
            continue;
        }
        if !seen.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")) {
            continue;
        }
        let page = super::support::Seen(seen).page(200);
        page.faults().into_iter().for_each(&mut fault);
        let mut links = page.attributes("a", "href");
        links.extend(page.attributes("link", "href"));
        links.extend(page.attributes("img, script", "src"));
        // The switch between refs needs the chosen one.
        links.extend(page.attributes("form[method=get]:not(.switcher)", "action"));
        let own = links.iter().filter_map(|link| own(link));
        queue.extend(own.map(|link| (link, address.clone())));
    }
    assert!(known.len() > 20, "only {} pages were found", known.len());
    wrong
}

fn no_link_is_dead(forge: &Forge) {
    fill(forge);
    for (who, start, most) in
        [(None, "/", 400), (Some("master"), "/", 400), (Some("root"), "/admin", 100)]
    {
        let wrong = crawl(&Browser::of(forge, who), start, most);
        assert!(wrong.is_empty(), "{who:?}:\n{}", wrong.join("\n"));
    }
}
