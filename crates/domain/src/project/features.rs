//! The features of a project.

/// The feature switches of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Issues.
    pub issues: bool,
    /// Merge requests.
    pub merge_requests: bool,
    /// A wiki.
    pub wiki: bool,
    /// Pipelines and builds.
    pub builds: bool,
    /// Snippets.
    pub snippets: bool,
    /// A container registry.
    pub container_registry: bool,
    /// Builds on shared runners.
    pub shared_runners: bool,
    /// Builds are visible to everyone who may see the code.
    pub public_builds: bool,
    /// Git LFS; `None` uses the setting of the namespace.
    pub lfs: Option<bool>,
    /// Merging requires a successful build.
    pub merge_only_if_build_succeeds: bool,
    /// Merging requires that all discussions are resolved.
    pub merge_only_if_discussions_resolved: bool,
    /// Users who are not members may request access.
    pub request_access: bool,
}

impl Features {
    /// Returns whether Git LFS is on for a project with these features, in a namespace with this setting. LFS that is
    /// off on the server is off for all projects.
    pub fn has_lfs(&self, of_namespace: Option<bool>, on_server: bool) -> bool {
        on_server && self.lfs.or(of_namespace).unwrap_or(true)
    }
}

impl Default for Features {
    fn default() -> Self {
        Self {
            issues: true,
            merge_requests: true,
            wiki: true,
            builds: true,
            snippets: false,
            container_registry: true,
            shared_runners: true,
            public_builds: true,
            lfs: None,
            merge_only_if_build_succeeds: false,
            merge_only_if_discussions_resolved: false,
            request_access: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lfs_is_decided_by_the_server_then_the_project_then_the_namespace() {
        for (lfs, of_namespace, expected) in [
            (None, None, true),
            (None, Some(true), true),
            (None, Some(false), false),
            (Some(true), Some(false), true),
            (Some(false), Some(true), false),
            (Some(false), None, false),
        ] {
            let features = Features { lfs, ..Features::default() };
            assert_eq!(features.has_lfs(of_namespace, true), expected, "{lfs:?} {of_namespace:?}");
            assert!(!features.has_lfs(of_namespace, false));
        }
    }
}
