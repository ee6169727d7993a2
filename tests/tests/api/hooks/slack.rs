//! Messages to a chat: reference section 14.1 of rest_of_v3.md.

use chrono::TimeDelta;
use hexforge_delivery_reqwest::Guard;
use hexforge_domain::ci::status::Transition;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Answer, Backend, Forge, ForgeOptions, Received, Receiver, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{ci_fixture, push, run, step};
use crate::api::hooks::hook_support::clear_outbox;
use crate::api::merge_requests::requests_support::{
    commit_file, merge, new_request, path_of_request, put_request,
};
use crate::api::projects::project_support::a_cast;
use crate::api::repositories::refs_support::{filled_fixture, new_branch, new_tag};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{new_issue, path_of_issue, update_issue};

on_every_store!(
    the_request_is_a_form_with_one_field,
    a_push_to_a_branch_is_told_with_its_commits,
    new_and_removed_branches_and_tags_are_told,
    issues_are_told_when_they_open_close_and_reopen,
    merge_requests_are_told_by_their_state,
    notes_are_told_with_their_subject,
    failures_of_builds_and_pipelines_are_told,
    success_is_told_on_request,
    pushes_have_display_names_and_the_others_usernames,
    channels_and_names_are_those_of_the_properties,
    plain_updates_and_confidential_issues_are_not_told,
    texts_of_users_cannot_write_links_and_mentions,
    names_of_branches_are_encoded_in_urls,
    a_chat_that_fails_is_tried_again,
    a_service_without_activity_is_told_nothing,
    messages_go_with_their_project,
    every_kind_of_event_has_its_own_channel,
);

const PAGE: &str = "http://forge.test/ada/ship";

/// Activates the service with a receiver on loopback.
#[track_caller]
fn activate(forge: &Forge, project: &str, more: &[(&str, &str)]) -> Receiver {
    let receiver = Receiver::new();
    let url = receiver.url("/services/T0/B0/x");
    let mut form = vec![("webhook", url.as_str())];
    form.extend(more);
    let path = format!("{project}/services/slack");
    let answer = forge.put(&path).token(ROOT).form(&form).send().expect(200);
    assert_eq!(answer, json!(true));
    clear_outbox(forge);
    receiver
}

/// The message in a request: the only field of its form.
#[track_caller]
fn message_of(received: &Received) -> Value {
    let fields: Vec<(String, String)> =
        form_urlencoded::parse(received.body.as_bytes()).into_owned().collect();
    assert_eq!(fields.len(), 1, "{}", received.body);
    assert_eq!(fields[0].0, "payload");
    serde_json::from_str(&fields[0].1).expect("the field is JSON")
}

/// Delivers everything that is queued, and returns the messages.
#[track_caller]
fn messages(forge: &Forge, receiver: &Receiver) -> Vec<Value> {
    forge.deliver();
    receiver.take().iter().map(message_of).collect()
}

/// Delivers everything, and returns the only message.
#[track_caller]
fn only_message(forge: &Forge, receiver: &Receiver) -> Value {
    let mut all = messages(forge, receiver);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// The link to the project: "the name is `name_with_namespace` without blanks".
fn project_link(forge: &Forge, project: &str) -> String {
    let shown = forge.get(project).token(ROOT).send().expect(200);
    let name = shown["name_with_namespace"].as_str().expect("a name").replace(' ', "");
    format!("<{}|{name}>", shown["web_url"].as_str().expect("a URL"))
}

fn name_of(forge: &Forge, username: &str) -> String {
    let path = format!("/users?username={username}");
    let found = forge.get(&path).token(ROOT).send().expect(200);
    found[0]["name"].as_str().expect("a name").to_owned()
}

/// "POST to `webhook`, `application/x-www-form-urlencoded`, one field `payload` holding JSON"
fn the_request_is_a_form_with_one_field(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = activate(forge, &cast.path, &[]);
    new_issue(forge, cast.token("owner"), &cast.path, "A & b ü", &[]);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.line, "POST /services/T0/B0/x HTTP/1.1");
    assert_eq!(received.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(received.key().len(), 36);
    let message = message_of(&received);
    let keys: Vec<&String> = message.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["text", "attachments"]);
}

/// "push to a branch"
fn a_push_to_a_branch_is_told_with_its_commits(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = activate(forge, &fixture.cast.path, &[]);
    let project = project_link(forge, &fixture.cast.path);
    let before = fixture.id("feature/x");
    let after = commit_file(forge, &fixture, "feature/x", "new", "text");
    let user = name_of(forge, "master");
    let commit = forge.get(&format!("{}/repository/commits/{after}", fixture.cast.path));
    let commit = commit.token(ROOT).send().expect(200);
    let line = format!(
        "<{PAGE}/commit/{after}|{}>: {} - {}",
        &after[..8],
        commit["message"].as_str().expect("a text").trim_end(),
        commit["author_name"].as_str().expect("a text"),
    );
    let expected = json!({
        "text": format!(
            "{user} pushed to branch <{PAGE}/commits/feature/x|feature/x> of {project} \
             (<{PAGE}/compare/{before}...{after}|Compare changes>)"
        ),
        "attachments": [{"text": line, "color": "#345"}],
    });
    assert_eq!(only_message(forge, &receiver), expected);
}

/// "new branch or tag", "branch or tag removed"
fn new_and_removed_branches_and_tags_are_told(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = activate(forge, &fixture.cast.path, &[]);
    let project = project_link(forge, &fixture.cast.path);
    let (developer, root) = (name_of(forge, "developer"), name_of(forge, "root"));
    let told = |text: String| {
        assert_eq!(only_message(forge, &receiver), json!({"text": text, "attachments": []}));
    };
    new_branch(forge, &fixture, "topic", "feature/x");
    told(format!("{developer} pushed new branch <{PAGE}/commits/topic|topic> to {project}"));
    new_tag(forge, &fixture, &[("tag_name", "v9"), ("ref", "master"), ("message", "Nine")]);
    told(format!("{developer} pushed new tag <{PAGE}/commits/v9|v9> to {project}"));
    forge.delete(&format!("{}/topic", fixture.branches)).token(ROOT).send().expect(200);
    told(format!("{root} removed branch topic from {project}"));
    forge.delete(&format!("{}/v9", fixture.tags)).token(ROOT).send().expect(200);
    told(format!("{root} removed tag v9 from {project}"));
}

/// "issue opened", "issue closed or reopened"
fn issues_are_told_when_they_open_close_and_reopen(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = activate(forge, &cast.path, &[]);
    let project = project_link(forge, &cast.path);
    let more = [("description", "About it")];
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "An issue", &more);
    let page = format!("{PAGE}/issues/1");
    let opened = json!({
        "text": format!("[{project}] Issue opened by ada"),
        "attachments": [{
            "title": "#1 An issue", "title_link": page, "text": "About it", "color": "#C95823",
        }],
    });
    assert_eq!(only_message(forge, &receiver), opened);
    for (event, state) in [("close", "closed"), ("reopen", "reopened")] {
        update_issue(forge, cast.token("master"), &issue, &[("state_event", event)]);
        let text = format!("[{project}] Issue <{page}|#1 An issue> {state} by master");
        assert_eq!(only_message(forge, &receiver), json!({"text": text, "attachments": []}));
    }
}

/// "merge request"
fn merge_requests_are_told_by_their_state(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = activate(forge, &fixture.cast.path, &[]);
    let project = project_link(forge, &fixture.cast.path);
    let request = new_request(forge, &fixture, "feature/x", "A request");
    let told = |user: &str, state: &str| {
        let link = format!("<{PAGE}/merge_requests/1|merge request !1>");
        let text = format!("{user} {state} {link} in {project}: *A request*");
        let expected = json!({"text": text, "attachments": []});
        let all = messages(forge, &receiver);
        assert!(all.contains(&expected), "{expected}: {all:?}");
    };
    told("developer", "opened");
    for (event, state) in [("close", "closed"), ("reopen", "reopened")] {
        let change = json!({"state_event": event});
        put_request(forge, fixture.token("master"), &request, &change).expect(200);
        told("master", state);
    }
    merge(forge, fixture.token("master"), &request, &json!({})).expect(200);
    told("master", "merged");
}

/// "note"
fn notes_are_told_with_their_subject(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = fixture.cast.path.clone();
    let on = [("name", "Ship"), ("snippets_enabled", "true")];
    forge.put(&path).token(ROOT).form(&on).send().expect(200);
    let issue = new_issue(forge, ROOT, &path, "An issue", &[]);
    let request = new_request(forge, &fixture, "feature/x", "A request");
    let code = [("title", "Code"), ("file_name", "f"), ("code", "c"), ("visibility_level", "20")];
    let snippet = forge.post(&format!("{path}/snippets")).token(ROOT).form(&code).send();
    let snippet = id_of(&snippet.expect(201));
    let receiver = activate(forge, &path, &[]);
    let project = project_link(forge, &path);
    let master = fixture.id("master");
    let developer = fixture.token("developer");
    let request_path = path_of_request(&request);
    for (target, page, subject, title) in [
        (path_of_issue(&issue), "issues/1".to_owned(), "issue #1".to_owned(), "An issue"),
        (request_path, "merge_requests/1".into(), "merge request !1".into(), "A request"),
        (
            format!("{path}/snippets/{snippet}"),
            format!("snippets/{snippet}"),
            format!("snippet #{snippet}"),
            "Code",
        ),
    ] {
        let form = [("body", "A comment\nof two lines")];
        let note = forge.post(&format!("{target}/notes")).token(developer).form(&form).send();
        let note = id_of(&note.expect(201));
        let link = format!("<{PAGE}/{page}#note_{note}|commented on {subject}>");
        let expected = json!({
            "text": format!("developer {link} in {project}: *{title}*"),
            "attachments": [{"text": "A comment\nof two lines", "color": "#345"}],
        });
        assert_eq!(only_message(forge, &receiver), expected);
    }
    let comments = format!("{path}/repository/commits/{master}/comments");
    forge.post(&comments).token(developer).form(&[("note", "Why?")]).send().expect(201);
    let told = only_message(forge, &receiver);
    let text = told["text"].as_str().expect("a text");
    let (begin, subject) =
        (format!("developer <{PAGE}/commit/{master}#note_"), format!("commit {}", &master[..8]));
    let end = format!("|commented on {subject}> in {project}: *Three*");
    assert!(text.starts_with(&begin) && text.ends_with(&end), "{text}");
    assert_eq!(told["attachments"], json!([{"text": "Why?", "color": "#345"}]));
}

/// "build, pipeline: empty text, only failures while `notify_only_broken_...` is true"
fn failures_of_builds_and_pipelines_are_told(forge: &Forge) {
    let fixture = ci_fixture(forge, "test: {script: x}");
    let receiver = activate(forge, &fixture.cast.path, &[("push_channel", "#pushes")]);
    let project = project_link(forge, &fixture.cast.path);
    let pipeline = push(forge, &fixture, "topic");
    clear_outbox(forge);
    run(forge, &fixture, "test", Transition::Succeed);
    assert_eq!(messages(forge, &receiver), [json!(null); 0]);
    let failing = push(forge, &fixture, "other");
    assert_ne!(id_of(&pipeline), id_of(&failing));
    clear_outbox(forge);
    step(forge, &fixture, "test", Transition::Run);
    forge.clock.advance(TimeDelta::seconds(12));
    step(forge, &fixture, "test", Transition::Fail);
    let branch = format!("<{PAGE}/commits/other|other>");
    let sha = failing["sha"].as_str().expect("an id");
    let commit = format!("<{PAGE}/commit/{sha}|{}>", &sha[..8]);
    let number = id_of(&failing);
    let link = format!("<{PAGE}/pipelines/{number}|#{number}>");
    let user = name_of(forge, "developer");
    let expected = [
        format!("{project}: Commit {commit} of {branch} branch by Ada failed in 12 seconds"),
        format!("{project}: Pipeline {link} of {branch} branch by {user} failed in 12 seconds"),
    ];
    let expected = expected
        .map(|text| json!({"text": "", "attachments": [{"text": text, "color": "danger"}]}));
    assert_eq!(messages(forge, &receiver), expected);
}

/// "attachment color `good` or `danger`"
fn success_is_told_on_request(forge: &Forge) {
    let fixture = ci_fixture(forge, "test: {script: x}");
    let more = [("notify_only_broken_builds", "false"), ("notify_only_broken_pipelines", "0")];
    let receiver = activate(forge, &fixture.cast.path, &more);
    push(forge, &fixture, "topic");
    clear_outbox(forge);
    step(forge, &fixture, "test", Transition::Run);
    forge.clock.advance(TimeDelta::seconds(1));
    step(forge, &fixture, "test", Transition::Succeed);
    let told = messages(forge, &receiver);
    assert_eq!(told.len(), 2, "{told:?}");
    for (message, what) in told.iter().zip([": Commit ", ": Pipeline "]) {
        let attachment = &message["attachments"][0];
        let text = attachment["text"].as_str().expect("a text");
        assert!(text.contains(what) && text.ends_with(" passed in 1 second"), "{text}");
        assert_eq!((&attachment["color"], &message["text"]), (&json!("good"), &json!("")));
    }
}

/// "Pushes name the display name, the others the username."
fn pushes_have_display_names_and_the_others_usernames(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let developer = fixture.token("developer");
    let id = id_of(&forge.get("/user").token(developer).send().expect(200));
    let named = [("name", "Dev Eloper")];
    forge.put(&format!("/users/{id}")).token(ROOT).form(&named).send().expect(200);
    let receiver = activate(forge, &fixture.cast.path, &[]);
    let begins = |expected: &str| {
        let told = only_message(forge, &receiver);
        let text = told["text"].as_str().expect("a text").to_owned();
        assert!(text.starts_with(expected), "{text}");
    };
    new_branch(forge, &fixture, "topic", "feature/x");
    begins("Dev Eloper pushed new branch ");
    let issue = new_issue(forge, developer, &fixture.cast.path, "An issue", &[]);
    let told = only_message(forge, &receiver);
    assert!(told["text"].as_str().is_some_and(|text| text.ends_with("Issue opened by developer")));
    let notes = format!("{}/notes", path_of_issue(&issue));
    forge.post(&notes).token(developer).form(&[("body", "A note")]).send().expect(201);
    begins("developer <");
    new_request(forge, &fixture, "feature/x", "A request");
    let told = messages(forge, &receiver);
    let is_opened = |told: &Value| {
        told["text"].as_str().is_some_and(|text| text.starts_with("developer opened <"))
    };
    assert!(told.iter().any(is_opened), "{told:?}");
}

/// "if set `channel` (`<event>_channel`, else `channel`) and `username`"
fn channels_and_names_are_those_of_the_properties(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let more = [("channel", "#all"), ("issue_channel", "#issues"), ("username", "bot")];
    let receiver = activate(forge, &fixture.cast.path, &more);
    new_issue(forge, ROOT, &fixture.cast.path, "An issue", &[]);
    let told = only_message(forge, &receiver);
    assert_eq!((&told["channel"], &told["username"]), (&json!("#issues"), &json!("bot")));
    new_branch(forge, &fixture, "topic", "master");
    assert_eq!(only_message(forge, &receiver)["channel"], "#all");
}

/// "Plain updates of issues and merge requests are not told." Confidential issues are not sent to hooks either.
fn plain_updates_and_confidential_issues_are_not_told(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "An issue", &[]);
    let request = new_request(forge, &fixture, "feature/x", "A request");
    let receiver = activate(forge, &fixture.cast.path, &[("confidential_issue_channel", "#c")]);
    update_issue(forge, ROOT, &issue, &[("title", "Another")]);
    put_request(forge, ROOT, &request, &json!({"title": "Another"})).expect(200);
    let hidden = [("confidential", "true")];
    let hidden = new_issue(forge, ROOT, &fixture.cast.path, "Hush", &hidden);
    let notes = format!("{}/notes", path_of_issue(&hidden));
    forge.post(&notes).token(ROOT).form(&[("body", "Hush")]).send().expect(201);
    assert_eq!(messages(forge, &receiver), [json!(null); 0]);
}

/// `<!channel>` would call everybody in the channel.
fn texts_of_users_cannot_write_links_and_mentions(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = activate(forge, &cast.path, &[]);
    let more = [("description", "<http://evil|good> & <!here>")];
    let issue = new_issue(forge, ROOT, &cast.path, "<!channel>", &more);
    let told = only_message(forge, &receiver);
    assert_eq!(told["attachments"][0]["title"], "#1 &lt;!channel&gt;");
    assert_eq!(told["attachments"][0]["text"], "&lt;http://evil|good&gt; &amp; &lt;!here&gt;");
    update_issue(forge, ROOT, &issue, &[("state_event", "close")]);
    let text = only_message(forge, &receiver)["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("|#1 &lt;!channel&gt;> closed"), "{text}");
}

/// Git allows `|`, `<`, `>`, `#` and `%` in the name of a branch. In a link, `|` ends the URL and `>` ends the link.
fn names_of_branches_are_encoded_in_urls(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = activate(forge, &fixture.cast.path, &[]);
    let developer = name_of(forge, "developer");
    let project = project_link(forge, &fixture.cast.path);
    new_branch(forge, &fixture, "fix/a|b>#%ü", "feature/x");
    let expected = format!(
        "{developer} pushed new branch \
         <{PAGE}/commits/fix/a%7Cb%3E%23%25%C3%BC|fix/a|b&gt;#%ü> to {project}"
    );
    assert_eq!(only_message(forge, &receiver)["text"], expected);
}

/// "Through the outbox and the address guard of the hooks, with their retries."
fn a_chat_that_fails_is_tried_again(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = activate(forge, &cast.path, &[]);
    receiver.answer(Answer::status(503));
    new_issue(forge, ROOT, &cast.path, "An issue", &[]);
    forge.deliver();
    let first = receiver.take_only();
    forge.clock.advance(TimeDelta::hours(1));
    receiver.answer(Answer::status(200));
    assert_eq!(forge.deliver(), 1);
    let second = receiver.take_only();
    assert_eq!((second.key(), &second.body), (first.key(), &first.body));
    assert_eq!(forge.deliver(), 0);
}

/// A service that was removed is told nothing more, and another address is used at once.
fn a_service_without_activity_is_told_nothing(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = activate(forge, &cast.path, &[]);
    let path = format!("{}/services/slack", cast.path);
    new_issue(forge, ROOT, &cast.path, "One", &[]);
    let other = Receiver::new();
    let url = other.url("/");
    let form = [("webhook", url.as_str())];
    forge.put(&path).token(ROOT).form(&form).send().expect(200);
    assert_eq!(messages(forge, &receiver), [json!(null); 0]);
    assert_eq!(other.take().len(), 1, "the delivery uses the newest URL");
    new_issue(forge, ROOT, &cast.path, "Two", &[]);
    forge.delete(&path).token(ROOT).send().expect(200);
    new_issue(forge, ROOT, &cast.path, "Three", &[]);
    forge.deliver();
    assert_eq!(other.take().len(), 0);
    assert_eq!(receiver.take().len(), 0);
}

fn messages_go_with_their_project(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = activate(forge, &cast.path, &[]);
    new_issue(forge, ROOT, &cast.path, "One", &[]);
    forge.delete(&cast.path).token(ROOT).send().expect(200);
    assert_eq!(messages(forge, &receiver), [json!(null); 0]);
}

/// "`<event>_channel`, else `channel`": a property for each kind of event in the table.
fn every_kind_of_event_has_its_own_channel(forge: &Forge) {
    let fixture = ci_fixture(forge, "test: {script: x}");
    let kinds = ["push", "tag_push", "issue", "merge_request", "note", "build", "pipeline"];
    let properties = kinds.map(|kind| (format!("{kind}_channel"), format!("#{kind}")));
    let more: Vec<(&str, &str)> =
        properties.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let receiver = activate(forge, &fixture.cast.path, &more);
    let channels = || -> Vec<Value> {
        messages(forge, &receiver).iter().map(|message| message["channel"].clone()).collect()
    };
    new_branch(forge, &fixture, "topic", "master");
    commit_file(forge, &fixture, "topic", "new", "text");
    assert_eq!(channels(), ["#push", "#push"]);
    new_tag(forge, &fixture, &[("tag_name", "v9"), ("ref", "master")]);
    assert_eq!(channels(), ["#tag_push"]);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "An issue", &[]);
    assert_eq!(channels(), ["#issue"]);
    new_request(forge, &fixture, "topic", "A request");
    assert_eq!(channels(), ["#merge_request"]);
    let notes = format!("{}/notes", path_of_issue(&issue));
    forge.post(&notes).token(ROOT).form(&[("body", "A note")]).send().expect(201);
    assert_eq!(channels(), ["#note"]);
    run(forge, &fixture, "test", Transition::Fail);
    assert_eq!(channels(), ["#build", "#pipeline"]);
}

/// "Through the outbox and the address guard of the hooks": a webhook on this machine is not called.
#[test]
fn a_webhook_at_a_guarded_address_is_not_called() {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        let options = ForgeOptions { backend, dialect: Dialect::Specification };
        let guard = Guard::public_only([]);
        let Some(forge) = Forge::start_guarded(options, guard) else { continue };
        let cast = a_cast(&forge, "0");
        let receiver = activate(&forge, &cast.path, &[]);
        new_issue(&forge, ROOT, &cast.path, "An issue", &[]);
        assert_eq!(forge.deliver(), 1);
        assert_eq!(receiver.count(), 0);
    }
}
