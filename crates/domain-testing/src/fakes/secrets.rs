//! Fake of the secrets, which are predictable.

use super::mixing::hash_bytes;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::text::Secret;
use hexforge_domain::token::TokenHash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers its tokens: `fake-token-000000000001` and so on. Clones share the counter.
#[derive(Clone, Debug, Default)]
pub struct FakeSecrets(Arc<AtomicU64>);

impl Secrets for FakeSecrets {
    fn token(&self) -> Secret {
        let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        Secret::new(format!("fake-token-{number:012}"))
    }

    fn session_token(&self) -> Secret {
        self.token()
    }

    fn digest(&self, token: &str) -> TokenHash {
        TokenHash(hash_bytes(token.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_their_digests_differ_and_digests_repeat() {
        let secrets = FakeSecrets::default();
        let (one, two) = (secrets.token(), secrets.clone().token());
        assert!(one.reveal().len() >= 20);
        assert_ne!(one, two);
        assert_ne!(secrets.digest(one.reveal()), secrets.digest(two.reveal()));
        assert_eq!(secrets.digest("x"), FakeSecrets::default().digest("x"));
    }
}
