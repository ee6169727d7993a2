//! Messages to a chat, in the format of Slack.

use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::ci::{BuildEvent, PipelineEvent, PipelineRow};
use hexforge_domain::outbox::commit_note::CommitNoteEvent;
use hexforge_domain::outbox::merge_request::MergeRequestEvent;
use hexforge_domain::outbox::project::{IssueAction, IssueEvent, NoteRow, Person, ProjectEvent};
use hexforge_domain::push::{Push, PushedCommit, RefKind};
use hexforge_domain::service::slack::ChatSettings;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{issue, merge_request};
use hexforge_http_edge::links::Links;

/// The color of attachments that are neither an issue nor a result.
const COLOR: &str = "#345";
const ISSUE_COLOR: &str = "#C95823";

/// The characters of a ref name that are percent-encoded in a URL. Git allows `|`, `>`, `#` and `%` in ref names: the
/// first two would end the URL of a link, and the others would change its meaning.
const REF_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The message about an event; `None` if the chat is not told of it.
pub fn message(event: &SystemEvent, settings: ChatSettings<'_>, links: &Links) -> Option<Value> {
    let kind = settings.told(event)?;
    let (text, attachments) = content(event, settings, links)?;
    let mut message = json!({ "text": text, "attachments": attachments });
    if let Some(channel) = settings.channel(kind) {
        message["channel"] = json!(channel);
    }
    if let Some(username) = settings.username() {
        message["username"] = json!(username);
    }
    Some(message)
}

/// The text of a message with its attachments.
type Content = (String, Vec<Value>);

fn content(event: &SystemEvent, settings: ChatSettings<'_>, links: &Links) -> Option<Content> {
    let project = |path: &str| {
        let page = links.project(path);
        Project { link: link(&page, settings.project_name), page }
    };
    if let SystemEvent::Pushed(push) = event {
        return pushed(push, &project(&push.project.path_with_namespace));
    }
    // No other event belongs to a project.
    let SystemEvent::InProject(event) = event else { return None };
    Some(match &**event {
        ProjectEvent::Issue(event) => {
            changed_issue(event, &project(&event.project.path_with_namespace), links)
        }
        ProjectEvent::MergeRequest(event) => {
            let path = &event.request.target.path_with_namespace;
            (changed_request(event, &project(path), links), vec![])
        }
        ProjectEvent::NoteOnIssue(event) => Comment {
            user: &event.user,
            note: &event.note,
            page: issue::page(&event.project, &event.issue, links),
            on: format!("issue #{}", event.issue.iid),
            title: &event.issue.title,
        }
        .content(&project(&event.project.path_with_namespace)),
        ProjectEvent::NoteOnMergeRequest(event) => Comment {
            user: &event.user,
            note: &event.note,
            page: merge_request::page(&event.request, links),
            on: format!("merge request !{}", event.request.row.iid),
            title: &event.request.row.title,
        }
        .content(&project(&event.request.target.path_with_namespace)),
        ProjectEvent::NoteOnSnippet(event) => Comment {
            user: &event.user,
            note: &event.note,
            page: links.snippet(Some(&event.project.path_with_namespace), event.snippet.id.0),
            on: format!("snippet #{}", event.snippet.id),
            title: &event.snippet.title,
        }
        .content(&project(&event.project.path_with_namespace)),
        ProjectEvent::NoteOnCommit(event) => {
            commented_commit(event, &project(&event.project.path_with_namespace))
        }
        ProjectEvent::Build(event) => {
            ended_build(event, &project(&event.project.path_with_namespace))
        }
        ProjectEvent::Pipeline(event) => {
            ended_pipeline(event, &project(&event.project.path_with_namespace))
        }
    })
}

/// The project of a message.
struct Project {
    /// The URL of its page.
    page: String,
    /// The link to its page.
    link: String,
}

impl Project {
    /// The link to the commits of a branch or tag.
    fn commits(&self, reference: &str) -> String {
        let encoded = utf8_percent_encode(reference, REF_PATH);
        link(&format!("{}/commits/{encoded}", self.page), reference)
    }

    /// The URL of a commit.
    fn commit(&self, id: ObjectId) -> String {
        format!("{}/commit/{id}", self.page)
    }
}

/// A link in the notation of Slack.
fn link(url: &str, text: &str) -> String {
    format!("<{url}|{}>", escaped(text))
}

/// A text in which the characters with a meaning are escaped, so that users cannot write links and mentions of all
/// members of a channel into messages.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The first eight digits of a commit id.
fn short(id: ObjectId) -> String {
    let mut id = id.to_string();
    id.truncate(8);
    id
}

/// The first line of a title, in bold.
fn bold(title: &str) -> String {
    format!("*{}*", escaped(title.lines().next().unwrap_or_default()))
}

fn pushed(push: &Push, project: &Project) -> Option<Content> {
    let (word, name) = match RefKind::of(&push.reference) {
        RefKind::Branch(branch) => ("branch", branch.as_str().to_owned()),
        RefKind::Tag(tag) => ("tag", tag.as_str().to_owned()),
        RefKind::Reserved | RefKind::Other => return None,
    };
    let (user, commits) = (escaped(&push.user.name), project.commits(&name));
    let (before, after) = (push.before, push.after);
    let Project { page, link: project_link } = project;
    if after == ObjectId::ZERO {
        let name = escaped(&name);
        return Some((format!("{user} removed {word} {name} from {project_link}"), vec![]));
    }
    if before == ObjectId::ZERO {
        return Some((format!("{user} pushed new {word} {commits} to {project_link}"), vec![]));
    }
    let compare = link(&format!("{page}/compare/{before}...{after}"), "Compare changes");
    let text = format!("{user} pushed to {word} {commits} of {project_link} ({compare})");
    let line = |commit: &PushedCommit| {
        let id = link(&project.commit(commit.id), &short(commit.id));
        let message = escaped(commit.message.trim_end());
        format!("{id}: {message} - {}", escaped(&commit.author_name))
    };
    let lines: Vec<String> = push.commits.iter().map(line).collect();
    Some((text, vec![json!({ "text": lines.join("\n"), "color": COLOR })]))
}

fn changed_issue(event: &IssueEvent, project: &Project, links: &Links) -> Content {
    let IssueEvent { action, user, issue: row, .. } = event;
    let page = issue::page(&event.project, row, links);
    let title = format!("#{} {}", row.iid, row.title);
    let (user, project) = (&user.username, &project.link);
    let verb = match action {
        IssueAction::Open => {
            let attachment = json!({
                "title": escaped(&title),
                "title_link": page,
                "text": escaped(row.description.as_deref().unwrap_or_default()),
                "color": ISSUE_COLOR,
            });
            return (format!("[{project}] Issue opened by {user}"), vec![attachment]);
        }
        IssueAction::Close => "closed",
        IssueAction::Reopen => "reopened",
        // Not told.
        IssueAction::Update => "updated",
    };
    (format!("[{project}] Issue {} {verb} by {user}", link(&page, &title)), vec![])
}

fn changed_request(event: &MergeRequestEvent, project: &Project, links: &Links) -> String {
    let row = &event.request.row;
    let name = format!("merge request !{}", row.iid);
    let request = link(&merge_request::page(&event.request, links), &name);
    let (user, state) = (&event.user.username, row.state.as_str());
    format!("{user} {state} {request} in {}: {}", project.link, bold(&row.title))
}

/// A comment on an issue, merge request, snippet or commit.
struct Comment<'a> {
    user: &'a Person,
    note: &'a NoteRow,
    /// The URL of the commented page.
    page: String,
    /// The name of the subject, such as `issue #7`.
    on: String,
    title: &'a str,
}

impl Comment<'_> {
    fn content(&self, project: &Project) -> Content {
        let Self { user, note, page, on, title } = self;
        let url = format!("{page}#note_{}", note.id);
        let commented = link(&url, &format!("commented on {on}"));
        let text = format!("{} {commented} in {}: {}", user.username, project.link, bold(title));
        (text, vec![json!({ "text": escaped(&note.body), "color": COLOR })])
    }
}

fn commented_commit(event: &CommitNoteEvent, project: &Project) -> Content {
    let comment = Comment {
        user: &event.user,
        note: &event.note,
        page: project.commit(event.commit),
        on: format!("commit {}", short(event.commit)),
        title: &event.facts.message,
    };
    comment.content(project)
}

/// The result of a build or pipeline.
struct Ended<'a> {
    /// The name of what ended, with a link.
    what: String,
    pipeline: &'a PipelineRow,
    user: &'a str,
    status: Status,
    seconds: i64,
}

impl Ended<'_> {
    fn content(&self, project: &Project) -> Content {
        let Self { what, pipeline, user, status, seconds } = self;
        let (result, color) = match *status == Status::Success {
            true => ("passed", "good"),
            false => (status.as_str(), "danger"),
        };
        let word = if pipeline.tag { "tag" } else { "branch" };
        let unit = if *seconds == 1 { "second" } else { "seconds" };
        let text = format!(
            "{}: {what} of {} {word} by {} {result} in {seconds} {unit}",
            project.link,
            project.commits(&pipeline.reference),
            escaped(user),
        );
        (String::new(), vec![json!({ "text": text, "color": color })])
    }
}

fn ended_build(event: &BuildEvent, project: &Project) -> Content {
    let (build, pipeline) = (&event.build, &event.pipeline);
    let times = build.started_at.zip(build.finished_at);
    let commit = link(&project.commit(pipeline.sha), &short(pipeline.sha));
    let ended = Ended {
        what: format!("Commit {commit}"),
        pipeline,
        user: &event.commit.author_name,
        status: build.status,
        seconds: times.map_or(0, |(began, ended)| (ended - began).num_seconds()),
    };
    ended.content(project)
}

fn ended_pipeline(event: &PipelineEvent, project: &Project) -> Content {
    let pipeline = &event.pipeline;
    let page = format!("{}/pipelines/{}", project.page, pipeline.id);
    let ended = Ended {
        what: format!("Pipeline {}", link(&page, &format!("#{}", pipeline.id))),
        pipeline,
        // A trigger has no user.
        user: event.user.as_ref().map_or("API", |user| &user.name),
        status: pipeline.status,
        seconds: pipeline.duration.unwrap_or(0),
    };
    ended.content(project)
}
