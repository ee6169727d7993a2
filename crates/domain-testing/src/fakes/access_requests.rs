//! Fake of the access requests.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::member::port::AccessRequests;
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::User;

impl AccessRequests for FakeTx {
    fn list(
        &mut self,
        source: RequestSource,
        page: Page,
    ) -> Result<Paged<(User, Timestamp)>, StoreError> {
        let all = self.tables.access_requests.iter().filter(|(of, ..)| *of == source);
        let asking =
            all.filter_map(|(_, user, at)| Some((self.tables.users.get(user)?.user.clone(), *at)));
        let mut asking: Vec<_> = asking.collect();
        asking.sort_by_key(|(user, _)| std::cmp::Reverse(user.id));
        Ok(page.slice(asking))
    }

    fn find(
        &mut self,
        source: RequestSource,
        user: UserId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut all = self.tables.access_requests.iter();
        let found = all.find(|(of, asking, _)| *of == source && *asking == user);
        Ok(found.map(|(.., at)| *at))
    }

    fn insert(
        &mut self,
        source: RequestSource,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.require_user(user)?;
        match source {
            RequestSource::Group(group) => self.require_namespace(group)?,
            RequestSource::Project(project) => self.require_project(project)?,
        }
        if AccessRequests::find(self, source, user)?.is_some() {
            return self.refuse(StoreError::Duplicate("access request"));
        }
        self.tables.access_requests.push((source, user, at));
        Ok(())
    }

    fn delete(&mut self, source: RequestSource, user: UserId) -> Result<(), StoreError> {
        let all = &mut self.tables.access_requests;
        all.retain(|(of, asking, _)| *of != source || *asking != user);
        Ok(())
    }
}
