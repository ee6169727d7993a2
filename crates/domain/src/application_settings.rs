//! The settings of the whole service, which administrators change while it runs.

pub mod port;
pub mod rule;

use std::collections::BTreeMap;

use crate::Timestamp;
use crate::branch::protection::DeveloperRights;
use crate::field_errors::FieldErrors;
use crate::text::{Blank, limit};
use crate::user::ProjectsLimit;
use crate::visibility::Visibility;
use rule::{SettingInput, SettingRule, SettingType, SettingValue};

/// The maximum size of an uploaded file in MiB that administrators may allow.
const MAX_FILE_MB: i64 = 4096;

/// The numbers of all visibility levels.
const LEVELS: &[i64] = &[0, 10, 20];

/// The maximum number of entries in a list of domains.
const MAX_DOMAINS: usize = 1000;

/// The names of the places where repositories are stored.
const KNOWN_STORAGES: [&str; 1] = ["default"];

/// The old name of the first entry of `repository_storages`.
pub const REPOSITORY_STORAGE: &str = "repository_storage";

/// A whole number from `least` on, as far as it fits into 32 bits.
const fn at_least(least: i64) -> SettingRule {
    SettingRule::Integer { least, most: i32::MAX as i64 }
}

const DOMAINS: SettingRule = SettingRule::Texts { max: limit::SHORT, most: MAX_DOMAINS };
const PAGE_TEXT: SettingRule = SettingRule::Text { max: limit::SETTING };
const FILE_SIZE: SettingRule = SettingRule::Integer { least: 1, most: MAX_FILE_MB };

/// Declares the settings. A row has the name, the type, the default value and the rule for values of requests.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr, $rule:expr;)+) => {
        /// The values of all settings that are in effect.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct ApplicationSettings {
            $($(#[$doc])* pub $name: $type),+
        }

        impl Default for ApplicationSettings {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }

        impl ApplicationSettings {
            /// The names of all settings, with the rules for values of requests.
            pub const RULES: &'static [(&'static str, SettingRule)] =
                &[$((stringify!($name), $rule)),+];

            /// Returns all values by name, in the order of [`RULES`](Self::RULES).
            pub fn values(&self) -> Vec<(&'static str, SettingValue)> {
                vec![$((stringify!($name), self.$name.to_value())),+]
            }

            /// Replaces one value. Returns `None` if the type of the value is wrong. Unknown names are ignored.
            fn set(&mut self, name: &str, value: &SettingValue) -> Option<()> {
                match name {
                    $(stringify!($name) => self.$name = SettingType::from_value(value)?,)+
                    _ => (),
                }
                Some(())
            }
        }
    };
}

settings! {
    /// The project limit of users who are created without one.
    default_projects_limit: ProjectsLimit = ProjectsLimit(100), at_least(0);
    /// Whether strangers may register, if the operator allows it.
    signup_enabled: bool = true, SettingRule::Switch;
    /// Stored only: signing in works regardless.
    signin_enabled: bool = true, SettingRule::Switch;
    /// Whether users without an uploaded avatar have a Gravatar.
    gravatar_enabled: bool = true, SettingRule::Switch;
    /// Stored for the web pages.
    sign_in_text: Option<String> = None, PAGE_TEXT;
    /// Stored for the web pages.
    after_sign_up_text: Option<String> = None, PAGE_TEXT;
    /// Stored for the web pages.
    home_page_url: Option<String> = None, SettingRule::Url;
    /// The protection of the first branch of a repository.
    default_branch_protection: DefaultBranchProtection = DefaultBranchProtection::Full,
        SettingRule::OneOf(&[0, 1, 2, 3]);
    /// Only administrators may give projects, groups and snippets these levels.
    restricted_visibility_levels: Vec<Visibility> = vec![], SettingRule::SomeLevels;
    /// The maximum size of an uploaded file in MiB.
    max_attachment_size: i64 = 10, FILE_SIZE;
    /// Stored for the web pages, in minutes.
    session_expire_delay: i64 = 10_080, at_least(0);
    /// The level of projects that are created without one.
    default_project_visibility: Visibility = Visibility::Private, SettingRule::OneOf(LEVELS);
    /// Stored only: every call that creates a snippet has a level, or a default of its own.
    default_snippet_visibility: Visibility = Visibility::Private, SettingRule::OneOf(LEVELS);
    /// The level of groups that are created without one; `None` is public.
    default_group_visibility: Option<Visibility> = None, SettingRule::OneOf(LEVELS);
    /// The domains of e-mail addresses with which strangers may register; all if it is empty.
    domain_whitelist: Vec<String> = vec![], DOMAINS;
    /// Whether strangers may not register with addresses of `domain_blacklist`.
    domain_blacklist_enabled: bool = false, SettingRule::Switch;
    /// The domains of e-mail addresses with which strangers may not register.
    domain_blacklist: Vec<String> = vec![], DOMAINS;
    /// Stored only: there are no OAuth applications.
    user_oauth_applications: bool = true, SettingRule::Switch;
    /// Stored for the web pages.
    after_sign_out_path: Option<String> = None, SettingRule::Url;
    /// Stored only: there is no container registry.
    container_registry_token_expire_delay: i64 = 5, at_least(1);
    /// Stored only: there is one place for repositories.
    repository_storages: Vec<String> = KNOWN_STORAGES.map(str::to_owned).to_vec(),
        SettingRule::Texts { max: limit::SHORT, most: 100 };
    /// Stored only.
    koding_enabled: bool = false, SettingRule::Switch;
    /// Stored only.
    koding_url: Option<String> = None, SettingRule::Text { max: limit::URL };
    /// Whether users who are created without this flag are external.
    user_default_external: bool = false, SettingRule::Switch;
    /// The only protocol for Git clients; `None` allows both.
    enabled_git_access_protocol: Option<GitProtocol> = None, SettingRule::Word(&["ssh", "http"]);
    /// Whether projects that are created without this flag use shared runners.
    shared_runners_enabled: bool = true, SettingRule::Switch;
    /// The maximum size of the artifacts of a build in MiB.
    max_artifacts_size: i64 = 100, FILE_SIZE;
}

/// The protection of the first branch of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultBranchProtection {
    /// The branch is not protected.
    None,
    /// The branch is protected, and developers may push to it.
    DevelopersPush,
    /// The branch is protected against developers.
    Full,
    /// The branch is protected, and developers may merge into it.
    DevelopersMerge,
}

impl DefaultBranchProtection {
    const ALL: [Self; 4] = [Self::None, Self::DevelopersPush, Self::Full, Self::DevelopersMerge];

    /// The number in the API.
    pub fn number(self) -> i64 {
        match self {
            Self::None => 0,
            Self::DevelopersPush => 1,
            Self::Full => 2,
            Self::DevelopersMerge => 3,
        }
    }

    /// Parses the number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.number() == number)
    }

    /// The rights of developers on the first branch; `None` if the branch is not protected.
    pub fn developer_rights(self) -> Option<DeveloperRights> {
        match self {
            Self::None => None,
            Self::DevelopersPush => Some(DeveloperRights { push: true, merge: false }),
            Self::Full => Some(DeveloperRights::default()),
            Self::DevelopersMerge => Some(DeveloperRights { push: false, merge: true }),
        }
    }

    /// Whether only masters may push to a repository without branches.
    pub fn restricts_first_push(self) -> bool {
        match self {
            Self::None | Self::DevelopersPush => false,
            Self::Full | Self::DevelopersMerge => true,
        }
    }
}

/// A protocol of Git clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitProtocol {
    /// Git over SSH.
    Ssh,
    /// Git over HTTP.
    Http,
}

impl GitProtocol {
    /// The word in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Http => "http",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Ssh, Self::Http].into_iter().find(|protocol| protocol.as_str() == word)
    }

    /// The error text for a client whose protocol is switched off.
    pub fn refusal(self) -> &'static str {
        match self {
            Self::Ssh => "Git access over SSH is not allowed",
            Self::Http => "Git access over HTTP is not allowed",
        }
    }
}

/// Error for a level that is restricted to administrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has been restricted by your GitLab administrator", .0.as_str())]
pub struct RestrictedLevel(pub Visibility);

/// The stored settings: those that administrators have changed, by name. The others have their initial values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSettings {
    /// The number of changes since the installation.
    pub version: i64,
    /// The changed values.
    pub changed: BTreeMap<String, SettingValue>,
    /// The time of the installation.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

impl ApplicationSettings {
    /// Returns these initial values with the changed ones replaced. A stored value that does not fit its setting is left
    /// out, so that the initial value stays in effect: another release may have stored it, with another type or range.
    /// Also returns the names of these settings.
    pub fn with_changed<'a>(
        &self,
        changed: &'a BTreeMap<String, SettingValue>,
    ) -> (Self, Vec<&'a str>) {
        let (mut settings, mut unfit) = (self.clone(), Vec::new());
        for (name, value) in changed {
            let rule = Self::RULES.iter().find(|(known, _)| known == name);
            let fits = rule.is_none_or(|(_, rule)| rule.allows(value));
            if !fits || settings.set(name, value).is_none() {
                unfit.push(name.as_str());
            }
        }
        (settings, unfit)
    }

    /// Returns these settings with the values of a request. Names that are not among the settings are ignored.
    /// # Errors
    /// All problems, by setting.
    pub fn updated(&self, given: &[(&str, SettingInput)]) -> Result<Self, FieldErrors> {
        let (mut settings, mut errors) = (self.clone(), FieldErrors::default());
        let input = |name: &str| given.iter().find(|(given, _)| *given == name);
        for (name, rule) in Self::RULES {
            let alias = if *name == "repository_storages" { REPOSITORY_STORAGE } else { name };
            let Some((_, input)) = input(name).or_else(|| input(alias)) else { continue };
            if let Some(value) = errors.check(name, rule.parse(input)) {
                // The rule of a setting makes values of its type.
                settings.set(name, &value).unwrap_or_else(|| errors.add(*name, "is invalid"));
            }
        }
        settings.check_together(&mut errors);
        errors.into_result()?;
        Ok(settings)
    }

    /// Adds the problems that depend on several settings, or on this installation.
    fn check_together(&self, errors: &mut FieldErrors) {
        if self.koding_enabled && self.koding_url.is_none() {
            errors.add("koding_url", Blank);
        }
        if self.domain_blacklist_enabled && self.domain_blacklist.is_empty() {
            let text = "Domain blacklist cannot be empty if Blacklist is enabled.";
            errors.add("domain_blacklist", text);
        }
        let is_unknown = |name: &&str| !KNOWN_STORAGES.contains(name);
        let storages = self.repository_storages.iter().map(String::as_str);
        let unknown: Vec<&str> = storages.filter(is_unknown).collect();
        if self.repository_storages.is_empty() {
            errors.add("repository_storages", Blank);
        } else if !unknown.is_empty() {
            errors.add("repository_storages", format!("can't include: {}", unknown.join(", ")));
        }
    }

    /// Returns the values that differ from those before, by name.
    pub fn changes_since(&self, before: &Self) -> Vec<(&'static str, SettingValue)> {
        let both = self.values().into_iter().zip(before.values());
        let changed = both.filter(|((_, value), (_, before))| value != before);
        changed.map(|(changed, _)| changed).collect()
    }

    /// The place where new repositories are stored.
    pub fn repository_storage(&self) -> &str {
        self.repository_storages.first().map_or("", String::as_str)
    }

    /// Checks a level for a caller who may not use restricted ones.
    pub fn check_level(&self, level: Visibility) -> Result<(), RestrictedLevel> {
        let is_restricted = self.restricted_visibility_levels.contains(&level);
        if is_restricted { Err(RestrictedLevel(level)) } else { Ok(()) }
    }

    /// Returns whether somebody with an e-mail address of this domain may register. An entry with a star stands for
    /// all domains that fit.
    pub fn may_register_from(&self, domain: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|entry| fits(entry, domain));
        let is_listed = self.domain_whitelist.is_empty() || is_in(&self.domain_whitelist);
        is_listed && !(self.domain_blacklist_enabled && is_in(&self.domain_blacklist))
    }

    /// The level of groups that are created without one.
    pub fn group_visibility(&self) -> Visibility {
        self.default_group_visibility.unwrap_or(Visibility::Public)
    }

    /// The maximum size of an uploaded file in bytes.
    pub fn max_attachment_bytes(&self) -> u64 {
        self.max_attachment_size.unsigned_abs() << 20
    }

    /// The maximum size of the artifacts of a build in bytes.
    pub fn max_artifacts_bytes(&self) -> u64 {
        self.max_artifacts_size.unsigned_abs() << 20
    }

    /// Whether Git clients may use a protocol.
    pub fn allows_protocol(&self, protocol: GitProtocol) -> bool {
        self.enabled_git_access_protocol.is_none_or(|only| only == protocol)
    }
}

/// Returns whether a domain fits an entry such as `example.com` or `*.example.com`, ignoring case.
fn fits(entry: &str, domain: &str) -> bool {
    let (entry, domain) = (entry.trim().to_ascii_lowercase(), domain.to_ascii_lowercase());
    match entry.split_once('*') {
        None => entry == domain,
        Some((start, end)) => {
            let rest = domain.strip_prefix(start);
            rest.is_some_and(|rest| rest.len() >= end.len() && rest.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> SettingInput {
        SettingInput::Text(text.to_owned())
    }

    fn list(items: &[&str]) -> SettingInput {
        SettingInput::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    fn update(given: &[(&str, SettingInput)]) -> Result<ApplicationSettings, String> {
        ApplicationSettings::default().updated(given).map_err(|errors| errors.to_string())
    }

    #[test]
    fn every_value_survives_the_way_to_the_store_and_back() {
        let given = [
            ("default_projects_limit", text("7")),
            ("gravatar_enabled", text("false")),
            ("sign_in_text", text("Hello")),
            ("home_page_url", text("https://example.com/x")),
            ("default_branch_protection", text("3")),
            ("restricted_visibility_levels", list(&["20", "10"])),
            ("default_group_visibility", text("10")),
            ("domain_whitelist", list(&["example.com", "*.test"])),
            ("enabled_git_access_protocol", text("ssh")),
        ];
        let before = ApplicationSettings::default();
        let after = before.updated(&given).expect("valid");
        let changed = after.changes_since(&before);
        let names: Vec<&str> = changed.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, given.each_ref().map(|(name, _)| *name));
        let mut stored: BTreeMap<String, SettingValue> =
            changed.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(before.with_changed(&stored), (after.clone(), vec![]));
        stored.insert("of_a_later_release".to_owned(), SettingValue::Null);
        assert_eq!(before.with_changed(&stored), (after, vec![]));
    }

    #[test]
    fn stored_values_that_do_not_fit_are_left_out() {
        let initial =
            ApplicationSettings { max_attachment_size: 7, ..ApplicationSettings::default() };
        let word = |word: &str| SettingValue::Text(word.to_owned());
        for (name, value) in [
            ("gravatar_enabled", SettingValue::Integer(1)),
            ("gravatar_enabled", SettingValue::Null),
            ("max_attachment_size", SettingValue::Integer(4097)),
            ("max_attachment_size", SettingValue::Integer(0)),
            ("max_attachment_size", word("12")),
            ("default_projects_limit", SettingValue::Integer(i64::MAX)),
            ("default_project_visibility", SettingValue::Integer(5)),
            ("restricted_visibility_levels", SettingValue::List(vec![SettingValue::Integer(5)])),
            ("restricted_visibility_levels", SettingValue::Integer(20)),
            ("home_page_url", word("ftp://x")),
            ("enabled_git_access_protocol", word("ftp")),
        ] {
            let stored = BTreeMap::from([
                (name.to_owned(), value.clone()),
                ("sign_in_text".to_owned(), word("kept")),
            ]);
            let (settings, unfit) = initial.with_changed(&stored);
            let kept = Some("kept".to_owned());
            let expected = ApplicationSettings { sign_in_text: kept, ..initial.clone() };
            assert_eq!((settings, unfit), (expected, vec![name]), "{value:?}");
        }
    }

    #[test]
    fn unknown_names_and_equal_values_change_nothing() {
        let same = update(&[("id", text("9")), ("max_attachment_size", text("10"))]);
        assert_eq!(same, Ok(ApplicationSettings::default()));
    }

    /// The table of rest_of_v3.md 7.2.
    #[test]
    fn each_rule_has_its_text() {
        let long = "x".repeat(limit::SETTING + 1);
        for (name, given, problem) in [
            ("default_projects_limit", text("-1"), "must be greater than or equal to 0"),
            ("default_projects_limit", text("x"), "is not a number"),
            ("max_attachment_size", text("0"), "must be greater than 0"),
            ("max_attachment_size", text("1.5"), "must be an integer"),
            ("max_attachment_size", list(&["1"]), "is not a number"),
            ("max_attachment_size", text("4097"), "must be less than or equal to 4096"),
            ("container_registry_token_expire_delay", text("0"), "must be greater than 0"),
            ("session_expire_delay", text("-1"), "must be greater than or equal to 0"),
            ("home_page_url", text("ftp://x"), "must be a valid URL"),
            ("after_sign_out_path", text("/x"), "must be a valid URL"),
            ("sign_in_text", text(&long), "is too long (maximum is 65536 characters)"),
            ("default_branch_protection", text("4"), "is not included in the list"),
            ("default_project_visibility", text("5"), "is not included in the list"),
            ("default_group_visibility", text("public"), "is not included in the list"),
            ("signup_enabled", text("maybe"), "is not included in the list"),
            (
                "restricted_visibility_levels",
                list(&["20", "5"]),
                "'5' is not a valid visibility level",
            ),
            ("koding_enabled", text("true"), "koding_url can't be blank"),
            (
                "domain_blacklist_enabled",
                text("1"),
                "domain_blacklist Domain blacklist cannot be empty if Blacklist is enabled.",
            ),
            ("repository_storages", list(&["x", "default", "y"]), "can't include: x, y"),
            ("repository_storages", list(&[]), "can't be blank"),
            ("repository_storage", text("x"), "repository_storages can't include: x"),
            ("enabled_git_access_protocol", text("ftp"), "is not included in the list"),
        ] {
            let problem = match problem.split_once('_') {
                Some(_) => problem.to_owned(),
                None => format!("{name} {problem}"),
            };
            assert_eq!(update(&[(name, given)]).expect_err(name), problem);
        }
        let both = [("koding_enabled", text("true")), ("koding_url", text("http://x"))];
        assert!(update(&both).is_ok());
        assert!(update(&[(REPOSITORY_STORAGE, text("default"))]).is_ok());
    }

    /// repository_ci_labels_boards.md 2.9.
    #[test]
    fn each_default_branch_protection_has_its_rights() {
        let rights = |push, merge| Some(DeveloperRights { push, merge });
        for (number, developers, restricted) in [
            (0, None, false),
            (1, rights(true, false), false),
            (2, rights(false, false), true),
            (3, rights(false, true), true),
        ] {
            let one = DefaultBranchProtection::from_number(number).expect("a known number");
            assert_eq!(one.number(), number);
            assert_eq!(
                (one.developer_rights(), one.restricts_first_push()),
                (developers, restricted)
            );
        }
        assert_eq!(DefaultBranchProtection::from_number(4), None);
    }

    #[test]
    fn one_protocol_excludes_the_other() {
        use GitProtocol::{Http, Ssh};
        for (only, ssh, http) in
            [(None, true, true), (Some(Ssh), true, false), (Some(Http), false, true)]
        {
            let settings = ApplicationSettings {
                enabled_git_access_protocol: only,
                ..ApplicationSettings::default()
            };
            let allowed = (settings.allows_protocol(Ssh), settings.allows_protocol(Http));
            assert_eq!(allowed, (ssh, http), "{only:?}");
        }
    }

    #[test]
    fn domains_decide_who_may_register() {
        let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
        for (white, black, domain, expected) in [
            (&[][..], &[][..], "a.test", true),
            (&["a.test"], &[], "A.test", true),
            (&["a.test"], &[], "b.a.test", false),
            (&["*.a.test"], &[], "b.a.test", true),
            (&["*.a.test"], &[], "a.test", false),
            (&[], &["*evil.test"], "evil.test", false),
            (&[], &["a.test"], "a.test", false),
            (&["a.test"], &["a.test"], "a.test", false),
        ] {
            let settings = ApplicationSettings {
                domain_whitelist: list(white),
                domain_blacklist_enabled: true,
                domain_blacklist: list(black),
                ..ApplicationSettings::default()
            };
            assert_eq!(settings.may_register_from(domain), expected, "{white:?} {domain}");
        }
        let settings =
            ApplicationSettings { domain_blacklist: list(&["a.test"]), ..Default::default() };
        assert!(settings.may_register_from("a.test"), "the list is not enabled");
    }
}
