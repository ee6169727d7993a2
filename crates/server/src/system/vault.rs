//! Encrypts secrets with the key of this installation, so that the database alone does not reveal them.
//!
//! The key is a setting or a file in the data folder. The file is created at the first start and shared by all
//! processes on that folder. A sealed text is a random nonce followed by ChaCha20-Poly1305 with the purpose as
//! associated data. Tokens are HMAC-SHA256. Each use has a key of its own, derived from the installation key.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hexforge_domain::hex;
use hexforge_domain::ports::vault::{Sealed, Vault, VaultError};
use hexforge_domain::text::Secret;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use super::secrets::token_text;
use super::{make_folders, random_name};

/// The file that holds the key.
const FILE: &str = "secret.key";
const KEY_LENGTH: usize = 32;
/// The master key of an installation.
#[derive(Clone)]
pub struct InstallationKey([u8; KEY_LENGTH]);

impl InstallationKey {
    /// Parses a key of 64 hex digits. Returns `None` for any other text.
    pub fn parse(digits: &str) -> Option<Self> {
        hex::parse(digits).map(Self)
    }

    /// Reads the key of a data folder, and creates it if there is none.
    pub fn load_or_create(data_dir: &Path) -> io::Result<Self> {
        read_or_make(data_dir).map(Self)
    }
}

/// Encrypts and signs with keys derived from the installation key.
pub struct KeyVault {
    sealing: LessSafeKey,
    tokens: hmac::Key,
}

impl KeyVault {
    /// Derives the keys for sealing and for tokens.
    pub fn new(key: &InstallationKey) -> io::Result<Self> {
        let master = hmac::Key::new(hmac::HMAC_SHA256, &key.0);
        let derived = |use_of_it: &[u8]| hmac::sign(&master, use_of_it);
        let sealing = UnboundKey::new(&CHACHA20_POLY1305, derived(b"sealing").as_ref())
            .map_err(|_| io::Error::other("the key has the wrong length"))?;
        Ok(Self {
            sealing: LessSafeKey::new(sealing),
            tokens: hmac::Key::new(hmac::HMAC_SHA256, derived(b"tokens").as_ref()),
        })
    }
}

impl Vault for KeyVault {
    fn seal(&self, purpose: &str, text: &str) -> Sealed {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).expect("the operating system has random numbers");
        let mut sealed = text.as_bytes().to_vec();
        self.sealing
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(purpose.as_bytes()),
                &mut sealed,
            )
            .expect("only texts of more than 256 GiB cannot be sealed");
        Sealed([nonce.as_slice(), &sealed].concat())
    }

    fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Secret, VaultError> {
        let (nonce, text) = sealed.0.split_first_chunk().ok_or(VaultError(None))?;
        let mut text = text.to_vec();
        let opened = self
            .sealing
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(purpose.as_bytes()),
                &mut text,
            )
            .map_err(|_| VaultError(None))?;
        let text = std::str::from_utf8(opened).map_err(|error| VaultError(Some(error.into())))?;
        Ok(Secret::new(text))
    }

    fn token(&self, subject: &str) -> Secret {
        token_text(hmac::sign(&self.tokens, subject.as_bytes()).as_ref())
    }

    fn is_token(&self, subject: &str, text: &str) -> bool {
        // Comparing HMACs of both texts takes the same time for every text.
        let expected = hmac::sign(&self.tokens, self.token(subject).reveal().as_bytes());
        hmac::verify(&self.tokens, text.as_bytes(), expected.as_ref()).is_ok()
    }
}

/// Reads the key file or creates it. If several processes start on an empty folder, the first hard link wins.
fn read_or_make(data_dir: &Path) -> io::Result<[u8; KEY_LENGTH]> {
    let path = data_dir.join(FILE);
    if !path.exists() {
        make_folders(data_dir)?;
        let mut key = [0; KEY_LENGTH];
        getrandom::fill(&mut key).expect("the operating system has random numbers");
        let beside = data_dir.join(format!("{FILE}.{}", random_name()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&key)?;
        file.sync_all()?;
        match fs::hard_link(&beside, &path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let _ = fs::remove_file(&beside);
                return Err(error);
            }
            Ok(()) | Err(_) => fs::remove_file(&beside)?,
        }
        File::open(data_dir)?.sync_all()?;
    }
    let key = fs::read(&path)?;
    key.try_into().map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{FILE} does not hold 32 bytes"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn open(folder: &Path) -> io::Result<KeyVault> {
        KeyVault::new(&InstallationKey::load_or_create(folder)?)
    }

    fn fresh() -> (tempfile::TempDir, KeyVault) {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let vault = open(folder.path()).expect("a key can be made");
        (folder, vault)
    }

    #[test]
    fn a_key_is_64_hex_digits() {
        let key = InstallationKey::parse(&"0aF9".repeat(16)).expect("a key");
        assert_eq!(key.0, [0x0a, 0xf9].repeat(16)[..]);
        for wrong in ["", "0a", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"ä".repeat(32)]
        {
            assert!(InstallationKey::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn what_is_sealed_opens_for_its_purpose_only() {
        let (folder, vault) = fresh();
        for text in ["", "a secret", "ä 🦀\n\0"] {
            let sealed = vault.seal("one", text);
            assert_eq!(vault.open("one", &sealed).expect("its own").reveal(), text);
            assert!(vault.open("other", &sealed).is_err());
            assert_ne!(vault.seal("one", text), sealed, "each time differently");
            let mut broken = sealed.clone();
            *broken.0.last_mut().expect("there is a tag") ^= 1;
            assert!(vault.open("one", &broken).is_err());
            let again = open(folder.path()).expect("the key is there");
            assert_eq!(again.open("one", &sealed).expect("the same key").reveal(), text);
            let (_, stranger) = fresh();
            assert!(stranger.open("one", &sealed).is_err());
        }
        assert!(vault.open("one", &Sealed(vec![1, 2, 3])).is_err());
    }

    #[test]
    fn tokens_are_known_again_and_differ_by_subject_and_key() {
        let (_folder, vault) = fresh();
        let token = vault.token("build 1");
        assert_eq!(token.reveal().len(), 32);
        assert!(vault.is_token("build 1", token.reveal()));
        assert!(!vault.is_token("build 2", token.reveal()));
        assert!(!vault.is_token("build 1", ""));
        assert_ne!(vault.token("build 2"), token);
        assert_ne!(fresh().1.token("build 1"), token);
    }

    #[test]
    fn the_key_file_is_private_and_a_damaged_one_is_refused() {
        let (folder, _) = fresh();
        let path = folder.path().join(FILE);
        let mode = fs::metadata(&path).expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "nothing beside it");
        fs::write(&path, b"short").expect("writable");
        assert!(open(folder.path()).is_err());
    }
}
