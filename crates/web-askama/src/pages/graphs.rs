//! Statistics of a repository: contributors, commits over time, languages. Pictures are made here, with a table of the
//! same facts beside them.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use askama::Template;
use chrono::{DateTime, Datelike, FixedOffset, Timelike};
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_application::pipeline;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::repository::commits::{self, CommitFilter};
use hexforge_application::repository::ref_path::Located;
use hexforge_application::repository::{self, Revision, browse};
use hexforge_domain::ci::status::Status;
use hexforge_domain::limiter::PermitPool;
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::{Pipeline, PipelineScope};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::repository::{Contributor, Contributors};

use super::file::{Address, Place, find_place, run_at};
use super::project::{frame_of, missing, other_spelling};
use crate::address;
use crate::error::{PageError, PageResult};
use crate::frame::Frame;
use crate::highlight;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/graphs/{rest...}", show);
}

/// The newest commits that pictures count.
const COUNTED: usize = 2_000;

/// The contributors that are listed.
const LISTED: usize = 200;

/// The most bars of a picture.
const MAX_BARS: usize = 60;

/// The height of the highest bar, and the width of each, in the units of the picture.
const HEIGHT: u64 = 100;
const WIDTH: usize = 10;

/// A bar of a picture.
struct Bar {
    x: usize,
    y: u64,
    height: u64,
    label: String,
    count: u64,
}

/// A picture of counts.
struct Chart {
    /// The name of the picture.
    title: String,
    width: usize,
    bars: Vec<Bar>,
}

impl Chart {
    fn new(title: String, counts: impl IntoIterator<Item = (String, u64)>) -> Self {
        let counts: Vec<(String, u64)> = counts.into_iter().collect();
        let highest = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        let bar = |(at, (label, count)): (usize, (String, u64))| {
            let height = count * HEIGHT / highest;
            // The smallest number is still visible.
            let height = if count > 0 { height.max(1) } else { 0 };
            Bar { x: at * WIDTH, y: HEIGHT - height, height, label, count }
        };
        let width = counts.len().max(1) * WIDTH;
        Self { title, width, bars: counts.into_iter().enumerate().map(bar).collect() }
    }
}

#[derive(Template)]
#[template(path = "contributors.html")]
struct ContributorsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    revision: String,
    chart: Chart,
    authors: Vec<Contributor>,
    more_authors: usize,
    is_complete: bool,
}

#[derive(Template)]
#[template(path = "commit_charts.html")]
struct CommitChartsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    revision: String,
    charts: Vec<Chart>,
}

#[derive(Template)]
#[template(path = "pipeline_charts.html")]
struct PipelineChartsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    revision: String,
    charts: Vec<Chart>,
    is_cut: bool,
}

#[derive(Template)]
#[template(path = "languages.html")]
struct LanguagesPage {
    frame: Frame,
    tabs: Vec<Tab>,
    revision: String,
    languages: Vec<Language>,
    is_cut: bool,
}

/// The files of a language.
struct Language {
    name: String,
    files: u64,
    percent: String,
}

/// A link to another statistic.
struct Tab {
    name: &'static str,
    address: String,
    is_current: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Contributors,
    Commits,
    Pipelines,
    Languages,
}

impl Statistic {
    const ALL: [(Statistic, &'static str, &'static str); 4] = [
        (Statistic::Contributors, "Contributors", ""),
        (Statistic::Commits, "Commits over time", "/commits"),
        (Statistic::Pipelines, "Pipelines over time", "/ci"),
        (Statistic::Languages, "Languages", "/languages"),
    ];

    /// Splits the end off an address.
    fn of(rest: &str) -> (Self, &str) {
        let ended = Self::ALL.into_iter().filter(|(_, _, end)| !end.is_empty());
        let mut found = ended.filter_map(|(kind, _, end)| Some((kind, rest.strip_suffix(end)?)));
        found.next().unwrap_or((Statistic::Contributors, rest))
    }
}

fn tabs(project: &ProjectPage, name: &str, current: Statistic) -> Vec<Tab> {
    let base = format!("/{}", project.path());
    let reads_builds = project.may_build(CiAbility::ReadPipelines);
    let tab = |(kind, label, end): (Statistic, &'static str, &str)| Tab {
        name: label,
        address: format!("{base}/graphs/{}{end}", address::path(name)),
        is_current: kind == current,
    };
    let seen = |(kind, ..): &(Statistic, _, _)| *kind != Statistic::Pipelines || reads_builds;
    Statistic::ALL.into_iter().filter(seen).map(tab).collect()
}

/// Finds the ref and the statistic. The end of the address belongs to the ref if there is such a ref.
fn find(app: &App, actor: Actor, place: &Address) -> Result<(Statistic, Place), Error> {
    match find_place(app, actor, place) {
        Ok(found) if found.located.path.is_empty() => return Ok((Statistic::Contributors, found)),
        Ok(_) | Err(Error::NotFound(_)) => (),
        Err(error) => return Err(error),
    }
    let (kind, rest) = Statistic::of(&place.rest);
    Ok((kind, find_place(app, actor, &Address { rest: rest.to_owned(), ..place.clone() })?))
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let (viewer, (kind, Place { project, located })) =
        run_at(&visit, move |app, viewer| find(app, viewer.actor(), &place)).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, path } = located;
    if !path.is_empty() {
        return Err(PageError::of(missing(), viewer, false));
    }
    match kind {
        Statistic::Contributors => contributors(&visit, &viewer, &project, at, name).await,
        Statistic::Commits => commit_charts(&visit, &viewer, &project, at, name).await,
        Statistic::Pipelines => pipelines(&visit, &project, name).await,
        Statistic::Languages => languages(&visit, &viewer, &project, at, name).await,
    }
}

fn frame(visit: &Visit, viewer: &Viewer, project: &ProjectPage, what: &str) -> Frame {
    Frame::of_project(visit, viewer, what, frame_of(project, "Commits"))
}

/// The times of the newest commits, oldest first.
fn times(at: &Revision) -> Result<Vec<DateTime<FixedOffset>>, Error> {
    let filter = CommitFilter { limit: COUNTED, ..CommitFilter::default() };
    let found = commits::list(at, filter)?;
    Ok(found.iter().rev().map(|commit| commit.author.at).collect())
}

async fn contributors(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    at: Revision,
    name: String,
) -> PageResult<HttpResponse> {
    let work = move || Ok::<_, Error>((repository::contributors(&at)?, times(&at)?));
    let pool: fn(&Limiter) -> &PermitPool = |limiter| &limiter.contributors;
    let (Contributors { mut authors, complete }, times) =
        visit.run_costly(pool, viewer, work).await?;
    authors.sort_by_key(|author| std::cmp::Reverse(author.commits));
    let more_authors = authors.len().saturating_sub(LISTED);
    authors.truncate(LISTED);
    let page = ContributorsPage {
        frame: frame(visit, viewer, project, "Contributors"),
        tabs: tabs(project, &name, Statistic::Contributors),
        revision: name,
        chart: over_time(&times),
        authors,
        more_authors,
        is_complete: complete,
    };
    render::page(visit, viewer, &page)
}

/// The commits by day, month or year, so that all bars fit.
fn over_time(times: &[DateTime<FixedOffset>]) -> Chart {
    type Label = fn(&DateTime<FixedOffset>) -> String;
    let steps: [(&str, Label); 3] = [
        ("day", |at| at.format("%Y-%m-%d").to_string()),
        ("month", |at| at.format("%Y-%m").to_string()),
        ("year", |at| at.format("%Y").to_string()),
    ];
    let count = |label: Label| {
        let mut counts = BTreeMap::<String, u64>::new();
        for at in times {
            *counts.entry(label(at)).or_default() += 1;
        }
        counts
    };
    let counted = steps.iter().map(|(step, label)| (*step, count(*label)));
    let fitting = counted.into_iter().find(|(_, counts)| counts.len() <= MAX_BARS);
    let (step, counts) = fitting.unwrap_or(("year", count(steps[2].1)));
    let newest = counts.len().saturating_sub(MAX_BARS);
    let title = format!("Commits over time, by {step}: {} commits", times.len());
    Chart::new(title, counts.into_iter().skip(newest))
}

async fn commit_charts(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    at: Revision,
    name: String,
) -> PageResult<HttpResponse> {
    let pool: fn(&Limiter) -> &PermitPool = |limiter| &limiter.comparisons;
    let times = visit.run_costly(pool, viewer, move || times(&at)).await?;
    let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let days = (0..).zip(days.map(str::to_owned));
    let weekdays = by_number(&times, |at| at.weekday().num_days_from_monday(), days);
    let hours = (0..24).map(|hour| (hour, format!("{hour}:00")));
    let hours = by_number(&times, Timelike::hour, hours);
    let page = CommitChartsPage {
        frame: frame(visit, viewer, project, "Commits over time"),
        tabs: tabs(project, &name, Statistic::Commits),
        revision: name,
        charts: vec![
            Chart::new("Commits by weekday".to_owned(), weekdays),
            Chart::new("Commits by hour".to_owned(), hours),
        ],
    };
    render::page(visit, viewer, &page)
}

/// Counts times by a part of them. Each number has a label.
fn by_number(
    times: &[DateTime<FixedOffset>],
    part: fn(&DateTime<FixedOffset>) -> u32,
    labels: impl IntoIterator<Item = (u32, String)>,
) -> Vec<(String, u64)> {
    let count = |number| times.iter().filter(|at| part(at) == number).count() as u64;
    labels.into_iter().map(|(number, label)| (label, count(number))).collect()
}

async fn languages(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    at: Revision,
    name: String,
) -> PageResult<HttpResponse> {
    let work = move || {
        let found = browse::file_paths(&at)?;
        let mut counts = BTreeMap::<String, u64>::new();
        for path in &found.paths {
            let file = path.rsplit('/').next().unwrap_or(path);
            let language =
                highlight::language(file, "").map_or("Other", |found| found.name.as_str());
            *counts.entry(language.to_owned()).or_default() += 1;
        }
        Ok((counts, found.is_cut))
    };
    let pool: fn(&Limiter) -> &PermitPool = |limiter| &limiter.comparisons;
    let (counts, is_cut) = visit.run_costly(pool, viewer, work).await?;
    let total: u64 = counts.values().sum::<u64>().max(1);
    let language = |(name, files): (String, u64)| Language {
        percent: format!("{:.1} %", files as f64 * 100.0 / total as f64),
        name,
        files,
    };
    let mut languages: Vec<Language> = counts.into_iter().map(language).collect();
    languages.sort_by_key(|language| std::cmp::Reverse(language.files));
    let page = LanguagesPage {
        frame: frame(visit, viewer, project, "Languages"),
        tabs: tabs(project, &name, Statistic::Languages),
        revision: name,
        languages,
        is_cut,
    };
    render::page(visit, viewer, &page)
}

/// The newest pipelines that are counted.
const PIPELINES: u64 = 100;

/// The pipelines of a branch or tag by day, for those who may read them.
async fn pipelines(visit: &Visit, project: &ProjectPage, name: String) -> PageResult<HttpResponse> {
    let named = visit.project();
    let page = Page::Numbered { number: 1, size: PIPELINES };
    let (viewer, found) = visit
        .run(move |app, viewer| {
            pipeline::list_summaries(app, viewer.actor(), &named, PipelineScope::All, page)
        })
        .await?;
    let of_ref = found.items.iter().map(|summary| &summary.view.pipeline);
    let of_ref: Vec<&Pipeline> = of_ref.filter(|one| one.reference == name).collect();
    let chart = |title: &str, status: Option<Status>| {
        let mut counts = BTreeMap::<String, u64>::new();
        for one in &of_ref {
            let count = counts.entry(one.created_at.format("%Y-%m-%d").to_string()).or_default();
            *count += u64::from(status.is_none_or(|status| one.status == status));
        }
        let newest = counts.len().saturating_sub(MAX_BARS);
        Chart::new(title.to_owned(), counts.into_iter().skip(newest))
    };
    let page = PipelineChartsPage {
        frame: frame(visit, &viewer, project, "Pipelines over time"),
        tabs: tabs(project, &name, Statistic::Pipelines),
        is_cut: found.total > PIPELINES,
        charts: vec![
            chart("All pipelines by day", None),
            chart("Successful pipelines by day", Some(Status::Success)),
            chart("Failed pipelines by day", Some(Status::Failed)),
        ],
        revision: name,
    };
    render::page(visit, &viewer, &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_choose_a_step_that_fits() {
        let at = |days: i64| DateTime::UNIX_EPOCH.fixed_offset() + chrono::TimeDelta::days(days);
        for (days, title, bars) in [
            (3, "Commits over time, by day: 3 commits", 3),
            (400, "Commits over time, by month: 400 commits", 14),
            (5_000, "Commits over time, by year: 5000 commits", 14),
        ] {
            let times: Vec<_> = (0..days).map(at).collect();
            let chart = over_time(&times);
            assert_eq!((chart.title.as_str(), chart.bars.len()), (title, bars));
        }
        assert!(over_time(&[]).bars.is_empty());
    }

    #[test]
    fn addresses_name_a_statistic() {
        assert!(Statistic::of("a/commits") == (Statistic::Commits, "a"));
        assert!(Statistic::of("a/ci") == (Statistic::Pipelines, "a"));
        assert!(Statistic::of("a/b") == (Statistic::Contributors, "a/b"));
    }
}
