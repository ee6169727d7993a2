//! Diffs of commits, under the names that users of assistive technology and tests rely on.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::issues::{issue, member};
use super::merge_requests::{request, with_topic};
use super::support::{Browser, Page, project, user};

on_every_store!(
    a_commit_has_its_links_and_refs,
    changed_words_are_marked_in_both_layouts,
    lines_around_hunks_are_shown_by_links,
    long_diffs_are_folded,
    diffs_are_available_as_text,
    the_layout_of_changes_is_a_preference,
    comments_are_shown_below_their_lines,
    comments_on_lines_that_are_not_shown_are_linked,
    comments_on_lines_that_vanished_stay_in_the_discussion,
    comments_on_lines_are_for_readers_of_the_merge_request,
);

/// The first merge request, and its changes.
const REQUEST: &str = "/root/ship/merge_requests/1";
const CHANGES: &str = "/root/ship/merge_requests/1/diffs";

/// Writes a comment by the link of a line, which has this name.
fn comment_on(browser: &Browser<'_>, link: &str, text: &str) {
    let page = browser.get(CHANGES).page(200);
    let form = page.attributes(&format!("a.comment[aria-label='{link}']"), "href").remove(0);
    assert_eq!(browser.post_from(&form, &form, &[("note", text)]).0.status, 303);
}

fn a_commit_has_its_links_and_refs(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["tag", "v1"]);
    tree.git(&["checkout", "-q", "-b", "topic"]);
    tree.write("src/a/main.rs", "fn main() {\n    println!(\"<i>\");\n}\n");
    let topic = tree.commit("Second");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let commit = browser.get(&format!("/root/ship/commit/{topic}")).page(200);
    let links = commit.all("main .bar a");
    for name in
        ["Browse files", "Plain diff", "Email patches", "Side by side", "Ignore white space"]
    {
        assert_eq!(links.iter().filter(|link| *link == name).count(), 1, "{name} {links:?}");
    }
    assert!(commit.1.contains("1 changed file with 1 addition and 1 deletion"), "{}", commit.1);
    assert_eq!(commit.all(".facts a[href*='/commits/']"), ["topic"]);
    assert!(commit.all(".facts a[href*='/tags/']").is_empty());
    let parent = commit.attributes(".facts a[href*='/commit/']", "href").remove(0);
    let first = browser.get(&parent).page(200);
    assert_eq!(first.all(".facts a[href*='/commits/']"), ["master", "topic"]);
    assert_eq!(first.all(".facts a[href*='/tags/']"), ["v1"]);
    for costly in first.attributes("main a[href*='view='], main a[href$='.diff']", "rel") {
        assert_eq!(costly, "nofollow");
    }
    let short = &topic[..8];
    assert_eq!(browser.get(&format!("/root/ship/commit/{short}")).page(200).heading(), "Second");
}

fn changed_words_are_marked_in_both_layouts(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write("a.txt", "one two three\nkeep\nindent\n").commit("Before");
    tree.write("a.txt", "one 2 three\nkeep\n  indent\n");
    let changed = tree.commit("After");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let address = format!("/root/ship/commit/{changed}");
    let region = "section[aria-label='a.txt']";
    let unified = browser.get(&address).page(200);
    assert_eq!(unified.all(&format!("{region} tr[data-kind=removed] del")), ["two"]);
    assert_eq!(unified.all(&format!("{region} tr[data-kind=added] ins"))[0], "2");
    assert_eq!(unified.all(&format!("{region} tr[data-kind=hunk]")).len(), 1);
    assert_eq!(unified.all(&format!("{region} tr[data-kind=same] .line")), ["keep"]);
    assert_eq!(unified.all(&format!("{region} tr[data-kind=added]")).len(), 2);
    let other = unified.attributes("main a[href*='view=parallel']", "href").remove(0);
    let parallel = browser.get(&other).page(200);
    assert_eq!(parallel.all(&format!("{region} td[data-kind=removed] del")), ["two"]);
    assert_eq!(parallel.all(&format!("{region} tr[data-kind=added]")).len(), 2);
    assert!(parallel.all("main .bar a").contains(&"Unified".to_owned()));
    let without = browser.get(&format!("{address}?w=1")).page(200);
    assert_eq!(without.all(&format!("{region} tr[data-kind=added] .line")), ["one 2 three"]);
    assert!(without.all("main .bar a").contains(&"Show white space".to_owned()));
}

fn lines_around_hunks_are_shown_by_links(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let text = |changed: &str| -> String {
        (1..=100)
            .map(|number| match number {
                50 => format!("{changed}\n"),
                _ => format!("line {number}\n"),
            })
            .collect()
    };
    tree.write("a.txt", text("old")).commit("Before");
    let changed = tree.write("a.txt", text("new")).commit("After");
    tree.git(&["branch", "topic"]);
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let links = |page: &Page| page.all("section[aria-label='a.txt'] a.expand");
    for address in
        [format!("/root/ship/commit/{changed}"), "/root/ship/compare/master~1...topic".to_owned()]
    {
        for layout in ["", "?view=parallel"] {
            let page = browser.get(&format!("{address}{layout}")).page(200);
            assert_eq!(links(&page), ["Show lines 27 to 46", "Show lines 54 to 73"], "{address}");
            assert_eq!(page.faults(), [""; 0]);
            let follow = |page: &Page, place: usize| {
                let link = page.attributes("a.expand", "href").remove(place);
                browser.get(link.split('#').next().unwrap_or_default()).page(200)
            };
            let above = follow(&page, 0);
            assert_eq!(links(&above), ["Show lines 7 to 26", "Show lines 54 to 73"]);
            assert!(above.1.contains("line 27") && !above.1.contains("line 26"));
            assert_eq!(above.all("tr#N27 .number"), ["27", "27"]);
            let below = follow(&above, 1);
            assert_eq!(links(&below), ["Show lines 7 to 26", "Show lines 74 to 93"]);
            assert!(below.1.contains("line 27") && below.1.contains("line 73"));
            let all = (0..4).fold(below, |page, _| follow(&page, 0));
            assert!(links(&all).is_empty(), "{:?}", links(&all));
            assert_eq!(all.all("tr[data-kind=same] > .line:last-child").len(), 99);
            assert!(all.all("tr[data-kind=hunk]").is_empty());
            assert_eq!(all.faults(), [""; 0]);
        }
    }
    let address = format!("/root/ship/commit/{changed}");
    let page = browser.get(&address).page(200);
    assert!(page.all("main .bar a").contains(&"Wrap lines".to_owned()));
    let wrapped = browser.get(&format!("{address}?wrap=1")).page(200);
    assert_eq!(wrapped.all(".code.wrapped").len(), 1);
    assert!(wrapped.all("main .bar a").contains(&"Do not wrap lines".to_owned()));
    let odd = browser.get(&format!("{address}?file=nothing&lines=1-2&lines=x")).page(200);
    assert!(odd.all("section.diff").is_empty());
}

fn long_diffs_are_folded(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write("long.txt", "x\n".repeat(500)).write("Cargo.lock", "x\n").write("short.txt", "x");
    tree.write("wide.txt", format!("{}\n", "ä".repeat(2_100)));
    let commit = tree.commit("Long");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get(&format!("/root/ship/commit/{commit}")).page(200);
    for (file, is_folded) in
        [("long.txt", true), ("Cargo.lock", true), ("short.txt", false), ("wide.txt", false)]
    {
        let link = page.all(&format!("section[aria-label='{file}'] a[href*='file=']"));
        assert_eq!(link, if is_folded { vec!["Show this diff"] } else { vec![] }, "{file}");
    }
    assert!(page.1.contains("[100 more characters]"));
    assert!(page.1.contains("No newline at end of file"));
    assert!(page.1.contains("4 changed files with 503 additions and 0 deletions"), "{}", page.1);
    let address = page.attributes("section[aria-label='long.txt'] a[href*='file=']", "href");
    let alone = browser.get(&address[0]).page(200);
    assert_eq!(alone.all("section.diff").len(), 1);
    assert_eq!(alone.all("section[aria-label='long.txt'] tr[data-kind=added]").len(), 500);
}

fn diffs_are_available_as_text(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let before = tree.git(&["rev-parse", "HEAD"]);
    tree.git(&["mv", "README.md", "docs.md"]);
    tree.write("ü.txt", "<script>\n").write("src/a/main.rs", "fn main() {}\n");
    let commit = tree.commit("Ändern\n\nThe body.");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    for (ending, check) in [("diff", "apply"), ("patch", "am")] {
        let address = format!("/root/ship/commit/{commit}.{ending}");
        let text = browser.get(&address).0;
        assert_eq!(text.status, 200);
        assert_eq!(text.header("Content-Type"), Some("text/plain; charset=utf-8"));
        assert_eq!(text.header("Content-Security-Policy"), Some("default-src 'none'; sandbox"));
        let tag = text.header("ETag").expect("it has a tag").to_owned();
        let again = forge.page("GET", &address).header("If-None-Match", &tag).send();
        assert_eq!(again.status, 304);
        // The real git accepts it and makes the same files of it.
        let file = tree.path().join(".git").join(ending);
        std::fs::write(&file, text.text()).expect("it can be written");
        tree.git(&["checkout", "-q", "--detach", &before]);
        tree.git(&[check, &file.to_string_lossy()]);
        tree.git(&["add", "-A"]);
        assert_eq!(
            tree.git(&["write-tree"]),
            tree.git(&["rev-parse", &format!("{commit}^{{tree}}")])
        );
        if check == "am" {
            assert_eq!(tree.git(&["log", "-1", "--format=%B"]), "Ändern\n\nThe body.");
        }
        tree.git(&["reset", "-q", "--hard"]);
    }
    assert_eq!(browser.get("/root/ship/commit/nope.diff").0.status, 404);
}

fn the_layout_of_changes_is_a_preference(forge: &Forge) {
    let (_, tree) = project(forge, "ship", "20");
    let commit = tree.git(&["rev-parse", "HEAD"]);
    user(forge, "ada");
    let (ada, settings) = (Browser::signed_in(forge, "ada"), "/profile/preferences");
    let address = format!("/root/ship/commit/{commit}");
    let other = |address: &str| {
        let page = ada.get(address).page(200);
        let links = page.all("main .bar a").into_iter().zip(page.attributes("main .bar a", "href"));
        let is_layout = |(name, _): &(String, String)| name == "Unified" || name == "Side by side";
        links.filter(is_layout).collect::<Vec<_>>()
    };
    let link = |name: &str, query: &str| vec![(name.to_owned(), format!("{address}{query}"))];
    assert_eq!(other(&address), link("Side by side", "?view=parallel"));
    let tag = ada.get(&address).0.header("ETag").map(str::to_owned);
    assert_eq!(ada.get(settings).page(200).all("#diff_view option[selected]"), ["Unified"]);
    ada.post_from(settings, settings, &[("diff_view", "parallel")]).redirects(303, settings);
    assert_eq!(ada.get(settings).page(200).all("#diff_view option[selected]"), ["Side by side"]);
    assert_eq!(other(&address), link("Unified", "?view=inline"));
    assert_ne!(ada.get(&address).0.header("ETag").map(str::to_owned), tag);
    assert_eq!(other(&format!("{address}?view=inline")), link("Side by side", ""));
    assert_eq!(other(&format!("{address}?view=other")), link("Unified", "?view=inline"));
    ada.post_from(settings, settings, &[("diff_view", "<b>")]).redirects(303, settings);
    assert_eq!(other(&address), link("Side by side", "?view=parallel"));
}

fn comments_are_shown_below_their_lines(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    request(forge, id, &[]);
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let hostile = "Why *this*? <script>alert(1)</script> <b onclick=\"alert(2)\">b</b>";
    comment_on(&ada, "Comment on line 2", hostile);
    comment_on(&ada, "Comment on removed line 2", "It was **good**");
    comment_on(&ada, "Comment on line 1", "Unchanged");
    comment_on(&ada, "Comment on line 2", "Me too");
    let discussion = ada.get(REQUEST).page(200);
    let comments = "article[aria-label='Comment by ada']";
    let places = discussion.all(&format!("{comments} code"));
    let [first, second] = ["src/a/main.rs:1", "src/a/main.rs:2"];
    assert_eq!(places, [second, second, first, second]);
    let removed = &discussion.all(&format!("{comments} > p.muted"))[1];
    assert_eq!(*removed, format!("on {second}, a removed line"));
    let anchors = discussion.attributes(&format!("{comments} h3 > a.muted"), "href");
    let mut expected: Vec<String> =
        anchors.iter().map(|anchor| format!("{REQUEST}{anchor}")).collect();
    expected.sort_unstable();
    for query in ["", "?w=1", "?view=parallel", "?file=src/a/main.rs&view=parallel"] {
        let page = ada.get(&format!("{CHANGES}{query}")).page(200);
        assert_eq!(page.faults(), [""; 0], "{query}");
        assert!(!page.1.contains("<script>alert") && !page.1.contains("onclick"), "{query}");
        let below = |line: &str| {
            page.all(&format!("ol[aria-label='Comments on {line}'] {comments} .prose"))
        };
        assert_eq!(below("line 1"), ["Unchanged"], "{query}");
        assert_eq!(below("removed line 2"), ["It was good"], "{query}");
        assert_eq!(below("line 2").len(), 2, "{query}");
        assert!(below("line 2")[0].starts_with("Why this?"), "{query}");
        assert_eq!(below("line 2")[1], "Me too", "{query}");
        // Both sides of a pair are in one row.
        let (removed, added) = match query.contains("parallel") {
            true => ("tr[data-kind=added] + tr", "tr[data-kind=added] + tr + tr"),
            false => ("tr[data-kind=removed] + tr", "tr[data-kind=added] + tr"),
        };
        assert_eq!(page.all(&format!("{removed} > .line-notes strong")), ["good"], "{query}");
        assert_eq!(page.all(&format!("{added} > .line-notes em")), ["this"], "{query}");
        let mut links = page.attributes(&format!("{comments} h3 > a.muted"), "href");
        links.sort_unstable();
        assert_eq!(links, expected, "{query}");
        assert!(page.all(&format!("{comments} form")).is_empty(), "{query}");
    }
}

fn comments_on_lines_that_are_not_shown_are_linked(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let text = |changed: &str| (1..=60).map(|_| "line\n").collect::<String>() + changed;
    tree.write("a.txt", text("old\n")).commit("Before");
    tree.git(&["checkout", "-q", "-b", "topic"]);
    tree.write("a.txt", text("new\n")).write("Cargo.lock", "one\n").commit("Second");
    forge.fill(id, &tree);
    request(forge, id, &[]);
    let root = Browser::signed_in(forge, "root");
    for (path, numbers, shown) in
        [("a.txt", "old=7&new=7", " line"), ("Cargo.lock", "new=1", "+one")]
    {
        let form = format!("{CHANGES}/comment?path={path}&{numbers}");
        let page = root.get(&form).page(200);
        let shown = format!("<pre class=\"message\" tabindex=\"0\">{shown}</pre>");
        assert!(page.1.contains(&shown), "{}", page.1);
        assert_eq!(root.post_from(&form, &form, &[("note", path)]).0.status, 303);
    }
    let page = root.get(CHANGES).page(200);
    assert!(page.all(".line-notes").is_empty());
    let folded = page.all("section[aria-label='Cargo.lock'] > p");
    assert_eq!(folded, ["This diff is folded. Show this diff (1 comment)"]);
    let links = root.get(REQUEST).page(200).attributes("article p.muted a", "href");
    assert_eq!(links.len(), 2);
    for (link, path) in links.iter().zip(["a.txt", "Cargo.lock"]) {
        let (address, anchor) = link.split_once('#').expect("it leads to the comment");
        let page = root.get(address).page(200);
        assert_eq!(page.all(&format!("#{anchor} .prose")), [path], "{link}");
        assert_eq!(page.faults(), [""; 0], "{link}");
    }
}

fn comments_on_lines_that_vanished_stay_in_the_discussion(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    request(forge, id, &[]);
    let root = Browser::signed_in(forge, "root");
    comment_on(&root, "Comment on line 2", "About two");
    comment_on(&root, "Comment on line 3", "About three");
    let shown = || root.get(CHANGES).page(200);
    assert_eq!(shown().all(".line-notes .prose"), ["About two", "About three"]);
    assert!(!shown().1.contains("on an earlier version"));
    forge.clock.advance(TimeDelta::seconds(1));
    let fields = [
        ("branch_name", "topic"),
        ("file_path", "src/a/main.rs"),
        ("content", "fn main() {\n}\n"),
        ("commit_message", "Shorten"),
    ];
    let update = forge.put(&format!("/projects/{id}/repository/files")).token(ROOT);
    update.form(&fields).send().expect(200);
    assert_eq!(shown().all(".line-notes .prose"), ["About two"]);
    assert!(shown().all(".line-notes h3")[0].ends_with("on an earlier version"));
    let discussion = root.get(REQUEST).page(200);
    assert_eq!(discussion.all("article .prose"), ["About two", "About three"]);
}

fn comments_on_lines_are_for_readers_of_the_merge_request(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    issue(forge, id, &[("title", "Secret"), ("confidential", "true")]);
    request(forge, id, &[]);
    member(forge, id, "guest", "10");
    let root = Browser::signed_in(forge, "root");
    comment_on(&root, "Comment on line 2", "Whisper, see #1");
    let guest = Browser::signed_in(forge, "guest");
    for (browser, links) in [(&root, vec!["#1"]), (&guest, vec![])] {
        let page = browser.get(CHANGES).page(200);
        assert_eq!(page.all(".line-notes .prose"), ["Whisper, see #1"]);
        assert_eq!(page.all(".line-notes .prose a"), links);
        assert_eq!(page.1.contains("Secret"), !links.is_empty());
    }
    let hide = forge.put(&format!("/projects/{id}")).token(ROOT);
    hide.form(&[("name", "ship"), ("visibility_level", "0")]).send().expect(200);
    for browser in [&guest, &Browser::stranger(forge)] {
        let seen = browser.get(CHANGES).0;
        assert_eq!(seen.status, 404);
        assert!(!seen.text().contains("Whisper"), "{}", seen.text());
    }
}
