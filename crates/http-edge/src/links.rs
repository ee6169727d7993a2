//! URLs in responses and payloads, and the other settings of the server that responses show.

use std::sync::Arc;

use hexforge_application::application_settings::SettingsCache;
use hexforge_domain::hex;
use hexforge_domain::id::UserId;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::user::User;
use md5::{Digest, Md5};

/// Builds URLs below the external URL.
#[derive(Clone, Debug)]
pub struct Links {
    external_url: String,
    gravatar: &'static str,
    /// The prefix of SSH clone URLs.
    ssh: String,
    /// Tells whether Gravatars are shown.
    settings: Arc<SettingsCache>,
    /// Whether Git LFS is on.
    lfs: bool,
}

impl Links {
    /// Builds URLs below this one, with SSH on that port of the same host. The settings tell whether Gravatars are
    /// shown.
    pub fn new(external_url: &str, ssh_port: u16, settings: Arc<SettingsCache>) -> Self {
        let gravatar = if external_url.starts_with("https:") {
            "https://secure.gravatar.com/avatar/"
        } else {
            "http://www.gravatar.com/avatar/"
        };
        let host = host_of(external_url);
        let ssh = match ssh_port {
            22 => format!("git@{host}:"),
            port => format!("ssh://git@{host}:{port}/"),
        };
        let external_url = external_url.trim_end_matches('/').to_owned();
        Self { external_url, gravatar, ssh, settings, lfs: true }
    }

    /// Sets whether Git LFS is on. It is on by default.
    #[must_use]
    pub fn with_lfs(self, lfs: bool) -> Self {
        Self { lfs, ..self }
    }

    /// Whether Git LFS is on, which responses about projects and groups show.
    pub fn has_lfs(&self) -> bool {
        self.lfs
    }

    /// The page of a group.
    pub fn group(&self, group: &Namespace) -> String {
        format!("{}/groups/{}", self.external_url, group.path.as_str())
    }

    /// The uploaded picture of a group.
    pub fn group_avatar(&self, group: &Namespace) -> Option<String> {
        let file = group.avatar.as_ref()?;
        Some(format!("{}/uploads/group/avatar/{}/{file}", self.external_url, group.id))
    }

    /// The page of a project with this full path.
    pub fn project(&self, path: &str) -> String {
        format!("{}/{path}", self.external_url)
    }

    /// The page of a snippet: of the project with this full path, or of a user alone.
    pub fn snippet(&self, project: Option<&str>, id: i64) -> String {
        match project {
            Some(path) => format!("{}/snippets/{id}", self.project(path)),
            None => format!("{}/snippets/{id}", self.external_url),
        }
    }

    /// The picture of a project, if it has one.
    pub fn project_avatar(&self, path: &str, file: Option<&str>) -> Option<String> {
        file.map(|_| format!("{}/avatar", self.project(path)))
    }

    /// The HTTP clone URL of a repository.
    pub fn http_to_repo(&self, path: &str) -> String {
        format!("{}/{path}.git", self.external_url)
    }

    /// The HTTP clone URL with a user name and a password, which must not need encoding.
    pub fn http_to_repo_as(&self, path: &str, name: &str, password: &str) -> String {
        let url = self.http_to_repo(path);
        match url.split_once("://") {
            Some((scheme, rest)) => format!("{scheme}://{name}:{password}@{rest}"),
            None => url,
        }
    }

    /// The SSH clone URL of a repository.
    pub fn ssh_to_repo(&self, path: &str) -> String {
        format!("{}{path}.git", self.ssh)
    }

    /// Tells whether the service is reached by https.
    pub fn is_https(&self) -> bool {
        self.external_url.starts_with("https:")
    }

    /// The URL of a path that begins with a slash.
    pub fn to(&self, path: &str) -> String {
        format!("{}{path}", self.external_url)
    }

    /// The page of a user.
    pub fn user(&self, user: &User) -> String {
        format!("{}/{}", self.external_url, user.username.as_str())
    }

    /// The avatar of a user: the uploaded one, otherwise the Gravatar of the e-mail address unless Gravatars are
    /// switched off.
    pub fn avatar(&self, user: &User) -> Option<String> {
        self.avatar_of(user.id, user.avatar.as_deref(), user.email.as_str())
    }

    /// Like [`avatar`](Self::avatar), for callers without a [`User`].
    pub fn avatar_of(&self, user: UserId, file: Option<&str>, email: &str) -> Option<String> {
        match file {
            Some(file) => Some(format!("{}/uploads/user/avatar/{user}/{file}", self.external_url)),
            None if !self.settings.newest().gravatar_enabled => None,
            None => {
                let hash = hex::encode(&Md5::digest(email.as_bytes()));
                Some(format!("{}{hash}?s=80&d=identicon", self.gravatar))
            }
        }
    }
}

/// The host of a URL, without its port.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, after)| after);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        Some(_) | None => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_domain::application_settings::ApplicationSettings;
    use hexforge_domain_testing::builders::a_user;
    use hexforge_domain_testing::fakes::FakeStore;

    fn links(url: &str, port: u16) -> Links {
        Links::new(url, port, Arc::default())
    }

    #[test]
    fn avatars_follow_the_scheme_of_the_external_address() {
        let ada =
            a_user("ada").email("MyEmailAddress@example.com").stored_in(&FakeStore::default());
        let hash = "0bc83cb571cd1c50ba6f3e8a78ef1346";
        let secure = links("https://forge.test", 22);
        let uploaded = User { avatar: Some("me.png".into()), ..ada.clone() };
        let own = format!("https://forge.test/uploads/user/avatar/{}/me.png", uploaded.id);
        let initial =
            ApplicationSettings { gravatar_enabled: false, ..ApplicationSettings::default() };
        let cache = Arc::new(SettingsCache::new(initial));
        let without = Links::new("https://forge.test", 22, cache);
        let gravatar = |base: &str| Some(format!("{base}/avatar/{hash}?s=80&d=identicon"));
        for (links, user, avatar) in [
            (&links("http://forge.test/", 22), &ada, gravatar("http://www.gravatar.com")),
            (&secure, &ada, gravatar("https://secure.gravatar.com")),
            (&secure, &uploaded, Some(own.clone())),
            (&without, &uploaded, Some(own)),
            (&without, &ada, None),
        ] {
            assert_eq!(links.avatar(user), avatar);
        }
    }

    #[test]
    fn repositories_are_reached_on_the_host_of_the_external_address() {
        for (url, port, ssh) in [
            ("http://forge.test", 22, "git@forge.test:a/b.git"),
            ("http://forge.test:8080/", 2222, "ssh://git@forge.test:2222/a/b.git"),
            ("https://forge.test/sub", 2222, "ssh://git@forge.test:2222/a/b.git"),
            ("http://[::1]:8080", 2222, "ssh://git@[::1]:2222/a/b.git"),
        ] {
            assert_eq!(links(url, port).ssh_to_repo("a/b"), ssh, "{url}");
        }
        assert_eq!(links("http://f:1/", 22).http_to_repo("a/b"), "http://f:1/a/b.git");
    }
}
