//! Conditions on the projects and titles of labels and milestones, shared by issue lists and their totals.

use hexforge_domain::id::{NamespaceId, ProjectId};
use hexforge_domain::issue::query::LabelFilter;

use crate::query::sql::Sql;
use crate::query::title_start;

/// The project, or the group of projects, whose labels and milestones select issues.
#[derive(Clone, Copy)]
pub(crate) enum ProjectSet {
    Project(ProjectId),
    Group(NamespaceId),
}

impl ProjectSet {
    /// The condition that follows the name of a project id column.
    pub fn condition(self) -> Sql {
        match self {
            Self::Project(project) => Sql::new(" = ").id(project.0),
            Self::Group(group) => {
                Sql::new(" IN (SELECT homes.id FROM projects AS homes WHERE homes.namespace_id = ")
                    .id(group.0)
                    .sql(")")
            }
        }
    }
}

/// Returns the titles in a label filter.
pub(crate) fn titles_of(labels: &LabelFilter) -> &[String] {
    match labels {
        LabelFilter::Any(titles) | LabelFilter::All(titles) => titles,
    }
}

/// The condition that a title is one of these. `words` is the beginning of the condition: the column and `IN (`.
pub(crate) fn title_in(words: &'static str, titles: &[String]) -> Sql {
    text_in(words, titles.iter().map(String::as_str))
}

/// Like [`title_in`], for the beginning of titles, which is indexed.
pub(crate) fn title_start_in(words: &'static str, titles: &[String]) -> Sql {
    text_in(words, titles.iter().map(|title| title_start::prefix(title)))
}

fn text_in<'a>(words: &'static str, texts: impl ExactSizeIterator<Item = &'a str>) -> Sql {
    if texts.len() == 0 {
        return Sql::new("FALSE");
    }
    let mut word = words;
    let list = texts.fold(Sql::new(""), |sql, text| {
        sql.sql(std::mem::replace(&mut word, ", ")).text(text.to_owned())
    });
    list.sql(")")
}
