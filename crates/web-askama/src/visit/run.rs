//! The only bridge from async handlers to the synchronous use cases.

use std::sync::Arc;
use std::time::Duration;

use hexforge_application::app::App;
use hexforge_application::broadcast;
use hexforge_application::browser_session::{self, SignedIn};
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_application::retry;
use hexforge_domain::limiter::{Caller, Permit, PermitPool};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::Secret;
use hexforge_http_edge::work::{Outcome, erase, restore};
use hexforge_http_edge::{Edge, permit, work};
use tokio::time::timeout;

use super::{Viewer, Visit};
use crate::error::{PageError, PageResult};
use crate::faults::Faults;

/// The time that a visitor who is not signed in waits for a permit for a costly page.
const STRANGER_WAIT: Duration = Duration::from_secs(2);

/// A use case of a page. The type of its result is erased, so that [`Visit::run`] is compiled once for all pages.
type UseCase = Box<dyn Fn(&App, &Viewer) -> Result<Outcome, Error> + Send>;

impl Visit {
    /// Signs the visitor in by the session, if there is one, and runs one use case for a page that everybody may ask
    /// for. What the visitor may not see is not found. The reads of one call share a snapshot, unless the request is a
    /// form. Work of [`run_long`](Self::run_long), [`run_shared`](Self::run_shared) and
    /// [`run_costly`](Self::run_costly) reads the current state.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, &Viewer) -> Result<T, Error> + Send + 'static,
    ) -> PageResult<(Viewer, T)> {
        let use_case = move |app: &App, viewer: &Viewer| use_case(app, viewer).map(erase);
        let (viewer, outcome) = self.run_erased(Box::new(use_case)).await?;
        Ok((viewer, restore(outcome)))
    }

    async fn run_erased(&self, use_case: UseCase) -> PageResult<(Viewer, Outcome)> {
        let limiter = &self.0.edge.limiter;
        let pool = if self.changes_things() { &limiter.writes } else { &limiter.reads };
        let permit = permit::wait(pool, self.caller()).await.map_err(|error| self.failed(error))?;
        let (app, session) = (Arc::clone(&self.0.edge.app), self.0.session.clone());
        let changes_things = self.changes_things();
        let work = move || {
            // A page reads one snapshot. A form decides on the newest state, so it has none.
            let snapshot = (!changes_things).then(|| app.in_snapshot());
            let app = snapshot.as_ref().unwrap_or(&app);
            if let Err(error) = broadcast::refresh(app) {
                return (Viewer::default(), Err(error), use_case);
            }
            let viewer = match identify(app, session.as_ref()) {
                Ok(viewer) => viewer,
                Err(error) => return (Viewer::default(), Err(error), use_case),
            };
            let outcome = retry::while_busy(retry::TRIES, is_busy, || use_case(app, &viewer));
            (viewer, outcome, use_case)
        };
        let done = work::run_short(limiter, permit, work).await;
        let (viewer, outcome, use_case) = done.map_err(|error| self.failed(error))?;
        self.remember(&viewer);
        let outcome = match outcome {
            Err(error) if is_unfinished(&error) => {
                let (app, viewer) = (Arc::clone(&self.0.edge.app), viewer.clone());
                let attempt = move || use_case(&app, &viewer);
                work::run_search(limiter, self.address(), is_unfinished, attempt).await
            }
            outcome => outcome,
        };
        match outcome {
            Ok(value) => Ok((viewer, value)),
            // To a stranger, a hidden thing and a missing one look the same.
            Err(Error::Unauthenticated) => Err(PageError::not_found(viewer)),
            Err(error) => Err(PageError::of(error, viewer, self.changes_things())),
        }
    }

    /// Like [`run`](Self::run), for pages of signed-in users. Others are sent to the sign-in.
    pub(crate) async fn run_signed_in<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, &SignedIn) -> Result<T, Error> + Send + 'static,
    ) -> PageResult<(Viewer, T)> {
        let use_case = move |app: &App, viewer: &Viewer| match viewer.signed_in() {
            Some(signed_in) => use_case(app, signed_in).map(Some),
            None => Ok(None),
        };
        match self.run(use_case).await? {
            (viewer, Some(value)) => Ok((viewer, value)),
            (viewer, None) if self.changes_things() => Err(PageError::ended(viewer)),
            (_, None) => Err(PageError::sign_in()),
        }
    }

    /// Like [`run_signed_in`](Self::run_signed_in), for a form: what is wrong with the fields comes back, so that the
    /// page can show it beside them.
    pub(crate) async fn submit<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, &SignedIn) -> Result<T, Error> + Send + 'static,
    ) -> PageResult<(Viewer, Result<T, Faults>)> {
        let use_case = move |app: &App, signed_in: &SignedIn| match use_case(app, signed_in) {
            Ok(value) => Ok(Ok(value)),
            Err(error) => Faults::of(error).map(Err),
        };
        self.run_signed_in(use_case).await
    }

    /// Runs the check of a password. It is slow by design, so it has its own permits and threads.
    pub(crate) async fn run_sign_in<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App) -> Result<T, Error> + Send + 'static,
    ) -> PageResult<Result<T, Error>> {
        let limiter = &self.0.edge.limiter;
        let stranger = Caller::anonymous(self.address());
        let permit = permit::wait(&limiter.sign_ins, stranger).await;
        let permit = permit.map_err(|error| self.failed(error))?;
        let app = Arc::clone(&self.0.edge.app);
        let work = move || retry::while_busy(retry::TRIES, is_busy, || use_case(&app));
        work::run_sign_in(limiter, permit, work).await.map_err(|error| self.failed(error))
    }

    /// Runs long work with a permit of its pool.
    pub(crate) async fn run_long<T: Send + 'static>(
        &self,
        pool: fn(&Limiter) -> &PermitPool,
        viewer: &Viewer,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PageResult<T> {
        let permit = self.permit(pool, viewer).await?;
        let done = work::run_long(&self.0.edge.limiter, permit, work).await;
        done.and_then(|outcome| outcome)
            .map_err(|error| PageError::of(error, viewer.clone(), self.changes_things()))
    }

    /// Runs the costly work of a page. Visitors who are not signed in share few permits for such pages, and the
    /// operator may close the pages to them.
    pub(crate) async fn run_costly<T: Send + 'static>(
        &self,
        pool: fn(&Limiter) -> &PermitPool,
        viewer: &Viewer,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PageResult<T> {
        let is_stranger = viewer.signed_in().is_none();
        if is_stranger && !self.limiter().are_costly_pages_open {
            return Err(PageError::sign_in());
        }
        self.run_shared(pool, viewer, work).await
    }

    /// Like [`run_costly`](Self::run_costly), for pages that are rarely costly. They are never closed.
    pub(crate) async fn run_shared<T: Send + 'static>(
        &self,
        pool: fn(&Limiter) -> &PermitPool,
        viewer: &Viewer,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PageResult<T> {
        let place = match viewer.signed_in() {
            Some(_) => None,
            None => Some(self.stranger_permit().await?),
        };
        // The work keeps the permit, also if the visitor goes away.
        let work = move || {
            let _place = place;
            work()
        };
        self.run_long(pool, viewer, work).await
    }

    async fn stranger_permit(&self) -> PageResult<Permit> {
        let pool = &self.limiter().stranger_pages;
        let waiting = pool.wait_for_permit(Caller::anonymous(self.address()));
        let permit = timeout(STRANGER_WAIT, waiting).await.ok().and_then(Result::ok);
        permit.ok_or_else(PageError::busy_for_strangers)
    }

    /// Waits for a permit for long work.
    pub(crate) async fn permit(
        &self,
        pool: fn(&Limiter) -> &PermitPool,
        viewer: &Viewer,
    ) -> PageResult<Permit> {
        let caller = Caller::new(viewer.actor(), self.address());
        let permit = permit::wait(pool(&self.0.edge.limiter), caller).await;
        permit.map_err(|error| PageError::of(error, viewer.clone(), false))
    }

    /// The error of an address that no page has.
    pub(crate) async fn not_found(&self) -> PageError {
        match self.run(|_, _| Ok(())).await {
            Ok((viewer, ())) => PageError::not_found(viewer),
            Err(error) => error,
        }
    }

    /// The error of a form without a valid token. The visitor may have signed in again since the form was shown.
    pub(crate) async fn ended(&self) -> PageError {
        match self.run(|_, _| Ok(())).await {
            Ok((viewer, ())) => PageError::ended(viewer),
            Err(error) => error,
        }
    }

    fn failed(&self, error: Error) -> PageError {
        PageError::of(error, Viewer::default(), self.changes_things())
    }

    fn caller(&self) -> Caller {
        let Edge { app, known_callers, .. } = &**self.0.edge;
        let hash = self.0.session.as_ref().map(|token| app.secrets.digest(token.reveal()));
        let user = hash.and_then(|hash| known_callers.user_of(&hash));
        Caller::of_user(user, self.address())
    }

    /// Stores which user the session signed in, so that the next request takes permits of that user.
    fn remember(&self, viewer: &Viewer) {
        let Edge { app, known_callers, .. } = &**self.0.edge;
        let Some(token) = &self.0.session else { return };
        let hash = app.secrets.digest(token.reveal());
        match viewer.signed_in() {
            Some(signed_in) => known_callers.remember(hash, signed_in.user.id),
            None => known_callers.forget(&hash),
        }
    }
}

fn identify(app: &App, session: Option<&Secret>) -> Result<Viewer, Error> {
    let found = session.map(|token| browser_session::identify(app, token)).transpose()?;
    Ok(Viewer(found.flatten().map(Arc::new)))
}

fn is_unfinished(error: &Error) -> bool {
    matches!(error, Error::Git(GitError::Unfinished))
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Busy))
}
