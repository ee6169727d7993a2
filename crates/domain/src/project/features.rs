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
