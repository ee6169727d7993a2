//! Secrets in the database: encrypted ("sealed") with the installation's key when written, decrypted when read.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::{Sealed, Vault};
use hexforge_domain::text::Secret;

/// The prefix of a sealed text. No URL and no runners token begins with it.
const MARK: &str = "sealed:";

/// The column that a text is sealed for. A text sealed for one column cannot be opened as another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    HookUrl,
    HookToken,
    ImportUrl,
    RunnersToken,
    KeyProof,
    Installation,
    ServiceProperties,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Purpose::HookUrl => "url of a hook",
            Purpose::HookToken => "token of a hook",
            Purpose::ImportUrl => "url of an import",
            Purpose::RunnersToken => "runners token of a project",
            Purpose::KeyProof => "proof of the key",
            Purpose::Installation => "secret of the installation",
            Purpose::ServiceProperties => "properties of a service",
        }
    }
}

/// Encrypts and decrypts secrets of the database. Without a vault every call fails, so that no secret is stored in
/// plain text.
#[derive(Clone, Default)]
pub(crate) struct Seals(pub Option<Arc<dyn Vault>>);

impl Seals {
    /// Returns the sealed form of a text, for storage.
    pub fn seal(&self, purpose: Purpose, text: &str) -> Result<String, StoreError> {
        let sealed = self.vault()?.seal(purpose.as_str(), text);
        Ok(format!("{MARK}{}", STANDARD_NO_PAD.encode(sealed.0)))
    }

    /// Returns the plain text of a sealed text.
    pub fn open(&self, purpose: Purpose, stored: &str) -> Result<String, StoreError> {
        let vault = self.vault()?;
        let bytes = stored.strip_prefix(MARK).and_then(|text| STANDARD_NO_PAD.decode(text).ok());
        let sealed = Sealed(bytes.ok_or(StoreError::Corrupt("sealed text"))?);
        let opened = vault.open(purpose.as_str(), &sealed);
        let opened = opened.map_err(|error| StoreError::Failed(Box::new(error)))?;
        Ok(opened.reveal().to_owned())
    }

    /// Like [`seal`](Self::seal), for an optional secret.
    pub fn seal_opt(
        &self,
        purpose: Purpose,
        secret: Option<&Secret>,
    ) -> Result<Option<String>, StoreError> {
        secret.map(|secret| self.seal(purpose, secret.reveal())).transpose()
    }

    /// Like [`open`](Self::open), for an optional secret.
    pub fn open_opt(
        &self,
        purpose: Purpose,
        stored: Option<&str>,
    ) -> Result<Option<Secret>, StoreError> {
        stored.map(|stored| self.open(purpose, stored).map(Secret::new)).transpose()
    }

    /// Returns a keyed hash of a runners token, by which its project is looked up.
    pub fn runners_token_proof(&self, token: &str) -> Result<String, StoreError> {
        Ok(self.vault()?.token(&format!("lookup of runners token {token}")).reveal().to_owned())
    }

    fn vault(&self) -> Result<&dyn Vault, StoreError> {
        let missing =
            || StoreError::Failed("the store was opened without the key that seals secrets".into());
        self.0.as_deref().ok_or_else(missing)
    }
}

/// Returns true if a stored text is sealed.
pub(crate) fn is_sealed(stored: &str) -> bool {
    stored.starts_with(MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_key_nothing_is_stored_or_read() {
        let seals = Seals::default();
        assert!(seals.seal(Purpose::HookUrl, "http://example.com").is_err());
        assert!(seals.open(Purpose::HookUrl, "http://example.com").is_err());
        assert!(seals.runners_token_proof("token").is_err());
    }
}
