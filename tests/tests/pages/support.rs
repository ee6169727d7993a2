//! A browser without scripts: it keeps cookies, follows nothing by itself, and finds things by their names.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, Request, Response, WorkTree};
use scraper::{Html, Selector};

/// A visitor with a browser.
pub struct Browser<'a> {
    forge: &'a Forge,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    /// A visitor who is not signed in.
    pub fn stranger(forge: &'a Forge) -> Self {
        Self { forge, cookies: RefCell::default() }
    }

    /// A visitor who signed in.
    pub fn signed_in(forge: &'a Forge, username: &str) -> Self {
        let browser = Self::stranger(forge);
        let form = browser.get("/users/sign_in").page(200);
        let fields = [
            ("authenticity_token", form.token().as_str()),
            ("login", username),
            ("password", PASSWORD),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let fields: Vec<_> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        browser.post("/users/sign_in", &fields).redirects(303, "/");
        browser
    }

    /// A visitor who signed in under this name, or a stranger.
    pub fn of(forge: &'a Forge, username: Option<&str>) -> Self {
        match username {
            Some(name) => Self::signed_in(forge, name),
            None => Self::stranger(forge),
        }
    }

    /// Opens an address.
    pub fn get(&self, address: &str) -> Seen {
        self.send(self.forge.page("GET", address))
    }

    /// Sends a form without adding anything.
    pub fn post(&self, address: &str, fields: &[(&str, &str)]) -> Seen {
        self.send(self.forge.page("POST", address).form(fields))
    }

    /// Sends a form with the token that a page has.
    pub fn post_from(&self, page: &str, address: &str, fields: &[(&str, &str)]) -> Seen {
        let token = self.get(page).page(200).token();
        let fields: Vec<_> =
            fields.iter().copied().chain([("authenticity_token", token.as_str())]).collect();
        self.post(address, &fields)
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(name).cloned()
    }

    /// Sends a request with the cookies, and keeps those of the response.
    pub fn send(&self, request: Request) -> Seen {
        let cookies = self.cookies.borrow().clone();
        let header = cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let header = header.collect::<Vec<_>>().join("; ");
        let request = if header.is_empty() { request } else { request.header("Cookie", &header) };
        let response = request.send();
        for (name, value) in &response.headers {
            if name.eq_ignore_ascii_case("set-cookie") {
                let (pair, attributes) = value.split_once(';').expect("cookies have attributes");
                let (name, value) = pair.split_once('=').expect("cookies have a name");
                let mut cookies = self.cookies.borrow_mut();
                match attributes.contains("Max-Age=0") {
                    true => drop(cookies.remove(name)),
                    false => drop(cookies.insert(name.to_owned(), value.to_owned())),
                }
            }
        }
        Seen(response)
    }
}

/// A response to a browser.
pub struct Seen(pub Response);

impl Seen {
    /// The page, which must have this status.
    #[track_caller]
    pub fn page(&self, status: u16) -> Page {
        assert_eq!(self.0.status, status, "{}", self.0.text());
        Page(Html::parse_document(self.0.text()), self.0.text().to_owned())
    }

    /// Asserts a redirect.
    #[track_caller]
    pub fn redirects(&self, status: u16, address: &str) {
        assert_eq!(self.0.status, status, "{}", self.0.text());
        assert_eq!(self.0.header("Location"), Some(address));
    }
}

/// A parsed page.
pub struct Page(Html, pub String);

impl Page {
    /// The texts of all elements that a selector finds.
    pub fn all(&self, selector: &str) -> Vec<String> {
        let selector = Selector::parse(selector).expect("the test has a valid selector");
        let text = |element: scraper::ElementRef<'_>| {
            element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        self.0.select(&selector).map(text).collect()
    }

    /// The values of an attribute of all elements that a selector finds.
    pub fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        let selector = Selector::parse(selector).expect("the test has a valid selector");
        let found = self.0.select(&selector);
        found.filter_map(|element| element.value().attr(name)).map(str::to_owned).collect()
    }

    /// The only heading of the first level.
    #[track_caller]
    pub fn heading(&self) -> String {
        let mut headings = self.all("h1");
        assert_eq!(headings.len(), 1, "{}", self.1);
        headings.remove(0)
    }

    /// What no page may have: elements that are not closed, blocks in paragraphs, inline scripts and styles, headings of the first level but one, ids
    /// that occur twice, labels and descriptions of nothing, buttons, fields and links without a name.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = nesting_faults(&self.1);
        let any = Selector::parse("*").expect("it is valid");
        let (mut ids, mut named) = (BTreeSet::new(), Vec::new());
        for element in self.0.select(&any) {
            let element_name = element.value().name();
            for (name, value) in element.value().attrs() {
                if name == "style" || name.starts_with("on") {
                    faults.push(format!("{element_name} has {name}={value}"));
                }
                if name == "id" && !ids.insert(value.to_owned()) {
                    faults.push(format!("the id {value} occurs twice"));
                }
                if (name == "for" && element_name == "label") || name == "aria-describedby" {
                    named.push(value.to_owned());
                }
            }
            let text = element.text().collect::<String>();
            let attribute = |name: &str| element.value().attr(name);
            match element_name {
                "style" => faults.push("there is a style element".to_owned()),
                "script" if attribute("src").is_none() => {
                    faults.push("there is an inline script".to_owned());
                }
                "a" | "button" => {
                    let image = Selector::parse("img[alt], svg[aria-label]").expect("it is valid");
                    let is_named = attribute("aria-label").is_some()
                        || element.select(&image).next().is_some()
                        || !text.trim().is_empty();
                    if !is_named {
                        faults.push(format!("a nameless link or button: {}", element.html()));
                    }
                }
                "input" | "select" | "textarea" => {
                    let is_seen = !matches!(attribute("type"), Some("hidden" | "submit"));
                    let label = attribute("id").map(|id| format!("label[for='{id}']"));
                    let has_label = label
                        .and_then(|label| Selector::parse(&label).ok())
                        .is_some_and(|label| self.0.select(&label).next().is_some());
                    if is_seen && !has_label && attribute("aria-label").is_none() {
                        faults.push(format!("a nameless field: {}", element.html()));
                    }
                }
                _ => {}
            }
        }
        for id in named {
            if !ids.contains(&id) {
                faults.push(format!("nothing has the id {id}"));
            }
        }
        let headings = self.all("h1");
        if headings.len() != 1 {
            faults.push(format!("the headings are {headings:?}"));
        }
        faults
    }

    /// The token of the first form.
    #[track_caller]
    pub fn token(&self) -> String {
        let tokens = self.attributes("input[name=authenticity_token]", "value");
        tokens.into_iter().next().unwrap_or_else(|| panic!("no token: {}", self.1))
    }
}

/// Creates a user who can sign in, and returns the id.
pub fn user(forge: &Forge, username: &str) -> i64 {
    let shown = forge.new_user(username, &[]);
    shown["id"].as_i64().expect("users have ids")
}

/// Creates a project of the administrator with a file, a folder and a README. Returns its id, and the
/// work tree.
pub fn project(forge: &Forge, name: &str, visibility: &str) -> (i64, WorkTree) {
    let made = forge.post("/projects").token(ROOT);
    let made = made.form(&[("name", name), ("visibility_level", visibility)]).send().expect(201);
    let id = made["id"].as_i64().expect("projects have ids");
    let tree = forge.work_tree(id);
    tree.write("README.md", "# Ship\n\n<script>alert(1)</script>\n\n**fast**\n\n- [x] done\n");
    tree.write("src/a/main.rs", "fn main() {\n    println!(\"<b>\");\n}\n");
    tree.commit("First & <best>\n\nThe body.");
    forge.fill(id, &tree);
    (id, tree)
}

/// Creates the users `guest`, `reporter`, `developer` and `master`, as members of these projects. Returns the id of the
/// guest.
pub fn team(forge: &Forge, projects: &[i64]) -> i64 {
    let member = |name: &str, level: &str| {
        let id = user(forge, name);
        for project in projects {
            let add = forge.post(&format!("/projects/{project}/members")).token(ROOT);
            let text = id.to_string();
            add.form(&[("user_id", text.as_str()), ("access_level", level)]).send().expect(201);
        }
        id
    };
    let guest = member("guest", "10");
    for (name, level) in [("reporter", "20"), ("developer", "30"), ("master", "40")] {
        member(name, level);
    }
    guest
}

/// Elements without an end tag.
const VOID: [&str; 9] = ["br", "col", "hr", "img", "input", "link", "meta", "circle", "path"];

/// Elements that end a paragraph.
const BLOCKS: [&str; 14] = [
    "div", "dl", "details", "fieldset", "form", "h1", "h2", "h3", "ol", "p", "pre", "section",
    "table", "ul",
];

/// What is wrong with the nesting of the elements of a page.
fn nesting_faults(html: &str) -> Vec<String> {
    let (mut open, mut faults): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for tag in html.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or_default()) {
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        if tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            match open.pop() {
                Some(last) if last == name => (),
                last => faults.push(format!("</{name}> ends {last:?}")),
            }
            continue;
        }
        if BLOCKS.contains(&name) && open.last() == Some(&"p") {
            faults.push(format!("a paragraph contains <{tag}>"));
        }
        open.push(name);
    }
    if !open.is_empty() {
        faults.push(format!("these are not closed: {open:?}"));
    }
    faults
}
