//! Places in a repository: missing ones, long folders, last commits for scripts, and pages that did not change.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, team, user};

on_every_store!(
    missing_places_are_named_to_those_who_may_read,
    long_folders_have_pages,
    scripts_get_last_commits,
    pages_of_commits_are_sent_once,
    large_readmes_lead_to_their_file,
    forks_and_empty_repositories_say_what_they_are,
    commits_show_their_refs_builds_and_comments,
    commits_are_listed_by_day_and_author,
    comments_are_written_on_commits,
    pipelines_over_time_are_for_those_who_read_them,
);

fn missing_places_are_named_to_those_who_may_read(forge: &Forge) {
    project(forge, "ship", "20");
    project(forge, "secret", "0");
    let browser = Browser::stranger(forge);
    for (address, words) in [
        ("/tree/nope/src", ["nope", "src"]),
        ("/tree/master/src/nope", ["master", "src/nope"]),
        ("/blob/master/no%3Cpe%3E.rs", ["master", "no<pe>.rs"]),
        ("/blame/master/nope", ["master", "nope"]),
        ("/commits/nope", ["nope", "nope"]),
        ("/find_file/nope", ["nope", "nope"]),
        ("/graphs/nope", ["nope", "nope"]),
        ("/network/nope", ["nope", "nope"]),
    ] {
        let page = browser.get(&format!("/root/ship{address}")).page(404);
        assert_eq!(page.heading(), "Page not found");
        let text = page.all("main p").join(" ");
        for word in words {
            assert!(text.contains(&format!("“{word}”")), "{address}: {text}");
        }
        let link = page.attributes("main a", "href");
        assert!(link.contains(&"/root/ship/tree/master".to_owned()), "{link:?}");
        let hidden = browser.get(&format!("/root/secret{address}")).page(404);
        let missing = browser.get(&format!("/root/nobody{address}")).page(404);
        let shown = |text: &str| {
            text.lines().filter(|line| !line.contains("authenticity_token")).collect::<String>()
        };
        assert_eq!(shown(&hidden.1), shown(&missing.1.replace("nobody", "secret")), "{address}");
    }
}

fn long_folders_have_pages(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    for number in 0..1_205 {
        tree.write(&format!("many/{number:04}"), "x");
    }
    tree.write("many/zz/x", "x").commit("Many");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let names = |address: &str| {
        let page = browser.get(address).page(200);
        (page.all("table[aria-label=Files] td:first-child a"), page)
    };
    let (first, page) = names("/root/ship/tree/master/many");
    assert_eq!((first.len(), first[0].as_str(), first[1].as_str()), (1_000, "zz", "0000"));
    assert!(
        page.1.contains("There are 0 before them, and 206 after them."),
        "{:?}",
        page.all("main p")
    );
    assert_eq!(page.all("nav[aria-label=Pages] a"), ["Next"]);
    let next = page.attributes("nav[aria-label=Pages] a", "href").remove(0);
    let (second, page) = names(&next);
    assert_eq!((second.len(), second[205].as_str()), (206, "1204"));
    assert_eq!(page.all("nav[aria-label=Pages] a"), ["Previous"]);
    let (none, _) = names("/root/ship/tree/master/many?page=99999999999999");
    assert!(none.is_empty());
}

fn scripts_get_last_commits(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "a/logs_tree"]);
    tree.write("src/new.rs", "x\n").commit("Second");
    forge.fill(id, &tree);
    project(forge, "secret", "0");
    let browser = Browser::stranger(forge);
    for (place, expected) in [
        ("master/logs_tree", vec![("src", "First & <best>"), ("README.md", "First & <best>")]),
        ("a/logs_tree/logs_tree/src", vec![("a", "First & <best>"), ("new.rs", "Second")]),
    ] {
        let sent = browser.get(&format!("/root/ship/refs/{place}")).0;
        assert_eq!(sent.status, 200, "{place}");
        assert_eq!(sent.header("Content-Type"), Some("application/json"));
        let json: serde_json::Value = serde_json::from_slice(&sent.body).expect("it is JSON");
        let commits = json["commits"].as_array().expect("a list");
        let found: Vec<_> = commits
            .iter()
            .map(|one| (one["name"].as_str().unwrap_or(""), one["title"].as_str().unwrap_or("")))
            .collect();
        assert_eq!(found, expected, "{place}");
        assert_eq!(json["is_complete"], true);
    }
    for missing in [
        "ship/refs/nope/logs_tree",
        "ship/refs/master/logs_tree/nope",
        "ship/refs/master",
        "secret/refs/master/logs_tree",
    ] {
        assert_eq!(browser.get(&format!("/root/{missing}")).0.status, 404, "{missing}");
    }
}

fn pages_of_commits_are_sent_once(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let commit = tree.git(&["rev-parse", "HEAD"]);
    user(forge, "ada");
    let (stranger, ada) = (Browser::stranger(forge), Browser::signed_in(forge, "ada"));
    for page in [
        "tree/ID",
        "blob/ID/src/a/main.rs",
        "blame/ID/src/a/main.rs",
        "commits/ID",
        "commit/ID",
        "find_file/ID?search=main",
        "network/ID",
        "compare/ID...ID",
    ] {
        let address = format!("/root/ship/{}", page.replace("ID", &commit));
        let ask = |browser: &Browser<'_>, tag: &str| {
            browser.send(forge.page("GET", &address).header("If-None-Match", tag)).0
        };
        let tag_of = |browser: &Browser<'_>| {
            let seen = browser.get(&address).0;
            assert_eq!(seen.status, 200, "{address}");
            seen.header("ETag").unwrap_or_else(|| panic!("{address} has a tag")).to_owned()
        };
        let (of_stranger, of_ada) = (tag_of(&stranger), tag_of(&ada));
        assert!(!of_stranger.starts_with("W/"), "it is strong");
        assert_ne!(of_stranger, of_ada, "rights belong to the tag");
        assert_eq!(ask(&stranger, &of_stranger).status, 304, "{address}");
        assert_eq!(ask(&ada, &of_ada).status, 304, "{address}");
        assert_eq!(ask(&stranger, &of_ada).status, 200, "{address}");
        let dark = forge.page("GET", &address).header("If-None-Match", &of_stranger);
        let dark = dark.header("Cookie", "hexforge_color_scheme=dark").send();
        assert_eq!(dark.status, 200, "the scheme belongs to the tag");
        let named = address.replace(&commit, "master");
        if !page.starts_with("commit/") {
            assert!(stranger.get(&named).0.header("ETag").is_none(), "a branch moves");
        }
    }
    // What the page shows beside the commit belongs to its tag too.
    let address = format!("/root/ship/commit/{commit}");
    let before = stranger.get(&address).0.header("ETag").map(str::to_owned);
    tree.git(&["branch", "another"]);
    forge.fill(id, &tree);
    assert_ne!(stranger.get(&address).0.header("ETag").map(str::to_owned), before);
    // Whoever may not read it any more gets no answer that confirms it.
    let tag = stranger.get(&address).0.header("ETag").expect("a tag").to_owned();
    let hide = forge.put(&format!("/projects/{id}")).token(ROOT);
    hide.form(&[("name", "ship"), ("visibility_level", "0")]).send().expect(200);
    let asked = forge.page("GET", &address).header("If-None-Match", &tag).send();
    assert_eq!(asked.status, 404);
}

fn large_readmes_lead_to_their_file(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write("README.md", "x\n".repeat(300_000)).commit("Large");
    forge.fill(id, &tree);
    let page = Browser::stranger(forge).get("/root/ship").page(200);
    let region = page.all("section[aria-label='README.md']").remove(0);
    assert!(region.contains("This file is too large to show."), "{region}");
    let link = page.attributes("section[aria-label='README.md'] a", "href");
    assert_eq!(link, ["/root/ship/blob/master/README.md"]);
}

fn forks_and_empty_repositories_say_what_they_are(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let token = forge.sign_in("ada");
    forge
        .post(&format!("/projects/fork/{id}"))
        .token(&token)
        .form(&[("namespace", "ada")])
        .send()
        .expect(201);
    let fork = ada.get("/ada/ship").page(200);
    assert_eq!(fork.all("main a[href='/root/ship']"), ["root/ship"]);
    // The source is not named to those who may not see it.
    let hide = forge.put(&format!("/projects/{id}")).token(ROOT);
    hide.form(&[("name", "ship"), ("visibility_level", "0")]).send().expect(200);
    assert!(!ada.get("/ada/ship").page(200).1.contains("/root/ship\""));
    let made =
        forge.post("/projects").token(ROOT).form(&[("name", "new"), ("visibility_level", "20")]);
    made.send().expect(201);
    let root = Browser::signed_in(forge, "root").get("/root/new").page(200);
    assert!(root.all("h3").contains(&"Command line instructions".to_owned()));
    let commands = root.all("pre").join("\n");
    for command in [
        "git config --global user.name",
        "git clone http",
        "cd new",
        "git remote add origin http",
        "git push -u origin master",
    ] {
        assert!(commands.contains(command), "{command}: {commands}");
    }
}

fn commits_show_their_refs_builds_and_comments(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["tag", "v1"]);
    tree.git(&["branch", "topic/one"]);
    let commit = tree.git(&["rev-parse", "HEAD"]);
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get(&format!("/root/ship/commit/{commit}/branches")).page(200);
    assert_eq!(page.all("ul[aria-label=Branches] a"), ["master", "topic/one"]);
    assert_eq!(page.all("ul[aria-label=Tags] a"), ["v1"]);
    let root = Browser::signed_in(forge, "root");
    let builds = root.get(&format!("/root/ship/commit/{commit}/builds")).page(200);
    assert_eq!(builds.heading(), "Builds");
    assert!(builds.1.contains("There are no builds of this commit."));
    assert_eq!(browser.get("/root/ship/commit/0123456/builds").0.status, 404);
}

fn commits_are_listed_by_day_and_author(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    for (day, author) in [
        ("2020-01-01", "Ada <ada@e.test>"),
        ("2020-01-02", "Bob <bob@e.test>"),
        ("2020-01-02", "Ada <ada@e.test>"),
    ] {
        let date = format!("--date={day}T12:00:00+0000");
        let author_of = format!("--author={author}");
        tree.git(&["commit", "-q", "--allow-empty", "-m", &format!("On {day}"), &date, &author_of]);
    }
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/commits/master").page(200);
    let days = page.all("ul[aria-label=Commits] h2");
    assert_eq!(&days[..2], ["2020-01-02", "2020-01-01"]);
    assert_eq!(page.all("ul[aria-label=Commits] > li").len(), 4);
    let of_bob = browser.get("/root/ship/commits/master?author=BOB").page(200);
    assert_eq!(of_bob.all("ul[aria-label=Commits] .title a"), ["On 2020-01-02"]);
}

fn comments_are_written_on_commits(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let fields = [("title", "Leak")];
    forge.post(&format!("/projects/{id}/issues")).token(ROOT).form(&fields).send().expect(201);
    tree.write("new.txt", "one\ntwo\n");
    let commit = tree.commit("Work on #1\n\nSee #1 & <b>");
    forge.fill(id, &tree);
    team(forge, &[id]);
    let address = format!("/root/ship/commit/{commit}");
    let (stranger, guest) = (Browser::stranger(forge), Browser::signed_in(forge, "guest"));
    let page = stranger.get(&address).page(200);
    assert!(page.all("form[aria-label='Add a comment']").is_empty());
    assert_eq!(page.heading(), "Work on #1");
    let page = guest.get(&address).page(200);
    assert_eq!(page.attributes("h1 a", "href"), ["/root/ship/issues/1"]);
    assert_eq!(page.all("pre.message"), ["See #1 & <b>"]);
    assert_eq!(page.all("form[aria-label='Add a comment'] label"), ["Comment"]);
    assert_eq!(page.all("form[aria-label='Add a comment'] button"), ["Comment"]);
    let form = format!("{address}/comment");
    let empty = guest.post_from(&address, &form, &[("note", " ")]);
    assert_eq!(empty.page(422).all("form [role=alert]").len(), 1);
    guest.post_from(&address, &form, &[("note", "**Nice** <script>x</script>")]);
    let line = page.attributes("a[aria-label='Comment on line 2']", "href").remove(0);
    let of_line = guest.get(&line).page(200);
    assert_eq!(of_line.all("form[aria-label='Comment on line 2'] button"), ["Comment"]);
    guest.post_from(&line, &line, &[("note", "Why two?")]);
    let page = guest.get(&address).page(200);
    let comments = "ol[aria-label=Discussion] article[aria-label='Comment by guest']";
    assert_eq!(page.all(comments).len(), 2);
    assert_eq!(page.all(&format!("{comments} strong")), ["Nice"]);
    assert!(!page.1.contains("<script>x"));
    assert_eq!(page.all(&format!("{comments} code")), ["new.txt:2"]);
    assert_eq!(page.all("ol[aria-label='Comments on line 2'] .prose"), ["Why two?"]);
    assert_eq!(page.faults(), [""; 0]);
    // A removed line has its old number, and no number in the new file.
    let commit = tree.write("new.txt", "one\nthree\n").commit("Replace a line");
    forge.fill(id, &tree);
    let address = format!("/root/ship/commit/{commit}");
    let page = guest.get(&address).page(200);
    let removed = page.attributes("tr[data-kind=removed] a.comment", "href");
    let last = removed.last().expect("removed lines have links");
    let of_line = guest.get(last).page(200);
    assert_eq!(of_line.all("form[aria-label='Comment on line 2'] button"), ["Comment"]);
    assert_eq!(of_line.all("pre.message"), ["-two"]);
    guest.post_from(last, last, &[("note", "Why not?")]);
    let page = guest.get(&address).page(200);
    assert_eq!(page.all(&format!("{comments} code")), ["new.txt:2"]);
    assert_eq!(page.all("ol[aria-label='Comments on removed line 2'] .prose"), ["Why not?"]);
    assert_eq!(page.all(&format!("{comments} .prose")), ["Why not?"]);
    let nowhere = address.clone() + "/comment?path=new.txt&old=2";
    assert_eq!(guest.get(&nowhere).0.status, 404);
    let forged = stranger.post(&form, &[("note", "x")]);
    assert_eq!(forged.0.status, 403);
}

fn pipelines_over_time_are_for_those_who_read_them(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    team(forge, &[id]);
    let reporter =
        Browser::signed_in(forge, "reporter").get("/root/ship/graphs/master/ci").page(200);
    assert_eq!(reporter.heading(), "Pipelines over time");
    assert!(reporter.1.contains("There are no pipelines yet."));
    let stranger = Browser::stranger(forge);
    let tabs = stranger.get("/root/ship/graphs/master").page(200).all(".tabs a");
    let open = stranger.get("/root/ship/graphs/master/ci").0.status;
    assert_eq!(open == 200, tabs.contains(&"Pipelines over time".to_owned()), "{tabs:?}");
}
