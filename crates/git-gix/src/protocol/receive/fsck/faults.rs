//! The names and texts of the errors.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

macro_rules! faults {
    ($($fault:ident $name:literal $text:literal,)*) => {
        /// An error that `git fsck` finds in an object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fault {
            $(#[doc = $text] $fault,)*
        }

        impl Fault {
            /// All errors.
            pub const ALL: &[Self] = &[$(Self::$fault),*];

            /// Git's name of the error, as in its settings `receive.fsck.<name>`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$fault => $name,)*
                }
            }

            /// A description of the error for users.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$fault => $text,)*
                }
            }
        }
    };
}

faults! {
    BadDate "badDate" "a date is not a number",
    BadDateOverflow "badDateOverflow" "a date is too large",
    BadEmail "badEmail" "an email address does not end with `>`",
    BadName "badName" "a name contains `>`",
    BadObjectSha1 "badObjectSha1" "the `object` line has no object id",
    BadParentSha1 "badParentSha1" "a `parent` line has no object id",
    BadTimezone "badTimezone" "a time zone is not `+` or `-` and four digits",
    BadTree "badTree" "the data is not a valid tree",
    BadTreeSha1 "badTreeSha1" "the `tree` line has no object id",
    BadType "badType" "the `type` line does not name an object type",
    DuplicateEntries "duplicateEntries" "the tree contains two entries with the same name",
    GitattributesBlob "gitattributesBlob" "`.gitattributes` is not a file",
    GitattributesLarge "gitattributesLarge" "`.gitattributes` is too large",
    GitattributesLineLength "gitattributesLineLength" "a line of `.gitattributes` is too long",
    GitmodulesBlob "gitmodulesBlob" "`.gitmodules` is not a file",
    GitmodulesLarge "gitmodulesLarge" "`.gitmodules` is too large",
    GitmodulesName "gitmodulesName" "the name of a submodule leads out of its folder",
    GitmodulesPath "gitmodulesPath" "the path of a submodule looks like an option",
    GitmodulesSymlink "gitmodulesSymlink" "`.gitmodules` is a symbolic link",
    GitmodulesUpdate "gitmodulesUpdate" "the `update` setting of a submodule is a command",
    GitmodulesUrl "gitmodulesUrl" "a submodule has an unsafe URL",
    LargePathname "largePathname" "a name in the tree is longer than 4096 bytes",
    MissingAuthor "missingAuthor" "there is no `author` line",
    MissingCommitter "missingCommitter" "there is no `committer` line",
    MissingEmail "missingEmail" "a line has no email address",
    MissingNameBeforeEmail "missingNameBeforeEmail" "a line has no name before the email address",
    MissingObject "missingObject" "there is no `object` line",
    MissingSpaceBeforeDate "missingSpaceBeforeDate" "a space is missing before a date",
    MissingSpaceBeforeEmail "missingSpaceBeforeEmail" "a space is missing before an email address",
    MissingTagEntry "missingTagEntry" "there is no `tag` line",
    MissingTree "missingTree" "there is no `tree` line",
    MissingTypeEntry "missingTypeEntry" "there is no `type` line",
    MultipleAuthors "multipleAuthors" "there are several `author` lines",
    NulInHeader "nulInHeader" "there is a NUL in the header",
    TreeNotSorted "treeNotSorted" "the entries of the tree are not sorted",
    UnterminatedHeader "unterminatedHeader" "the header does not end",
    ZeroPaddedDate "zeroPaddedDate" "a date begins with a zero",
}

/// Errors that are accepted in pushed and imported objects, because existing histories have them.
///
/// By default these are errors in the author and committer lines. Published histories contain them,
/// a fix would rewrite every later commit, and they do no harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedFaults(HashSet<Fault>);

impl Default for AcceptedFaults {
    fn default() -> Self {
        Self(HashSet::from([
            Fault::BadEmail,
            Fault::BadTimezone,
            Fault::MissingSpaceBeforeDate,
            Fault::MissingSpaceBeforeEmail,
        ]))
    }
}

impl Display for AcceptedFaults {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = Fault::ALL.iter().filter(|fault| self.contains(**fault));
        let names: Vec<&str> = names.map(|fault| fault.name()).collect();
        match names.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&names.join(",")),
        }
    }
}

impl AcceptedFaults {
    /// Accepts no errors.
    pub fn none() -> Self {
        Self(HashSet::new())
    }

    /// Parses names separated by commas, or `none`. Fails with the first name that is not the name of an error.
    pub fn parse(names: &str) -> Result<Self, String> {
        if names.trim() == "none" {
            return Ok(Self::none());
        }
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let find = |name: &str| {
            let found = Fault::ALL.iter().find(|fault| fault.name().eq_ignore_ascii_case(name));
            found.copied().ok_or_else(|| name.to_owned())
        };
        names.map(find).collect::<Result<_, _>>().map(Self)
    }

    /// Whether an error is accepted.
    pub fn contains(&self, fault: Fault) -> bool {
        self.0.contains(&fault)
    }
}
