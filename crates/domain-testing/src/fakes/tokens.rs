//! Fake of the tokens.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{TokenId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::token::port::Tokens;
use hexforge_domain::token::{
    NewToken, Token, TokenHash, TokenHolder, TokenKind, TokenLife, TokenValidity,
};

/// A token with its hash.
#[derive(Clone, PartialEq)]
pub(super) struct TokenRow {
    pub token: Token,
    pub hash: TokenHash,
}

impl Tokens for FakeTx {
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<TokenHolder>, StoreError> {
        let Some(TokenRow { token, .. }) = self.tables.tokens.iter().find(|row| row.hash == *hash)
        else {
            return Ok(None);
        };
        let settings = self.tables.application_settings.as_ref();
        let settings_version = settings.map_or(0, |settings| settings.version);
        Ok(self.tables.users.get(&token.user).map(|row| TokenHolder {
            token: token.id,
            kind: token.kind,
            life: token.life,
            user: token.user,
            state: row.user.state,
            privileges: row.user.privileges,
            settings_version,
        }))
    }

    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Token>, StoreError> {
        let newest_first = self.tables.tokens.iter().rev().map(|row| &row.token);
        Ok(page.slice(newest_first.filter(|token| token.user == user).cloned().collect()))
    }

    fn active_personal(
        &mut self,
        user: UserId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Token>, StoreError> {
        let newest_first = self.tables.tokens.iter().rev().map(|row| &row.token);
        let active = newest_first.filter(|token| {
            token.user == user
                && token.kind == TokenKind::Personal
                && token.life.at(now) == TokenValidity::Active
        });
        Ok(active.take(limit as usize).cloned().collect())
    }

    fn insert(&mut self, new: NewToken) -> Result<Token, StoreError> {
        self.require_user(new.user)?;
        if self.tables.tokens.iter().any(|row| row.hash == new.hash) {
            return self.refuse(StoreError::Duplicate("token"));
        }
        let token = Token {
            id: TokenId(self.next_id()),
            user: new.user,
            kind: new.kind,
            name: new.name,
            life: TokenLife { expires_at: new.expires_at, revoked_at: None },
            created_at: new.at,
        };
        self.tables.tokens.push(TokenRow { token: token.clone(), hash: new.hash });
        Ok(token)
    }

    fn find(&mut self, id: TokenId) -> Result<Option<Token>, StoreError> {
        let found = self.tables.tokens.iter().find(|row| row.token.id == id);
        Ok(found.map(|row| row.token.clone()))
    }

    fn extend(&mut self, id: TokenId, expires_at: Timestamp) -> Result<(), StoreError> {
        for TokenRow { token, .. } in &mut self.tables.tokens {
            if token.id == id && token.life.revoked_at.is_none() {
                token.life.expires_at = Some(expires_at);
            }
        }
        Ok(())
    }

    fn revoke_sessions(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError> {
        for TokenRow { token, .. } in &mut self.tables.tokens {
            let is_session = token.kind == TokenKind::Private && token.life.expires_at.is_some();
            if token.user == user && is_session {
                token.life.revoked_at.get_or_insert(at);
            }
        }
        Ok(())
    }

    fn ended_sessions(&mut self, by: Timestamp, limit: u32) -> Result<Vec<TokenId>, StoreError> {
        let sessions = self.tables.tokens.iter().map(|row| &row.token);
        let sessions = sessions.filter(|token| token.kind == TokenKind::Private);
        let ends = sessions.filter_map(|token| Some((token.life.expires_at?, token.id)));
        let mut ended: Vec<_> = ends.filter(|(end, _)| *end <= by).collect();
        ended.sort_unstable();
        Ok(ended.into_iter().map(|(_, id)| id).take(limit as usize).collect())
    }

    fn remove(&mut self, ids: &[TokenId]) -> Result<(), StoreError> {
        self.tables.tokens.retain(|row| !ids.contains(&row.token.id));
        Ok(())
    }

    fn revoke(&mut self, id: TokenId, at: Timestamp) -> Result<bool, StoreError> {
        let lives = self.tables.tokens.iter_mut().filter(|row| row.token.id == id);
        let mut unrevoked = lives.map(|row| &mut row.token.life.revoked_at).filter(|r| r.is_none());
        let found = unrevoked.next();
        Ok(found.map(|revoked_at| *revoked_at = Some(at)).is_some())
    }
}
