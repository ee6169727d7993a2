//! The table of the services that a project may have, with their properties.

/// A property of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property {
    /// The name.
    pub name: &'static str,
    /// Whether every change has to give it.
    pub required: bool,
    /// Whether only administrators of the whole server see it.
    pub hidden: bool,
    /// Whether it is true until it is set.
    pub is_true_by_default: bool,
}

impl Property {
    /// Returns whether the value has to be an http or https URL.
    pub fn is_url(self) -> bool {
        self.required && (self.name.ends_with("url") || self.name == "webhook")
    }
}

const fn optional(name: &'static str) -> Property {
    Property { name, required: false, hidden: false, is_true_by_default: false }
}

const fn required(name: &'static str) -> Property {
    Property { required: true, ..optional(name) }
}

const fn true_by_default(name: &'static str) -> Property {
    Property { is_true_by_default: true, ..optional(name) }
}

const fn hidden(property: Property) -> Property {
    Property { hidden: true, ..property }
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    name: &'static str,
    title: &'static str,
    properties: &'static [Property],
    /// The order in which required properties are demanded, if it is not that of the properties.
    demands: Option<&'static [&'static str]>,
}

const fn row(name: &'static str, title: &'static str, properties: &'static [Property]) -> Row {
    Row { name, title, properties, demands: None }
}

const fn demanding(row: Row, demands: &'static [&'static str]) -> Row {
    Row { demands: Some(demands), ..row }
}

/// The service whose pages take the place of the wiki.
const EXTERNAL_WIKI: &str = "external_wiki";

/// The properties of an issue tracker, after its title.
const TRACKER: &[Property] = &[
    optional("description"),
    required("project_url"),
    required("issues_url"),
    required("new_issue_url"),
];

static SERVICES: [Row; 23] = [
    row("asana", "Asana", &[required("api_key"), optional("restrict_to_branch")]),
    row("assembla", "Assembla", &[required("token"), optional("subdomain")]),
    row(
        "bamboo",
        "Atlassian Bamboo CI",
        &[
            required("bamboo_url"),
            required("build_key"),
            required("username"),
            hidden(required("password")),
        ],
    ),
    demanding(
        row(
            "buildkite",
            "Buildkite",
            &[required("token"), required("project_url"), optional("enable_ssl_verification")],
        ),
        &["project_url", "token"],
    ),
    row(
        "builds_email",
        "Builds emails",
        &[
            required("recipients"),
            optional("add_pusher"),
            true_by_default("notify_only_broken_builds"),
        ],
    ),
    row("bugzilla", "Bugzilla", TRACKER),
    row("campfire", "Campfire", &[required("token"), optional("subdomain"), optional("room")]),
    row(
        "custom_issue_tracker",
        "Custom Issue Tracker",
        &[
            optional("title"),
            optional("description"),
            required("project_url"),
            required("issues_url"),
            required("new_issue_url"),
        ],
    ),
    demanding(
        row(
            "drone_ci",
            "Drone CI",
            &[required("token"), required("drone_url"), optional("enable_ssl_verification")],
        ),
        &["drone_url", "token"],
    ),
    row(
        "emails_on_push",
        "Emails on push",
        &[optional("send_from_committer_email"), optional("disable_diffs"), required("recipients")],
    ),
    row(EXTERNAL_WIKI, "External Wiki", &[required("external_wiki_url")]),
    row("flowdock", "Flowdock", &[required("token")]),
    demanding(
        row("gemnasium", "Gemnasium", &[required("api_key"), required("token")]),
        &["token", "api_key"],
    ),
    row(
        "hipchat",
        "HipChat",
        &[
            required("token"),
            optional("room"),
            optional("notify"),
            optional("color"),
            optional("api_version"),
            optional("server"),
            true_by_default("notify_only_broken_builds"),
        ],
    ),
    row(
        "irker",
        "Irker (IRC gateway)",
        &[
            optional("server_host"),
            optional("server_port"),
            optional("default_irc_uri"),
            required("recipients"),
            optional("colorize_messages"),
        ],
    ),
    row(
        "jira",
        "JIRA",
        &[
            required("url"),
            required("project_key"),
            optional("username"),
            hidden(optional("password")),
            optional("jira_issue_transition_id"),
        ],
    ),
    row("mattermost_slash_commands", "Mattermost Command", &[optional("token")]),
    row(
        "pipelines_email",
        "Pipelines emails",
        &[required("recipients"), true_by_default("notify_only_broken_pipelines")],
    ),
    row("pivotaltracker", "PivotalTracker", &[required("token"), optional("restrict_to_branch")]),
    row(
        "pushover",
        "Pushover",
        &[
            required("api_key"),
            required("user_key"),
            optional("device"),
            required("priority"),
            optional("sound"),
        ],
    ),
    row("redmine", "Redmine", TRACKER),
    row(
        "slack",
        "Slack",
        &[
            required("webhook"),
            optional("username"),
            optional("channel"),
            true_by_default("notify_only_broken_builds"),
            true_by_default("notify_only_broken_pipelines"),
            optional("push_channel"),
            optional("issue_channel"),
            optional("confidential_issue_channel"),
            optional("merge_request_channel"),
            optional("note_channel"),
            optional("tag_push_channel"),
            optional("build_channel"),
            optional("pipeline_channel"),
            optional("wiki_page_channel"),
        ],
    ),
    row(
        "teamcity",
        "JetBrains TeamCity CI",
        &[
            required("teamcity_url"),
            required("build_type"),
            required("username"),
            hidden(required("password")),
        ],
    ),
];

/// A kind of service: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct ServiceKind(&'static Row);

impl PartialEq for ServiceKind {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ServiceKind {}

impl ServiceKind {
    /// All kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = ServiceKind> {
        SERVICES.iter().map(ServiceKind)
    }

    /// Parses the name of a kind, in which dashes count as underscores.
    pub fn parse(name: &str) -> Option<Self> {
        let is_it = |kind: &Self| {
            let own = kind.0.name.bytes();
            own.eq(name.bytes().map(|byte| if byte == b'-' { b'_' } else { byte }))
        };
        Self::all().find(is_it)
    }

    /// The kind that sends messages to a chat.
    pub fn slack() -> Option<Self> {
        Self::parse("slack")
    }

    /// The name, with underscores.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The title.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// The properties, in the order in which they are shown.
    pub fn properties(self) -> impl Iterator<Item = Property> {
        self.0.properties.iter().copied()
    }

    /// The property with this name.
    pub fn property(self, name: &str) -> Option<Property> {
        self.properties().find(|property| property.name == name)
    }

    /// The names of the required properties, in the order in which they are demanded.
    pub fn demands(self) -> impl Iterator<Item = &'static str> {
        let required = self.properties().filter(|property| property.required);
        let in_order = required.map(|property| property.name).collect::<Vec<_>>();
        self.0.demands.map_or(in_order, <[_]>::to_vec).into_iter()
    }

    /// Returns whether the service sends messages to a chat.
    pub fn is_chat(self) -> bool {
        self.0.name == "slack"
    }

    /// Returns whether the service changes the links of the project's pages.
    pub fn is_link(self) -> bool {
        self.is_tracker() || self.0.name == EXTERNAL_WIKI
    }

    /// Returns whether the service replaces the issues of the project.
    pub fn is_tracker(self) -> bool {
        matches!(self.0.name, "bugzilla" | "custom_issue_tracker" | "jira" | "redmine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_is_found_by_its_name_in_both_spellings() {
        let names: BTreeSet<&str> = ServiceKind::all().map(ServiceKind::name).collect();
        assert_eq!(names.len(), 23);
        for kind in ServiceKind::all() {
            assert_eq!(ServiceKind::parse(kind.name()), Some(kind));
            assert_eq!(ServiceKind::parse(&kind.name().replace('_', "-")), Some(kind));
        }
        for name in ["", "Slack", "slack_", "builds email", "gitlab_ci"] {
            assert_eq!(ServiceKind::parse(name), None, "{name}");
        }
    }

    #[test]
    fn demands_are_the_required_properties() {
        for kind in ServiceKind::all() {
            let required = kind.properties().filter(|property| property.required);
            let required: BTreeSet<&str> = required.map(|property| property.name).collect();
            assert_eq!(kind.demands().collect::<BTreeSet<_>>(), required, "{}", kind.name());
        }
        let demands = |name: &str| {
            let kind = ServiceKind::parse(name).expect("a known service");
            kind.demands().collect::<Vec<_>>()
        };
        assert_eq!(demands("drone_ci"), ["drone_url", "token"]);
        assert_eq!(demands("bamboo"), ["bamboo_url", "build_key", "username", "password"]);
    }

    #[test]
    fn five_kinds_change_links() {
        let names = ServiceKind::all().filter(|kind| kind.is_link()).map(ServiceKind::name);
        let expected = ["bugzilla", "custom_issue_tracker", "external_wiki", "jira", "redmine"];
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn four_kinds_are_issue_trackers_and_one_is_a_chat() {
        let trackers: Vec<&str> =
            ServiceKind::all().filter(|kind| kind.is_tracker()).map(ServiceKind::name).collect();
        assert_eq!(trackers, ["bugzilla", "custom_issue_tracker", "jira", "redmine"]);
        let chats: Vec<ServiceKind> = ServiceKind::all().filter(|kind| kind.is_chat()).collect();
        assert_eq!(chats, [ServiceKind::slack().expect("a known service")]);
    }
}
