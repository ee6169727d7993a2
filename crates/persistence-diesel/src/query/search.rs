//! Substring search by the index of each database: a separate trigram full-text index on SQLite, a trigram index
//! that serves `LIKE` on PostgreSQL.

use crate::database::backend::{Backend, contains_nul, like_pattern};
use crate::query::sql::Sql;

/// The length of the longest searchable text: name, path and description of a project with their separators. A
/// longer search text matches nothing.
const MAX_LENGTH: usize = 255 + 255 + 2000 + 2;

/// Separates the fields, so that no match spans two of them.
const FIELD_SEPARATOR: &str = "\u{1}";

/// Returns the text that a search looks through.
pub(crate) fn text(fields: &[&str]) -> String {
    fields.join(FIELD_SEPARATOR).to_lowercase()
}

/// A search text, in lower case.
pub(crate) enum Search {
    /// Matches everything.
    Everything,
    /// Three characters or more: both databases have a trigram index for them.
    Indexed(String),
    /// One or two characters, which have separate indexes.
    Short(String),
    /// Matches nothing.
    Nothing,
}

impl Search {
    pub fn new(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::Everything };
        if contains_nul(text) || text.contains(FIELD_SEPARATOR) {
            return Self::Nothing;
        }
        let text = text.to_lowercase();
        match text.chars().count() {
            0 => Self::Everything,
            1..3 => Self::Short(text),
            3..=MAX_LENGTH => Self::Indexed(text),
            _ => Self::Nothing,
        }
    }

    /// The condition that a lower-cased column contains the search text.
    pub fn within(&self, column: &'static str) -> Option<Sql> {
        match self {
            Self::Everything => None,
            Self::Indexed(text) | Self::Short(text) => {
                Some(Sql::new(column).sql(" LIKE ").text(like_pattern(text)).sql(r" ESCAPE '\'"))
            }
            Self::Nothing => Some(Sql::new("1 = 0")),
        }
    }

    /// Returns the search text as a quoted phrase for SQLite's full-text index, in which no character is special.
    /// `None` if the full-text index does not apply.
    pub fn phrase(&self, backend: Backend) -> Option<String> {
        match (self, backend) {
            (Self::Indexed(text), Backend::Sqlite) => {
                Some(format!("\"{}\"", text.replace('"', "\"\"")))
            }
            (Self::Indexed(_), Backend::Postgres)
            | (Self::Everything | Self::Short(_) | Self::Nothing, _) => None,
        }
    }
}

/// The columns to search.
pub(crate) enum Texts {
    /// The names, paths and descriptions of projects.
    Projects,
    /// The names of namespaces.
    NamespaceNames,
    /// The names and paths of namespaces.
    Namespaces,
}

impl Search {
    /// Selects the ids of the rows that contain the search text, by an index. The ids are unordered and may repeat.
    /// `None` if everything matches.
    pub fn matching(&self, texts: &Texts, backend: Backend) -> Option<Sql> {
        match (self, backend) {
            (Self::Everything, _) => None,
            (Self::Nothing, _) => Some(Sql::new("SELECT id FROM projects WHERE 1 = 0")),
            (Self::Indexed(_), Backend::Sqlite) => {
                let phrase = self.phrase(backend)?;
                Some(match texts {
                    Texts::Projects => {
                        Sql::new("SELECT rowid FROM projects_search WHERE projects_search MATCH ")
                            .text(phrase)
                    }
                    Texts::NamespaceNames => {
                        Sql::new(NAMESPACES_SEARCH).text(format!("name_folded : {phrase}"))
                    }
                    Texts::Namespaces => Sql::new(NAMESPACES_SEARCH).text(phrase),
                })
            }
            (Self::Indexed(_), Backend::Postgres) => Some(match texts {
                Texts::Projects => {
                    Sql::new("SELECT id FROM projects WHERE ").then(self.within("search_text")?)
                }
                Texts::NamespaceNames => {
                    Sql::new("SELECT id FROM namespaces WHERE ").then(self.within("name_folded")?)
                }
                Texts::Namespaces => Sql::new("SELECT id FROM namespaces WHERE ")
                    .then(self.within("name_folded")?)
                    .sql(" OR ")
                    .then(self.within("path_folded")?),
            }),
            // Index terms have three characters, and each indexed text is followed by two more characters. So a
            // search text of one or two characters is always the prefix of a term.
            (Self::Short(text), Backend::Sqlite) => {
                let (terms, more) = match texts {
                    Texts::Projects => ("SELECT doc FROM projects_search_terms WHERE term >= ", ""),
                    Texts::NamespaceNames => (NAMESPACES_TERMS, " AND col = 'name_folded'"),
                    Texts::Namespaces => (NAMESPACES_TERMS, ""),
                };
                let last = format!("{text}{0}{0}", char::MAX);
                Some(Sql::new(terms).text(text.clone()).sql(" AND term <= ").text(last).sql(more))
            }
            (Self::Short(text), Backend::Postgres) => {
                let part = |sql: &'static str| Sql::new(sql).text(text.clone()).sql("]");
                Some(match texts {
                    Texts::Projects => {
                        part("SELECT id FROM projects_search_parts WHERE parts @> ARRAY[")
                    }
                    Texts::NamespaceNames => {
                        part("SELECT id FROM namespaces_search_parts WHERE name_parts @> ARRAY[")
                    }
                    Texts::Namespaces => {
                        part("SELECT id FROM namespaces_search_parts WHERE name_parts @> ARRAY[")
                            .then(part(" OR path_parts @> ARRAY["))
                    }
                })
            }
        }
    }
}

const NAMESPACES_SEARCH: &str =
    "SELECT rowid FROM namespaces_search WHERE namespaces_search MATCH ";
const NAMESPACES_TERMS: &str = "SELECT doc FROM namespaces_search_terms WHERE term >= ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_selects_the_index() {
        assert!(matches!(Search::new(None), Search::Everything));
        assert!(matches!(Search::new(Some("")), Search::Everything));
        assert!(matches!(Search::new(Some("Äb")), Search::Short(text) if text == "äb"));
        assert!(matches!(Search::new(Some("ABC")), Search::Indexed(text) if text == "abc"));
        assert!(matches!(Search::new(Some("a\0bc")), Search::Nothing));
        assert!(matches!(Search::new(Some(&"x".repeat(MAX_LENGTH + 1))), Search::Nothing));
    }

    #[test]
    fn a_phrase_means_nothing_but_itself() {
        let phrase = Search::new(Some("a\" OR b")).phrase(Backend::Sqlite);
        assert_eq!(phrase.as_deref(), Some("\"a\"\" or b\""));
        assert_eq!(Search::new(Some("abc")).phrase(Backend::Postgres), None);
    }
}
