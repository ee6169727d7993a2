//! `/templates` and the same paths without it: section 12 of the reference of the rest of v3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, fields_of};
use crate::api::support::message;

on_every_store!(
    licences_are_listed_for_anyone,
    popular_licences_are_a_few,
    one_licence_is_found_in_any_case,
    placeholders_are_filled_in,
    gitignores_are_listed_and_read,
    configurations_are_listed_read_and_valid,
    template_lists_come_whole_unless_a_page_is_asked_for,
    names_of_configurations_are_case_sensitive,
    all_licences_are_filled_in_by_both_paths,
);

const PREFIXES: [&str; 2] = ["/templates", ""];

/// GET /templates/licenses, GET /licenses
fn licences_are_listed_for_anyone(forge: &Forge) {
    for prefix in PREFIXES {
        let path = format!("{prefix}/licenses");
        let list = forge.get(&path).send().expect(200);
        let all = list.as_array().expect("a list");
        let keys: Vec<&str> = all.iter().filter_map(|one| one["key"].as_str()).collect();
        assert_eq!(
            keys,
            [
                "agpl-3.0",
                "apache-2.0",
                "artistic-2.0",
                "bsd-2-clause",
                "bsd-3-clause",
                "cc0-1.0",
                "epl-1.0",
                "gpl-2.0",
                "gpl-3.0",
                "isc",
                "lgpl-2.1",
                "lgpl-3.0",
                "mit",
                "mpl-2.0",
                "unlicense"
            ]
        );
        let mit = &all[12];
        assert_eq!(
            fields_of(mit),
            [
                "key",
                "name",
                "nickname",
                "popular",
                "html_url",
                "source_url",
                "description",
                "conditions",
                "permissions",
                "limitations",
                "content"
            ]
        );
        let mut facts = mit.clone();
        let content = facts["content"].take();
        facts["description"] = Value::Null;
        assert_eq!(
            facts,
            json!({
                "key": "mit", "name": "MIT License", "nickname": null, "popular": true,
                "html_url": "http://choosealicense.com/licenses/mit/",
                "source_url": "https://opensource.org/licenses/MIT", "description": null,
                "conditions": ["include-copyright"],
                "permissions": ["commercial-use", "modifications", "distribution", "private-use"],
                "limitations": ["no-liability"], "content": null
            })
        );
        // Lists show the texts unfilled.
        let content = content.as_str().expect("a text");
        assert!(content.contains("Copyright (c) <year> <copyright holders>"), "{content}");
        // A wrong token does not hurt.
        assert_eq!(forge.get(&path).token("no such token").send().expect(200), list);
        assert_eq!(forge.get(&path).token(ROOT).send().expect(200), list);
    }
}

/// GET /templates/licenses, GET /licenses
fn popular_licences_are_a_few(forge: &Forge) {
    for prefix in PREFIXES {
        let count = |query: &str| {
            let list = forge.get(&format!("{prefix}/licenses{query}")).send().expect(200);
            list.as_array().expect("a list").len()
        };
        assert_eq!([count("?popular=true"), count("?popular=1")], [3, 3]);
        assert_eq!([count("?popular=false"), count("")], [15, 15]);
        let wrong = forge.get(&format!("{prefix}/licenses?popular=maybe")).send().expect(400);
        assert_eq!(wrong, error("popular is invalid"));
    }
}

/// GET /templates/licenses/:name, GET /licenses/:name
fn one_licence_is_found_in_any_case(forge: &Forge) {
    for prefix in PREFIXES {
        for (name, key) in [("mit", "mit"), ("MIT", "mit"), ("Apache-2.0", "apache-2.0")] {
            let one = forge.get(&format!("{prefix}/licenses/{name}")).send().expect(200);
            assert_eq!(one["key"], key);
        }
        for name in ["muth", "mit.txt", "apache-2", "..%2Fmit", "%2e%2e%2fmit"] {
            let path = format!("{prefix}/licenses/{name}");
            assert_eq!(
                forge.get(&path).send().expect(404),
                message("404 License Not Found"),
                "{path}"
            );
        }
    }
}

/// GET /templates/licenses/:name, GET /licenses/:name
fn placeholders_are_filled_in(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let content = |name: &str, query: &str, token: Option<&str>| -> String {
        let get = forge.get(&format!("/templates/licenses/{name}{query}"));
        let get = match token {
            Some(token) => get.token(token),
            None => get,
        };
        get.send().expect(200)["content"].as_str().expect("a text").to_owned()
    };
    // Without a value they stay, but the year is always known.
    let mit = content("mit", "", None);
    assert!(mit.contains("Copyright (c) 2016 <copyright holders>"), "{mit}");
    assert!(content("mit", "", Some("wrong")).contains("2016 <copyright holders>"));
    assert!(content("mit", "", Some(&ada)).contains("Copyright (c) 2016 ada\n"));
    let named = content("mit", "?fullname=Ada%20Lovelace&project=x", Some(&ada));
    assert!(named.contains("Copyright (c) 2016 Ada Lovelace\n"), "{named}");
    for name in ["gpl-2.0", "gpl-3.0", "agpl-3.0", "lgpl-2.1"] {
        let text = content(name, "?fullname=Ada&project=Ship%20It", None);
        assert!(text.contains("Ship It"), "{name}");
        assert!(text.contains("Copyright (C) 2016  Ada"), "{name}");
        assert!(content(name, "", None).contains("<one line to give the "), "{name}");
    }
    for name in ["apache-2.0", "bsd-2-clause", "bsd-3-clause", "isc"] {
        let text = content(name, "?fullname=Ada", None);
        assert!(text.contains("2016 Ada"), "{name}");
    }
    let wrong = json!({"fullname": ["a", "list"]});
    let refused = forge.get("/licenses/mit?fullname[]=a").json(&wrong).send();
    assert_eq!(refused.expect(400), error("fullname is invalid"));
}

/// GET /templates/gitignores, GET /gitignores, GET /templates/gitignores/:name, GET /gitignores/:name
fn gitignores_are_listed_and_read(forge: &Forge) {
    for prefix in PREFIXES {
        let path = format!("{prefix}/gitignores");
        let list = forge.get(&path).send().expect(200);
        let names: Vec<&str> = list.as_array().expect("a list").iter().map(name_of).collect();
        assert!(names.len() >= 40, "{names:?}");
        assert_eq!(list[0], json!({"name": "Ada"}));
        for (name, line) in [("Ruby", "*.gem"), ("Rust", "/target/"), ("C%2B%2B", "*.o")] {
            let one = forge.get(&format!("{path}/{name}")).send().expect(200);
            assert_eq!(fields_of(&one), ["name", "content"]);
            let content = one["content"].as_str().expect("a text");
            assert!(content.lines().any(|other| other == line), "{name}: {content}");
        }
        for name in ["ruby", "Nothing", "..%2FRuby", "Ruby.gitignore"] {
            let missing = forge.get(&format!("{path}/{name}")).token("wrong").send().expect(404);
            assert_eq!(missing, message("404 gitignore Not Found"), "{name}");
        }
    }
}

fn name_of(template: &Value) -> &str {
    template["name"].as_str().expect("a name")
}

/// GET /templates/gitlab_ci_ymls, GET /gitlab_ci_ymls, GET /templates/gitlab_ci_ymls/:name, GET /gitlab_ci_ymls/:name
fn configurations_are_listed_read_and_valid(forge: &Forge) {
    for prefix in PREFIXES {
        let path = format!("{prefix}/gitlab_ci_ymls");
        let list = forge.get(&path).send().expect(200);
        let list = list.as_array().expect("a list");
        assert!(list.len() >= 12, "{list:?}");
        for template in list {
            assert_eq!(fields_of(template), ["name"]);
            let name = name_of(template).replace('+', "%2B");
            let one = forge.get(&format!("{path}/{name}")).send().expect(200);
            let content = one["content"].as_str().expect("a text");
            let first = "# This file is a template, and might need editing before it works on your \
                         project.\n";
            assert!(content.starts_with(first), "{name}");
            let verdict = forge.post("/ci/lint").json(&json!({"content": content})).send();
            assert_eq!(verdict.expect(200), json!({"status": "valid", "errors": []}), "{name}");
        }
        let missing = forge.get(&format!("{path}/nothing")).send().expect(404);
        assert_eq!(missing, message("404 gitlab_ci_yml Not Found"));
    }
}

/// 1.4. GET /templates/licenses, GET /templates/gitignores, GET /templates/gitlab_ci_ymls
fn template_lists_come_whole_unless_a_page_is_asked_for(forge: &Forge) {
    for path in ["/templates/licenses", "/templates/gitignores", "/templates/gitlab_ci_ymls"] {
        let whole = forge.get(path).send();
        let all = whole.expect(200);
        assert_eq!(whole.header("X-Total"), None);
        let blank = forge.get(&format!("{path}?per_page=&page=")).send();
        assert_eq!(blank.expect(200), all, "a blank value counts as not given");
        let page = forge.get(&format!("{path}?per_page=2&page=2")).send();
        assert_eq!(page.expect(200), json!([all[2], all[3]]), "{path}");
        let total = all.as_array().expect("a list").len().to_string();
        assert_eq!(page.header("X-Total"), Some(total.as_str()));
    }
}

/// GET /templates/gitlab_ci_ymls/:name, GET /gitlab_ci_ymls/:name: "as gitignores", whose names have an exact case.
fn names_of_configurations_are_case_sensitive(forge: &Forge) {
    for prefix in PREFIXES {
        let path = format!("{prefix}/gitlab_ci_ymls");
        forge.get(&format!("{path}/Ruby")).send().expect(200);
        for name in ["ruby", "RUBY", "Ruby.yml"] {
            let missing = forge.get(&format!("{path}/{name}")).send().expect(404);
            assert_eq!(missing, message("404 gitlab_ci_yml Not Found"), "{name}");
        }
    }
}

/// GET /templates/licenses/:name, GET /licenses/:name: every placeholder of every text.
fn all_licences_are_filled_in_by_both_paths(forge: &Forge) {
    let query = "?project=Ship%20It&fullname=Ada%20Lovelace";
    let list = forge.get("/licenses").send().expect(200);
    let mut filled = Vec::new();
    for licence in list.as_array().expect("a list") {
        let key = licence["key"].as_str().expect("a key");
        let [one, other] = PREFIXES
            .map(|prefix| forge.get(&format!("{prefix}/licenses/{key}{query}")).send().expect(200));
        assert_eq!(one, other, "{key}");
        let text = one["content"].as_str().expect("a text");
        for placeholder in [
            "<year>",
            "<yyyy>",
            "[yyyy]",
            "<owner>",
            "<copyright holders>",
            "<name of author>",
            "[name of copyright owner]",
            "<one line to give",
        ] {
            assert!(!text.contains(placeholder), "{key}: {placeholder}");
        }
        if text.contains("2016") && text.contains("Ada Lovelace") {
            filled.push(key);
        }
    }
    let expected = [
        "agpl-3.0",
        "apache-2.0",
        "bsd-2-clause",
        "bsd-3-clause",
        "gpl-2.0",
        "gpl-3.0",
        "isc",
        "lgpl-2.1",
        "lgpl-3.0",
        "mit",
    ];
    assert_eq!(filled, expected);
}
