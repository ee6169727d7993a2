//! The targets of links and pictures in texts of users.

use percent_encoding::percent_decode_str;

use crate::address;

/// What is said of links to other hosts.
pub(crate) const FOREIGN: &str = "nofollow noopener";

/// The prefix of all ids in texts of users, so that they do not look like those of the page.
pub(super) const ID_PREFIX: &str = "user-content-";

/// How a text is rendered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules<'a> {
    /// The levels by which headings are lowered.
    pub(super) levels: u8,
    /// Whether headings have ids. Several comments on one page would have the same ones.
    pub(super) has_anchors: bool,
    /// The place of the file in its repository, to which relative links belong.
    pub(super) place: Option<&'a Place>,
    /// Whether pictures of other hosts are loaded.
    pub(super) remote_images: bool,
}

/// The place of a file in a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// `/namespace/project`.
    pub(crate) base: String,
    /// The branch, tag or commit, encoded for addresses.
    pub(crate) revision: String,
    /// The folder of the file, encoded for addresses; empty for the root.
    pub(crate) folder: String,
}

impl Rules<'_> {
    /// The name of an element; headings are lowered.
    pub(super) fn lowered(&self, name: &'static str) -> &'static str {
        const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];
        match HEADINGS.iter().position(|heading| *heading == name) {
            Some(at) => HEADINGS[(at + usize::from(self.levels)).min(5)],
            None => name,
        }
    }
}

/// Where a link leads.
pub(super) struct Target {
    /// The address. It still has its entities.
    pub(super) address: String,
    /// Whether it leads to this service.
    pub(super) is_own: bool,
}

impl Target {
    fn unchanged(address: &str, is_own: bool) -> Self {
        Self { address: address.to_owned(), is_own }
    }
}

/// The target of a link.
pub(super) fn of_link(href: &str, rules: &Rules<'_>) -> Target {
    let href = href.trim();
    if !is_own(href) {
        return Target::unchanged(href, false);
    }
    if let Some(fragment) = href.strip_prefix('#') {
        return Target { address: own_fragment(fragment), is_own: true };
    }
    let href = &href.replace(APOSTROPHE, "'");
    let found = rules.place.and_then(|place| {
        let (path, end) = href.split_at(href.find(['?', '#']).unwrap_or(href.len()));
        let resolved = resolved(place, path)?;
        let name = resolved.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        // A name without an ending is more often that of a folder; its page leads on to that of a file.
        let page = if name.contains('.') { "blob" } else { "tree" };
        let end = match end.strip_prefix('#') {
            Some(fragment) if name.ends_with(".md") => own_fragment(fragment),
            _ => end.to_owned(),
        };
        Some(format!("{}/{page}/{}{resolved}{end}", place.base, place.revision))
    });
    Target { address: found.unwrap_or_else(|| in_project(href, rules)), is_own: true }
}

/// The target of a picture.
pub(super) fn of_image(src: &str, rules: &Rules<'_>) -> Target {
    let src = src.trim();
    if src.is_empty() || !is_own(src) || src.starts_with(['#', '?']) {
        return Target::unchanged(src, false);
    }
    let src = &src.replace(APOSTROPHE, "'");
    let found = rules.place.and_then(|place| {
        let path = &src[..src.find(['?', '#']).unwrap_or(src.len())];
        Some(format!("{}/raw/{}{}", place.base, place.revision, resolved(place, path)?))
    });
    Target { address: found.unwrap_or_else(|| in_project(src, rules)), is_own: true }
}

/// Uploads are written without the project to which they belong.
fn in_project(address: &str, rules: &Rules<'_>) -> String {
    match rules.place {
        Some(place) if address.starts_with("/uploads/") => format!("{}{address}", place.base),
        _ => address.to_owned(),
    }
}

/// The path of a relative link from the root of the repository, with a slash before it; `None` if the link is not
/// relative.
fn resolved(place: &Place, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with('/') {
        return None;
    }
    let path = path.replace("&amp;", "&");
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for part in place.folder.split('/').chain(path.split('/')) {
        // What is encoded already is not encoded twice.
        let part: Vec<u8> = percent_decode_str(part).collect();
        match part.as_slice() {
            b"" | b"." => (),
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    Some(parts.iter().map(|part| format!("/{}", address::path(part))).collect())
}

/// How the renderer writes an apostrophe in an address.
const APOSTROPHE: &str = "&#x27;";

/// The ids in texts of users have a prefix.
fn own_fragment(fragment: &str) -> String {
    match fragment.is_empty() || fragment.starts_with(ID_PREFIX) {
        true => format!("#{fragment}"),
        false => format!("#{ID_PREFIX}{fragment}"),
    }
}

/// Whether an address certainly leads to this service. It still has its entities; one with others than those that the
/// renderer writes is taken for foreign, and so is one that browsers may read in another way.
fn is_own(address: &str) -> bool {
    let entities = address.match_indices('&').all(|(at, _)| {
        let rest = &address[at..];
        let is_entity = rest.starts_with("&#") || rest.contains(';');
        rest.starts_with("&amp;") || rest.starts_with(APOSTROPHE) || !is_entity
    });
    if !entities || address.contains(|c: char| c.is_control() || c == '\\') {
        return false;
    }
    if address.starts_with("//") {
        return false;
    }
    let scheme = address.find(':');
    let path = address.find(['/', '?', '#']);
    scheme.is_none_or(|scheme| path.is_some_and(|path| path < scheme))
}

/// Whether an address is one of the web.
pub(super) fn is_web(address: &str) -> bool {
    let start = |prefix: &str| {
        address.trim().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    start("http://") || start("https://")
}

/// Whether an address is one of the web that is encrypted.
pub(super) fn is_https(address: &str) -> bool {
    is_web(address)
        && address.trim().as_bytes().get(4).is_some_and(|byte| matches!(byte, b's' | b'S'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_belong_to_the_repository() {
        let place = Place {
            base: "/ada/ship".to_owned(),
            revision: "topic/one".to_owned(),
            folder: "docs/a%20b".to_owned(),
        };
        let rules = Rules { place: Some(&place), ..Rules::default() };
        for (given, expected) in [
            ("x.md", "/ada/ship/blob/topic/one/docs/a%20b/x.md"),
            ("../x.md#part", "/ada/ship/blob/topic/one/docs/x.md#user-content-part"),
            ("../../../../x.rs#L3", "/ada/ship/blob/topic/one/x.rs#L3"),
            ("src/", "/ada/ship/tree/topic/one/docs/a%20b/src"),
            ("./a%20c.txt?plain=1", "/ada/ship/blob/topic/one/docs/a%20b/a%20c.txt?plain=1"),
            ("#part", "#user-content-part"),
            ("/ada/other", "/ada/other"),
            ("/uploads/1/a.txt", "/ada/ship/uploads/1/a.txt"),
            ("it&#x27;s &amp;.txt", "/ada/ship/blob/topic/one/docs/a%20b/it%27s%20%26.txt"),
            ("%2e%2e/x.md", "/ada/ship/blob/topic/one/docs/x.md"),
            ("https://e.test/x", "https://e.test/x"),
            ("mailto:a@e.test", "mailto:a@e.test"),
        ] {
            assert_eq!(of_link(given, &rules).address, expected, "{given}");
        }
        let image = of_image("pic.png", &rules);
        assert_eq!(image.address, "/ada/ship/raw/topic/one/docs/a%20b/pic.png");
        assert_eq!(of_link("x.md", &Rules::default()).address, "x.md");
    }

    #[test]
    fn only_certain_addresses_are_own() {
        for own in ["/a", "a/b:c", "#x", "?a=1&amp;b=2", "a b", ""] {
            assert!(is_own(own), "{own}");
        }
        for foreign in [
            "https://e.test",
            "//e.test",
            "\\\\e.test",
            "/\\e.test",
            "javascript:x",
            "java\tscript:x",
            "javascript&colon;x",
            "&#47;/e.test",
            "https&#58//e.test",
            "mailto:a@b",
        ] {
            assert!(!is_own(foreign), "{foreign}");
        }
    }
}
