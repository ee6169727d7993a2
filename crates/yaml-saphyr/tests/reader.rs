//! The trees that the reader parses from texts.

use hexforge_domain::ci::config::{Node, YamlReader};
use hexforge_yaml_saphyr::SaphyrReader;

fn read(text: &str) -> Result<Node, String> {
    SaphyrReader.read(text)
}

fn value(text: &str) -> Node {
    let document = read(&format!("key: {text}\n")).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    document.get("key").cloned().unwrap_or_else(|| panic!("{text:?}: {document:?}"))
}

#[test]
fn scalars_are_understood_as_in_yaml_1_1() {
    for (text, expected) in [
        ("", Node::Null),
        ("~", Node::Null),
        ("null", Node::Null),
        ("true", Node::Bool(true)),
        ("True", Node::Bool(true)),
        ("yes", Node::Bool(true)),
        ("on", Node::Bool(true)),
        ("ON", Node::Bool(true)),
        ("false", Node::Bool(false)),
        ("no", Node::Bool(false)),
        ("Off", Node::Bool(false)),
        ("\"yes\"", Node::text("yes")),
        ("'on'", Node::text("on")),
        ("!!str yes", Node::text("yes")),
        ("yes please", Node::text("yes please")),
        ("12", Node::Integer(12)),
        ("-12", Node::Integer(-12)),
        ("+12", Node::Integer(12)),
        ("0x1F", Node::Integer(31)),
        ("010", Node::Integer(8)),
        ("1_000", Node::Integer(1000)),
        ("18446744073709551615", Node::text("18446744073709551615")),
        ("1.5", Node::Float(1.5)),
        ("1.10", Node::Float(1.1)),
        ("1.2.3", Node::text("1.2.3")),
        ("'12'", Node::text("12")),
        (".inf", Node::text(".inf")),
        (".nan", Node::text(".nan")),
        ("2016-11-22", Node::text("2016-11-22")),
        ("2016-11-22 10:00:00", Node::text("2016-11-22 10:00:00")),
        (":symbol", Node::text(":symbol")),
        ("!!binary aGk=", Node::text("aGk=")),
        ("!local x", Node::text("x")),
        ("[a, 1]", Node::List(vec![Node::text("a"), Node::Integer(1)])),
        ("{a: b}", Node::map([("a", Node::text("b"))])),
        ("[]", Node::List(vec![])),
        ("{}", Node::Map(vec![])),
        ("|\n  one\n  two", Node::text("one\ntwo\n")),
        (">-\n  one\n  two", Node::text("one two")),
        ("/^v[0-9]+$/", Node::text("/^v[0-9]+$/")),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn single_letters_are_text_as_in_ruby() {
    assert_eq!(value("y"), Node::text("y"));
    assert_eq!(value("N"), Node::text("N"));
    let text =
        "# ü, so that bytes and characters differ\na: &a [y, n, yes]\nb: *a\nc: {<<: {d: n}}";
    let list = Node::List(vec![Node::text("y"), Node::text("n"), Node::Bool(true)]);
    let expected =
        Node::map([("a", list.clone()), ("b", list), ("c", Node::map([("d", Node::text("n"))]))]);
    assert_eq!(read(text), Ok(expected));
}

#[test]
fn maps_keep_their_order_and_the_last_value_of_a_duplicate_key() {
    let expected = Node::map([
        ("b", Node::Integer(3)),
        ("a", Node::Integer(2)),
        ("1", Node::text("x")),
        ("on", Node::text("y")),
    ]);
    assert_eq!(read("b: 1\na: 2\nb: 3\n1: x\non: 'y'\n"), Ok(expected));
}

#[test]
fn aliases_and_merge_keys_are_resolved() {
    let text = "
.base: &base
  tags: [ruby]
  stage: test
.more: &more
  stage: deploy
  when: always
one:
  <<: *base
  stage: build
two:
  script: *script_is_below_in_no_place
";
    assert!(read(text).is_err(), "an alias without an anchor");
    let text = "
.base: &base
  tags: &tags [ruby]
  stage: test
.more: &more
  stage: deploy
  when: always
one:
  <<: *base
  stage: build
two:
  <<: [*base, *more]
  tags: *tags
three: *more
";
    let document = read(text).expect("the text is right");
    let tags = Node::texts(["ruby"]);
    assert_eq!(
        document.get("one"),
        Some(&Node::map([("stage", Node::text("build")), ("tags", tags.clone())]))
    );
    assert_eq!(
        document.get("two"),
        Some(&Node::map([
            ("tags", tags),
            ("stage", Node::text("test")),
            ("when", Node::text("always"))
        ]))
    );
    assert_eq!(document.get("three"), document.get(".more"));
}

#[test]
fn many_jobs_may_share_one_anchor() {
    let jobs: String = (0..500).map(|n| format!("job{n}:\n  <<: *base\n  script: x\n")).collect();
    let document = read(&format!(".base: &base {{tags: [a, b]}}\n{jobs}")).expect("it is right");
    assert_eq!(
        document.get("job499").and_then(|job| job.get("tags")),
        Some(&Node::texts(["a", "b"]))
    );
}

#[test]
fn only_the_first_document_counts() {
    assert_eq!(read("---\na: 1\n---\nb: 2\n"), Ok(Node::map([("a", Node::Integer(1))])));
    for nothing in ["", "\n", "# only a comment\n", "---\n"] {
        assert_eq!(read(nothing), Ok(Node::Null), "{nothing:?}");
    }
}

#[test]
fn an_error_is_one_line_that_says_where() {
    for (text, expected) in [
        ("a: [1, 2", "unclosed bracket '[' at line 1, column 4"),
        ("a: b: c", "mapping values are not allowed in this context at line 1, column 5"),
        (
            "a:\n\tb: c",
            "tabs disallowed within this context (block indentation) at line 2, column 2",
        ),
        ("a: *nobody", "alias references unknown anchor at line 1, column 4"),
        ("a: 'x", "unclosed quote at line 1, column 4"),
        ("? [a, b]\n: c", "expected string scalar at line 1, column 3"),
        ("a: 1\n b: 2", "mapping values are not allowed in this context at line 2, column 3"),
        ("{a: b}}", "misplaced bracket at line 1, column 7"),
        ("a: &a [*a]", "an alias within its own anchor at line 1, column 8"),
    ] {
        assert_eq!(read(text), Err(expected.to_owned()), "{text:?}");
    }
}
