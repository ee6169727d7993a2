//! Malicious texts, and random texts.

use std::time::{Duration, Instant};

use hexforge_domain::ci::config::{Configuration, YamlReader};
use hexforge_yaml_saphyr::{MAX_BYTES, SaphyrReader};

/// The time limit of a test. It is far more than the milliseconds that reading takes, for slow builds on busy machines.
const SOON: Duration = Duration::from_secs(30);

fn refused(text: &str) -> String {
    let start = Instant::now();
    let error = SaphyrReader.read(text).expect_err("the text is refused");
    let took = start.elapsed();
    assert!(took < SOON, "took {took:?}: {error}");
    error
}

/// Nine levels of nine aliases each.
fn bomb(scalar: &str) -> String {
    let mut text = format!("a0: &a0 [{}]\n", [scalar; 9].join(", "));
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    text
}

#[test]
fn an_alias_bomb_is_refused_at_once() {
    let error = refused(&bomb("lol"));
    let expected = "more than 20000 values, with aliases replaced by their anchors, at line ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_bomb_of_merge_keys_is_refused_at_once() {
    let mut text = "a0: &a0 {k: v}\n".to_owned();
    for level in 1..30 {
        let below = level - 1;
        text.push_str(&format!(
            "a{level}: &a{level} {{<<: [*a{below}, *a{below}], k{level}: v}}\n"
        ));
    }
    refused(&text);
}

#[test]
fn a_long_text_behind_many_aliases_is_refused() {
    let long = "x".repeat(500_000);
    let aliases = "  - *long\n".repeat(10_000);
    refused(&format!("long: &long {long}\nall:\n{aliases}"));
    refused(&format!("long: &long \"{long}\\n\"\nall:\n{aliases}"));
}

#[test]
fn an_alias_inside_its_own_anchor_is_refused() {
    assert_eq!(refused("a: &a\n  b: *a\n"), "an alias within its own anchor at line 2, column 6");
    refused("a: &a [*a]\n");
    refused("a: &a\n  <<: *a\n");
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [51, 1_000, 100_000] {
        refused(&"[".repeat(depth));
        refused(&format!("a: {}{}", "[".repeat(depth), "]".repeat(depth)));
        refused(&format!("a: {}", "{a: ".repeat(depth)));
        refused(&"- ".repeat(depth));
        refused(&"? ".repeat(depth));
    }
    let blocks: String = (0..400).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_eq!(
        refused(&blocks),
        "lists and maps nested deeper than 50 levels at line 51, column 51"
    );
    assert!(SaphyrReader.read(&format!("a: {}{}", "[".repeat(40), "]".repeat(40))).is_ok());
}

#[test]
fn a_large_text_is_refused_and_so_are_many_values() {
    assert!(refused(&"#".repeat(MAX_BYTES + 1)).contains("larger than 1048576 bytes"));
    refused(&"- a\n".repeat(50_000));
    refused(&"---\n".repeat(1_000));
    assert!(SaphyrReader.read(&"- a\n".repeat(15_000)).is_ok());
}

fn wrong(text: &str) -> String {
    let start = Instant::now();
    let error = Configuration::parse(&SaphyrReader, text).expect_err("the file is wrong");
    let took = start.elapsed();
    assert!(took < SOON, "took {took:?}: {error}");
    error.to_string()
}

#[test]
fn jobs_that_all_take_over_a_long_script_are_refused() {
    let jobs: String = (0..4_000).map(|n| format!("j{n}: {{script: x}}\n")).collect();
    let error = wrong(&format!("before_script: [{}]\n{jobs}", "x".repeat(500_000)));
    // Each job has the script twice: as one text, and as entries.
    assert_eq!(error, "jobs:j16 config makes the jobs larger than 16777216 bytes together");
    let script = format!("before_script: [{}]\n{jobs}", "x".repeat(100));
    assert!(Configuration::parse(&SaphyrReader, &script).is_ok());
}

#[test]
fn expressions_that_take_much_to_compile_are_refused() {
    let many: String = (0..1_000).map(|n| format!("  - /(a{n}.{{20}}){{5}}/i\n")).collect();
    let error = wrong(&format!("a:\n script: x\n only:\n{many}"));
    assert_eq!(error, "jobs:a:only config makes more than 200 regexps in the file");
    let large = "a: {script: x, only: ['/((a{1000}){1000}){1000}/']}";
    assert_eq!(wrong(large), "jobs:a:only config should be an array of strings or regexps");
}

#[test]
fn errors_stay_short() {
    let keys: String = (0..5_000).map(|n| format!(" ü{n}: x\n")).collect();
    let error = wrong(&format!("a:\n{keys}"));
    assert!(error.starts_with("jobs:a config contains unknown keys: ü0, ü1,"), "{error}");
    assert_eq!(error.chars().count(), 2_001);
}

/// A random generator with a fixed seed, so that each run has the same texts.
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

const DOCUMENT: &str = "\
image: ruby:2.1
services: [postgres]
stages: [build, test]
variables: {A: 1, B: \"two\"}
before_script: &before
  - bundle install
cache: {key: \"$CI_BUILD_NAME\", paths: [vendor/], untracked: true}
.hidden: &hidden
  tags: [ruby, *who]
rspec:
  <<: *hidden
  script: |
    rake spec
    ünïcode
  only: [master, /^v\\d+$/, tags@group/project]
  artifacts: {expire_in: 1 week, when: always}
  environment: {name: review/$A, url: 'http://x', on_stop: stop}
";

#[test]
fn mutated_documents_never_panic() {
    let mut noise = Noise(7);
    let pieces = [
        "*a", "&a ", "<<: ", "[", "]", "{", "}", ": ", "- ", "\n", "\t", "|", ">", "!!", "%", "'",
        "\"", "---\n", "\u{feff}", "\u{0}", "é", "? ", "#", "0x", "1e999", "~",
    ];
    for round in 0..3_000 {
        let mut chars: Vec<char> = DOCUMENT.chars().collect();
        for _ in 0..=noise.next(6) {
            if chars.is_empty() {
                break;
            }
            let at = noise.next(chars.len());
            match noise.next(4) {
                0 => drop(chars.remove(at)),
                1 => {
                    let piece = pieces[noise.next(pieces.len())];
                    chars.splice(at..at, piece.chars());
                }
                2 => {
                    let to = (at + noise.next(40)).min(chars.len());
                    let copy: Vec<char> = chars[at..to].to_vec();
                    let place = noise.next(chars.len());
                    chars.splice(place..place, copy);
                }
                _ => chars.truncate(at.max(1)),
            }
        }
        let text: String = chars.into_iter().collect();
        let start = Instant::now();
        let _ = Configuration::parse(&SaphyrReader, &text);
        assert!(start.elapsed() < SOON, "round {round}: {text:?}");
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut noise = Noise(11);
    let alphabet: Vec<char> =
        "ab: -[]{}&*!|>'\"%@`,?#~\n\t\r\u{85}\u{0}é<=/\\.0123".chars().collect();
    for _ in 0..3_000 {
        let length = noise.next(200);
        let bytes: Vec<u8> = (0..length).map(|_| noise.next(256) as u8).collect();
        let _ = Configuration::parse(&SaphyrReader, &String::from_utf8_lossy(&bytes));
        let text: String = (0..length).map(|_| alphabet[noise.next(alphabet.len())]).collect();
        let _ = Configuration::parse(&SaphyrReader, &text);
    }
}
