//! The host keys of the server, created at the first start and stored.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use russh::keys::ssh_key::private::{KeypairData, RsaKeypair};
use russh::keys::ssh_key::rand_core::UnwrapErr;
use russh::keys::ssh_key::{self, LineEnding};
use russh::keys::{Algorithm, HashAlg, PrivateKey};

/// The default key size of ssh-keygen.
const RSA_BITS: usize = 3072;

/// The last line of a private key.
const END: &str = "-----END OPENSSH PRIVATE KEY-----\n";

/// The host keys of the server.
#[derive(Clone)]
pub struct HostKeys(Vec<PrivateKey>);

/// Why the host keys are not available.
#[derive(Debug, thiserror::Error)]
pub enum HostKeyError {
    /// The file cannot be read or written.
    #[error("the host key {} cannot be read or written", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file does not contain a usable private key.
    #[error("{} is not an OpenSSH private key without a passphrase", path.display())]
    Malformed { path: PathBuf },
    /// Other users can read the file, so the key may be compromised.
    #[error("other users can read the host key {}: run `chmod 600` on it", path.display())]
    Exposed { path: PathBuf },
    /// The library could not create or parse a key.
    #[error("a host key cannot be generated or parsed")]
    Generate(#[from] ssh_key::Error),
}

impl HostKeys {
    /// Loads the keys in a folder, and creates missing ones.
    pub fn load_or_create(folder: &Path) -> Result<Self, HostKeyError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| HostKeyError::File { path: folder.to_owned(), source })?;
        let ed25519 = load_or_create(&folder.join("host_ed25519_key"), generate_ed25519)?;
        let rsa = load_or_create(&folder.join("host_rsa_key"), generate_rsa)?;
        Ok(Self(vec![ed25519, rsa]))
    }

    /// Creates new keys.
    pub fn generate() -> Result<Self, HostKeyError> {
        Ok(Self(vec![generate_ed25519()?, generate_rsa()?]))
    }

    /// Returns the private keys in OpenSSH format.
    pub fn to_text(&self) -> Result<String, HostKeyError> {
        let texts = self.0.iter().map(|key| Ok(key.to_openssh(LineEnding::LF)?.to_string()));
        texts.collect()
    }

    /// Parses the output of [`to_text`](Self::to_text).
    pub fn from_text(text: &str) -> Result<Self, HostKeyError> {
        let texts = text.split_inclusive(END).filter(|text| !text.trim().is_empty());
        let keys = texts.map(|text| PrivateKey::from_openssh(text.trim_start()));
        Ok(Self(keys.collect::<Result<_, _>>()?))
    }

    /// Creates a key that is not stored, for tests.
    pub fn temporary() -> Result<Self, HostKeyError> {
        Ok(Self(vec![generate_ed25519()?]))
    }

    /// Returns the fingerprints, which users compare at their first connection.
    pub fn fingerprints(&self) -> Vec<String> {
        let shown = |key: &PrivateKey| {
            let kind = match key.algorithm() {
                Algorithm::Ed25519 => "ED25519".to_owned(),
                Algorithm::Rsa { .. } => "RSA".to_owned(),
                other => other.to_string(),
            };
            format!("{} ({kind})", key.fingerprint(HashAlg::Sha256))
        };
        self.0.iter().map(shown).collect()
    }

    pub(crate) fn private_keys(&self) -> Vec<PrivateKey> {
        self.0.clone()
    }
}

fn generate_ed25519() -> Result<PrivateKey, ssh_key::Error> {
    PrivateKey::random(&mut random(), Algorithm::Ed25519)
}

fn generate_rsa() -> Result<PrivateKey, ssh_key::Error> {
    PrivateKey::new(KeypairData::Rsa(RsaKeypair::random(&mut random(), RSA_BITS)?), "")
}

fn random() -> UnwrapErr<getrandom::SysRng> {
    UnwrapErr(getrandom::SysRng)
}

/// Loads the key in a file, or creates the file with a new key.
fn load_or_create(
    path: &Path,
    make: impl FnOnce() -> Result<PrivateKey, ssh_key::Error>,
) -> Result<PrivateKey, HostKeyError> {
    let failed = |source| HostKeyError::File { path: path.to_owned(), source };
    if !path.try_exists().map_err(failed)? {
        write(path, &make()?).map_err(failed)?;
    }
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(HostKeyError::Exposed { path: path.to_owned() });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    let key = PrivateKey::from_openssh(text).ok().filter(|key| !key.is_encrypted());
    key.ok_or_else(|| HostKeyError::Malformed { path: path.to_owned() })
}

/// Stores a key, unless another process has stored one first: then that one is used.
fn write(path: &Path, key: &PrivateKey) -> io::Result<()> {
    let text = key.to_openssh(LineEnding::LF).map_err(io::Error::other)?;
    let public = key.public_key().to_openssh().map_err(io::Error::other)?;
    let scratch = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&scratch)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| fs::hard_link(&scratch, path));
    fs::remove_file(&scratch)?;
    match placed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        placed => placed?,
    }
    // The public key is for administrators, who read it with `ssh-keygen -l`. The server does not read it.
    fs::write(path.with_extension("pub"), format!("{public}\n"))?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_once_and_closed_to_others() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let folder = folder.path().join("ssh");
        let first = HostKeys::load_or_create(&folder).expect("keys can be made").fingerprints();
        assert!(first[0].starts_with("SHA256:") && first[0].ends_with(" (ED25519)"), "{first:?}");
        assert!(first[1].starts_with("SHA256:") && first[1].ends_with(" (RSA)"), "{first:?}");
        let second = HostKeys::load_or_create(&folder).expect("keys can be read");
        assert_eq!(first, second.fingerprints());
        let text = second.to_text().expect("keys are text");
        let third = HostKeys::from_text(&text).expect("it is what was written");
        assert_eq!(first, third.fingerprints());
        assert!(HostKeys::from_text("no key").is_err());
        let key = folder.join("host_ed25519_key");
        let mode =
            |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&key), mode(&folder)), (0o600, 0o700));
        let files = fs::read_dir(&folder).expect("it is there").count();
        assert_eq!(files, 4, "two keys and their public halves");

        fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).expect("it is ours");
        assert!(matches!(HostKeys::load_or_create(&folder), Err(HostKeyError::Exposed { .. })));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("it is ours");
        fs::write(&key, "no key").expect("it is ours");
        assert!(matches!(HostKeys::load_or_create(&folder), Err(HostKeyError::Malformed { .. })));
    }
}
