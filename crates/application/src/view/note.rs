//! Notes with their authors.

use hexforge_domain::note::Note;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::User;

use super::user::load_users;

/// A note with its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteView {
    /// The note.
    pub note: Note,
    /// The author of the note.
    pub author: User,
}

/// Adds the author to a note.
pub fn load(tx: &mut dyn Tx, note: Note) -> Result<NoteView, StoreError> {
    let page = page(tx, Paged { items: vec![note], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds the authors to a page of notes.
pub fn page(tx: &mut dyn Tx, notes: Paged<Note>) -> Result<Paged<NoteView>, StoreError> {
    let authors = load_users(tx, notes.items.iter().map(|note| note.author))?;
    // A note is deleted together with its author, so every author exists.
    let view = |note: Note| Some(NoteView { author: authors.get(&note.author)?.clone(), note });
    Ok(Paged { items: notes.items.into_iter().filter_map(view).collect(), total: notes.total })
}
