//! The port to the stored awards.

use super::{Award, Awardable, EmojiName, NewAward};
use crate::id::{AwardId, NoteId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The awards of all issues, merge requests, snippets and notes. They are deleted together with their target and with
/// their user. The caller locks the project before a change.
pub trait Awards {
    /// Returns a page of the awards of a target, oldest first. Awards of the notes on it are not included.
    fn list(&mut self, on: Awardable, page: Page) -> Result<Paged<Award>, StoreError>;

    /// Returns the oldest awards of a target, at most `limit`, and the oldest awards of these notes, at most ten times
    /// `limit` for all notes together. Both are returned in one list, oldest first.
    fn of_discussion(
        &mut self,
        on: Awardable,
        notes: &[NoteId],
        limit: u32,
    ) -> Result<Vec<Award>, StoreError>;

    /// Returns the award with this id if it is for this target.
    fn find(&mut self, on: Awardable, id: AwardId) -> Result<Option<Award>, StoreError>;

    /// Returns the award of this emoji that a user gave to a target.
    fn find_given(
        &mut self,
        on: Awardable,
        user: UserId,
        name: &EmojiName,
    ) -> Result<Option<Award>, StoreError>;

    /// Creates an award.
    /// # Errors
    /// [`StoreError::Duplicate`]`("award")` when the user gave the target this emoji already. [`StoreError::Gone`] when
    /// the target does not exist.
    fn insert(&mut self, new: NewAward) -> Result<Award, StoreError>;

    /// Deletes an award.
    fn delete(&mut self, id: AwardId) -> Result<(), StoreError>;
}
