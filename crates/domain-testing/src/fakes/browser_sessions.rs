//! Fake of the browser sessions.

use std::cmp::Reverse;

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::browser_session::port::BrowserSessions;
use hexforge_domain::browser_session::{
    BrowserSession, MAX_SESSIONS, NewBrowserSession, SessionHolder,
};
use hexforge_domain::id::{BrowserSessionId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::token::TokenHash;

/// A session with the hash of its token.
#[derive(Clone, PartialEq)]
pub(super) struct SessionRow {
    pub session: BrowserSession,
    pub hash: TokenHash,
}

impl BrowserSessions for FakeTx {
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<SessionHolder>, StoreError> {
        let found = self.tables.browser_sessions.iter().find(|row| row.hash == *hash);
        let settings = self.tables.application_settings.as_ref();
        let settings_version = settings.map_or(0, |settings| settings.version);
        Ok(found.and_then(|SessionRow { session, .. }| {
            let user = self.tables.users.get(&session.user)?.user.clone();
            Some(SessionHolder { session: session.clone(), user, settings_version })
        }))
    }

    fn list(&mut self, user: UserId) -> Result<Vec<BrowserSession>, StoreError> {
        let sessions = self.tables.browser_sessions.iter().map(|row| &row.session);
        let mut own: Vec<_> = sessions.filter(|session| session.user == user).cloned().collect();
        own.sort_by_key(|session| Reverse((session.last_used_at, session.id)));
        Ok(own)
    }

    fn insert(&mut self, new: NewBrowserSession) -> Result<BrowserSession, StoreError> {
        self.require_user(new.user)?;
        if self.tables.browser_sessions.iter().any(|row| row.hash == new.hash) {
            return self.refuse(StoreError::Duplicate("token"));
        }
        for session in self.list(new.user)?.into_iter().skip(MAX_SESSIONS - 1) {
            self.remove(new.user, session.id)?;
        }
        let session = BrowserSession {
            id: BrowserSessionId(self.next_id()),
            user: new.user,
            created_at: new.at,
            last_used_at: new.at,
            address: new.address,
            browser: new.browser,
            remembered: new.remembered,
        };
        let row = SessionRow { session: session.clone(), hash: new.hash };
        self.tables.browser_sessions.push(row);
        Ok(session)
    }

    fn touch(&mut self, id: BrowserSessionId, at: Timestamp) -> Result<(), StoreError> {
        for SessionRow { session, .. } in &mut self.tables.browser_sessions {
            if session.id == id {
                session.last_used_at = session.last_used_at.max(at);
            }
        }
        Ok(())
    }

    fn remove(&mut self, user: UserId, id: BrowserSessionId) -> Result<bool, StoreError> {
        let sessions = &mut self.tables.browser_sessions;
        let before = sessions.len();
        sessions.retain(|row| (row.session.user, row.session.id) != (user, id));
        Ok(sessions.len() < before)
    }

    fn remove_by_hash(&mut self, hash: &TokenHash) -> Result<(), StoreError> {
        self.tables.browser_sessions.retain(|row| row.hash != *hash);
        Ok(())
    }

    fn remove_all_of(
        &mut self,
        user: UserId,
        except: Option<BrowserSessionId>,
    ) -> Result<(), StoreError> {
        let sessions = &mut self.tables.browser_sessions;
        sessions.retain(|row| row.session.user != user || Some(row.session.id) == except);
        Ok(())
    }

    fn remove_unused(
        &mut self,
        remembered: bool,
        by: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let sessions = &mut self.tables.browser_sessions;
        let unused = sessions
            .iter()
            .map(|row| &row.session)
            .filter(|session| session.remembered == remembered && session.last_used_at <= by);
        let mut unused: Vec<_> = unused.map(|session| (session.last_used_at, session.id)).collect();
        unused.sort_unstable();
        unused.truncate(limit as usize);
        sessions.retain(|row| unused.iter().all(|(_, id)| row.session.id != *id));
        Ok(unused.len())
    }
}
