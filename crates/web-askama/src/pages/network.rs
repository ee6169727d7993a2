//! The graph of commits.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::limiter::Limiter;
use hexforge_application::repository::commits::{self, CommitFilter};
use hexforge_application::repository::ref_path::Located;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::limiter::PermitPool;

use super::conditions::{self, Conditions};
use super::file::{Address, Place, find_place, run_at};
use super::project::{CommitLine, frame_of, missing, other_spelling};
use crate::error::{PageError, PageResult};
use crate::frame::{Frame, Pager};
use crate::render;
use crate::visible;
use crate::visit::Visit;

/// Commits on a page.
const COMMITS: usize = 100;

/// The distance of commits and of lines in the picture.
const STEP: usize = 24;
const COLUMN: usize = 16;

/// The most lines beside each other. Further ones share the last one.
const MAX_COLUMNS: usize = 20;

/// A commit in the picture.
struct Dot {
    x: usize,
    y: usize,
    title: String,
}

/// A line from a commit to a parent.
struct Edge {
    path: String,
}

#[derive(Default)]
struct Graph {
    dots: Vec<Dot>,
    edges: Vec<Edge>,
    width: usize,
    height: usize,
}

#[derive(Template)]
#[template(path = "network.html")]
struct Network {
    frame: Frame,
    base: String,
    revision: String,
    graph: Graph,
    commits: Vec<CommitLine>,
    pager: Pager,
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let page = visit.page();
    let skip = (page.offset() / page.limit().unwrap_or(1)).saturating_mul(COMMITS as u64);
    let conditions = Conditions::of(&visit);
    let (viewer, (Place { project, located }, tag, is_known)) =
        run_at(&visit, move |app, viewer| {
            let place = find_place(app, viewer.actor(), &place)?;
            let Located { at, name, .. } = &place.located;
            let tag = conditions.tag(app, viewer, &place.project, name, at.commit());
            let is_known = conditions.has(tag.as_ref());
            Ok((place, tag, is_known))
        })
        .await?;
    if is_known {
        return Ok(conditions::unchanged(tag));
    }
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, path } = located;
    if !path.is_empty() {
        return Err(PageError::of(missing(), viewer, false));
    }
    let filter = CommitFilter { skip, limit: COMMITS + 1, ..CommitFilter::default() };
    let pool: fn(&Limiter) -> &PermitPool = |limiter| &limiter.comparisons;
    let mut found = visit.run_costly(pool, &viewer, move || commits::list(&at, filter)).await?;
    let has_more = found.len() > COMMITS;
    found.truncate(COMMITS);
    let frame = Frame::of_project(&visit, &viewer, "Network", frame_of(&project, "Commits"));
    let page = Network {
        base: format!("/{}", project.path()),
        revision: visible::name(&name),
        graph: Graph::new(&found),
        commits: found.iter().map(|commit| CommitLine::new(commit, &frame)).collect(),
        pager: Pager::uncounted(&visit, has_more),
        frame,
    };
    Ok(conditions::tagged(render::page(&visit, &viewer, &page)?, tag))
}

impl Graph {
    /// Draws commits from the newest to the oldest. Each line of descent has a column; a commit takes the first column
    /// that waits for it.
    fn new(commits: &[Commit]) -> Self {
        let mut waiting: Vec<Option<ObjectId>> = Vec::new();
        let mut graph = Graph { height: commits.len() * STEP, ..Graph::default() };
        for (row, commit) in commits.iter().enumerate() {
            let column = column_of(&mut waiting, commit.id);
            // Other lines that lead to this commit end here.
            for (at, other) in waiting.iter_mut().enumerate() {
                if at != column && *other == Some(commit.id) {
                    *other = None;
                }
            }
            let y = row * STEP + STEP / 2;
            graph.dots.push(Dot { x: x_of(column), y, title: visible::line(&commit.title()) });
            waiting[column] = None;
            for (number, parent) in commit.parents.iter().enumerate() {
                let target = match waiting.iter().position(|id| *id == Some(*parent)) {
                    Some(known) => known,
                    None if number == 0 => {
                        waiting[column] = Some(*parent);
                        column
                    }
                    None => column_of(&mut waiting, *parent),
                };
                waiting[target] = Some(*parent);
                let end = commits.iter().position(|other| other.id == *parent);
                let end = end.map_or(graph.height, |row| row * STEP + STEP / 2);
                graph.edges.push(Edge { path: line((x_of(column), y), (x_of(target), end)) });
            }
            while waiting.last() == Some(&None) {
                waiting.pop();
            }
            let used = waiting.len().max(column + 1).min(MAX_COLUMNS);
            graph.width = graph.width.max(used * COLUMN);
        }
        graph
    }
}

/// The column that waits for a commit, or a free one.
fn column_of(waiting: &mut Vec<Option<ObjectId>>, id: ObjectId) -> usize {
    let found = waiting.iter().position(|other| *other == Some(id));
    let free = || waiting.iter().position(Option::is_none);
    let column = found.or_else(free).unwrap_or(waiting.len());
    if column == waiting.len() {
        waiting.push(None);
    }
    waiting[column] = Some(id);
    column
}

fn x_of(column: usize) -> usize {
    column.min(MAX_COLUMNS - 1) * COLUMN + COLUMN / 2
}

/// A line that first changes the column and then leads down.
fn line((x, y): (usize, usize), (to_x, to_y): (usize, usize)) -> String {
    let bend = (y + STEP).min(to_y);
    format!("M{x} {y}L{to_x} {bend}L{to_x} {to_y}")
}

#[cfg(test)]
mod tests {
    use hexforge_domain::commit::Signature;

    use super::*;

    fn commit(id: u8, parents: &[u8]) -> Commit {
        let signature =
            Signature { name: String::new(), email: String::new(), at: Signature::time(0, 0) };
        let id_of = |id: u8| ObjectId::from_bytes([id; 20]);
        Commit {
            id: id_of(id),
            parents: parents.iter().map(|id| id_of(*id)).collect(),
            message: id.to_string(),
            author: signature.clone(),
            committer: signature,
            signed: None,
        }
    }

    #[test]
    fn a_merged_branch_has_a_column_of_its_own() {
        let commits =
            [commit(5, &[4, 3]), commit(4, &[2]), commit(3, &[2]), commit(2, &[1]), commit(1, &[])];
        let graph = Graph::new(&commits);
        let columns: Vec<usize> = graph.dots.iter().map(|dot| dot.x / COLUMN).collect();
        assert_eq!(columns, [0, 0, 1, 0, 0]);
        assert_eq!(graph.edges.len(), 5);
        assert_eq!((graph.width, graph.height), (2 * COLUMN, 5 * STEP));
    }

    #[test]
    fn many_lines_stay_in_the_picture() {
        let parents: Vec<u8> = (2..100).collect();
        let graph = Graph::new(&[commit(1, &parents)]);
        assert_eq!(graph.width, MAX_COLUMNS * COLUMN);
        assert!(Graph::new(&[]).dots.is_empty());
    }
}
