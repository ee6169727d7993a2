//! The commits of a branch, or of a file or folder.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_application::repository::commits::{self, CommitFilter};
use hexforge_application::repository::ref_path::Located;
use hexforge_domain::commit::Commit;
use hexforge_domain::limiter::PermitPool;
use hexforge_domain::policy::Actor;

use super::file::{Address, Place, find_place, joined};
use super::project::{CommitLine, frame_of, other_spelling};
use crate::address;
use crate::error::PageResult;
use crate::feed::{self, Feed, FeedEntry};
use crate::frame::{Frame, Pager};
use crate::render;
use crate::visit::{Viewer, Visit};

/// Commits on a page.
const COMMITS: usize = 40;

/// The commits that are searched for a text. Those after them are not found.
const SEARCHED: usize = 5_000;

/// The ending of the address of a feed.
const FEED: &str = ".atom";

/// The longest text that is searched for.
const MAX_SEARCH: usize = 255;

#[derive(Template)]
#[template(path = "commits.html")]
struct Commits {
    frame: Frame,
    base: String,
    place: String,
    search: String,
    feed: String,
    commits: Vec<CommitLine>,
    pager: Pager,
}

pub(super) async fn commits(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let (viewer, (Place { project, located }, is_feed)) =
        visit.run(move |app, viewer| find(app, viewer.actor(), &place)).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, path } = located;
    let base = format!("/{}", project.path());
    let here = format!("{base}/commits/{}", address::path(joined(&name, &path)));
    let search: String =
        visit.query("search").unwrap_or_default().chars().take(MAX_SEARCH).collect();
    let (skip, limit) = if is_feed { (0, feed::ENTRIES) } else { (first(&visit), COMMITS + 1) };
    let wanted = Wanted { path: path.clone(), search: search.clone(), skip, limit };
    let is_costly = !path.is_empty() || !search.is_empty();
    let walk = move || wanted.list(&at);
    let mut found = run(&visit, &viewer, is_costly, walk).await?;
    let place = if path.is_empty() { name } else { format!("{path} at {name}") };
    if is_feed {
        return send_feed(&visit, &base, here, &place, &found);
    }
    let has_more = found.len() > COMMITS;
    found.truncate(COMMITS);
    let mut frame = Frame::of_project(&visit, &viewer, "Commits", frame_of(&project, "Commits"));
    let feed = format!("{here}{FEED}");
    frame.feed = Some(feed.clone());
    let page = Commits {
        place,
        search,
        feed,
        commits: found.iter().map(|commit| CommitLine::new(commit, &frame)).collect(),
        pager: Pager::uncounted(&visit, has_more),
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// The number of commits before the page.
fn first(visit: &Visit) -> u64 {
    let page = visit.page();
    let number = page.offset() / page.limit().unwrap_or(1);
    number.saturating_mul(COMMITS as u64)
}

/// Finds the place, and whether its feed is meant: `.atom` belongs to the ref if there is such a ref.
fn find(app: &App, actor: Actor, place: &Address) -> Result<(Place, bool), Error> {
    let Some(rest) = place.rest.strip_suffix(FEED) else {
        return Ok((find_place(app, actor, place)?, false));
    };
    match find_place(app, actor, place) {
        Ok(found) if found.located.name.ends_with(FEED) => Ok((found, false)),
        Ok(_) | Err(Error::NotFound(_)) => {
            let place = Address { rest: rest.to_owned(), ..place.clone() };
            Ok((find_place(app, actor, &place)?, true))
        }
        Err(error) => Err(error),
    }
}

/// The commits that a page lists.
struct Wanted {
    path: String,
    search: String,
    skip: u64,
    limit: usize,
}

impl Wanted {
    fn list(self, at: &hexforge_application::repository::Revision) -> Result<Vec<Commit>, Error> {
        let path = (!self.path.is_empty()).then_some(self.path);
        if self.search.is_empty() {
            let (skip, limit) = (self.skip, self.limit);
            return commits::list(
                at,
                CommitFilter { path, skip, limit, ..CommitFilter::default() },
            );
        }
        let filter = CommitFilter { path, limit: SEARCHED, ..CommitFilter::default() };
        let text = self.search.to_lowercase();
        let found = commits::list(at, filter)?.into_iter();
        let found = found.filter(|commit| commit.message.to_lowercase().contains(&text));
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
