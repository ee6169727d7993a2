//! Fake of the awards.

use super::tx::FakeTx;
use hexforge_domain::award::emoji::{THUMBS_DOWN, THUMBS_UP};
use hexforge_domain::award::port::Awards;
use hexforge_domain::award::{Award, Awardable, EmojiName, NewAward, Votes};
use hexforge_domain::id::{AwardId, NoteId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl Awards for FakeTx {
    fn list(&mut self, on: Awardable, page: Page) -> Result<Paged<Award>, StoreError> {
        let oldest_first = self.tables.awards.iter().filter(|award| award.on == on);
        Ok(page.slice(oldest_first.cloned().collect()))
    }

    fn of_notes(&mut self, notes: &[NoteId], limit: u32) -> Result<Vec<Award>, StoreError> {
        let is_asked =
            |award: &&Award| matches!(award.on, Awardable::Note(note) if notes.contains(&note));
        Ok(self.tables.awards.iter().filter(is_asked).take(limit as usize).cloned().collect())
    }

    fn find(&mut self, on: Awardable, id: AwardId) -> Result<Option<Award>, StoreError> {
        let found = self.tables.awards.iter().find(|award| award.on == on && award.id == id);
        Ok(found.cloned())
    }

    fn find_given(
        &mut self,
        on: Awardable,
        user: UserId,
        name: &EmojiName,
    ) -> Result<Option<Award>, StoreError> {
        let same = |award: &&Award| award.on == on && award.user == user && award.name == *name;
        Ok(self.tables.awards.iter().find(same).cloned())
    }

    fn insert(&mut self, new: NewAward) -> Result<Award, StoreError> {
        let NewAward { on, user, name, at } = new;
        self.require_user(user)?;
        match on {
            Awardable::Issue(issue) => self.require_issuable(issue.into())?,
            Awardable::MergeRequest(request) => self.require_issuable(request.into())?,
            Awardable::Snippet(snippet) if self.find_snippet(snippet).is_none() => {
                return self.refuse(StoreError::Gone);
            }
            Awardable::Snippet(_) => {}
            Awardable::Note(note) => self.require_note(note)?,
        }
        if self.find_given(on, user, &name)?.is_some() {
            return self.refuse(StoreError::Duplicate("award"));
        }
        let award = Award { id: AwardId(self.next_id()), on, user, name, created_at: at };
        self.tables.awards.push(award.clone());
        Ok(award)
    }

    fn delete(&mut self, id: AwardId) -> Result<(), StoreError> {
        self.tables.awards.retain(|award| award.id != id);
        Ok(())
    }

    fn votes(&mut self, on: &[Issuable]) -> Result<Vec<(Issuable, Votes)>, StoreError> {
        let count = |on: Issuable, name: &str| {
            let given = self.tables.awards.iter().filter(|award| award.on == on.into());
            let given = given.filter(|award| award.name.as_str() == name).count();
            u32::try_from(given).unwrap_or(u32::MAX)
        };
        let votes = |on: Issuable| Votes { up: count(on, THUMBS_UP), down: count(on, THUMBS_DOWN) };
        Ok(on.iter().map(|on| (*on, votes(*on))).collect())
    }
}
