//! Fake of the snippets.

use super::tx::{FakeTx, Tables};
use hexforge_domain::id::{ProjectId, SnippetId, UserId};
use hexforge_domain::note::Noteable;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::snippet::port::Snippets;
use hexforge_domain::snippet::{NewSnippet, Snippet};
use hexforge_domain::text::LongText;
use hexforge_domain::visibility::Visibility;

impl Tables {
    pub fn remove_snippet(&mut self, id: SnippetId) {
        self.snippets.retain(|(snippet, _)| snippet.id != id);
        let on = Noteable::Snippet(id);
        self.awards.retain(|award| award.on != id.into());
        let notes = self.notes.iter().filter(|note| note.on == on);
        for note in notes.map(|note| note.id).collect::<Vec<_>>() {
            self.remove_note(note);
        }
        self.events
            .retain(|event| event.target.as_ref().and_then(|target| target.belongs_to) != Some(on));
    }

    /// Removes the snippets that match a condition.
    pub fn remove_snippets(&mut self, matches: impl Fn(&Snippet) -> bool) {
        let all = self.snippets.iter().map(|(snippet, _)| snippet);
        let ids: Vec<SnippetId> = all.filter(|one| matches(one)).map(|one| one.id).collect();
        for id in ids {
            self.remove_snippet(id);
        }
    }
}

impl FakeTx {
    pub fn find_snippet(&self, id: SnippetId) -> Option<&Snippet> {
        self.tables.snippets.iter().map(|(snippet, _)| snippet).find(|snippet| snippet.id == id)
    }

    fn page_of_snippets(&self, page: Page, matches: impl Fn(&Snippet) -> bool) -> Paged<Snippet> {
        let newest_first = self.tables.snippets.iter().rev().map(|(snippet, _)| snippet);
        page.slice(newest_first.filter(|snippet| matches(snippet)).cloned().collect())
    }
}

impl Snippets for FakeTx {
    fn of_project(
        &mut self,
        project: ProjectId,
        lowest: Visibility,
        page: Page,
    ) -> Result<Paged<Snippet>, StoreError> {
        Ok(self.page_of_snippets(page, |snippet| {
            snippet.project == Some(project) && snippet.visibility >= lowest
        }))
    }

    fn personal(&mut self, author: UserId, page: Page) -> Result<Paged<Snippet>, StoreError> {
        Ok(self.page_of_snippets(page, |snippet| {
            snippet.project.is_none() && snippet.author == author
        }))
    }

    fn public(&mut self, page: Page) -> Result<Paged<Snippet>, StoreError> {
        Ok(self.page_of_snippets(page, |snippet| {
            snippet.project.is_none() && snippet.visibility == Visibility::Public
        }))
    }

    fn find(&mut self, id: SnippetId) -> Result<Option<Snippet>, StoreError> {
        let mut all = self.tables.snippets.iter();
        Ok(all.find(|(snippet, _)| snippet.id == id).map(|(snippet, _)| snippet.clone()))
    }

    fn content(&mut self, id: SnippetId) -> Result<Option<LongText>, StoreError> {
        let mut all = self.tables.snippets.iter();
        Ok(all.find(|(snippet, _)| snippet.id == id).map(|(_, content)| content.clone()))
    }

    fn insert(&mut self, new: NewSnippet) -> Result<Snippet, StoreError> {
        self.require_user(new.author)?;
        if let Some(project) = new.project {
            self.require_project(project)?;
        }
        let snippet = Snippet {
            id: SnippetId(self.next_id()),
            project: new.project,
            author: new.author,
            title: new.title,
            file_name: new.file_name,
            visibility: new.visibility,
            created_at: new.at,
            updated_at: new.at,
        };
        self.tables.snippets.push((snippet.clone(), new.content));
        Ok(snippet)
    }

    fn update(&mut self, snippet: &Snippet, content: Option<&LongText>) -> Result<(), StoreError> {
        let mut all = self.tables.snippets.iter_mut();
        if let Some((row, stored)) = all.find(|(row, _)| row.id == snippet.id) {
            *row = Snippet {
                id: row.id,
                project: row.project,
                author: row.author,
                created_at: row.created_at,
                ..snippet.clone()
            };
            if let Some(content) = content {
                *stored = content.clone();
            }
        }
        Ok(())
    }

    fn delete(&mut self, id: SnippetId) -> Result<(), StoreError> {
        self.tables.remove_snippet(id);
        Ok(())
    }
}
