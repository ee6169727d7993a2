//! Files uploaded to a project for use in issues and comments.

use crate::hex;
use crate::id::ProjectId;

/// The storage key of an uploaded file: the parts of its URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadKey {
    /// The project of the file.
    pub project: ProjectId,
    /// The random part that makes each URL unique.
    pub secret: UploadSecret,
    /// The file name.
    pub name: UploadName,
}

impl UploadKey {
    /// The URL path below the URL of the project.
    pub fn url(&self) -> String {
        format!("/uploads/{}/{}", self.secret.as_str(), self.name.as_str())
    }
}

/// The unpredictable part of the URL of an uploaded file: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadSecret(String);

impl UploadSecret {
    /// Encodes random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Self(hex::encode(&random))
    }

    /// Parses the secret in a URL; `None` if it does not have that form.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 32 && text.bytes().all(digit)).then(|| Self(text.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name under which an uploaded file is stored and shown. Never a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadName(String);

impl UploadName {
    /// The last segment of the file name that the client sent, with `_` for every unusual character.
    pub fn from_client(given: &str) -> Self {
        let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let name: String = last.chars().map(|c| if is_usual(c) { c } else { '_' }).collect();
        let name = truncate_start(&name);
        if name.chars().all(|c| c == '.') { Self(format!("_{name}")) } else { Self(name) }
    }

    /// Parses the name in a URL; `None` for a name under which no file can be stored.
    pub fn parse(text: &str) -> Option<Self> {
        let name = Self::from_client(text);
        (name.0 == text).then_some(name)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind of file, by its extension.
    pub fn kind(&self) -> UploadKind {
        let extension = self.0.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        match extension.as_deref() {
            Some("png" | "jpg" | "jpeg" | "gif" | "bmp" | "tiff") => UploadKind::Picture,
            Some("mp4" | "m4v" | "mov" | "webm" | "ogv") => UploadKind::Video,
            Some("svg") => UploadKind::Svg,
            Some(_) | None => UploadKind::Other,
        }
    }

    /// The alternative text for the file.
    pub fn alt(&self) -> &str {
        match self.kind() {
            UploadKind::Picture | UploadKind::Video => {
                self.0.rsplit_once('.').map_or(self.0.as_str(), |(name, _)| name)
            }
            UploadKind::Svg | UploadKind::Other => &self.0,
        }
    }

    /// The Markdown that shows or links the file.
    pub fn markdown(&self, url: &str) -> String {
        let label = self.alt().replace(']', "\\]");
        match self.kind() {
            UploadKind::Picture | UploadKind::Video | UploadKind::Svg => {
                format!("![{label}]({url})")
            }
            UploadKind::Other => format!("[{label}]({url})"),
        }
    }
}

/// Truncates a file name to its last 200 bytes, so that the extension is kept. File systems allow 255 bytes.
fn truncate_start(name: &str) -> String {
    let mut start = name.len().saturating_sub(200);
    while !name.is_char_boundary(start) {
        start += 1;
    }
    name[start..].to_owned()
}

/// How an uploaded file is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadKind {
    /// An image, shown inline.
    Picture,
    /// A video, shown inline.
    Video,
    /// An image that can contain scripts: embedded in texts by its URL, but never served inline.
    Svg,
    /// Any other file, offered as a download.
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_paths() {
        for (given, name) in [
            ("dk.png", "dk.png"),
            ("../../x", "x"),
            ("C:\\temp\\a b.txt", "a_b.txt"),
            ("a\0b", "a_b"),
            ("..", "_.."),
            ("", "_"),
            ("größe+1.txt", "größe+1.txt"),
            ("a]b.txt", "a_b.txt"),
        ] {
            assert_eq!(UploadName::from_client(given).as_str(), name, "{given:?}");
        }
        assert_eq!(UploadName::from_client(&"ü".repeat(300)).as_str().len(), 200);
        let long = UploadName::from_client(&format!("{}.png", "a".repeat(300)));
        assert_eq!((long.as_str().len(), long.kind()), (200, UploadKind::Picture));
    }

    #[test]
    fn only_names_under_which_files_are_kept_are_taken_from_addresses() {
        for name in ["dk.png", "a_b", "_..", "größe+1.txt", "_"] {
            assert_eq!(UploadName::parse(name), Some(UploadName::from_client(name)), "{name:?}");
        }
        for text in ["", ".", "..", "a/b", "a\\b", "../x", "a\0b", "a b", &"a".repeat(300)] {
            assert_eq!(UploadName::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn secrets_are_32_small_hexadecimal_digits() {
        let secret = UploadSecret::new([0xaf; 16]);
        assert_eq!(secret.as_str(), "af".repeat(16));
        assert_eq!(UploadSecret::parse(secret.as_str()), Some(secret));
        for text in [
            "",
            "af",
            &"AF".repeat(16),
            &"zz".repeat(16),
            &"af".repeat(17),
            "../../../../../../../../../../x",
        ] {
            assert_eq!(UploadSecret::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_address_is_below_the_project() {
        let name = UploadName::from_client("dk.png");
        let key = UploadKey { project: ProjectId(7), secret: UploadSecret::new([0; 16]), name };
        assert_eq!(key.url(), format!("/uploads/{}/dk.png", "0".repeat(32)));
    }

    #[test]
    fn pictures_are_shown_and_other_files_are_linked() {
        for (name, alt, markdown) in [
            ("dk.png", "dk", "![dk](/u)"),
            ("film.MP4", "film", "![film](/u)"),
            ("logo.svg", "logo.svg", "![logo.svg](/u)"),
            ("notes.txt", "notes.txt", "[notes.txt](/u)"),
            ("README", "README", "[README](/u)"),
        ] {
            let name = UploadName::from_client(name);
            assert_eq!((name.alt(), name.markdown("/u").as_str()), (alt, markdown));
        }
    }
}
