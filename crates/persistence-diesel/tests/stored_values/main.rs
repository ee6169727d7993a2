//! The JSON texts of the store keep their format, because existing databases contain them.

mod events;

use events::{Fill, events, kind, push};
use hexforge_domain::build::BuildDefinition;
use hexforge_domain::ci::config::{Node, Options};
use hexforge_domain::event::NewEvent;
use hexforge_domain::id::{PipelineId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain_testing::builders::{
    a_day, a_moment, a_pipeline, a_project, a_user, an_event, home_of,
};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DieselStore, Options as StoreOptions};
use serde_json::{Value, json};

/// Rows of the outbox: kind and payload of [`events`], one event per line.
const FULL: &str = include_str!("outbox_full.txt");
const MINIMAL: &str = include_str!("outbox_minimal.txt");

/// A store on SQLite. The format is the same on both databases.
struct Fixture {
    store: DieselStore,
    database: TestDatabase,
}

impl Fixture {
    fn new() -> Self {
        let database = TestDatabase::migrated_sqlite();
        Self { store: database.open(StoreOptions::default()), database }
    }

    fn store(&self) -> &dyn Store {
        &self.store
    }

    /// Adds a row to the outbox as another version of the program may have left it.
    fn insert_row(&self, kind: &str, payload: &str) {
        let values = [kind, payload].map(|text| text.replace('\'', "''"));
        self.database.execute(&format!(
            "INSERT INTO outbox (kind, payload, created_at) VALUES ('{}', '{}', '2016-09-22 10:30:00')",
            values[0], values[1],
        ));
    }

    /// The events of the outbox that can be read.
    fn readable_events(&self) -> Vec<SystemEvent> {
        let batch = self.store().write(|tx| tx.outbox().next(None, 10_000));
        let batch: Result<_, StoreError> = batch;
        batch.expect("it can be read").entries.into_iter().map(|entry| entry.event).collect()
    }

    fn project(&self) -> (ProjectId, UserId) {
        let user = a_user("ada").stored_in(self.store()).id;
        let home = home_of(self.store(), user);
        (a_project("site", home, user).public().stored_in(self.store()).id, user)
    }

    fn pipeline(&self) -> PipelineId {
        let (project, _) = self.project();
        let made: Result<_, StoreError> =
            self.store().write(|tx| tx.pipelines().insert(a_pipeline(project)));
        made.expect("a pipeline can be stored").id
    }
}

fn rows(golden: &str) -> Vec<(&str, &str)> {
    golden.lines().map(|line| line.split_once(' ').expect("kind and payload")).collect()
}

fn golden_push(golden: &'static str) -> &'static str {
    let rows = rows(golden);
    rows.iter().find(|(kind, _)| *kind == "push").expect("there is a push").1
}

/// Inserts a key that no version knows into every object, and removes every key with the value null.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let known = map.iter().filter(|(_, value)| !value.is_null());
            let known = known.map(|(key, value)| (key.clone(), without_nulls(value)));
            let unknown = ("unknown".to_owned(), json!({ "id": [1, null] }));
            Value::Object(std::iter::once(unknown).chain(known).collect())
        }
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}

/// Copies of a value, each without one key that is not null there. Of a list only the last element loses keys.
fn each_lacking_a_key(value: &Value) -> Vec<Value> {
    let mut copies = Vec::new();
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter().filter(|(_, inner)| !inner.is_null()) {
                let mut copy = map.clone();
                copy.shift_remove(key);
                copies.push(Value::Object(copy));
                for broken in each_lacking_a_key(inner) {
                    let mut copy = map.clone();
                    copy.insert(key.clone(), broken);
                    copies.push(Value::Object(copy));
                }
            }
        }
        Value::Array(list) => {
            if let Some((last, others)) = list.split_last() {
                for broken in each_lacking_a_key(last) {
                    copies.push(Value::Array([others, &[broken]].concat()));
                }
            }
        }
        _ => (),
    }
    copies
}

fn parsed(payload: &str) -> Value {
    serde_json::from_str(payload).expect("golden payloads are JSON")
}

#[test]
fn events_of_the_outbox_keep_their_format() {
    for (fill, golden) in [(Fill::Full, FULL), (Fill::Minimal, MINIMAL)] {
        let fixture = Fixture::new();
        let events = events(fill);
        let recorded: Result<(), StoreError> = fixture
            .store()
            .write(|tx| events.iter().try_for_each(|event| tx.outbox().record(event, a_moment())));
        recorded.expect("events can be stored");
        let stored =
            fixture.database.texts("SELECT kind || ' ' || payload FROM outbox ORDER BY id");
        let stored: String = stored.into_iter().map(|row| row + "\n").collect();
        assert_eq!(stored, golden, "\n{stored}");
        let kinds: Vec<_> = rows(golden).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, events.iter().map(kind).collect::<Vec<_>>());
        assert_eq!(fixture.readable_events(), events);
    }
}

#[test]
fn a_missing_key_of_the_outbox_is_a_null_and_an_unknown_key_is_ignored() {
    for (fill, golden) in [(Fill::Full, FULL), (Fill::Minimal, MINIMAL)] {
        let fixture = Fixture::new();
        for (kind, payload) in rows(golden) {
            fixture.insert_row(kind, &without_nulls(&parsed(payload)).to_string());
        }
        assert_eq!(fixture.readable_events(), events(fill));
    }
}

#[test]
fn an_event_without_a_required_key_is_not_read() {
    let fixture = Fixture::new();
    let mut broken = 0;
    for ((kind, minimal), (_, full)) in rows(MINIMAL).into_iter().zip(rows(FULL)) {
        let (mut payload, full) = (parsed(minimal), parsed(full));
        for list in ["commits", "builds"] {
            if let Some(value) = full.get(list) {
                payload[list] = value.clone();
            }
        }
        for payload in each_lacking_a_key(&payload) {
            fixture.insert_row(kind, &payload.to_string());
            broken += 1;
        }
    }
    assert!(broken > 150, "{broken}");
    assert_eq!(fixture.readable_events(), []);
}

#[test]
fn an_event_with_an_unknown_value_is_not_read() {
    let fixture = Fixture::new();
    let with_change = |wanted: &'static str, from: &str, to: &str| {
        let payload = rows(FULL).into_iter().find(|(kind, _)| *kind == wanted).expect("a kind").1;
        let changed = payload.replace(from, to);
        assert_ne!(changed, payload, "{from} is not part of `{wanted}`");
        (wanted, changed)
    };
    let broken = [
        with_change("user_create", r#""username":"ada""#, r#""username":7"#),
        with_change("user_create", r#""id":9223372036854775807"#, r#""id":9223372036854775808"#),
        with_change("user_create", r#""created_at":"#, r#""created_at":9223372036854775807,"at":"#),
        with_change("project_create", r#""visibility_level":20"#, r#""visibility_level":5"#),
        with_change("user_add_to_team", r#""access_level":10"#, r#""access_level":11"#),
        with_change("issue", "reopen\"", "think\""),
        with_change("issue", "reopened\"", "forgotten\""),
        with_change("issue", "2016-09-25", "tomorrow"),
        with_change("issue", r#""assignee":{"id":1,"#, r#""assignee":{"#),
        with_change("build", "on_failure", "never"),
        with_change("build", r#""runner":{"id":12,"#, r#""runner":{"#),
        with_change("build", r#""filename":"#, r#""file":"#),
        with_change("build", "18446744073709551615", "-1"),
        with_change("build", "canceled", "lost"),
        with_change("pipeline", "running", "lost"),
        with_change("pipeline", "2016-09-22T12:30:09+02:00", "now"),
        with_change("push", r#""reach":"project""#, r#""reach":"nobody""#),
        with_change("push", r#""before":"0"#, r#""before":"x"#),
        with_change("push", "2016-09-22T11:30:09+01:00", "2016-09-22"),
        ("renamed", "{}".to_owned()),
        ("user_create", "null".to_owned()),
        ("user_create", "{".to_owned()),
    ];
    for (kind, payload) in &broken {
        fixture.insert_row(kind, payload);
    }
    assert_eq!(fixture.readable_events(), []);
    let oldest: Result<_, StoreError> = fixture.store().read(|tx| tx.outbox().oldest(1));
    assert!(matches!(oldest, Err(StoreError::Corrupt("outbox entry"))), "{oldest:?}");
    assert_eq!(fixture.database.number("SELECT count(*) FROM outbox"), broken.len() as i64);
}

#[test]
fn pushes_of_the_activity_feed_keep_their_format() {
    for (fill, golden) in [(Fill::Full, FULL), (Fill::Minimal, MINIMAL)] {
        let fixture = Fixture::new();
        let (project, author) = fixture.project();
        let pushed = || NewEvent { push: Some(Box::new(push(fill))), ..an_event(project, author) };
        let feed = || -> Result<_, StoreError> {
            let page = Page::Numbered { number: 1, size: 20 };
            fixture
                .store()
                .read(|tx| tx.events().of_project(project, Clearance::All, a_day(), page))
        };
        let inserted: Result<_, StoreError> =
            fixture.store().write(|tx| tx.events().insert(pushed()));
        inserted.expect("an event can be stored");
        assert_eq!(fixture.database.texts("SELECT data FROM events"), [golden_push(golden)]);
        let read = feed().expect("the feed can be read");
        assert_eq!(read.items[0].push.as_deref(), Some(&push(fill)));
        let partial = without_nulls(&parsed(golden_push(golden)));
        let partial = partial.to_string().replace('\'', "''");
        fixture.database.execute(&format!("UPDATE events SET data = '{partial}'"));
        let read = feed().expect("the feed can be read");
        assert_eq!(read.items[0].push.as_deref(), Some(&push(fill)));
        fixture.database.execute("UPDATE events SET data = '{}'");
        let broken = feed();
        assert!(matches!(broken, Err(StoreError::Corrupt("push of an event"))), "{broken:?}");
    }
}

#[test]
fn definitions_of_builds_keep_their_format() {
    let fixture = Fixture::new();
    let pipeline = fixture.pipeline();
    let define = |definition: BuildDefinition| {
        let defined: Result<_, StoreError> =
            fixture.store().write(|tx| tx.builds().define(pipeline, &definition));
        defined.expect("a definition can be stored")
    };
    let read =
        |id| -> Result<_, StoreError> { fixture.store().read(|tx| tx.builds().definition(id)) };
    let columns =
        "SELECT options || ' ' || variables FROM build_definitions ORDER BY id DESC LIMIT 1";

    let options = |cache: Node| {
        Options::from_node(&Node::map([("image", Node::text("rust \"🦀\"")), ("cache", cache)]))
    };
    let scalars = Node::List(vec![
        Node::Null,
        Node::Bool(false),
        Node::Integer(i64::MIN),
        Node::Float(1.5),
        Node::Float(1e300),
        Node::map([("z", Node::Integer(1)), ("a", Node::texts(["x"]))]),
    ]);
    let variables: Vec<(String, String)> =
        vec![("B".into(), "2\n".into()), ("A".into(), "".into())];
    let full = BuildDefinition { commands: "make".into(), options: options(scalars), variables };
    let id = define(full.clone());
    assert_eq!(
        fixture.database.texts(columns),
        [concat!(
            r#"{"image":"rust \"🦀\"","cache":[null,false,-9223372036854775808,1.5,1e+300,{"z":1,"a":["x"]}]} "#,
            r#"[["B","2\n"],["A",""]]"#
        )]
    );
    assert_eq!(read(id).expect("it can be read"), Some(full));

    let minimal =
        BuildDefinition { commands: "".into(), options: Options::default(), variables: Vec::new() };
    let id = define(minimal.clone());
    assert_eq!(fixture.database.texts(columns), ["{} []"]);
    assert_eq!(read(id).expect("it can be read"), Some(minimal.clone()));

    // NUL characters are removed, and NaN becomes null, because neither can be stored.
    let unstorable = Node::map([("a\0b", Node::Float(f64::NAN)), ("c", Node::text("d\0"))]);
    let variables = vec![("E\0".into(), "\0f".into())];
    define(BuildDefinition { commands: "\0".into(), options: options(unstorable), variables });
    assert_eq!(
        fixture.database.texts(columns),
        [r#"{"image":"rust \"🦀\"","cache":{"ab":null,"c":"d"}} [["E","f"]]"#]
    );

    let set = |column: &str, text: &str| {
        fixture.database.execute(&format!("UPDATE build_definitions SET {column} = '{text}'"));
    };
    set("variables", "[]");
    let whole = Node::Float(1e19);
    for (text, found) in [
        (r#"{"image":"first","unknown":1,"cache":null,"image":"a"}"#, ("image", Node::text("a"))),
        (r#"{"cache":10000000000000000000}"#, ("cache", whole)),
    ] {
        set("options", text);
        let options = Options::from_node(&Node::map([found]));
        let expected = BuildDefinition { options, ..minimal.clone() };
        assert_eq!(read(id).expect("it can be read"), Some(expected), "{text}");
    }
    for text in ["[]", "null", "1"] {
        set("options", text);
        assert_eq!(read(id).expect("it can be read"), Some(minimal.clone()), "{text}");
    }
    for (column, text) in [("options", "{"), ("variables", "{}"), ("variables", "[[\"A\"]]")] {
        set("options", "{}");
        set("variables", "[]");
        set(column, text);
        let broken = read(id);
        let expected = StoreError::Corrupt("definition of a build").to_string();
        assert_eq!(broken.map_err(|error| error.to_string()), Err(expected), "{text}");
    }
}
