//! The pages of labels and milestones.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::issues::{buttons, issue, member};
use super::support::{Browser, project, user};

on_every_store!(labels_are_managed, milestones_are_managed, others_see_and_change_nothing);

fn labels_are_managed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    member(forge, id, "ada", "20");
    let ada = Browser::signed_in(forge, "ada");
    let list = "/root/ship/labels";
    let page = ada.get(list).page(200);
    assert_eq!(page.heading(), "Labels");
    assert!(page.all("main a").contains(&"New label".to_owned()));
    let form = ada.get("/root/ship/labels/new").page(200);
    assert_eq!(form.heading(), "New label");
    assert_eq!(
        form.all("form[aria-label='New label'] label"),
        ["Title", "Description", "Background color"]
    );
    assert_eq!(buttons(&form, "New label"), ["Create label"]);
    let create = |fields: &[(&str, &str)]| ada.post_from("/root/ship/labels/new", list, fields);
    let wrong = create(&[("title", "bug"), ("color", "red")]).page(422);
    assert_eq!(wrong.attributes("#color", "aria-invalid"), ["true"]);
    assert_eq!(wrong.attributes("#title", "value"), ["bug"]);
    let fields = [("title", "bug & co"), ("color", "#ff0000"), ("description", "It <hurts>")];
    create(&fields).redirects(303, list);
    let taken = create(&fields).page(422);
    assert_eq!(taken.all("#title-fault"), ["A label of this name exists already."]);
    let page = ada.get(list).page(200);
    assert_eq!(page.all("ul[aria-label=Labels] .chip"), ["bug & co"]);
    assert_eq!(page.attributes("ul[aria-label=Labels] circle", "fill"), ["#ff0000"]);
    assert!(page.all("ul[aria-label=Labels] li")[0].contains("It <hurts>"));
    let edit = page.attributes("ul[aria-label=Labels] a[href$=edit]", "href").remove(0);
    let form = ada.get(&edit).page(200);
    assert_eq!(form.heading(), "Edit label");
    assert_eq!(
        form.attributes("form.fields input:not([type=hidden])", "value"),
        ["bug & co", "It <hurts>", "#ff0000", ""]
    );
    let save = |title: &str| {
        let fields =
            [("title", title), ("color", "#00ff00"), ("description", ""), ("priority", "3")];
        ada.post_from(&edit, &edit, &fields)
    };
    assert_eq!(save("").0.status, 422);
    let odd = [("title", "x"), ("color", "#00ff00"), ("priority", "soon")];
    let odd = ada.post_from(&edit, &edit, &odd).page(422);
    assert_eq!(odd.attributes("#priority", "aria-invalid"), ["true"]);
    save("defect").redirects(303, list);
    let page = ada.get(list).page(200);
    assert!(page.all("ul[aria-label=Labels] li")[0].contains("priority 3"));
    assert_eq!(page.all("main > p.muted"), ["1 label"]);
    let one = edit.trim_end_matches("/edit").to_owned();
    ada.post_from(list, &format!("{one}/subscribe"), &[]).redirects(303, list);
    let buttons = ada.get(list).page(200).all("ul[aria-label=Labels] button");
    assert_eq!(buttons, ["Unsubscribe from defect", "Delete defect"]);
    ada.post_from(list, &format!("{one}/unsubscribe"), &[]).redirects(303, list);
    ada.post_from(list, &format!("{one}/delete"), &[]).redirects(303, list);
    let page = ada.get(list).page(200);
    assert_eq!(page.all("[role=status]"), ["It was removed."]);
    assert!(page.all("ul[aria-label=Labels] .chip").is_empty());
}

fn milestones_are_managed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    member(forge, id, "ada", "40");
    let ada = Browser::signed_in(forge, "ada");
    let (list, new) = ("/root/ship/milestones", "/root/ship/milestones/new");
    let form = ada.get(new).page(200);
    assert_eq!(form.heading(), "New milestone");
    assert_eq!(buttons(&form, "New milestone"), ["Create milestone"]);
    assert_eq!(
        form.all("form[aria-label='New milestone'] label"),
        ["Title", "Description", "Start date", "Due date"]
    );
    let create = |fields: &[(&str, &str)]| ada.post_from(new, list, fields);
    let wrong = create(&[("title", ""), ("description", "kept")]).page(422);
    assert_eq!(
        (wrong.all("textarea"), wrong.attributes("#title", "aria-invalid")),
        (vec!["kept".to_owned()], vec!["true".to_owned()])
    );
    assert_eq!(create(&[("title", "1.0"), ("due_date", "x")]).0.status, 422);
    let fields = [("title", "1.0"), ("start_date", "2030-01-03"), ("due_date", "2030-01-02")];
    let wrong = create(&fields).page(422);
    assert_eq!(wrong.attributes("#start_date", "value"), ["2030-01-03"]);
    assert_eq!(wrong.all("[role=alert] li"), ["Due date must be greater than start date."]);
    let made = create(&[
        ("title", "1.0"),
        ("description", "**all**"),
        ("start_date", "2030-01-01"),
        ("due_date", "2030-01-02"),
    ]);
    let one = made.0.header("Location").expect("it redirects").to_owned();
    let number = one.rsplit('/').next().expect("an id").to_owned();
    issue(forge, id, &[("title", "Engine"), ("milestone_id", &number)]);
    let page = ada.get(&one).page(200);
    assert_eq!(page.heading(), "1.0");
    assert_eq!(page.all("section[aria-label=Description] strong"), ["all"]);
    assert_eq!(page.all("ul[aria-label=Issues] .title a"), ["Engine"]);
    assert_eq!(ada.get(list).page(200).all("ul[aria-label=Milestones] a"), ["1.0"]);
    let filtered = ada.get("/root/ship/issues?milestone_title=1.0").page(200);
    assert_eq!(filtered.all("ul[aria-label=Issues] .title a"), ["Engine"]);
    let state = format!("{one}/state");
    ada.post_from(&one, &state, &[("state_event", "close")]).redirects(303, &one);
    let page = ada.get(&one).page(200);
    assert!(page.all("main button").contains(&"Reopen milestone".to_owned()));
    assert!(ada.get(list).page(200).all("ul[aria-label=Milestones] a").is_empty());
    let closed = ada.get("/root/ship/milestones?state=closed").page(200);
    assert_eq!(closed.all("ul[aria-label=Milestones] a"), ["1.0"]);
    ada.post_from(&one, &state, &[("state_event", "activate")]).redirects(303, &one);
    let edit = format!("{one}/edit");
    assert_eq!(ada.get(&edit).page(200).attributes("#due_date", "value"), ["2030-01-02"]);
    assert_eq!(ada.get(&edit).page(200).attributes("#start_date", "value"), ["2030-01-01"]);
    ada.post_from(&edit, &edit, &[("title", "1.1"), ("due_date", "")]).redirects(303, &one);
    let page = ada.get(&one).page(200);
    assert_eq!(page.heading(), "1.1");
    assert!(page.all("main button").contains(&"Delete 1.1".to_owned()));
    ada.post_from(&one, &format!("{one}/delete"), &[]).redirects(303, list);
    assert_eq!(ada.get(&one).0.status, 404);
    let issue = ada.get("/root/ship/issues/1").page(200);
    assert_eq!(issue.all("aside dd")[1], "none");
}

fn others_see_and_change_nothing(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let hidden = project(forge, "hidden", "0").0;
    for id in [id, hidden] {
        let label = forge.post(&format!("/projects/{id}/labels")).token(ROOT);
        label.form(&[("name", "bug"), ("color", "#ff0000")]).send().expect(200);
        let milestone = forge.post(&format!("/projects/{id}/milestones")).token(ROOT);
        milestone.form(&[("title", "1.0")]).send().expect(201);
    }
    user(forge, "ada");
    let (stranger, ada) = (Browser::stranger(forge), Browser::signed_in(forge, "ada"));
    for page in ["labels", "milestones", "boards"] {
        assert_eq!(stranger.get(&format!("/root/ship/{page}")).0.status, 404, "{page}");
        assert_eq!(ada.get(&format!("/root/ship/{page}")).0.status, 200, "{page}");
        assert_eq!(ada.get(&format!("/root/hidden/{page}")).0.status, 404, "{page}");
    }
    for page in ["labels/new", "milestones/new"] {
        assert_eq!(stranger.get(&format!("/root/ship/{page}")).0.status, 302, "{page}");
        assert_eq!(stranger.get(&format!("/root/hidden/{page}")).0.status, 404, "{page}");
        assert_eq!(ada.get(&format!("/root/ship/{page}")).0.status, 404, "{page}");
    }
    for (address, fields) in
        [("labels", &[("title", "x"), ("color", "#000000")][..]), ("milestones", &[("title", "x")])]
    {
        let sent = ada.post_from("/root/ship/labels", &format!("/root/ship/{address}"), fields);
        assert_eq!(sent.0.status, 404, "{address}");
    }
    let page = ada.get("/root/ship/labels").page(200);
    assert_eq!(page.all("ul[aria-label=Labels] .chip"), ["bug"]);
    assert_eq!(page.all("ul[aria-label=Labels] button"), ["Subscribe to bug"]);
    assert!(!page.all("main a").contains(&"New label".to_owned()));
}
