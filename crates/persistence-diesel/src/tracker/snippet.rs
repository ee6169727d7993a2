//! Snippets of projects and users.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::id::{ProjectId, SnippetId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::snippet::port::Snippets;
use hexforge_domain::snippet::{NewSnippet, Snippet, SnippetFileName};
use hexforge_domain::text::{LongText, ShortText};
use hexforge_domain::visibility::Visibility;

use crate::database::schema::snippets;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

/// All columns except the content.
type ListColumns = (
    snippets::id,
    snippets::project_id,
    snippets::author_id,
    snippets::title,
    snippets::file_name,
    snippets::visibility_level,
    snippets::created_at,
    snippets::updated_at,
);

const LIST_COLUMNS: ListColumns = (
    snippets::id,
    snippets::project_id,
    snippets::author_id,
    snippets::title,
    snippets::file_name,
    snippets::visibility_level,
    snippets::created_at,
    snippets::updated_at,
);

#[derive(Queryable)]
struct SnippetRow {
    id: i64,
    project_id: Option<i64>,
    author_id: i64,
    title: String,
    file_name: String,
    visibility_level: i32,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<SnippetRow> for Snippet {
    type Error = StoreError;

    fn try_from(row: SnippetRow) -> Result<Self, StoreError> {
        Ok(Snippet {
            id: SnippetId(row.id),
            project: row.project_id.map(ProjectId),
            author: UserId(row.author_id),
            title: ShortText::parse(&row.title)
                .map_err(|_| StoreError::Corrupt("snippet title"))?,
            file_name: SnippetFileName::stored(row.file_name),
            visibility: Visibility::from_level(row.visibility_level.into())
                .ok_or(StoreError::Corrupt("snippet visibility"))?,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

/// Rows of removed authors may not be deleted yet.
const AUTHOR_EXISTS: &str = " AND EXISTS (SELECT 1 FROM users WHERE users.id = snippets.author_id)";

impl DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list.
    fn page_of_snippets(
        &mut self,
        name: &str,
        which: Sql,
        page: Page,
    ) -> Result<Paged<Snippet>, StoreError> {
        let all =
            Sql::new("SELECT snippets.id FROM snippets WHERE ").then(which).sql(AUTHOR_EXISTS);
        let name = || name.to_owned();
        let (ids, total) = self.page_of(all, " ORDER BY snippets.id DESC", page, name)?;
        let mut rows: Vec<SnippetRow> = self.by_ids(&ids, |conn, ids| {
            snippets::table.filter(snippets::id.among(ids)).select(LIST_COLUMNS).load(conn)
        })?;
        page::arrange(&mut rows, &ids, |row| row.id);
        Ok(Paged { items: self.convert_rows(rows)?, total })
    }
}

impl Snippets for DieselTx<'_> {
    fn of_project(
        &mut self,
        project: ProjectId,
        lowest: Visibility,
        page: Page,
    ) -> Result<Paged<Snippet>, StoreError> {
        // The levels are part of the text, so that the partial indexes are used.
        let from_level = match lowest {
            Visibility::Private => "",
            Visibility::Internal => " AND snippets.visibility_level >= 10",
            Visibility::Public => " AND snippets.visibility_level >= 20",
        };
        let which = Sql::new("snippets.project_id = ").id(project.0).sql(from_level);
        self.page_of_snippets(&format!("snippets of {project} from {lowest:?}"), which, page)
    }

    fn personal(&mut self, author: UserId, page: Page) -> Result<Paged<Snippet>, StoreError> {
        let which = Sql::new("snippets.project_id IS NULL AND snippets.author_id = ").id(author.0);
        self.page_of_snippets(&format!("personal snippets of {author}"), which, page)
    }

    fn public(&mut self, page: Page) -> Result<Paged<Snippet>, StoreError> {
        let which = Sql::new("snippets.project_id IS NULL AND snippets.visibility_level = 20");
        self.page_of_snippets("public personal snippets", which, page)
    }

    fn find(&mut self, id: SnippetId) -> Result<Option<Snippet>, StoreError> {
        self.read_row(|conn| {
            snippets::table
                .find(id.0)
                .select(LIST_COLUMNS)
                .get_result::<SnippetRow>(conn)
                .optional()
        })
    }

    fn content(&mut self, id: SnippetId) -> Result<Option<LongText>, StoreError> {
        let text: Option<String> = self.run(|conn| {
            snippets::table.find(id.0).select(snippets::content).get_result(conn).optional()
        })?;
        let parsed = text.map(|text| LongText::parse(&text)).transpose();
        self.fail_on_error(parsed.map_err(|_| StoreError::Corrupt("snippet content")))
    }

    fn insert(&mut self, new: NewSnippet) -> Result<Snippet, StoreError> {
        let values = (
            snippets::project_id.eq(new.project.map(|project| project.0)),
            snippets::author_id.eq(new.author.0),
            snippets::title.eq(new.title.as_str()),
            snippets::file_name.eq(new.file_name.as_str()),
            snippets::visibility_level.eq(new.visibility.level()),
            snippets::created_at.eq(to_naive(new.at)),
            snippets::updated_at.eq(to_naive(new.at)),
            snippets::content.eq(new.content.as_str()),
        );
        let id = self.run(|conn| {
            diesel::insert_into(snippets::table)
                .values(values)
                .returning(snippets::id)
                .get_result(conn)
        })?;
        Ok(Snippet {
            id: SnippetId(id),
            project: new.project,
            author: new.author,
            title: new.title,
            file_name: new.file_name,
            visibility: new.visibility,
            created_at: new.at,
            updated_at: new.at,
        })
    }

    fn update(&mut self, snippet: &Snippet, content: Option<&LongText>) -> Result<(), StoreError> {
        let values = (
            snippets::title.eq(snippet.title.as_str()),
            snippets::file_name.eq(snippet.file_name.as_str()),
            snippets::visibility_level.eq(snippet.visibility.level()),
            snippets::updated_at.eq(to_naive(snippet.updated_at)),
            // Without a value the column is left alone.
            content.map(|content| snippets::content.eq(content.as_str())),
        );
        let row = snippets::table.find(snippet.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    fn delete(&mut self, id: SnippetId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(snippets::table.find(id.0)).execute(conn))
    }
}
