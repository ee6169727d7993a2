//! The meaning of valid configuration files (section 7.7 of the reference).

use hexforge_domain::ci::config::{
    Configuration, Environment, EnvironmentAction, Job, Node, Options, Target,
};
use hexforge_domain::ci::when::When;
use hexforge_yaml_saphyr::SaphyrReader;

fn parse(text: &str) -> Configuration {
    Configuration::parse(&SaphyrReader, text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn only_job(text: &str) -> Job {
    let mut configuration = parse(text);
    assert_eq!(configuration.jobs.len(), 1, "{text}");
    configuration.jobs.remove(0)
}

/// The options of a job that has nothing but a script.
fn only_script(line: &str) -> Options {
    Options::from_node(&Node::map([("script", Node::texts([line]))]))
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_job_with_only_a_script_has_the_defaults() {
    let configuration = parse("rspec: {script: rake spec}");
    assert_eq!(configuration.stages, ["build", "test", "deploy"]);
    let expected = Job {
        name: "rspec".to_owned(),
        stage: "test".to_owned(),
        stage_index: 1,
        commands: "rake spec".to_owned(),
        when: When::OnSuccess,
        allow_failure: false,
        tags: vec![],
        only: vec![],
        except: vec![],
        environment: None,
        variables: vec![],
        options: only_script("rake spec"),
    };
    assert_eq!(configuration.jobs, [expected]);
}

const FULL: &str = "
image: ruby:2.1
services: [mysql]
before_script: [pwd, ls]
after_script: [rm]
variables: {A: one, B: 2}
stages: [compile, check, ship]
cache: {paths: [vendor/], key: k, untracked: }
.hidden: &hidden
  tags: [ruby, ruby, docker]
  allow_failure: yes
own:
  <<: *hidden
  stage: ship
  image: ruby:2.2
  services: []
  before_script: []
  after_script: [echo]
  script: |
    one
    two
  variables: {B: three, C: '4'}
  when: always
  cache: {untracked: true}
  dependencies: []
  artifacts: {paths: [out/], expire_in: 1 week, when: on_failure, name: }
  environment: {name: review/$A, url: 'https://$A.example.com', on_stop: }
taken over: {stage: check, script: [x, y], environment: production}
";

#[test]
fn a_job_overrides_the_defaults_of_the_file() {
    let configuration = parse(FULL);
    let [own, taken] = configuration.jobs.as_slice() else { panic!("two jobs are visible") };
    assert_eq!((own.stage_index, own.commands.as_str()), (2, "one\ntwo\n"));
    assert_eq!((own.when, own.allow_failure), (When::Always, true));
    assert_eq!(own.tags, ["ruby", "docker"]);
    assert_eq!(own.variables, pairs(&[("A", "one"), ("B", "three"), ("C", "4")]));
    let environment = Environment {
        name: "review/$A".to_owned(),
        url: Some("https://$A.example.com".to_owned()),
        action: EnvironmentAction::Start,
        on_stop: None,
    };
    assert_eq!(own.environment, Some(environment));
    let expected = Node::map([
        ("image", Node::text("ruby:2.2")),
        ("services", Node::List(vec![])),
        (
            "artifacts",
            Node::map([
                ("paths", Node::texts(["out/"])),
                ("expire_in", Node::text("1 week")),
                ("when", Node::text("on_failure")),
            ]),
        ),
        ("cache", Node::map([("untracked", Node::Bool(true))])),
        ("dependencies", Node::List(vec![])),
        ("after_script", Node::texts(["echo"])),
        (
            "environment",
            Node::map([
                ("name", Node::text("review/$A")),
                ("url", Node::text("https://$A.example.com")),
            ]),
        ),
        ("script", Node::texts(["one\ntwo\n"])),
    ]);
    assert_eq!(own.options.as_node(), &expected);
    assert_eq!(own.options.artifacts_expire_in(), Some(7 * 24 * 3600));
    assert_eq!(own.options.dependencies(), Some(vec![]));

    assert_eq!((taken.name.as_str(), taken.stage_index), ("taken over", 1));
    assert_eq!(taken.commands, "pwd\nls\nx\ny");
    assert_eq!(taken.variables, pairs(&[("A", "one"), ("B", "2")]));
    let expected = Node::map([
        ("image", Node::text("ruby:2.1")),
        ("services", Node::texts(["mysql"])),
        ("cache", Node::map([("key", Node::text("k")), ("paths", Node::texts(["vendor/"]))])),
        ("after_script", Node::texts(["rm"])),
        (
            "environment",
            Node::map([("name", Node::text("production")), ("action", Node::text("start"))]),
        ),
        ("script", Node::texts(["pwd", "ls", "x", "y"])),
    ]);
    assert_eq!(taken.options.as_node(), &expected);
    assert_eq!((taken.options.dependencies(), taken.options.artifacts_expire_in()), (None, None));
}

#[test]
fn old_names_and_empty_keys_are_understood() {
    let configuration = parse("types: [a, b]\nimage:\njob: {script: x, type: b, tags: , only: }");
    assert_eq!(configuration.stages, ["a", "b"]);
    assert_eq!(configuration.jobs[0].stage_index, 1);
    assert_eq!(configuration.jobs[0].options, only_script("x"));
    let both = only_job("stages: [a]\ntypes: [b]\njob: {script: x, stage: a, type: b}");
    assert_eq!((both.stage.as_str(), both.stage_index), ("a", 0));
}

#[test]
fn valid_relations_between_jobs_are_accepted() {
    parse(
        "
build: {stage: build, script: x}
test: {script: x, dependencies: [build]}
review: {script: x, environment: {name: review, on_stop: stop}}
stop: {script: x, when: manual, environment: {name: review, action: stop}}
",
    );
}

fn names(configuration: &Configuration, target: Target<'_>) -> Vec<String> {
    configuration.jobs_for(target).into_iter().map(|job| job.name.clone()).collect()
}

#[test]
fn jobs_apply_by_reference_in_the_order_of_stages() {
    let configuration = parse(
        "
deploy: {stage: deploy, script: x, only: [master]}
everywhere: {script: x}
empty: {script: x, only: [], except: []}
tagged: {script: x, only: [tags]}
branches: {script: x, only: [branches], except: [master]}
triggered: {script: x, only: [triggers]}
regexp: {script: x, only: [/v\\d/]}
flags: {script: x, only: ['/MAST/i']}
ours: {script: x, only: [master@group/project]}
theirs: {script: x, only: [master@other/project]}
ours by regexp: {script: x, only: ['/^mas/@group/project'], except: [tags]}
first: {stage: build, script: x, except: [triggers, /^v/]}
",
    );
    let branch = |reference| Target {
        reference,
        is_tag: false,
        triggered: false,
        project_path: "group/project",
    };
    assert_eq!(
        names(&configuration, branch("master")),
        ["first", "everywhere", "empty", "flags", "ours", "ours by regexp", "deploy"]
    );
    let fork = Target { project_path: "fork/project", ..branch("master") };
    assert_eq!(names(&configuration, fork), ["first", "everywhere", "empty", "flags", "deploy"]);
    assert_eq!(
        names(&configuration, branch("topic-v2")),
        ["first", "everywhere", "empty", "branches", "regexp"]
    );
    let tag = Target { is_tag: true, ..branch("v1") };
    assert_eq!(names(&configuration, tag), ["everywhere", "empty", "tagged", "regexp"]);
    let triggered = Target { triggered: true, ..branch("topic") };
    assert_eq!(names(&configuration, triggered), ["everywhere", "empty", "branches", "triggered"]);
}
