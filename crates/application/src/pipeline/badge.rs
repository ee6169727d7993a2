//! The badges of a branch or tag: the state of its newest pipeline, and its test coverage.

use hexforge_domain::ci::status::Status;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::prepare::Target;
use crate::app::App;
use crate::error::Error;
use crate::project::page::{self, ProjectPage};
use crate::repository::open;

/// What the badges show. What is unknown, missing or hidden is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Badge {
    /// The status of the newest pipeline of the commit.
    pub status: Option<Status>,
    /// The mean coverage of its builds, in percent.
    pub coverage: Option<f64>,
}

/// Returns the badges of a branch or tag. A hidden project looks like one without pipelines.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, reference: &str) -> Result<Badge, Error> {
    match page::get(app, actor, named) {
        Ok(project) if project.shows_badges() => of_project(app, &project, reference),
        Err(Error::Store(error)) => Err(error.into()),
        Ok(_) | Err(_) => Ok(Badge::default()),
    }
}

fn of_project(app: &App, project: &ProjectPage, reference: &str) -> Result<Badge, Error> {
    let project = project.placed.project.id;
    let repository = open::open_for(app, project, Caller::BACKGROUND)?;
    let target = Target::find(repository.as_ref(), reference)?;
    let Some(target) = target else { return Ok(Badge::default()) };
    app.store.read(|tx| {
        let pipelines = tx.pipelines().of_commit(project, target.commit)?;
        let of_ref = pipelines.into_iter().find(|pipeline| pipeline.reference == target.reference);
        let Some(newest) = of_ref else { return Ok(Badge::default()) };
        let builds = tx.builds().of_pipeline(newest.id)?;
        let latest = builds.iter().filter(|build| !build.superseded);
        let measured: Vec<f64> = latest.filter_map(|build| build.coverage).collect();
        let mean = measured.iter().sum::<f64>() / measured.len() as f64;
        let coverage = (!measured.is_empty()).then_some(mean);
        Ok(Badge { status: Some(newest.status), coverage })
    })
}
