//! The commits of a branch, or of a file or folder.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::repository::commits::{self, CommitFilter};
use hexforge_application::repository::ref_path::Located;
use hexforge_domain::commit::Commit;
use hexforge_domain::limiter::PermitPool;
use hexforge_domain::policy::ci::CiAbility;

use super::activity::feed_reader;
use super::conditions::{self, Conditions};
use super::file::{Address, Place, find_place, joined, run_at};
use super::project::{self, CommitLine, Statuses, frame_of, other_spelling};
use crate::address;
use crate::error::PageResult;
use crate::feed::{self, Feed, FeedEntry};
use crate::frame::{Frame, Pager};
use crate::render;
use crate::visible;
use crate::visit::{Viewer, Visit};

/// Commits on a page.
const COMMITS: usize = 40;

/// The commits that are searched for a text. Those after them are not found.
const SEARCHED: usize = 5_000;

/// The ending of the address of a feed.
const FEED: &str = ".atom";

#[derive(Template)]
#[template(path = "commits.html")]
struct Commits {
    frame: Frame,
    base: String,
    place: String,
    search: String,
    author: String,
    feed: String,
    days: Vec<Day>,
    pager: Pager,
}

/// The commits of a day.
struct Day {
    date: String,
    commits: Vec<CommitLine>,
}

/// Groups commits that follow each other.
fn by_day(commits: &[Commit], frame: &Frame, statuses: &Statuses) -> Vec<Day> {
    let mut days: Vec<Day> = Vec::new();
    for commit in commits {
        let date = commit.author.at.format("%Y-%m-%d").to_string();
        let line = CommitLine::with_status(commit, frame, statuses);
        match days.last_mut().filter(|day| day.date == date) {
            Some(day) => day.commits.push(line),
            None => days.push(Day { date, commits: vec![line] }),
        }
    }
    days
}

pub(super) async fn commits(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let conditions = Conditions::of(&visit);
    let known = conditions.clone();
    let token = visit.feed_token();
    let read = move |app: &App, viewer: &Viewer| {
        let (found, is_feed) = find(app, viewer, token.as_deref(), &place)?;
        let Located { at, name, .. } = &found.located;
        let tag = match is_feed {
            true => None,
            false => known.tag(app, viewer, &found.project, name, at.commit()),
        };
        // Pipelines change the page, and are known once its commits are.
        let is_known = known.has(tag.as_ref()) && !shows_pipelines(&found.project);
        Ok((found, is_feed, tag, is_known))
    };
    let (viewer, (Place { project, located }, is_feed, tag, is_known)) =
        run_at(&visit, read).await?;
    if is_known {
        return Ok(conditions::unchanged(tag));
    }
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, path } = located;
    let named = name.clone();
    let base = format!("/{}", project.path());
    let here = format!("{base}/commits/{}", address::path(joined(&name, &path)));
    let given = |name: &str| visit.search(name).unwrap_or_default();
    let (search, author) = (given("search"), given("author"));
    let (skip, limit) = if is_feed { (0, feed::ENTRIES) } else { (first(&visit), COMMITS + 1) };
    let is_costly = !path.is_empty() || !search.is_empty() || !author.is_empty();
    let (texts, of_path) = ((search.clone(), author.clone()), path.clone());
    let wanted = Wanted { path: of_path, search: texts.0, author: texts.1, skip, limit };
    let commit = at.commit();
    let (app, of_project) = (visit.shared_app(), project.clone());
    let walk = move || {
        let found = wanted.list(&at)?;
        let shown = found.iter().take(if is_feed { 0 } else { COMMITS });
        let statuses = project::statuses(&app, &of_project, shown)?;
        Ok::<_, Error>((found, statuses))
    };
    let (mut found, statuses) = run(&visit, &viewer, is_costly, walk).await?;
    let place = if path.is_empty() { name } else { format!("{path} at {name}") };
    let place = visible::name(&place);
    if is_feed {
        return send_feed(&visit, &base, here, &place, &found);
    }
    let has_more = found.len() > COMMITS;
    found.truncate(COMMITS);
    let tag = match tag {
        Some(_) if shows_pipelines(&project) => {
            let states = found.iter().map(|commit| statuses.get(&commit.id));
            let states = format!("{:?}", states.collect::<Vec<_>>());
            let at = (named.as_str(), commit);
            conditions.tag_with(visit.app(), &viewer, &project, at, states.as_bytes())
        }
        tag => tag,
    };
    if conditions.has(tag.as_ref()) {
        return Ok(conditions::unchanged(tag));
    }
    let mut frame = Frame::of_project(&visit, &viewer, "Commits", frame_of(&project, "Commits"));
    let feed = format!("{here}{FEED}");
    frame.feed = Some(feed.clone());
    let page = Commits {
        place,
        search,
        author,
        feed,
        days: by_day(&found, &frame, &statuses),
        pager: Pager::uncounted(&visit, has_more),
        base,
        frame,
    };
    Ok(conditions::tagged(render::page(&visit, &viewer, &page)?, tag))
}

/// Whether the list shows the statuses of pipelines.
pub(super) fn shows_pipelines(project: &ProjectPage) -> bool {
    project.may_build(CiAbility::ReadPipelines)
}

/// The number of commits before the page.
fn first(visit: &Visit) -> u64 {
    let page = visit.page();
    let number = page.offset() / page.limit().unwrap_or(1);
    number.saturating_mul(COMMITS as u64)
}

/// Finds the place, and whether its feed is meant: `.atom` belongs to the ref if there is such a ref. A token opens
/// only the feed.
fn find(
    app: &App,
    viewer: &Viewer,
    token: Option<&str>,
    place: &Address,
) -> Result<(Place, bool), Error> {
    let Some(rest) = place.rest.strip_suffix(FEED) else {
        return Ok((find_place(app, viewer.actor(), place)?, false));
    };
    match find_place(app, viewer.actor(), place) {
        Ok(found) if found.located.name.ends_with(FEED) => return Ok((found, false)),
        Ok(_) | Err(Error::NotFound(_)) => (),
        // The user of the token may see what the visitor may not.
        Err(_) if token.is_some() => (),
        Err(error) => return Err(error),
    }
    let place = Address { rest: rest.to_owned(), ..place.clone() };
    Ok((find_place(app, feed_reader(app, viewer, token)?, &place)?, true))
}

/// The commits that a page lists.
struct Wanted {
    path: String,
    search: String,
    author: String,
    skip: u64,
    limit: usize,
}

impl Wanted {
    fn list(self, at: &hexforge_application::repository::Revision) -> Result<Vec<Commit>, Error> {
        let path = (!self.path.is_empty()).then_some(self.path);
        if self.search.is_empty() && self.author.is_empty() {
            let (skip, limit) = (self.skip, self.limit);
            return commits::list(
                at,
                CommitFilter { path, skip, limit, ..CommitFilter::default() },
            );
        }
        let filter = CommitFilter { path, limit: SEARCHED, ..CommitFilter::default() };
        let (text, author) = (self.search.to_lowercase(), self.author.to_lowercase());
        let is_by = |commit: &Commit| {
            let person = &commit.author;
            [&person.name, &person.email].iter().any(|name| name.to_lowercase().contains(&author))
        };
        let found = commits::list(at, filter)?.into_iter();
        let found =
            found.filter(|commit| commit.message.to_lowercase().contains(&text) && is_by(commit));
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        Ok(found.skip(skip).take(self.limit).collect())
    }
}

/// Runs a walk in its lane. The history of a path reads many trees, and a search reads many commits.
async fn run<T: Send + 'static>(
    visit: &Visit,
    viewer: &Viewer,
    is_costly: bool,
    walk: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PageResult<T> {
    let pool: fn(&Limiter) -> &PermitPool = |limiter| &limiter.comparisons;
    match is_costly {
        true => visit.run_costly(pool, viewer, walk).await,
        false => visit.run_shared(pool, viewer, walk).await,
    }
}

fn send_feed(
    visit: &Visit,
    base: &str,
    page: String,
    place: &str,
    commits: &[Commit],
) -> PageResult<HttpResponse> {
    let title = format!("Commits of {} at {place}", base.trim_start_matches('/'));
    let entries = commits.iter().map(|commit| FeedEntry {
        page: format!("{base}/commit/{}", commit.id),
        title: commit.title(),
        author: commit.author.name.clone(),
        updated: commit.committer.at.with_timezone(&chrono::Utc),
        summary: commit.message.trim().chars().take(MAX_SUMMARY).collect(),
    });
    feed::send(visit, Feed { title, page, entries: entries.collect() })
}

/// The longest message in a feed, in characters.
const MAX_SUMMARY: usize = 4_000;
