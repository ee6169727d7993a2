//! One request for a page: its address, its visitor and its use cases.

mod run;

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::header::{HeaderMap, REFERER};
use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::browser_session::SignedIn;
use hexforge_application::limiter::Limiter;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::payloads::Payloads;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::Secret;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::conditional::IfNoneMatch;
use hexforge_http_edge::links::Links;
use hexforge_http_edge::{Edge, slashes};

use crate::address;
use crate::cookies::{self, Jar, Notice, Scheme};
use crate::diff::Layout;
use crate::error::PageError;
use crate::forms::{self, Form};
use crate::render;
use crate::table::InPath;

/// Items on a page of a list.
pub(crate) const PER_PAGE: u64 = 20;

/// Settings of the pages.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// The base of every URL, without a slash at the end.
    pub external_url: String,
    /// The maximum size of a form in bytes.
    pub max_body: usize,
    /// The permission to remove lists of a board, which is that of the API.
    pub ability_to_delete_lists: TrackerAbility,
}

/// A request for a page. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Visit(Rc<State>);

struct State {
    edge: web::Data<Edge>,
    settings: web::Data<WebSettings>,
    request: HttpRequest,
    in_path: InPath,
    /// The parameters in the query, without the token of a feed reader.
    query: Vec<(String, String)>,
    feed_token: Option<String>,
    jar: Jar,
    session: Option<Secret>,
    stranger: Option<Secret>,
    form: Form,
}

/// The visitor of a page, and who is signed in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Viewer(Option<Arc<SignedIn>>);

impl Viewer {
    /// The actor for use cases.
    pub(crate) fn actor(&self) -> Actor {
        self.0.as_ref().map_or(Actor::Anonymous, |signed_in| signed_in.actor)
    }

    /// Who is signed in.
    pub(crate) fn signed_in(&self) -> Option<&SignedIn> {
        self.0.as_deref()
    }
}

impl Visit {
    pub(crate) fn new(request: &HttpRequest, in_path: InPath) -> Result<Self, PageError> {
        let (Some(edge), Some(settings)) = (
            request.app_data::<web::Data<Edge>>().cloned(),
            request.app_data::<web::Data<WebSettings>>().cloned(),
        ) else {
            return Err(PageError::internal("the shared state of the server is missing"));
        };
        let jar = Jar::new(&settings.external_url);
        let query = form_urlencoded::parse(request.query_string().as_bytes());
        let query = query.map(|(name, value)| (name.into_owned(), forms::without_nul(value)));
        let (tokens, query): (Vec<_>, Vec<_>) = query.partition(|(name, _)| name == address::TOKEN);
        let feed_token = tokens.into_iter().next().map(|(_, value)| value.trim().to_owned());
        let feed_token = feed_token.filter(|value| !value.is_empty());
        let (session, stranger) = (jar.session(request), jar.form(request));
        let (request, form) = (request.clone(), Form::default());
        let state = State {
            edge,
            settings,
            request,
            in_path,
            query,
            feed_token,
            jar,
            session,
            stranger,
            form,
        };
        Ok(Self(Rc::new(state)))
    }

    /// Adds the fields of the form, once they are read.
    pub(crate) fn set_form(&mut self, form: Form) {
        if let Some(state) = Rc::get_mut(&mut self.0) {
            state.form = form;
        }
    }

    fn changes_things(&self) -> bool {
        !self.0.request.method().is_safe()
    }

    /// Redirects to the same address without a slash at its end, if it has one. A feed requested with a token is
    /// answered directly: answers never contain a token, so a redirect would lose it.
    pub(crate) fn without_trailing_slash(&self) -> Option<HttpResponse> {
        let has_token = self.0.feed_token.is_some() && self.0.request.path().ends_with(".atom");
        if self.changes_things() || !slashes::ended_in_one(&self.0.request) || has_token {
            return None;
        }
        render::moved(&self.path_and_query()).ok()
    }
}

/// The parts of the request.
impl Visit {
    /// The state of the application, for what needs neither database nor repositories.
    pub(crate) fn app(&self) -> &App {
        &self.0.edge.app
    }

    /// The state of the application, for long work.
    pub(crate) fn shared_app(&self) -> Arc<App> {
        Arc::clone(&self.0.edge.app)
    }

    /// The permits and threads for long work.
    pub(crate) fn limiter(&self) -> &Limiter {
        &self.0.edge.limiter
    }

    /// The URLs of the service.
    pub(crate) fn links(&self) -> &Links {
        &self.0.edge.links
    }

    /// Renders the payloads of hooks.
    pub(crate) fn payloads(&self) -> Arc<dyn Payloads> {
        Arc::clone(&self.0.edge.payloads)
    }

    /// The cookies of the service.
    pub(crate) fn jar(&self) -> Jar {
        self.0.jar
    }

    /// The fields of the form.
    pub(crate) fn form(&self) -> &Form {
        &self.0.form
    }

    /// The token of the session.
    pub(crate) fn session_token(&self) -> Option<&Secret> {
        self.0.session.as_ref()
    }

    /// The token to which the forms of a stranger are bound.
    pub(crate) fn form_token(&self) -> Option<&Secret> {
        self.0.stranger.as_ref()
    }

    pub(crate) fn request(&self) -> &HttpRequest {
        &self.0.request
    }

    pub(crate) fn max_body(&self) -> usize {
        self.0.settings.max_body
    }

    /// The permission to remove lists of a board.
    pub(crate) fn ability_to_delete_lists(&self) -> TrackerAbility {
        self.0.settings.ability_to_delete_lists
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.0.request.headers()
    }

    /// The entity tags that the browser has.
    pub(crate) fn if_none_match(&self) -> IfNoneMatch {
        IfNoneMatch::of(self.headers())
    }

    /// The address of the client.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        client_address(&self.0.request)
    }

    /// How the browser describes itself.
    pub(crate) fn browser(&self) -> String {
        let header = self.headers().get(actix_web::http::header::USER_AGENT);
        header.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    }

    /// The scheme, host and port of the service, as browsers send them in `Origin`: in small letters, and without the
    /// port that the scheme has anyway.
    pub(crate) fn origin(&self) -> String {
        origin_of(&self.0.settings.external_url)
    }

    /// The page on which the visitor is: this one, and for a form the one that had it, if the browser tells it.
    pub(crate) fn here(&self) -> String {
        self.page_of_form().unwrap_or_else(|| self.path_and_query())
    }

    /// The page that had the form, if this is a form and the browser tells its page.
    pub(crate) fn page_of_form(&self) -> Option<String> {
        let header = self.headers().get(REFERER).filter(|_| self.changes_things())?;
        let path = header.to_str().ok()?.strip_prefix(self.0.settings.external_url.as_str())?;
        let page = Some(address::return_to(Some(path))).filter(|path| *path != "/");
        page.map(address::without_token)
    }

    /// The color scheme that the visitor chose.
    pub(crate) fn scheme(&self) -> Scheme {
        cookies::scheme(&self.0.request)
    }

    /// The layout of changes that the visitor prefers.
    pub(crate) fn layout(&self) -> Layout {
        cookies::layout(&self.0.request)
    }

    /// Whether the visitor uses keyboard shortcuts.
    pub(crate) fn has_shortcuts(&self) -> bool {
        cookies::has_shortcuts(&self.0.request)
    }

    /// The message that the page before left.
    pub(crate) fn notice(&self) -> Option<Notice> {
        cookies::notice(&self.0.request)
    }

    /// The path and query of the request, as they came, but without a token: pages and feeds write this address, and
    /// what they show is copied and passed on.
    pub(crate) fn path_and_query(&self) -> String {
        let address = self.0.request.uri().path_and_query();
        address.map_or_else(|| "/".to_owned(), |address| address::without_token(address.as_str()))
    }

    /// The URL of an address of this service, for readers outside of a browser.
    pub(crate) fn external(&self, address: &str) -> String {
        format!("{}{address}", self.0.settings.external_url)
    }

    /// The host and port of this service.
    pub(crate) fn host(&self) -> String {
        let origin = self.origin();
        origin.split_once("://").map_or(origin.clone(), |(_, host)| host.to_owned())
    }

    /// A parameter in the address, as text.
    pub(crate) fn param(&self, name: &str) -> String {
        String::from_utf8_lossy(self.0.in_path.get(name)).into_owned()
    }

    /// A parameter in the address that is a path, with all its bytes.
    pub(crate) fn path_param(&self, name: &str) -> String {
        hexforge_domain::repository::path::from_bytes(self.0.in_path.get(name))
    }

    /// A parameter in the address, as it was sent.
    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        self.0.in_path.get(name)
    }

    /// An id in the address. Text that is no id becomes 0, which nothing has.
    pub(crate) fn id(&self, name: &str) -> i64 {
        hexforge_domain::id::parse(&self.param(name)).unwrap_or(0)
    }

    /// The project in the address.
    pub(crate) fn project(&self) -> ProjectRef {
        ProjectRef::Path { namespace: self.param("namespace"), path: self.param("project") }
    }

    /// A parameter in the query, without the white space around it; `None` if it is missing or empty.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.0.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// A parameter in the query that is searched for, without what is too long.
    pub(crate) fn search(&self, name: &str) -> Option<String> {
        self.query(name).map(search_text)
    }

    /// The token that a feed reader sends in the address. Only feeds accept it.
    pub(crate) fn feed_token(&self) -> Option<String> {
        self.0.feed_token.clone()
    }

    /// All parameters in the query but the token of a feed reader, as they came.
    pub(crate) fn query_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.query.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All values of a parameter in the query that may be given several times.
    pub(crate) fn query_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.0.query.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The address of the first page of this list with another value in its query.
    pub(crate) fn address_with(&self, name: &str, value: &str) -> String {
        let others = self.0.query.iter().filter(|(known, _)| known != name && known != "page");
        let pairs = others.map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs = pairs.chain([(name, value)]);
        format!("{}?{}", self.0.request.uri().path(), address::query(pairs))
    }

    /// The page of a list.
    pub(crate) fn page(&self) -> Page {
        let number = self.query("page").and_then(|text| text.parse().ok()).unwrap_or(1);
        Page::Numbered { number, size: PER_PAGE }
    }

    /// The page of a list with more items on each page.
    pub(crate) fn long_page(&self, size: u64) -> Page {
        let number = self.query("page").and_then(|text| text.parse().ok()).unwrap_or(1);
        Page::Numbered { number, size }
    }

    /// The address of this page with another number in its query.
    pub(crate) fn page_address(&self, number: u64) -> String {
        let others = self.0.query.iter().filter(|(name, _)| name != "page");
        let pairs = others.map(|(name, value)| (name.as_str(), value.as_str()));
        let number = number.to_string();
        let pairs = pairs.chain([("page", number.as_str())]);
        format!("{}?{}", self.0.request.uri().path(), address::query(pairs))
    }
}

/// The longest text that is searched for, in characters.
const MAX_SEARCH: usize = 255;

/// The start of a text that is searched for.
pub(crate) fn search_text(text: &str) -> String {
    text.chars().take(MAX_SEARCH).collect()
}

fn origin_of(url: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    let origin = url[..end].to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).map(str::to_owned).unwrap_or(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_spelled_as_browsers_do() {
        for (url, origin) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://Forge.Example.com:443/git", "https://forge.example.com"),
            ("http://forge.example.com:80", "http://forge.example.com"),
            ("https://forge.example.com:80", "https://forge.example.com:80"),
            ("http://[::1]:3000/x", "http://[::1]:3000"),
        ] {
            assert_eq!(origin_of(url), origin, "{url}");
        }
    }
}
