//! Addresses of things, for people and programs outside.

use hexforge_domain::user::User;
use md5::{Digest, Md5};

/// Makes addresses below the external one.
#[derive(Clone, Debug)]
pub struct Links {
    external_url: String,
    gravatar: &'static str,
}

impl Links {
    /// Below this address.
    pub fn new(external_url: &str) -> Self {
        let gravatar = if external_url.starts_with("https:") {
            "https://secure.gravatar.com/avatar/"
        } else {
            "http://www.gravatar.com/avatar/"
        };
        Self { external_url: external_url.trim_end_matches('/').to_owned(), gravatar }
    }

    /// The address of a path that begins with a slash.
    pub fn to(&self, path: &str) -> String {
        format!("{}{path}", self.external_url)
    }

    /// The page of a user.
    pub fn user(&self, user: &User) -> String {
        format!("{}/{}", self.external_url, user.username.as_str())
    }

    /// The picture of a user: the uploaded one, else the one that belongs to the address.
    pub fn avatar(&self, user: &User) -> String {
        match &user.avatar {
            Some(file) => format!("{}/uploads/user/avatar/{}/{file}", self.external_url, user.id),
            None => {
                let hash = hex(&Md5::digest(user.email.as_str().as_bytes()));
                format!("{}{hash}?s=80&d=identicon", self.gravatar)
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_domain::testing::builders::a_user;
    use hexforge_domain::testing::fakes::FakeStore;

    #[test]
    fn avatars_follow_the_scheme_of_the_external_address() {
        let ada =
            a_user("ada").email("MyEmailAddress@example.com").stored_in(&FakeStore::default());
        let hash = "0bc83cb571cd1c50ba6f3e8a78ef1346";
        assert_eq!(
            Links::new("http://forge.test/").avatar(&ada),
            format!("http://www.gravatar.com/avatar/{hash}?s=80&d=identicon")
        );
        let secure = Links::new("https://forge.test");
        assert_eq!(
            secure.avatar(&ada),
            format!("https://secure.gravatar.com/avatar/{hash}?s=80&d=identicon")
        );
        let uploaded = User { avatar: Some("me.png".into()), ..ada };
        assert_eq!(
            secure.avatar(&uploaded),
            format!("https://forge.test/uploads/user/avatar/{}/me.png", uploaded.id)
        );
    }
}
