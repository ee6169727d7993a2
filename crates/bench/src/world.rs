//! Generates groups, projects and memberships like those of a large company. Written as plain SQL
//! that both databases understand, because the ports would take minutes for a million rows.

use std::fmt::Write as _;
use std::ops::Range;

use hexforge_persistence_diesel::testing::TestDatabase;

use super::progress::Bar;

/// The number of rows per statement.
const ROWS: usize = 500;
/// The number of statements per transaction.
const STATEMENTS: usize = 100;

/// Generated ids start after these, because the program created some rows itself.
pub const USERS: usize = 1000;
const GROUPS: usize = 1000;
const HOMES: usize = 1_000_000;

/// A group with the same number of projects in every world.
pub const TEAM: usize = GROUPS + 1;
/// A group with one in twenty projects of the world.
pub const DEPARTMENT: usize = GROUPS + 2;

/// The number of projects of [`TEAM`], and of stars of each of the [`People`].
const FEW: usize = 200;

/// The size of a world.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The number of projects. The numbers of groups, users and memberships are derived from it.
    pub projects: usize,
}

impl Size {
    fn groups(self) -> usize {
        (self.projects / 10).max(40)
    }

    fn users(self) -> usize {
        self.projects.max(100)
    }
}

/// The ids of users that the program created before.
#[derive(Clone, Copy, Debug)]
pub struct People {
    /// The administrator.
    pub root: i64,
    /// A member of a few dozen groups and projects.
    pub some: i64,
    /// A member of every fifth project.
    pub everywhere: i64,
}

const ADJECTIVES: [&str; 12] = [
    "brave", "calm", "early", "fancy", "green", "happy", "jolly", "kind", "lucky", "merry",
    "proud", "silent",
];
/// One in ten names contains the last of them.
const NOUNS: [&str; 10] = [
    "heron", "falcon", "lizard", "marten", "pelican", "salmon", "turtle", "walrus", "beaver",
    "otter",
];
const TOPICS: [&str; 7] =
    ["billing", "search index", "data import", "metrics", "deployment", "mail", "calendar"];

/// Fills an empty database and shows the progress.
pub fn fill(database: &TestDatabase, size: Size, people: People) {
    let mut fill = Fill { database, statements: 0, sql: String::new() };
    let (users, groups, projects) = (size.users(), size.groups(), size.projects);
    fill.rows("users", USER_COLUMNS, 0..users, user);
    fill.rows("namespaces", HOME_COLUMNS, 0..users, home);
    fill.rows("namespaces", GROUP_COLUMNS, 0..groups, group);
    fill.rows("projects", PROJECT_COLUMNS, 0..projects, |n| project(n, groups, users));
    const MEMBER: &str = "user_id, access_level, notification_level";
    let in_projects = format!("project_id, {MEMBER}");
    let in_groups = format!("group_id, {MEMBER}");
    // Eight members per project and twenty per group: ten memberships per project.
    fill.rows("project_members", &in_projects, 0..projects * 8, |n| {
        let (project, k) = (n / 8, n % 8);
        format!("{}, {}, {}, 3", project + 1, member(project, k, users), level(n))
    });
    fill.rows("group_members", &in_groups, 0..groups * 20, |n| {
        let (group, k) = (n / 20, n % 20);
        format!("{}, {}, {}, 3", GROUPS + 1 + group, member(group, k, users), level(n))
    });
    fill.rows("project_shares", "project_id, group_id, group_access", 0..projects / 20, |n| {
        format!("{}, {}, 30", n * 20 + 1, GROUPS + 1 + (n * 13 + 7) % groups)
    });
    // The team, other groups and thirty projects: the same number in every world.
    fill.rows("group_members", &in_groups, 0..20, |n| {
        format!("{}, {}, {}, 3", GROUPS + 1 + n * groups / 20, people.some, level(n))
    });
    fill.rows("project_members", &in_projects, 0..30, |n| {
        format!("{}, {}, {}, 3", 2 + n * projects / 30, people.some, level(n))
    });
    fill.rows("project_members", &in_projects, 0..projects / 5, |n| {
        format!("{}, {}, {}, 3", 1 + n * 5, people.everywhere, level(n))
    });
    for user in [people.root, people.some, people.everywhere] {
        fill.rows("stars", "project_id, user_id", 0..FEW, |n| {
            format!("{}, {user}", 1 + n * projects / FEW)
        });
    }
    fill.rows("stars", "project_id, user_id", 0..projects, |n| {
        format!("{}, {}", n + 1, USERS + 1 + n * 7 % users)
    });
    fill.flush();
}

const USER_COLUMNS: &str = "id, username, name, email, password_hash, state, admin, external, \
     can_create_group, projects_limit, theme_id, color_scheme_id, two_factor_enabled, created_at, \
     updated_at, search_text";

fn user(n: usize) -> String {
    let name = format!("{} {}", pick(&ADJECTIVES, n), pick(&TOPICS, n / 12));
    format!(
        "{}, 'user-{n}', '{name}', 'user-{n}@example.com', '-', 'active', FALSE, FALSE, TRUE, 10, 1, 1, \
         FALSE, {at}, {at}, '{name}\u{1}user-{n}@example.com\u{1}user-{n}'",
        USERS + 1 + n,
        at = moment(n),
    )
}

const HOME_COLUMNS: &str =
    "id, path, path_folded, name, name_folded, owner_id, created_at, updated_at";

fn home(n: usize) -> String {
    let at = moment(n);
    format!(
        "{}, 'user-{n}', 'user-{n}', 'user-{n}', 'user-{n}', {}, {at}, {at}",
        HOMES + n,
        USERS + 1 + n
    )
}

const GROUP_COLUMNS: &str = "id, path, path_folded, name, name_folded, description, \
     visibility_level, created_at, updated_at";

fn group(n: usize) -> String {
    let (adjective, noun) = (pick(&ADJECTIVES, n / 10), noun(n, 4000));
    let (path, name) = (format!("{adjective}-{noun}-{n}"), format!("The {adjective} {noun} {n}"));
    format!(
        "{}, '{path}', '{path}', '{name}', '{}', 'All about the {noun}', {}, {at}, {at}",
        GROUPS + 1 + n,
        name.to_lowercase(),
        visibility(n * 7 + 3),
        at = moment(n),
    )
}

const PROJECT_COLUMNS: &str = "id, namespace_id, creator_id, name, path, path_folded, description, \
     visibility_level, archived, issues_enabled, merge_requests_enabled, wiki_enabled, \
     builds_enabled, snippets_enabled, container_registry_enabled, shared_runners_enabled, \
     public_builds, merge_only_if_build_succeeds, merge_only_if_discussions_resolved, \
     request_access_enabled, star_count, runners_token, created_at, updated_at, last_activity_at, \
     search_text";

fn project(n: usize, groups: usize, users: usize) -> String {
    let namespace = match n % 10 {
        _ if n % 20 == 7 => DEPARTMENT,
        _ if n % 5 == 1 && n / 5 < FEW => TEAM,
        0..7 => GROUPS + 3 + (n * 31) % (groups - 2),
        _ => HOMES + (n * 17) % users,
    };
    let (adjective, noun) = (pick(&ADJECTIVES, n / 7), noun(n / 3, 20_011));
    let (name, path) = (format!("{adjective} {noun} {n}"), format!("{adjective}-{noun}-{n}"));
    let description = format!("The {} of our {adjective} customers", pick(&TOPICS, n / 5));
    // No sort order agrees with the order of ids.
    let changed = n * 7919 % 1_000_003;
    format!(
        "{}, {namespace}, {}, '{name}', '{path}', '{path}', '{description}', {}, {}, TRUE, TRUE, TRUE, \
         TRUE, FALSE, TRUE, TRUE, TRUE, FALSE, FALSE, FALSE, 1, 'token-{n}', {}, {}, {}, \
         '{name}\u{1}{path}\u{1}{}'",
        n + 1,
        USERS + 1 + n % users,
        visibility(n * 3 + n / 11),
        if n.is_multiple_of(20) { "TRUE" } else { "FALSE" },
        moment(n),
        moment(changed),
        moment(changed / 2),
        description.to_lowercase(),
    )
}

/// The noun in a project's name, by which searches find it: `badger` in one of a hundred names, `quokka` in a few.
fn noun(n: usize, few: usize) -> &'static str {
    match n {
        _ if n % few == 11 => "quokka",
        _ if n % 100 == 50 => "badger",
        _ => pick(&NOUNS, n),
    }
}

fn pick(words: &[&'static str], n: usize) -> &'static str {
    words[n % words.len()]
}

/// The visibility level: of ten projects six are private, two internal and two public.
fn visibility(n: usize) -> i32 {
    [0, 0, 0, 10, 0, 20, 0, 10, 0, 20][n % 10]
}

fn level(n: usize) -> i32 {
    [10, 20, 30, 30, 40][n % 5]
}

/// Member number `k` of a project or group; the multipliers make members differ.
fn member(of: usize, k: usize, users: usize) -> usize {
    USERS + 1 + (of * 7919 + k * 104_729) % users
}

/// A time as SQL: `n` minutes after 2016-01-01.
fn moment(n: usize) -> String {
    let start = chrono::DateTime::from_timestamp(1_451_606_400, 0).unwrap_or_default();
    let minutes = i64::try_from(n).unwrap_or_default();
    (start + chrono::TimeDelta::minutes(minutes)).format("'%F %T'").to_string()
}

/// Collects rows and writes them in batches.
struct Fill<'a> {
    database: &'a TestDatabase,
    sql: String,
    statements: usize,
}

impl Fill<'_> {
    fn rows(
        &mut self,
        table: &str,
        columns: &str,
        numbers: Range<usize>,
        row: impl Fn(usize) -> String,
    ) {
        let mut bar = Bar::new(&format!("rows of {table}"), numbers.len());
        let numbers: Vec<usize> = numbers.collect();
        for numbers in numbers.chunks(ROWS) {
            // Duplicate rows of two rules are ignored.
            let _ = write!(self.sql, "INSERT INTO {table} ({columns}) VALUES ");
            for (place, number) in numbers.iter().enumerate() {
                let comma = if place == 0 { "" } else { "," };
                let _ = write!(self.sql, "{comma}({})", row(*number));
            }
            self.sql.push_str(" ON CONFLICT DO NOTHING;\n");
            self.statements += 1;
            if self.statements >= STATEMENTS {
                self.flush();
            }
            bar.at(numbers.last().map_or(0, |last| last + 1));
        }
    }

    fn flush(&mut self) {
        self.database.execute(&format!("BEGIN;\n{}COMMIT;", self.sql));
        self.sql.clear();
        self.statements = 0;
    }
}
