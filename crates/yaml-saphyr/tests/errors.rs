//! All error texts of the reference (section 7.7), and their precedence.

use hexforge_domain::ci::config::Configuration;
use hexforge_yaml_saphyr::SaphyrReader;

fn error(text: &str) -> String {
    match Configuration::parse(&SaphyrReader, text) {
        Ok(configuration) => panic!("{text:?} is valid: {configuration:?}"),
        Err(error) => error.to_string(),
    }
}

/// A file with the job `rspec`, which has a script and `keys`.
fn job(keys: &str) -> String {
    format!("rspec: {{script: test, {keys}}}")
}

#[test]
fn a_file_that_is_no_configuration() {
    assert_eq!(error("rspec: [unclosed"), "unclosed bracket '[' at line 1, column 8");
    for text in ["", "# nothing", "a text", "[rspec]", "3", "---\n"] {
        assert_eq!(error(text), "Invalid configuration format", "{text:?}");
    }
    for text in ["{}", "image: ruby", ".hidden: {script: test}", "stages: [test]"] {
        let expected = "jobs config should contain at least one visible job";
        assert_eq!(error(text), expected, "{text:?}");
    }
}

#[test]
fn keys_of_the_whole_file() {
    let texts = "should be an array of strings";
    for (key, expected) in [
        ("before_script: bundle", format!("before_script config {texts}")),
        ("before_script: [1]", format!("before_script config {texts}")),
        ("after_script: bundle", format!("after_script config {texts}")),
        ("after_script: {a: b}", format!("after_script config {texts}")),
        ("services: postgres", format!("services config {texts}")),
        ("services: [10, test]", format!("services config {texts}")),
        ("stages: build", format!("stages config {texts}")),
        ("stages: [build, true]", format!("stages config {texts}")),
        ("types: build", format!("types config {texts}")),
        ("image: [ruby]", "image config should be a string".to_owned()),
        ("image: 2.1", "image config should be a string".to_owned()),
        ("variables: test", "variables config should be a hash of key value pairs".to_owned()),
        ("variables: [a]", "variables config should be a hash of key value pairs".to_owned()),
        ("variables: {a: true}", "variables config should be a hash of key value pairs".to_owned()),
        ("variables: {a: 1.5}", "variables config should be a hash of key value pairs".to_owned()),
        ("variables: {a: [b]}", "variables config should be a hash of key value pairs".to_owned()),
        ("variables: {a: }", "variables config should be a hash of key value pairs".to_owned()),
        ("cache: yes", "cache config should be a hash".to_owned()),
        ("cache: {path: [a]}", "cache config contains unknown keys: path".to_owned()),
        ("cache: {key: 1}", "cache:key config should be a string or symbol".to_owned()),
        (
            "cache: {untracked: maybe}",
            "cache:untracked config should be a boolean value".to_owned(),
        ),
        ("cache: {paths: a}", format!("cache:paths config {texts}")),
    ] {
        assert_eq!(error(&format!("{key}\nrspec: {{script: test}}")), expected, "{key}");
    }
}

#[test]
fn a_job_as_a_whole() {
    for (text, expected) in [
        ("extra: bundle update", "jobs:extra config should be a hash"),
        ("extra: [bundle]", "jobs:extra config should be a hash"),
        ("extra: yes", "jobs:extra config should be a hash"),
        ("extra:", "jobs:extra config can't be blank"),
        ("extra: {}", "jobs:extra config can't be blank"),
        ("rspec: {script: test}\n.hidden:", "jobs:.hidden config can't be blank"),
        ("rspec: {script: test}\n.hidden: []", "jobs:.hidden config can't be blank"),
        ("rspec: {script: test, foo: bar}", "jobs:rspec config contains unknown keys: foo"),
        ("rspec: {foo: 1, script: x, Bar: 2}", "jobs:rspec config contains unknown keys: foo, bar"),
        ("rspec: {stage: test}", "jobs:rspec script can't be blank"),
        ("rspec: {script: }", "jobs:rspec script can't be blank"),
        ("rspec: {script: ''}", "jobs:rspec script can't be blank"),
        ("rspec: {script: []}", "jobs:rspec script can't be blank"),
        ("RSpec: {stage: test}", "jobs:rspec script can't be blank"),
        ("'': {script: test}", "jobs: name can't be blank"),
    ] {
        assert_eq!(error(text), expected, "{text:?}");
    }
}

#[test]
fn keys_of_a_job() {
    let script = "jobs:rspec:script config should be a string or an array of strings";
    for text in ["{a: b}", "3", "[a, [b]]", "[a, 1]", "true"] {
        assert_eq!(error(&format!("rspec: {{script: {text}}}")), script, "{text}");
    }
    for (keys, expected) in [
        ("when: 1", "jobs:rspec when should be on_success, on_failure, always or manual"),
        ("when: never", "jobs:rspec when should be on_success, on_failure, always or manual"),
        ("allow_failure: string", "jobs:rspec allow failure should be a boolean value"),
        ("allow_failure: 'yes'", "jobs:rspec allow failure should be a boolean value"),
        ("tags: mysql", "jobs:rspec tags should be an array of strings"),
        ("tags: [1]", "jobs:rspec tags should be an array of strings"),
        ("dependencies: build", "jobs:rspec dependencies should be an array of strings"),
        ("stage: 1", "jobs:rspec:stage config should be a string"),
        ("type: 1", "jobs:rspec:type config should be a string"),
        ("before_script: x", "jobs:rspec:before_script config should be an array of strings"),
        ("after_script: [10]", "jobs:rspec:after_script config should be an array of strings"),
        ("services: [10]", "jobs:rspec:services config should be an array of strings"),
        ("image: [test]", "jobs:rspec:image config should be a string"),
        ("variables: a", "jobs:rspec:variables config should be a hash of key value pairs"),
        ("cache: {key: 1}", "jobs:rspec:cache:key config should be a string or symbol"),
        ("cache: {untracked: s}", "jobs:rspec:cache:untracked config should be a boolean value"),
        ("cache: {paths: s}", "jobs:rspec:cache:paths config should be an array of strings"),
        ("cache: []", "jobs:rspec:cache config should be a hash"),
    ] {
        assert_eq!(error(&job(keys)), expected, "{keys}");
    }
    for key in ["only", "except"] {
        for value in ["master", "[1]", "[master, [a]]", "['/*/']", "['/(/']", "{refs: [a]}"] {
            let expected =
                format!("jobs:rspec:{key} config should be an array of strings or regexps");
            assert_eq!(error(&job(&format!("{key}: {value}"))), expected, "{key}: {value}");
        }
    }
}

#[test]
fn artifacts() {
    let boolean = "jobs:rspec:artifacts untracked should be a boolean value";
    let duration = "jobs:rspec:artifacts expire in should be a duration";
    for (keys, expected) in [
        ("artifacts: all", "jobs:rspec:artifacts config should be a hash"),
        ("artifacts: {p: a}", "jobs:rspec:artifacts config contains unknown keys: p"),
        ("artifacts: {name: 1}", "jobs:rspec:artifacts name should be a string"),
        ("artifacts: {untracked: s}", boolean),
        ("artifacts: {paths: s}", "jobs:rspec:artifacts paths should be an array of strings"),
        (
            "artifacts: {when: 1}",
            "jobs:rspec:artifacts when should be on_success, on_failure or always",
        ),
        (
            "artifacts: {when: manual}",
            "jobs:rspec:artifacts when should be on_success, on_failure or always",
        ),
        ("artifacts: {expire_in: 1}", duration),
        ("artifacts: {expire_in: 7 elephants}", duration),
        ("artifacts: {expire_in: ''}", duration),
        // The order in the file does not matter.
        ("artifacts: {expire_in: 1, untracked: s}", boolean),
    ] {
        assert_eq!(error(&job(keys)), expected, "{keys}");
    }
}

#[test]
fn environments() {
    let place = "jobs:rspec:environment";
    let name =
        "name can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces";
    for (value, expected) in [
        ("1", "config should be a hash or a string".to_owned()),
        ("[a]", "config should be a hash or a string".to_owned()),
        ("'prod:staging'", name.to_owned()),
        ("{name: 1}", name.to_owned()),
        ("{url: 'http://x'}", "name can't be blank".to_owned()),
        ("''", "name can't be blank".to_owned()),
        ("{name: a, foo: b}", "config contains unknown keys: foo".to_owned()),
        ("{name: a, url: nowhere}", "url must be a valid url".to_owned()),
        ("{name: a, action: pause}", "action should be start or stop".to_owned()),
        ("{name: a, on_stop: 1}", "on stop should be a string".to_owned()),
    ] {
        let text = job(&format!("environment: {value}"));
        assert_eq!(error(&text), format!("{place} {expected}"), "{value}");
    }
    let review = "review: {script: x, environment: {name: review, on_stop: stop}}\n";
    for (stop, expected) in [
        ("rspec: {script: x}", "is not defined"),
        (".stop: {script: x}", "is not defined"),
        ("stop: {script: x}", "does not have environment defined"),
        ("stop: {script: x, environment: other}", "have different environment name"),
        ("stop: {script: x, environment: review}", "needs to have action stop defined"),
    ] {
        let expected = format!("review job: on_stop job stop {expected}");
        assert_eq!(error(&format!("{review}{stop}")), expected, "{stop}");
    }
}

#[test]
fn stages_and_dependencies() {
    for (text, expected) in [
        (
            "rspec: {script: x, stage: acceptance}",
            "rspec job: stage parameter should be build, test, deploy",
        ),
        ("stages: [one, two]\nRSpec: {script: x}", "RSpec job: stage parameter should be one, two"),
        ("types: [one]\nrspec: {script: x, type: two}", "rspec job: stage parameter should be one"),
        ("test1: {script: x, dependencies: [x]}", "test1 job: undefined dependency: x"),
        (
            "build1: {script: x, stage: build}\n.x: {script: x}\ntest1: {script: x, dependencies: [build1, .x]}",
            "test1 job: undefined dependency: .x",
        ),
        (
            "deploy: {script: x, stage: deploy}\ntest1: {script: x, dependencies: [deploy]}",
            "test1 job: dependency deploy is not defined in prior stages",
        ),
        (
            "test1: {script: x, dependencies: [test2]}\ntest2: {script: x}",
            "test1 job: dependency test2 is not defined in prior stages",
        ),
        (
            "test1: {script: x, dependencies: [other]}\nother: {script: x, stage: nowhere}",
            "test1 job: dependency other is not defined in prior stages",
        ),
    ] {
        assert_eq!(error(text), expected, "{text:?}");
    }
}

#[test]
fn only_the_first_error_is_reported() {
    // Errors of the whole file come before those of its jobs, in the order of keys of the reference.
    for (text, expected) in [
        (
            "rspec: {stage: 1}\ncache: no\nimage: 1\nbefore_script: 1",
            "before_script config should be an array of strings",
        ),
        ("rspec: {}\ncache: no\nstages: 1", "stages config should be an array of strings"),
        ("cache: no\n.hidden: {}", "cache config should be a hash"),
        // Jobs are checked in the order of the file.
        (
            "b: {script: x, when: 1}\na: 3",
            "jobs:b when should be on_success, on_failure, always or manual",
        ),
        // Errors of a job's own attributes come before errors inside its keys, whatever the order in the file.
        ("a: {only: 1, script: 3, tags: 1}", "jobs:a tags should be an array of strings"),
        (
            "a: {only: 1, script: 3}",
            "jobs:a:script config should be a string or an array of strings",
        ),
        (
            "a: {environment: 1, only: 1, script: x}",
            "jobs:a:only config should be an array of strings or regexps",
        ),
        // Errors of single jobs come before errors of relations between jobs.
        ("a: {script: x, stage: nowhere}\nb: 3", "jobs:b config should be a hash"),
        (
            "a: {script: x, dependencies: [z]}\nb: {script: x, stage: nowhere}",
            "a job: undefined dependency: z",
        ),
        // A key with the new name hides errors of the key with the old name.
        (
            "stages: [s]\ntypes: 3\na: {script: x, stage: 1, type: 2}",
            "jobs:a:stage config should be a string",
        ),
    ] {
        assert_eq!(error(text), expected, "{text:?}");
    }
}
