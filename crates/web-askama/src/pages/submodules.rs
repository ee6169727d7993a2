//! The projects to which submodules lead.

use std::collections::HashMap;

use hexforge_application::error::Error;
use hexforge_application::repository::{self, Revision};
use hexforge_domain::commit::ObjectId;

use crate::address;

/// The file that says where submodules are.
const FILE: &str = ".gitmodules";

/// The longest file that is read.
const MAX_FILE: usize = 64 * 1024;

/// The URLs of the submodules of a revision, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Submodules(HashMap<String, String>);

/// Where a submodule leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) address: String,
    /// Whether it is on another host.
    pub(super) is_foreign: bool,
}

impl Submodules {
    pub(super) fn read(at: &Revision) -> Result<Self, Error> {
        let bytes = repository::head_at(at, FILE, MAX_FILE)?.unwrap_or_default();
        Ok(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    fn parse(text: &str) -> Self {
        let (mut found, mut path, mut url) = (HashMap::new(), None, None);
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                (path, url) = (None, None);
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let value = value.trim().trim_matches('"').to_owned();
            match key.trim().to_ascii_lowercase().as_str() {
                "path" => path = Some(value),
                "url" => url = Some(value),
                _ => (),
            }
            if let (Some(path), Some(url)) = (&path, &url) {
                found.insert(path.trim_end_matches('/').to_owned(), url.clone());
            }
        }
        Self(found)
    }

    /// Where the submodule at a path leads. `base` is `/namespace/project`, and `host` that of this service.
    pub(super) fn link(&self, path: &str, id: ObjectId, base: &str, host: &str) -> Option<Link> {
        let url = self.0.get(path)?.as_str();
        let own = |path: &str| Link {
            address: format!("/{}/tree/{id}", address::path(without_ending(path))),
            is_foreign: false,
        };
        if url.starts_with("./") || url.starts_with("../") {
            let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
            for part in url.split('/') {
                match part {
                    "" | "." => (),
                    ".." => drop(parts.pop()?),
                    part => parts.push(part),
                }
            }
            return (parts.len() == 2).then(|| own(&parts.join("/")));
        }
        let (their_host, path) = match url.split_once("://") {
            Some(("http" | "https" | "ssh" | "git", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            // `git@host:namespace/project.git`
            None => url.split_once(':')?,
        };
        let their_host = their_host.rsplit('@').next()?;
        let name = |host: &str| host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
        if their_host.is_empty() || !their_host.chars().all(is_name) {
            return None;
        }
        if name(their_host) == name(host) {
            return Some(own(path));
        }
        let (scheme, their_host) = match url.split_once("://") {
            Some((scheme @ ("http" | "https"), _)) => (scheme, their_host.to_owned()),
            _ => ("https", name(their_host)),
        };
        let path = address::path(without_ending(path));
        Some(Link { address: format!("{scheme}://{their_host}/{path}"), is_foreign: true })
    }
}

fn without_ending(path: &str) -> &str {
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_lead_to_projects() {
        let id = ObjectId::from_bytes([1; 20]);
        for (url, expected) in [
            ("../other.git", Some("/ada/other/tree/ID")),
            ("../../bob/other", Some("/bob/other/tree/ID")),
            ("../../../x", None),
            ("https://forge.test/bob/other.git", Some("/bob/other/tree/ID")),
            ("git@forge.test:bob/other.git", Some("/bob/other/tree/ID")),
            ("ssh://git@forge.test:2222/bob/other.git", Some("/bob/other/tree/ID")),
            ("https://user:secret@e.test/a/b.git", Some("https://e.test/a/b")),
            ("git://e.test:9418/a/b.git", Some("https://e.test/a/b")),
            ("javascript:alert(1)", Some("https://javascript/alert%281%29")),
            ("file:///etc/passwd", None),
            ("/srv/x.git", None),
            ("https://e.test\"/x/y", None),
        ] {
            let text = format!("[submodule \"x\"]\n\tpath = libs/x\n\turl = {url}\n");
            let link = Submodules::parse(&text).link("libs/x", id, "/ada/ship", "forge.test:8080");
            let found = link.map(|link| link.address.replace(&id.to_string(), "ID"));
            assert_eq!(found.as_deref(), expected, "{url}");
        }
        assert_eq!(Submodules::parse("x = y\npath").link("x", id, "/a/b", "h"), None);
    }
}
