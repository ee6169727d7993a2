//! The project fields of a request, and their parsing into domain types.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{
    BuildSettings, BuildTimeout, CoverageExpression, Description, Features, ProjectName,
    ProjectPath,
};
use hexforge_domain::text::{limit, within};
use hexforge_domain::visibility::Visibility;

use crate::group::fields::UNKNOWN_LEVEL;

/// The project fields of a request. `None` means not given: an update leaves the field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFields {
    pub name: Option<String>,
    pub path: Option<String>,
    pub description: Option<String>,
    pub public: Option<bool>,
    pub visibility_level: Option<String>,
    pub import_url: Option<String>,
    /// The default branch; not used for a new project.
    pub default_branch: Option<String>,
    /// The expression that finds the coverage in build logs; an empty text removes it.
    pub coverage_expression: Option<String>,
    /// The time limit of builds in seconds.
    pub build_timeout: Option<i64>,
    /// Whether runners update existing working copies.
    pub build_git_fetch: Option<bool>,
    pub features: FeatureFields,
}

/// The feature switches of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureFields {
    pub issues: Option<bool>,
    pub merge_requests: Option<bool>,
    pub wiki: Option<bool>,
    pub builds: Option<bool>,
    pub snippets: Option<bool>,
    pub container_registry: Option<bool>,
    pub shared_runners: Option<bool>,
    pub public_builds: Option<bool>,
    pub lfs: Option<bool>,
    pub merge_only_if_build_succeeds: Option<bool>,
    pub merge_only_if_discussions_resolved: Option<bool>,
    pub request_access: Option<bool>,
}

impl FeatureFields {
    /// Returns the switches with the given ones replaced.
    pub(super) fn applied_to(&self, before: Features) -> Features {
        Features {
            issues: self.issues.unwrap_or(before.issues),
            merge_requests: self.merge_requests.unwrap_or(before.merge_requests),
            wiki: self.wiki.unwrap_or(before.wiki),
            builds: self.builds.unwrap_or(before.builds),
            snippets: self.snippets.unwrap_or(before.snippets),
            container_registry: self.container_registry.unwrap_or(before.container_registry),
            shared_runners: self.shared_runners.unwrap_or(before.shared_runners),
            public_builds: self.public_builds.unwrap_or(before.public_builds),
            lfs: self.lfs.or(before.lfs),
            merge_only_if_build_succeeds: self
                .merge_only_if_build_succeeds
                .unwrap_or(before.merge_only_if_build_succeeds),
            merge_only_if_discussions_resolved: self
                .merge_only_if_discussions_resolved
                .unwrap_or(before.merge_only_if_discussions_resolved),
            request_access: self.request_access.unwrap_or(before.request_access),
        }
    }
}

/// The parsed fields. A field is `None` when it was not given or was invalid; invalid fields are added to the errors.
pub(super) struct ParsedProject {
    pub name: Option<ProjectName>,
    pub path: Option<ProjectPath>,
    pub description: Option<Description>,
    pub visibility: Option<Visibility>,
    pub import_url: Option<String>,
    /// `None` when not given, `Some(None)` when given as empty.
    pub coverage_expression: Option<Option<CoverageExpression>>,
    pub build_timeout: Option<BuildTimeout>,
}

impl ProjectFields {
    /// Stores the settings for builds, if the request has any.
    pub(super) fn store_build_settings(
        &self,
        tx: &mut dyn Tx,
        project: ProjectId,
        timeout: Option<BuildTimeout>,
    ) -> Result<(), StoreError> {
        if self.build_timeout.is_none() && self.build_git_fetch.is_none() {
            return Ok(());
        }
        let before = tx.projects().build_settings(project)?;
        let after = BuildSettings {
            timeout: timeout.unwrap_or(before.timeout),
            git_fetch: self.build_git_fetch.unwrap_or(before.git_fetch),
        };
        if after == before { Ok(()) } else { tx.projects().set_build_settings(project, after) }
    }

    /// Returns whether the request sets the visibility, with either of the two fields.
    pub(super) fn asks_for_visibility(&self) -> bool {
        self.visibility_level.is_some() || self.public.is_some()
    }

    /// Parses the fields of a new project. A missing path is derived from the name.
    pub(super) fn parse_new(&self, errors: &mut FieldErrors) -> ParsedProject {
        let name = self.name.as_deref().unwrap_or_default();
        let path = match &self.path {
            Some(path) => ProjectPath::parse(path),
            None => ProjectPath::from_name(name),
        };
        let parsed_name = errors.check("name", ProjectName::parse(name));
        let path = errors.check("path", path);
        ParsedProject { name: parsed_name, path, ..self.parse_rest(errors) }
    }

    /// Parses the fields of an update. Fields that are not given are not checked.
    pub(super) fn parse_change(&self, errors: &mut FieldErrors) -> ParsedProject {
        let name = errors.check_optional("name", self.name.as_deref().map(ProjectName::parse));
        let path = errors.check_optional("path", self.path.as_deref().map(ProjectPath::parse));
        ParsedProject { name: name.flatten(), path: path.flatten(), ..self.parse_rest(errors) }
    }

    fn parse_rest(&self, errors: &mut FieldErrors) -> ParsedProject {
        let description = self.description.as_deref().map(Description::parse);
        let import_url = self.import_url.as_deref().map(import_url);
        let coverage = self.coverage_expression.as_deref().map(CoverageExpression::parse);
        let build_timeout = self.build_timeout.map(BuildTimeout::parse);
        ParsedProject {
            name: None,
            path: None,
            description: errors.check_optional("description", description).flatten(),
            visibility: self.parse_visibility(errors),
            import_url: errors.check_optional("import_url", import_url).flatten(),
            coverage_expression: errors.check_optional("build_coverage_regex", coverage).flatten(),
            build_timeout: errors.check_optional("build_timeout", build_timeout).flatten(),
        }
    }

    /// Parses the visibility. `visibility_level` takes precedence over `public`, which means public or private.
    fn parse_visibility(&self, errors: &mut FieldErrors) -> Option<Visibility> {
        let Some(level) = &self.visibility_level else {
            return self.public.map(
                |public| {
                    if public { Visibility::Public } else { Visibility::Private }
                },
            );
        };
        let level = match level.trim() {
            // The API documentation knows only numbers, but one of the clients sends names.
            "private" => Some(Visibility::Private),
            "internal" => Some(Visibility::Internal),
            "public" => Some(Visibility::Public),
            number => number.parse().ok().and_then(Visibility::from_level),
        };
        errors.check("visibility_level", level.ok_or(UNKNOWN_LEVEL))
    }
}

/// Parses the URL of an import and drops the credentials in it: the URL is visible in the database and in logs.
pub(super) fn import_url(url: &str) -> Result<String, String> {
    within(url, limit::URL).map_err(|error| error.to_string())?;
    let invalid = || "must be a valid URL".to_owned();
    let (scheme, rest) = url.trim().split_once("://").ok_or_else(invalid)?;
    let known = ["http", "https", "ssh", "git"].iter().any(|s| scheme.eq_ignore_ascii_case(s));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let blank = |c: char| c.is_whitespace() || c.is_control();
    if !known || host.is_empty() || rest.contains(blank) {
        return Err(invalid());
    }
    Ok(format!("{scheme}://{host}{}", &rest[authority.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbers_or_their_names() {
        for (level, expected) in [
            ("0", Some(Visibility::Private)),
            (" 10 ", Some(Visibility::Internal)),
            ("private", Some(Visibility::Private)),
            ("internal", Some(Visibility::Internal)),
            ("public", Some(Visibility::Public)),
            ("5", None),
            ("secret", None),
        ] {
            let visibility_level = Some(level.to_owned());
            let fields = ProjectFields { visibility_level, ..ProjectFields::default() };
            let mut errors = FieldErrors::default();
            assert_eq!(fields.parse_visibility(&mut errors), expected, "{level}");
        }
    }

    #[test]
    fn import_urls_are_stored_without_their_credentials() {
        for (url, kept) in [
            ("https://example.com/a.git", Some("https://example.com/a.git")),
            ("https://me:secret@example.com:8443/a.git", Some("https://example.com:8443/a.git")),
            ("ssh://git@example.com/a", Some("ssh://example.com/a")),
            ("git://example.com/a", Some("git://example.com/a")),
            ("file:///etc/passwd", None),
            ("/etc/passwd", None),
            ("http://", None),
            ("http://exa mple.com/", None),
            ("ext::sh -c id", None),
        ] {
            assert_eq!(import_url(url).ok().as_deref(), kept, "{url}");
        }
    }
}
