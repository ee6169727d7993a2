//! Templates: licences, ignored files and CI configurations to begin a project with. They are part of the program.

mod files;
mod licenses;

use chrono::Datelike;
use hexforge_domain::policy::Actor;

use crate::app::App;
use crate::error::Error;

/// A licence, with its placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct License {
    /// The name in paths, in small letters.
    pub key: &'static str,
    /// The full name.
    pub name: &'static str,
    /// The common short name, if there is one.
    pub nickname: Option<&'static str>,
    /// Whether it is among the few that most projects choose from.
    pub popular: bool,
    /// Where the text is published.
    pub source_url: &'static str,
    /// One sentence about it.
    pub description: &'static str,
    /// What the licence demands.
    pub conditions: &'static [&'static str],
    /// What the licence allows.
    pub permissions: &'static [&'static str],
    /// What the licence does not grant.
    pub limitations: &'static [&'static str],
    /// The text.
    pub content: &'static str,
}

/// A template that consists of a name and a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// The name in paths.
    pub name: &'static str,
    /// The text.
    pub content: &'static str,
}

/// The kinds of templates that consist of a name and a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateKind {
    /// Files that git ignores.
    Gitignore,
    /// CI configurations.
    CiConfiguration,
}

/// Lists the templates of a kind.
pub fn list(kind: TemplateKind) -> &'static [Template] {
    match kind {
        TemplateKind::Gitignore => files::GITIGNORES,
        TemplateKind::CiConfiguration => files::GITLAB_CI_YMLS,
    }
}

/// Returns the template with exactly this name.
pub fn find(kind: TemplateKind, name: &str) -> Option<Template> {
    list(kind).iter().find(|template| template.name == name).copied()
}

/// Lists the licences by key, or only the popular ones.
pub fn licenses(only_popular: bool) -> Vec<&'static License> {
    let all = licenses::LICENSES.iter();
    all.filter(|license| license.popular || !only_popular).collect()
}

/// The values for the placeholders of a licence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LicenseFields {
    pub project: Option<String>,
    pub fullname: Option<String>,
}

/// Returns the licence with this key, in any letter case, and its text with the placeholders filled in. The owner is the
/// actor unless the request names one. Returns `None` if there is no such licence.
pub fn license(
    app: &App,
    actor: Actor,
    key: &str,
    fields: &LicenseFields,
) -> Result<Option<(&'static License, String)>, Error> {
    let mut all = licenses::LICENSES.iter();
    let Some(license) = all.find(|license| license.key.eq_ignore_ascii_case(key)) else {
        return Ok(None);
    };
    let owner = match (&fields.fullname, actor.user()) {
        (Some(fullname), _) => Some(fullname.clone()),
        (None, Some(user)) => {
            let user = app.store.read_autocommit(|tx| tx.users().find(user))?;
            user.map(|user| user.name.as_str().to_owned())
        }
        (None, None) => None,
    };
    let year = app.clock.now().year().to_string();
    let values =
        Values { year: &year, project: fields.project.as_deref(), owner: owner.as_deref() };
    Ok(Some((license, values.fill(license.content))))
}

/// The values of placeholders. A placeholder without a value stays.
struct Values<'a> {
    year: &'a str,
    project: Option<&'a str>,
    owner: Option<&'a str>,
}

impl Values<'_> {
    /// Fills in the placeholders of a text: names in `< >`, `{ }` or `[ ]`.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(['<', '{', '[']) {
            let (before, from_bracket) = rest.split_at(start);
            filled.push_str(before);
            let close = match from_bracket.as_bytes().first() {
                Some(b'<') => '>',
                Some(b'{') => '}',
                _ => ']',
            };
            let inside = from_bracket[1..].split_once(close).map(|(inside, _)| inside);
            match inside.and_then(|inside| Some((self.value_of(inside)?, inside.len() + 2))) {
                Some((value, length)) => {
                    filled.push_str(value);
                    rest = &from_bracket[length..];
                }
                None => {
                    filled.push_str(&from_bracket[..1]);
                    rest = &from_bracket[1..];
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    fn value_of(&self, placeholder: &str) -> Option<&str> {
        let name = placeholder.to_ascii_lowercase();
        match name.as_str() {
            "year" | "yyyy" => Some(self.year),
            "project" | "description" => self.project,
            "fullname"
            | "name of author"
            | "name of copyright owner"
            | "owner"
            | "copyright holders" => self.owner,
            // The texts of GNU: one line to give the program's name and a brief idea of what it does.
            line if line.starts_with("one line") && line.ends_with("what it does.") => self.project,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in() {
        let all = Values { year: "2016", project: Some("Ship"), owner: Some("Ada <ada@x>") };
        let none = Values { year: "2016", project: None, owner: None };
        for (text, filled, unfilled) in [
            ("(c) <year> [fullname]", "(c) 2016 Ada <ada@x>", "(c) 2016 [fullname]"),
            ("{YYYY} {Project}", "2016 Ship", "2016 {Project}"),
            (
                "[yyyy] [name of copyright owner]",
                "2016 Ada <ada@x>",
                "2016 [name of copyright owner]",
            ),
            (
                "<copyright holders> <owner>.",
                "Ada <ada@x> Ada <ada@x>.",
                "<copyright holders> <owner>.",
            ),
            (
                "<one line to give the program's name and an idea of what it does.>",
                "Ship",
                "<one line to give the program's name and an idea of what it does.>",
            ),
            (
                "<http://x> [a] {b} < > [] <year",
                "<http://x> [a] {b} < > [] <year",
                "<http://x> [a] {b} < > [] <year",
            ),
            ("[This [year]]", "[This 2016]", "[This 2016]"),
            ("<ü> <year>", "<ü> 2016", "<ü> 2016"),
        ] {
            assert_eq!(all.fill(text), filled, "{text}");
            assert_eq!(none.fill(text), unfilled, "{text}");
        }
    }

    #[test]
    fn every_template_has_a_text_and_a_place_in_the_order() {
        let keys: Vec<&str> = licenses(false).iter().map(|license| license.key).collect();
        assert_eq!(keys.len(), 15);
        assert!(keys.is_sorted(), "{keys:?}");
        let popular: Vec<&str> = licenses(true).iter().map(|license| license.key).collect();
        assert_eq!(popular, ["apache-2.0", "gpl-3.0", "mit"]);
        for license in licenses(false) {
            assert!(license.content.len() > 500, "{}", license.key);
        }
        for kind in [TemplateKind::Gitignore, TemplateKind::CiConfiguration] {
            for template in list(kind) {
                assert!(!template.content.is_empty());
                assert_eq!(find(kind, template.name), Some(*template));
            }
            assert_eq!(find(kind, "../templates"), None);
            assert_eq!(find(kind, "rust"), None);
        }
    }
}
