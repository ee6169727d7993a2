//! Files uploaded for the texts of a project.

/// The name under which an uploaded file is kept and shown. Never a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadName(String);

impl UploadName {
    /// The last part of what the caller calls the file, with `_` for everything unusual in it.
    pub fn from_given(given: &str) -> Self {
        let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
        let usual = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let name: String = last.chars().map(|c| if usual(c) { c } else { '_' }).collect();
        let name = shortened(&name);
        if name.chars().all(|c| c == '.') { Self(format!("_{name}")) } else { Self(name) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it is to a reader, by its extension.
    pub fn kind(&self) -> UploadKind {
        let extension = self.0.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        match extension.as_deref() {
            Some("png" | "jpg" | "jpeg" | "gif" | "bmp" | "tiff") => UploadKind::Picture,
            Some("mp4" | "m4v" | "mov" | "webm" | "ogv") => UploadKind::Video,
            Some("svg") => UploadKind::Svg,
            Some(_) | None => UploadKind::Other,
        }
    }

    /// What stands for the file where it is not shown.
    pub fn alt(&self) -> &str {
        match self.kind() {
            UploadKind::Picture | UploadKind::Video => {
                self.0.rsplit_once('.').map_or(self.0.as_str(), |(name, _)| name)
            }
            UploadKind::Svg | UploadKind::Other => &self.0,
        }
    }

    /// The file in the markup of texts.
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

/// File systems take 255 bytes: the end is kept, because that is where the extension is.
fn shortened(name: &str) -> String {
    let mut start = name.len().saturating_sub(200);
    while !name.is_char_boundary(start) {
        start += 1;
    }
    name[start..].to_owned()
}

/// What an uploaded file is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadKind {
    /// Shown in the text.
    Picture,
    /// Shown in the text.
    Video,
    /// A picture that can carry programs: shown in texts by address only, never in place.
    Svg,
    /// Fetched.
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
            assert_eq!(UploadName::from_given(given).as_str(), name, "{given:?}");
        }
        assert_eq!(UploadName::from_given(&"ü".repeat(300)).as_str().len(), 200);
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
            let name = UploadName::from_given(name);
            assert_eq!((name.alt(), name.markdown("/u").as_str()), (alt, markdown));
        }
    }
}
