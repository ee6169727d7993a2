//! Notes with their authors.

use std::collections::HashMap;

use hexforge_domain::id::UserId;
use hexforge_domain::note::Note;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::User;

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
    let mut ids: Vec<UserId> = notes.items.iter().map(|note| note.author).collect();
    ids.sort_unstable();
    ids.dedup();
    let authors = if ids.is_empty() { vec![] } else { tx.users().find_all(&ids)? };
    let authors: HashMap<UserId, User> =
        authors.into_iter().map(|author| (author.id, author)).collect();
    // A note is deleted together with its author, so every author exists.
    let view = |note: Note| Some(NoteView { author: authors.get(&note.author)?.clone(), note });
    Ok(Paged { items: notes.items.into_iter().filter_map(view).collect(), total: notes.total })
}
