//! Snippets with their authors.

use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::snippet::Snippet;
use hexforge_domain::user::User;

use super::user::load_users;

/// A snippet with its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetView {
    /// The snippet.
    pub snippet: Snippet,
    /// The author of the snippet.
    pub author: User,
    /// The full path of the project; `None` for a personal snippet.
    pub project_path: Option<String>,
}

/// Adds the author to a snippet.
pub fn load(
    tx: &mut dyn Tx,
    snippet: Snippet,
    project_path: Option<String>,
) -> Result<SnippetView, StoreError> {
    let page = page(tx, Paged { items: vec![snippet], total: 1 }, project_path)?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds the authors to a page of snippets.
pub fn page(
    tx: &mut dyn Tx,
    snippets: Paged<Snippet>,
    project_path: Option<String>,
) -> Result<Paged<SnippetView>, StoreError> {
    let Paged { items, total } = snippets;
    let authors = load_users(tx, items.iter().map(|snippet| snippet.author))?;
    // Lists leave out snippets of removed authors, so every author exists.
    let view = |snippet: Snippet| {
        let author = authors.get(&snippet.author)?.clone();
        Some(SnippetView { author, snippet, project_path: project_path.clone() })
    };
    Ok(Paged { items: items.into_iter().filter_map(view).collect(), total })
}
