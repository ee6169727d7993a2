//! What a project offers.

/// The switches of a project.
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
    /// A registry for containers.
    pub container_registry: bool,
    /// Runners of the whole service.
    pub shared_runners: bool,
    /// Builds for those who only see the project.
    pub public_builds: bool,
    /// Large files kept apart; `None` follows the namespace.
    pub lfs: Option<bool>,
    /// Merging needs a good build.
    pub merge_only_if_build_succeeds: bool,
    /// Merging needs all discussions ended.
    pub merge_only_if_discussions_resolved: bool,
    /// Strangers may ask to become members.
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
