//! Fake of the awards.

use super::tx::FakeTx;
use hexforge_domain::award::port::Awards;
use hexforge_domain::award::{Award, Awardable, EmojiName, NewAward};
use hexforge_domain::id::{AwardId, NoteId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl Awards for FakeTx {
    fn list(&mut self, on: Awardable, page: Page) -> Result<Paged<Award>, StoreError> {
        let oldest_first = self.tables.awards.iter().filter(|award| award.on == on);
        Ok(page.slice(oldest_first.cloned().collect()))
    }

    fn of_discussion(
        &mut self,
        on: Awardable,
        notes: &[NoteId],
        limit: u32,
    ) -> Result<Vec<Award>, StoreError> {
        let (all, limit) = (&self.tables.awards, limit as usize);
        let own = all.iter().filter(|award| award.on == on).take(limit);
        let is_noted =
            |award: &&Award| matches!(award.on, Awardable::Note(note) if notes.contains(&note));
        let mut found: Vec<Award> =
            own.chain(all.iter().filter(is_noted).take(limit * 10)).cloned().collect();
        found.sort_by_key(|award| award.id);
        Ok(found)
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
}
