//! Groups the routes by the beginnings of their paths, so that a request is compared with a few of some two hundred.

use std::cmp::Reverse;
use std::collections::HashMap;

use actix_web::{Route, Scope, web};

use super::no_route;

/// The routes of the API, in the order in which they are compared with a request.
#[derive(Default)]
pub struct Table(Vec<(String, Route)>);

impl Table {
    /// Adds a route.
    pub fn route(&mut self, path: &str, route: Route) {
        self.0.push((path.to_owned(), route));
    }

    /// Returns a scope with all routes under one prefix.
    pub fn under(self, prefix: &str) -> Scope {
        nested_scope(prefix, self.0, first_segment)
    }
}

/// Returns a scope in which routes whose paths begin alike form a nested scope. Routes without such a beginning come
/// first. Then come the scopes, the one with the most routes first, because it gets the most requests.
fn nested_scope(
    prefix: &str,
    routes: Vec<(String, Route)>,
    beginning: fn(&str) -> Option<usize>,
) -> Scope {
    let mut scope = web::scope(prefix).default_service(web::to(no_route));
    let mut groups: Vec<(String, Vec<(String, Route)>)> = Vec::new();
    let mut group_of_shape: HashMap<String, usize> = HashMap::new();
    for (path, route) in routes {
        let Some(length) = beginning(&path) else {
            scope = scope.route(&path, route);
            continue;
        };
        let (begins, rest) = (path[..length].to_owned(), path[length..].to_owned());
        let at = *group_of_shape.entry(shape(&begins)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, group)) => group.push((rest, route)),
            None => groups.push((begins, vec![(rest, route)])),
        }
    }
    groups.sort_by_key(|(_, group)| Reverse(group.len()));
    for (prefix, group) in groups {
        scope = scope.service(nested_scope(&prefix, group, parameter_and_segment));
    }
    scope
}

/// The pattern without the names of its parameters. Patterns with the same shape match the same paths.
fn shape(pattern: &str) -> String {
    let segments = pattern.split('/').map(|segment| match segment.split_once(['{', ':']) {
        Some(_) => segment.rsplit_once(':').map_or("{}", |(_, expression)| expression),
        None => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the length of `/projects` in `/projects/{id}`. This beginning is compared without a regular expression.
fn first_segment(path: &str) -> Option<usize> {
    Some(path[1..].find('/').map_or(path.len(), |end| end + 1))
}

/// Returns the length of `/{id}/labels` in `/{id}/labels/{label}`. No path begins with two of them.
fn parameter_and_segment(path: &str) -> Option<usize> {
    let rest = path.strip_prefix("/{")?;
    let name = path.len() - rest.len() + rest.find("}/")? + 2;
    Some(path[name..].find('/').map_or(path.len(), |end| name + end))
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, HttpRequest, HttpResponse};

    use super::*;

    #[test]
    fn beginnings_end_with_a_word() {
        for (path, first) in [("/user", 5), ("/user/keys", 5), ("/projects/{id}", 9)] {
            assert_eq!(first_segment(path), Some(first), "{path}");
        }
        for (path, length) in [
            ("", None),
            ("/all", None),
            ("/search/{query}", None),
            ("/{id}", None),
            ("/{id}/labels", Some(12)),
            ("/{id}/labels/{label}", Some(12)),
            ("/{id:[0-9]+}/keys/{key}", Some(17)),
        ] {
            assert_eq!(parameter_and_segment(path), length, "{path}");
        }
    }

    #[actix_web::test]
    async fn routes_without_a_parameter_come_first() {
        async fn pattern(request: HttpRequest) -> HttpResponse {
            HttpResponse::Ok().body(request.match_pattern().unwrap_or_default())
        }
        let table = || {
            let mut table = Table::default();
            for path in [
                "/projects/{id}/labels",
                "/projects/{id}/labels/{label}",
                "/projects/{id}/label",
                "/projects/search/{query}",
                "/projects/{id}",
                "/projects",
                "/user",
                "/users/{uid:[0-9]+}/keys",
            ] {
                table.route(path, web::get().to(pattern));
            }
            table.route("/projects/{id}/labels", web::post().to(pattern));
            table.route("/users/{id:[0-9]+}/keys", web::post().to(pattern));
            table
        };
        let app = init_service(App::new().service(table().under("/v"))).await;
        for (method, path, expected) in [
            (Method::GET, "/v/projects", "/v/projects"),
            (Method::GET, "/v/user", "/v/user"),
            (Method::GET, "/v/projects/1", "/v/projects/{id}"),
            (Method::GET, "/v/projects/search/labels", "/v/projects/search/{query}"),
            (Method::POST, "/v/projects/search/labels", "/v/projects/{id}/labels"),
            (Method::GET, "/v/projects/a%2Fb/labels", "/v/projects/{id}/labels"),
            (Method::GET, "/v/projects/1/labels/2", "/v/projects/{id}/labels/{label}"),
            (Method::GET, "/v/projects/1/label", "/v/projects/{id}/label"),
            (Method::GET, "/v/users/1/keys", "/v/users/{uid:[0-9]+}/keys"),
            (Method::POST, "/v/users/1/keys", "/v/users/{uid:[0-9]+}/keys"),
        ] {
            let request = TestRequest::default().method(method.clone()).uri(path);
            let response = call_service(&app, request.to_request()).await;
            assert_eq!(response.status(), 200, "{method} {path}");
            assert_eq!(read_body(response).await, expected, "{method} {path}");
        }
        for path in ["/v/users", "/v/projects/1/labelsx", "/v/projects/1/labels/2/3", "/v"] {
            let request = TestRequest::default().uri(path).to_request();
            assert_eq!(call_service(&app, request).await.status(), 404, "{path}");
        }
    }
}
