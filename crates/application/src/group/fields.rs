//! The group fields of a request, and their parsing into domain types.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::group::GroupName;
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::text::ShortText;
use hexforge_domain::visibility::Visibility;

/// The group fields of a request. `None` means not given: an update leaves the field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFields {
    pub name: Option<String>,
    pub path: Option<String>,
    pub description: Option<String>,
    pub visibility_level: Option<i64>,
    pub lfs_enabled: Option<bool>,
    pub request_access_enabled: Option<bool>,
}

/// The parsed fields. Invalid fields are `None` and are added to the errors.
pub(super) struct ParsedGroup {
    pub name: Option<GroupName>,
    pub path: Option<NamespacePath>,
    pub description: Option<ShortText>,
    pub visibility: Option<Visibility>,
}

/// Error text for an unknown visibility level.
pub(crate) const UNKNOWN_LEVEL: &str = "unknown has been restricted by your GitLab administrator";

impl GroupFields {
    /// Parses the fields of a new group. An empty name defaults to the path, a missing description to an empty text.
    pub(super) fn parse(&self, errors: &mut FieldErrors) -> ParsedGroup {
        let path = self.path.as_deref().unwrap_or_default();
        let name = self.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(path);
        let description = self.description.as_deref().unwrap_or_default();
        ParsedGroup {
            name: errors.check("name", GroupName::parse(name)),
            path: errors.check("path", NamespacePath::parse(path)),
            description: errors.check("description", ShortText::parse(description)),
            visibility: self.parse_visibility(errors),
        }
    }

    /// Parses the fields of an update. Fields that are not given are not checked.
    pub(super) fn parse_change(&self, errors: &mut FieldErrors) -> ParsedGroup {
        let name = self.name.as_deref().map(GroupName::parse);
        let path = self.path.as_deref().map(NamespacePath::parse);
        let description = self.description.as_deref().map(ShortText::parse);
        ParsedGroup {
            name: errors.check_optional("name", name).flatten(),
            path: errors.check_optional("path", path).flatten(),
            description: errors.check_optional("description", description).flatten(),
            visibility: self.parse_visibility(errors),
        }
    }

    fn parse_visibility(&self, errors: &mut FieldErrors) -> Option<Visibility> {
        let visibility =
            self.visibility_level.map(|level| Visibility::from_level(level).ok_or(UNKNOWN_LEVEL));
        errors.check_optional("visibility_level", visibility).flatten()
    }

    /// Returns the group with the given fields replaced.
    pub(super) fn applied_to(&self, group: &Namespace, parsed: ParsedGroup) -> Namespace {
        Namespace {
            name: parsed.name.map_or_else(|| group.name.clone(), |name| name.as_str().to_owned()),
            path: parsed.path.unwrap_or_else(|| group.path.clone()),
            description: parsed
                .description
                .map_or_else(|| group.description.clone(), ShortText::into_string),
            visibility: parsed.visibility.unwrap_or(group.visibility),
            lfs_enabled: self.lfs_enabled.or(group.lfs_enabled),
            request_access_enabled: self
                .request_access_enabled
                .unwrap_or(group.request_access_enabled),
            ..group.clone()
        }
    }
}
