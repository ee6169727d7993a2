//! Markdown of users on pages: raw HTML stays as far as it is harmless.

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{Backend, ForgeOptions, ROOT, Restrictions};
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project};

on_every_store!(
    raw_html_of_a_readme_is_cleaned,
    links_of_a_readme_lead_to_its_repository,
    release_notes_and_comments_are_cleaned,
    links_lead_to_external_trackers_and_wikis,
    names_lead_each_reader_to_what_that_reader_sees,
);

const HOSTILE: &str = "<h1 align=\"center\" onclick=\"x()\">Ship</h1>\n\n\
    <p style=\"position:fixed\" class=\"notice\">A <b>fast</b> one<sup>2</sup></p>\n\n\
    <details><summary>More</summary>\n\n**inside**\n\n</details>\n\n\
    <a id=\"content\" name=\"content\" href=\"https://e.test/x\">out</a>\n\
    <a href=\"javascript:alert(1)\">bad</a> <img src=\"x\" onerror=\"alert(1)\">\n\n\
    ![pic](https://e.test/pic.png)\n\n\
    <form action=\"/users/sign_out\" method=\"post\"><input name=\"authenticity_token\"><button>Go</button></form>\n\
    <iframe src=\"https://e.test\"></iframe><script>alert(1)</script><style>p{}</style>\n";

fn raw_html_of_a_readme_is_cleaned(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write("README.md", HOSTILE).commit("Hostile");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    for address in ["/root/ship", "/root/ship/blob/master/README.md"] {
        let page = browser.get(address).page(200);
        let region = "section[aria-label='README.md'] .prose";
        page.heading();
        assert_eq!(page.all(&format!("{region} h2")), ["Ship"], "{address}");
        assert_eq!(page.all(&format!("{region} b")), ["fast"]);
        assert_eq!(page.all(&format!("{region} sup")), ["2"]);
        assert_eq!(page.all(&format!("{region} details summary")), ["More"]);
        assert_eq!(page.all(&format!("{region} details strong")), ["inside"]);
        assert_eq!(
            page.attributes(&format!("{region} a[href='https://e.test/x']"), "rel"),
            ["nofollow noopener"]
        );
        for name in ["id", "name"] {
            let link = format!("{region} a[href='https://e.test/x']");
            assert_eq!(page.attributes(&link, name), ["user-content-content"]);
        }
        // A picture of another host is a link to it.
        assert_eq!(page.all(&format!("{region} a[href='https://e.test/pic.png']")), ["pic"]);
        assert!(page.attributes(&format!("{region} img[src^=http]"), "src").is_empty());
        for gone in
            ["form", "button", "iframe", "script", "style", "[style]", "[onclick]", "[onerror]"]
        {
            assert!(page.all(&format!("{region} {gone}")).is_empty(), "{gone}");
        }
        assert!(page.attributes(&format!("{region} a[href^='javascript']"), "href").is_empty());
        assert!(page.attributes(&format!("{region} [class]"), "class").is_empty());
    }
}

fn links_of_a_readme_lead_to_its_repository(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "topic/one"]);
    tree.write(
        "docs/a b.md",
        "# Install now\n\n[up](../README.md) [here](#install-now) ![p](p.png)\n",
    );
    tree.write("docs/p.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
    tree.write(
        "README.md",
        "[docs](docs/a%20b.md#install-now) [src](src) [lic](LICENSE) [o](/root/ship)\n",
    );
    tree.write("LICENSE", "free\n").commit("Links");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let links = |address: &str| {
        let page = browser.get(address).page(200);
        page.attributes(".prose a", "href")
    };
    let of_readme = links("/root/ship/tree/topic/one");
    assert_eq!(
        of_readme,
        [
            "/root/ship/blob/topic/one/docs/a%20b.md#user-content-install-now",
            "/root/ship/tree/topic/one/src",
            "/root/ship/tree/topic/one/LICENSE",
            "/root/ship",
        ]
    );
    // A file at the address of a folder leads to the page of the file.
    browser.get(&of_readme[2]).redirects(303, "/root/ship/blob/topic/one/LICENSE");
    let docs = browser.get("/root/ship/blob/topic/one/docs/a%20b.md").page(200);
    assert_eq!(docs.attributes(".prose h2", "id"), ["user-content-install-now"]);
    assert_eq!(
        docs.attributes(".prose a", "href"),
        ["/root/ship/blob/topic/one/README.md", "#user-content-install-now"]
    );
    assert_eq!(docs.attributes(".prose img", "src"), ["/root/ship/raw/topic/one/docs/p.png"]);
    // The same file of another branch has links to that branch.
    tree.git(&["branch", "other"]);
    forge.fill(id, &tree);
    let other = browser.get("/root/ship/blob/other/docs/a%20b.md").page(200);
    assert_eq!(other.attributes(".prose img", "src"), ["/root/ship/raw/other/docs/p.png"]);
}

fn release_notes_and_comments_are_cleaned(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["tag", "v1"]);
    forge.fill(id, &tree);
    let root = Browser::signed_in(forge, "root");
    root.post_from(
        "/root/ship/tags/v1/release/edit",
        "/root/ship/tags/v1/release",
        &[("description", HOSTILE)],
    )
    .redirects(303, "/root/ship/tags/v1");
    let issue = [("title", "Hostile"), ("description", HOSTILE)];
    forge.post(&format!("/projects/{id}/issues")).token(ROOT).form(&issue).send().expect(201);
    for (address, heading) in [("/root/ship/tags/v1", "h2"), ("/root/ship/issues/1", "h3")] {
        let page = root.get(address).page(200);
        assert_eq!(page.all(&format!(".prose {heading}")), ["Ship"], "{address}");
        assert_eq!(page.all(".prose b"), ["fast"]);
        assert_eq!(page.attributes(".prose a[name]", "name"), ["user-content-content"]);
        for gone in ["form", "iframe", "script", "[style]", "[onerror]"] {
            assert!(page.all(&format!(".prose {gone}")).is_empty(), "{address} {gone}");
        }
    }
}

#[test]
fn pictures_of_other_hosts_are_loaded_if_the_operator_allows_it() {
    let restrictions = Restrictions { remote_images: true, ..Restrictions::default() };
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let forge = Forge::start_restricted(options, restrictions).expect("the fake always runs");
    let (id, tree) = project(&forge, "ship", "20");
    tree.write("README.md", "![a](https://e.test/a.png) ![b](http://e.test/b.png)\n")
        .commit("Pictures");
    forge.fill(id, &tree);
    let seen = Browser::stranger(&forge).get("/root/ship");
    let page = seen.page(200);
    assert_eq!(page.attributes(".prose img", "src"), ["https://e.test/a.png"]);
    let policy = seen.0.header("Content-Security-Policy").unwrap_or_default();
    assert!(policy.contains("img-src 'self' data: https:;"), "{policy}");
}

fn links_lead_to_external_trackers_and_wikis(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let form = [("title", "First"), ("description", "See #1, !1 and root/ship#1")];
    forge.post(&format!("/projects/{id}/issues")).token(ROOT).form(&form).send().expect(201);
    let set = |name: &str, form: &[(&str, &str)]| {
        let service = forge.put(&format!("/projects/{id}/services/{name}")).token(ROOT);
        service.form(form).send().expect(200);
    };
    let browser = Browser::signed_in(forge, "root");
    let links =
        |address: &str, selector: &str| browser.get(address).page(200).attributes(selector, "href");
    let (outside, named) = ("main .bar a[rel='nofollow noopener']", ".prose a");
    let issue = "/root/ship/issues/1";
    assert_eq!(links("/root/ship", outside), [] as [&str; 0]);
    assert_eq!(links(issue, named), [issue, issue]);
    let tracker = [
        ("title", "Bug <desk>"),
        ("project_url", "https://bugs.test/ship"),
        ("issues_url", "https://bugs.test/ship/:id?x=\"1"),
        ("new_issue_url", "https://bugs.test/new"),
    ];
    set("custom-issue-tracker", &tracker);
    set("external-wiki", &[("external_wiki_url", "https://wiki.test/ship")]);
    assert_eq!(links("/root/ship", outside), ["https://bugs.test/ship", "https://wiki.test/ship"]);
    let home = browser.get("/root/ship").page(200);
    assert_eq!(home.all(outside), ["Bug <desk>", "External Wiki"]);
    assert_eq!(links(issue, named), ["https://bugs.test/ship/1?x=\"1", issue]);
    let foreign = ".prose a[rel='nofollow noopener']";
    assert_eq!(links(issue, foreign), ["https://bugs.test/ship/1?x=\"1"]);
    forge.delete(&format!("/projects/{id}/services/custom-issue-tracker")).token(ROOT).send();
    assert_eq!(links("/root/ship", outside), ["https://wiki.test/ship"]);
    assert_eq!(links(issue, named), [issue, issue]);
}

fn names_lead_each_reader_to_what_that_reader_sees(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    forge.new_user("ada", &[]);
    let issues = format!("/projects/{id}/issues");
    let create = |fields: &[(&str, &str)]| {
        forge.post(&issues).token(ROOT).form(fields).send().expect(201)["id"].to_string()
    };
    let secret = create(&[("title", "A secret"), ("confidential", "true")]);
    create(&[("title", "Open"), ("description", "See #1 and #2.")]);
    let (root, ada) = (Browser::signed_in(forge, "root"), Browser::signed_in(forge, "ada"));
    let titles = |browser: &Browser<'_>| {
        browser.get("/root/ship/issues/2").page(200).attributes(".prose a", "title")
    };
    // What one reader was shown is cached, and is not shown to the other one.
    for _ in 0..2 {
        assert_eq!(titles(&ada), ["Open"]);
        assert_eq!(titles(&root), ["A secret", "Open"]);
    }
    let renamed = forge.put(&format!("{issues}/{secret}")).token(ROOT);
    renamed.form(&[("title", "Renamed")]).send().expect(200);
    assert_eq!(titles(&root), ["Renamed", "Open"]);
    assert_eq!(titles(&ada), ["Open"]);
}
