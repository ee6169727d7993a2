//! Implements the port for secrets with the random numbers of the operating system.

use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::text::Secret;
use hexforge_domain::token::TokenHash;
use sha2::{Digest, Sha256};

/// 64 characters that need no escaping in URLs, headers or shells; each stands for six random bits.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes bytes as the text of a token: six bits of each byte become one character.
pub(super) fn token_text(bytes: &[u8]) -> Secret {
    let text: String = bytes.iter().map(|b| char::from(ALPHABET[usize::from(b & 63)])).collect();
    Secret::new(text)
}

/// 191 random bits.
const LENGTH: usize = 32;

/// 257 random bits.
const SESSION_LENGTH: usize = 43;

/// Generates the text of a token with this many characters.
fn random_text<const LENGTH: usize>() -> Secret {
    let mut random = [0; LENGTH];
    getrandom::fill(&mut random).expect("the operating system has random numbers");
    // The first character is a letter: a command line would take a token with a leading `-` for an option.
    random[0] &= 31;
    token_text(&random)
}

/// Generates secrets with the random numbers of the operating system.
pub struct SystemSecrets;

impl Secrets for SystemSecrets {
    fn token(&self) -> Secret {
        random_text::<LENGTH>()
    }

    fn session_token(&self) -> Secret {
        random_text::<SESSION_LENGTH>()
    }

    fn digest(&self, token: &str) -> TokenHash {
        TokenHash(Sha256::digest(token.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (SystemSecrets.token(), SystemSecrets.token());
        assert_eq!(one.reveal().len(), LENGTH);
        assert_ne!(one, other);
        assert_ne!(SystemSecrets.digest(one.reveal()), SystemSecrets.digest(other.reveal()));
        assert_eq!(SystemSecrets.digest(one.reveal()), SystemSecrets.digest(one.reveal()));
        for _ in 0..200 {
            let token = SystemSecrets.token();
            assert!(token.reveal().starts_with(|c: char| c.is_ascii_alphabetic()));
        }
        let (one, other) = (SystemSecrets.session_token(), SystemSecrets.session_token());
        assert_eq!(one.reveal().len(), SESSION_LENGTH);
        assert_ne!(one, other);
    }
}
