//! Lists of issues: users_hooks_events.md section 11.2.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    new_group, new_project, no_group, path_of_project, project_in,
};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{assert_only_for_users, id_of, message};
use crate::api::tracker::tracker_support::{field_values, new_issue, update_issue};

on_every_store!(
    issues_of_a_project_are_filtered_and_sorted,
    issues_come_in_pages,
    the_callers_own_issues_are_those_it_wrote,
    issues_of_a_group_are_those_of_its_projects,
    lists_of_issues_are_for_users,
);

#[track_caller]
fn titles(forge: &Forge, token: &str, path: &str) -> Vec<String> {
    let answer = forge.get(path).token(token).send();
    let list = answer.expect(200);
    let titles = field_values(&list, "title");
    assert_eq!(answer.header("X-Total"), Some(titles.len().to_string().as_str()), "{path}");
    titles.into_iter().map(|title| title.as_str().expect("a text").to_owned()).collect()
}

/// GET /projects/:id/issues
fn issues_of_a_project_are_filtered_and_sorted(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let goal = forge.post(&format!("{}/milestones", cast.path)).token(owner);
    let goal = id_of(&goal.form(&[("title", "1.0")]).send().expect(201)).to_string();
    let mut made = Vec::new();
    for (title, labels, milestone) in [
        ("one", "bug", goal.as_str()),
        ("two", "bug,wish", ""),
        ("three", "", ""),
        ("four", "wish", ""),
    ] {
        forge.clock.advance(TimeDelta::seconds(1));
        let more = [("labels", labels), ("milestone_id", milestone)];
        made.push(new_issue(forge, owner, &cast.path, title, &more));
    }
    forge.clock.advance(TimeDelta::seconds(1));
    update_issue(forge, owner, &made[1], &[("state_event", "close")]);
    update_issue(forge, owner, &made[0], &[("state_event", "close")]);
    forge.clock.advance(TimeDelta::seconds(1));
    update_issue(forge, owner, &made[0], &[("state_event", "reopen")]);
    for (query, expected) in [
        ("", "four three two one"),
        ("state=opened", "four three one"),
        ("state=closed", "two"),
        ("state=all", "four three two one"),
        ("state=nonsense", "four three two one"),
        ("labels=bug", "two one"),
        ("labels=bug,wish", "four two one"),
        ("labels=wish&state=opened", "four"),
        ("labels=none", ""),
        ("labels=", "four three two one"),
        ("milestone=1.0", "one"),
        ("milestone=2.0", ""),
        ("iid=2", "two"),
        ("iid=99", ""),
        ("iid=abc", ""),
        ("order_by=created_at&sort=asc", "one two three four"),
        ("order_by=updated_at", "one two four three"),
        ("order_by=updated_at&sort=asc", "three four two one"),
        ("order_by=nonsense&sort=nonsense", "four three two one"),
    ] {
        let found = titles(forge, owner, &format!("{}/issues?{query}", cast.path));
        assert_eq!(found.join(" "), expected, "{query}");
    }
    let shown = forge.get(&format!("{}/issues?iid=1", cast.path)).token(owner).send().expect(200);
    assert_eq!(shown[0], crate::api::tracker::tracker_support::issue_now(forge, owner, &made[0]));
}

/// GET /projects/:id/issues
fn issues_come_in_pages(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    for number in 0..23 {
        let more: &[(&str, &str)] = if number < 2 { &[("confidential", "true")] } else { &[] };
        new_issue(forge, owner, &cast.path, &format!("issue {number:02}"), more);
    }
    let path = format!("{}/issues", cast.path);
    for (who, total) in [("owner", "23"), ("stranger", "21")] {
        let first = forge.get(&path).token(cast.token(who)).send();
        assert_eq!(field_values(&first.expect(200), "title").len(), 20, "{who}");
        assert_eq!(first.header("X-Total"), Some(total), "{who}");
    }
    let last = forge.get(&format!("{path}?page=3&per_page=10")).token(owner).send().expect(200);
    assert_eq!(field_values(&last, "title"), ["issue 02", "issue 01", "issue 00"]);
}

/// GET /issues
fn the_callers_own_issues_are_those_it_wrote(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let (_, bob) = forge.user("bob");
    let other = path_of_project(&new_project(forge, &bob, "Other", &[("visibility_level", "10")]));
    new_issue(forge, owner, &cast.path, "owner's", &[]);
    forge.clock.advance(TimeDelta::seconds(1));
    let first = new_issue(forge, guest, &cast.path, "first", &[("confidential", "true")]);
    forge.clock.advance(TimeDelta::seconds(1));
    new_issue(forge, guest, &other, "second", &[]);
    assert_eq!(titles(forge, guest, "/issues"), ["second", "first"]);
    update_issue(forge, owner, &first, &[("labels", "bug,wish"), ("state_event", "close")]);
    for (query, expected) in [
        ("state=opened", "second"),
        ("state=closed", "first"),
        ("labels=bug,none", "first"),
        ("sort=asc", "first second"),
        ("order_by=updated_at", "second first"),
    ] {
        assert_eq!(
            titles(forge, guest, &format!("/issues?{query}")).join(" "),
            expected,
            "{query}"
        );
    }
    // Issues that became hidden are not listed.
    let form = [("name", "Other"), ("visibility_level", "0")];
    forge.put(&other).token(&bob).form(&form).send().expect(200);
    assert_eq!(titles(forge, guest, "/issues"), ["first"]);
    assert_eq!(titles(forge, ROOT, "/issues"), Vec::<String>::new());
}

/// GET /groups/:id/issues
fn issues_of_a_group_are_those_of_its_projects(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let group = new_group(forge, &ada, "team", &[("visibility_level", "20")]);
    let [open, hidden] = [("Open", "20"), ("Hidden", "0")].map(|(name, level)| {
        path_of_project(&project_in(forge, &group, name, &[("visibility_level", level)]))
    });
    for (project, title, labels) in
        [(&open, "one", "bug,wish"), (&open, "two", "bug"), (&hidden, "three", "bug,wish")]
    {
        forge.clock.advance(TimeDelta::seconds(1));
        new_issue(forge, &ada, project, title, &[("labels", labels)]);
    }
    forge.clock.advance(TimeDelta::seconds(1));
    let four = new_issue(forge, &ada, &open, "four", &[]);
    update_issue(forge, &ada, &four, &[("state_event", "close")]);
    new_issue(forge, &ada, &open, "secret", &[("confidential", "1"), ("labels", "bug")]);
    let (_, eve) = forge.user("eve");
    for (token, query, expected) in [
        (&ada, "", "secret three two one"),
        (&ada, "state=closed", "four"),
        (&ada, "state=all", "secret four three two one"),
        (&ada, "labels=bug,wish", "three one"),
        (&ada, "labels=bug", "secret three two one"),
        (&ada, "labels=bug,none", ""),
        (&ada, "sort=asc", "one two three secret"),
        (&eve, "", "two one"),
        (&eve, "labels=bug,wish", "one"),
    ] {
        let mut found = titles(forge, token, &format!("/groups/team/issues?{query}"));
        let mut wanted: Vec<&str> = expected.split_whitespace().collect();
        // Issues of the same time are sorted by id, which differs between stores.
        found.sort_by_key(|title| title == "secret");
        wanted.sort_by_key(|title| *title == "secret");
        assert_eq!(found, wanted, "{query}");
    }
    let goal = forge.post(&format!("{open}/milestones")).token(&ada).form(&[("title", "1.0")]);
    let goal = id_of(&goal.send().expect(201)).to_string();
    new_issue(forge, &ada, &open, "goal", &[("milestone_id", &goal)]);
    assert_eq!(titles(forge, &ada, "/groups/team/issues?milestone=1.0"), ["goal"]);
    assert_eq!(forge.get("/groups/none/issues").token(&ada).send().expect(404), no_group());
}

/// GET /issues, GET /groups/:id/issues, GET /projects/:id/issues
fn lists_of_issues_are_for_users(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let calls =
        ["/issues".to_owned(), "/groups/1/issues".to_owned(), format!("{}/issues", cast.path)];
    assert_only_for_users(forge, &calls.map(|path| ("GET", path)));
    let private = path_of_project(&new_project(forge, cast.token("owner"), "Private", &[]));
    let hidden = forge.get(&format!("{private}/issues")).token(cast.token("stranger")).send();
    assert_eq!(hidden.expect(404), message("404 Project Not Found"));
    let empty: Value = forge.get(&format!("{private}/issues")).token(ROOT).send().expect(200);
    assert_eq!(empty, json!([]));
}
