//! Fake of the vault, without encryption.

use super::mixing::hash_bytes;
use hexforge_domain::ports::vault::{Sealed, Vault, VaultError};
use hexforge_domain::text::Secret;

/// Seals a text by writing the purpose in front of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeVault;

impl Vault for FakeVault {
    fn seal(&self, purpose: &str, text: &str) -> Sealed {
        Sealed(format!("{purpose}\n{text}").into_bytes())
    }

    fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Secret, VaultError> {
        let text = std::str::from_utf8(&sealed.0).ok();
        let opened = text.and_then(|text| text.strip_prefix(purpose)?.strip_prefix('\n'));
        opened.map(Secret::new).ok_or(VaultError(None))
    }

    fn token(&self, subject: &str) -> Secret {
        let text: String =
            hash_bytes::<16>(subject.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        Secret::new(text)
    }

    fn is_token(&self, subject: &str, text: &str) -> bool {
        self.token(subject).reveal() == text
    }
}
