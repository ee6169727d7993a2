//! The signature of a commit in words.

use hexforge_application::commit::signature::CommitSignature;
use hexforge_domain::commit::signing::SignatureFormat;

/// What a page says about a signature.
pub(super) struct SignatureShown {
    pub(super) text: String,
    /// The owner of the key.
    pub(super) username: Option<String>,
}

/// The name of a format.
pub(in crate::pages) fn format_name(format: SignatureFormat) -> &'static str {
    match format {
        SignatureFormat::OpenPgp => "OpenPGP",
        SignatureFormat::Ssh => "SSH",
        SignatureFormat::X509 => "X.509",
        SignatureFormat::Unknown => "Unknown format",
    }
}

impl From<CommitSignature> for SignatureShown {
    fn from(signature: CommitSignature) -> Self {
        let (text, username) = match signature {
            CommitSignature::OfUser { username, is_committer: true } => {
                ("SSH: made with a key of".to_owned(), Some(username))
            }
            CommitSignature::OfUser { username, is_committer: false } => {
                ("SSH, not of the committer: made with a key of".to_owned(), Some(username))
            }
            CommitSignature::UnknownKey => {
                ("SSH, not verified: no active user registered the key".to_owned(), None)
            }
            CommitSignature::Invalid => {
                ("SSH, invalid: the signature is not of this commit".to_owned(), None)
            }
            CommitSignature::Unchecked(format) => {
                (format!("{}, not verified", format_name(format)), None)
            }
        };
        Self { text, username }
    }
}
