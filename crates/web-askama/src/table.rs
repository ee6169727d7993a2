//! The addresses of all pages, in one table.

use std::fmt::Write as _;
use std::future::Future;
use std::time::Duration;

use actix_web::http::Method;
use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::LocalBoxFuture;
use hexforge_http_edge::route::Pattern as LoggedPattern;
use percent_encoding::percent_decode;
use tokio::time::timeout;

use crate::error::{PageError, PageResult};
use crate::forms::{self, Guard};
use crate::pages::{self, service};
use crate::render;
use crate::visit::Visit;

/// Timeout for the body of a form.
const TIME_FOR_BODY: Duration = Duration::from_secs(60);

/// The size limit of a form that everybody may send, in bytes.
const SMALL_FORM: usize = 8 << 10;

type Handler =
    Box<dyn Fn(Visit) -> LocalBoxFuture<'static, PageResult<HttpResponse>> + Send + Sync>;

/// All pages, in the order in which their addresses are compared.
pub(crate) struct Pages(Vec<Route>);

/// One page or form: its address and its handler.
struct Route {
    method: Method,
    pattern: Pattern,
    guard: Guard,
    handler: Handler,
}

impl Pages {
    /// Declares all pages.
    pub(crate) fn new() -> Self {
        let mut pages = Self(Vec::new());
        pages::declare(&mut pages);
        pages
    }

    /// Declares a page.
    pub(crate) fn get<F>(&mut self, pattern: &'static str, handler: fn(Visit) -> F)
    where
        F: Future<Output = PageResult<HttpResponse>> + 'static,
    {
        self.add(Method::GET, pattern, Guard::Session, handler);
    }

    /// Declares the target of a form of a signed-in user.
    pub(crate) fn post<F>(&mut self, pattern: &'static str, handler: fn(Visit) -> F)
    where
        F: Future<Output = PageResult<HttpResponse>> + 'static,
    {
        self.add(Method::POST, pattern, Guard::Session, handler);
    }

    /// Declares the target of a form with another guard against forgery.
    pub(crate) fn post_guarded<F>(
        &mut self,
        guard: Guard,
        pattern: &'static str,
        handler: fn(Visit) -> F,
    ) where
        F: Future<Output = PageResult<HttpResponse>> + 'static,
    {
        self.add(Method::POST, pattern, guard, handler);
    }

    fn add<F>(
        &mut self,
        method: Method,
        pattern: &'static str,
        guard: Guard,
        handler: fn(Visit) -> F,
    ) where
        F: Future<Output = PageResult<HttpResponse>> + 'static,
    {
        let handler: Handler = Box::new(move |visit| Box::pin(handler(visit)));
        self.0.push(Route { method, pattern: Pattern::new(pattern), guard, handler });
    }

    fn find(&self, method: &Method, segments: &[Vec<u8>]) -> Option<(&Route, InPath)> {
        let of_method = self.0.iter().filter(|route| route.method == *method);
        of_method.filter_map(|route| Some((route, route.pattern.matched(segments)?))).next()
    }
}

/// The list of all pages, in the format of `tests/pages.txt`.
pub fn list() -> String {
    let mut list = String::new();
    for Route { method, pattern, .. } in Pages::new().0 {
        // Writing to a string does not fail.
        let _ = writeln!(list, "{method} {}", pattern.text);
    }
    list
}

/// The values of the parameters in an address, decoded. A rest of several segments keeps its slashes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InPath(Vec<(&'static str, Vec<u8>)>);

impl InPath {
    /// The value of a parameter.
    pub(crate) fn get(&self, name: &str) -> &[u8] {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or(&[], |(_, value)| value.as_slice())
    }
}

/// The pattern of an address: `/{namespace}/{project}/tree/{path...}`, `/{username}.atom`.
struct Pattern {
    text: &'static str,
    segments: Vec<Segment>,
}

enum Segment {
    Literal(&'static [u8]),
    /// A parameter with a fixed ending.
    Parameter {
        name: &'static str,
        ending: &'static [u8],
    },
    /// All segments that follow, at least one.
    Rest(&'static str),
}

impl Pattern {
    fn new(text: &'static str) -> Self {
        let segments = text.trim_matches('/').split('/').filter(|segment| !segment.is_empty());
        let segments = segments.map(|segment| match segment.strip_prefix('{') {
            None => Segment::Literal(segment.as_bytes()),
            Some(rest) => match rest.split_once('}') {
                Some((name, ending)) => match name.strip_suffix("...") {
                    Some(name) => Segment::Rest(name),
                    None => Segment::Parameter { name, ending: ending.as_bytes() },
                },
                None => Segment::Literal(segment.as_bytes()),
            },
        });
        Self { text, segments: segments.collect() }
    }

    fn matched(&self, segments: &[Vec<u8>]) -> Option<InPath> {
        let mut found = Vec::new();
        let mut left = segments.iter();
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => {
                    left.next().filter(|given| given.as_slice() == *text)?;
                }
                Segment::Parameter { name, ending } => {
                    let value = left.next()?.strip_suffix(*ending)?;
                    if value.is_empty() {
                        return None;
                    }
                    found.push((*name, value.to_vec()));
                }
                Segment::Rest(name) => {
                    let rest: Vec<&[u8]> = left.by_ref().map(Vec::as_slice).collect();
                    if rest.is_empty() {
                        return None;
                    }
                    found.push((*name, rest.join(&b'/')));
                }
            }
        }
        left.next().is_none().then_some(InPath(found))
    }
}

/// Serves a page.
pub(crate) async fn dispatch(
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, actix_web::Error> {
    let mut response = match serve(&request, payload).await {
        Ok(response) => response,
        Err((visit, error)) => error.into_page(visit.as_ref()),
    };
    render::complete(&mut response);
    render::compressed(request.headers(), response).await
}

async fn serve(
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, (Option<Visit>, PageError)> {
    let Some(pages) = request.app_data::<web::Data<Pages>>().cloned() else {
        return Err((None, PageError::internal("the table of pages is missing")));
    };
    let path = request.uri().path().to_owned();
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let segments: Vec<Vec<u8>> =
        segments.map(|segment| percent_decode(segment.as_bytes()).collect()).collect();
    if let Some(answer) = service::go_get(request, &segments) {
        return Ok(answer);
    }
    // No name has a NUL character, and databases refuse it.
    let is_possible = !segments.iter().any(|segment| segment.contains(&0));
    let found = is_possible.then(|| pages.find(request.method(), &segments)).flatten();
    if let Some((route, _)) = &found {
        LoggedPattern(route.pattern.text).put_on(request);
    }
    let (route, in_path) = match found {
        Some((route, in_path)) => (Some(route), in_path),
        None => (None, InPath::default()),
    };
    let mut visit = Visit::new(request, in_path).map_err(|error| (None, error))?;
    let Some(route) = route else {
        let error = visit.not_found().await;
        return Err((Some(visit), error));
    };
    if let Some(redirect) = visit.without_trailing_slash() {
        return Ok(redirect);
    }
    if route.method == Method::POST {
        let max = if route.guard == Guard::Headers { SMALL_FORM } else { visit.max_body() };
        let form = forms::read(payload, max);
        let form = match timeout(TIME_FOR_BODY, form).await {
            Ok(Ok(form)) => form,
            Ok(Err(error)) => return Err((Some(visit), error)),
            Err(_) => return Err((Some(visit), PageError::too_slow())),
        };
        let checked = forms::check(&visit, &form, route.guard);
        visit.set_form(form);
        if let Err(error) = checked {
            let error = if error.is_ended() { visit.ended().await } else { error };
            return Err((Some(visit), error));
        }
    }
    let again = visit.clone();
    (route.handler)(visit).await.map_err(|error| (Some(again), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &'static str, path: &str) -> Option<String> {
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        let segments: Vec<_> = segments.map(|segment| segment.as_bytes().to_vec()).collect();
        let InPath(found) = Pattern::new(pattern).matched(&segments)?;
        let shown =
            |(name, value): &(&str, Vec<u8>)| format!("{name}={}", String::from_utf8_lossy(value));
        Some(found.iter().map(shown).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn addresses_match_patterns() {
        for (pattern, path, found) in [
            ("/", "/", Some("")),
            ("/", "/x", None),
            ("/explore", "/explore", Some("")),
            ("/{a}/{b}", "/x/y", Some("a=x b=y")),
            ("/{a}/{b}", "/x", None),
            ("/{a}/{b}", "/x/y/z", None),
            ("/{a}/{b}/tree/{path...}", "/x/y/tree/m/n", Some("a=x b=y path=m/n")),
            ("/{a}/{b}/tree/{path...}", "/x/y/tree", None),
            ("/{a}.atom", "/x.atom", Some("a=x")),
            ("/{a}.atom", "/.atom", None),
            ("/{a}.atom", "/x", None),
        ] {
            assert_eq!(matched(pattern, path).as_deref(), found, "{pattern} {path}");
        }
    }

    #[test]
    fn every_address_is_declared_once() {
        let list = list();
        let mut lines: Vec<&str> = list.lines().collect();
        lines.sort_unstable();
        let count = lines.len();
        lines.dedup();
        assert_eq!(lines.len(), count, "{list}");
    }
}
