//! Reports the figures of several sizes as a table, as JSON and as a chart.

use std::time::Duration;

use serde_json::{Value, json};

use super::chart::{Chart, Line, Panel};
use super::sizes::{Goal, Row};

/// The rows reported so far.
#[derive(Default)]
pub struct Report {
    rows: Vec<Measured>,
}

struct Measured {
    database: &'static str,
    size: usize,
    row: Row,
    /// The cost divided by that at the smallest size.
    ratio: f64,
}

impl Report {
    /// The header of the table.
    pub fn heading() -> String {
        format!(
            "{:<10} {:>8}  {:<24} {:>8} {:>8} {:>8} {:>8} {:>6} {:>5}  {}",
            "database",
            "projects",
            "call",
            "per s",
            "p50 us",
            "p99 us",
            "cpu us",
            "x",
            "MB",
            "goal, or p50 us with git http-backend and with git alone"
        )
    }

    /// Adds a row, and returns its line of the table.
    pub fn add(&mut self, database: &'static str, size: usize, row: Row) -> String {
        let same = |one: &&Measured| one.database == database && one.row.call == row.call;
        let smallest = self.rows.iter().find(same).map_or(cost(&row), |one| cost(&one.row));
        let ratio = cost(&row).as_secs_f64() / smallest.as_secs_f64().max(1e-6);
        let line = format!(
            "{database:<10} {size:>8}  {:<24} {:>8.0} {:>8} {:>8} {:>8} {ratio:>6.2} {:>5.0}  {}",
            row.call,
            row.cost.per_second,
            row.cost.p50.as_micros(),
            row.cost.p99.as_micros(),
            row.cost.cpu.as_micros(),
            row.memory,
            goals_or_git_times(&row),
        );
        self.rows.push(Measured { database, size, row, ratio });
        line.trim_end().to_owned()
    }

    /// All rows as JSON.
    pub fn json(&self) -> Value {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let rows = self.rows.iter().map(|Measured { database, size, row, ratio }| {
            let missed = missed_goals(row);
            json!({
                "database": database,
                "projects": size,
                "call": row.call,
                "per_second": row.cost.per_second,
                "p50_us": micros(row.cost.p50),
                "p99_us": micros(row.cost.p99),
                "cpu_us": micros(row.cost.cpu),
                "beside_smallest": ratio,
                "memory_mb": row.memory,
                "goals_missed": missed,
                "http_backend_p50_us": row.beside.map(|[backend, _]| micros(backend)),
                "git_p50_us": row.beside.map(|[_, git]| micros(git)),
            })
        });
        json!({ "rows": rows.collect::<Vec<_>>() })
    }

    /// A chart of processor time against size, with one panel per database.
    pub fn svg(&self) -> String {
        let mut panels: Vec<Panel> = Vec::new();
        for Measured { database, size, row, .. } in &self.rows {
            let point = (*size as f64, row.cost.cpu.as_secs_f64() * 1e6);
            // A zero cannot be drawn on a logarithmic axis.
            if point.1 <= 0.0 || row.beside.is_some() {
                continue;
            }
            let panel = find_or_add(
                &mut panels,
                |panel| panel.title == *database,
                || Panel { title: (*database).to_owned(), lines: Vec::new() },
            );
            let line = find_or_add(
                &mut panel.lines,
                |line| line.name == row.call,
                || Line { name: row.call.to_owned(), points: Vec::new() },
            );
            line.points.push(point);
        }
        let title = "What a call costs, in databases of different sizes";
        Chart { title, x: "projects", y: "processor time, microseconds", panels }.svg()
    }
}

/// Finds an element, or adds a new one.
fn find_or_add<T>(all: &mut Vec<T>, like: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let place = all.iter().position(like).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    });
    &mut all[place]
}

/// The figure by which sizes are compared: processor time, but the median time for git operations. Processor time has
/// steps of 10 ms, which is too coarse for their few runs.
fn cost(row: &Row) -> Duration {
    if row.beside.is_some() { row.cost.p50 } else { row.cost.cpu }
}

fn goals_or_git_times(row: &Row) -> String {
    if let Some([backend, git]) = row.beside {
        return format!("{} {}", backend.as_micros(), git.as_micros());
    }
    let Goal { per_second, cpu, alone } = row.goal;
    let mut goals = Vec::new();
    goals.extend(per_second.map(|number| format!("{number:.0}/s")));
    goals.extend(cpu.map(|number| format!("cpu {:.0}", number * 1e3)));
    goals.extend(alone.map(|number| format!("p50 {:.0}", number * 1e3)));
    let verdict = match missed_goals(row).as_slice() {
        _ if goals.is_empty() => String::new(),
        [] => ": held".to_owned(),
        missed => format!(": MISSED {}", missed.join(", ")),
    };
    format!("{}{verdict}", goals.join(", "))
}

/// The names of the goals that are missed.
fn missed_goals(row: &Row) -> Vec<&'static str> {
    let Row { goal, cost, .. } = row;
    let longer = |time: Duration, goal: Option<f64>| {
        goal.is_some_and(|milliseconds| time.as_secs_f64() * 1e3 > milliseconds)
    };
    let mut missed = Vec::new();
    missed.extend(goal.per_second.is_some_and(|goal| cost.per_second < goal).then_some("per s"));
    missed.extend(longer(cost.cpu, goal.cpu).then_some("cpu"));
    missed.extend(longer(cost.p50, goal.alone).then_some("p50"));
    missed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Cost;

    fn row(cpu: u64, per_second: f64) -> Row {
        let (p50, p99) = (Duration::from_micros(900), Duration::from_millis(4));
        let cost = Cost { per_second, p50, p99, cpu: Duration::from_micros(cpu) };
        let goal = Goal { per_second: Some(1000.0), cpu: Some(0.3), alone: None };
        Row { call: "a project", cost, memory: 20.0, goal, beside: None }
    }

    #[test]
    fn a_line_says_what_grew_and_what_was_missed() {
        let mut report = Report::default();
        let small = report.add("sqlite", 100, row(200, 2000.0));
        assert!(small.ends_with("200   1.00    20  1000/s, cpu 300: held"), "{small}");
        let large = report.add("sqlite", 10_000, row(500, 800.0));
        assert!(large.contains("500   2.50 "), "{large}");
        assert!(large.ends_with(": MISSED per s, cpu"), "{large}");
        let other = report.add("postgresql", 10_000, row(500, 2000.0));
        assert!(other.contains(" 1.00 "), "sizes are compared within one database: {other}");
        let json = report.json();
        assert_eq!(json["rows"][1]["goals_missed"], json!(["per s", "cpu"]));
        assert_eq!(json["rows"][1]["beside_smallest"], json!(2.5));
        let svg = report.svg();
        assert_eq!(svg.matches(">a project</text>").count(), 2, "one in each panel: {svg}");
    }
}
