//! Pages of the service itself: help, robots, identicons, the color scheme.

use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use sha2::{Digest, Sha256};

use crate::address;
use crate::cookies::Scheme;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::render;
use crate::visit::{Visit, WebSettings};

/// Crawlers stay away from what is costly or not for them.
const ROBOTS: &str = "User-agent: *
Disallow: /api/
Disallow: /dashboard
Disallow: /profile
Disallow: /search
Disallow: /users/
Disallow: /*/*/blame/
Disallow: /*/*/commit/*.diff
Disallow: /*/*/commit/*.patch
Disallow: /*/*/commit/*?
Disallow: /*/*/commits/
Disallow: /*/*/compare
Disallow: /*/*/files/
Disallow: /*/*/find_file/
Disallow: /*/*/graphs/
Disallow: /*/*/network/
Disallow: /*/*/raw/
Disallow: /*/*/repository/
";

#[derive(Template)]
#[template(path = "help.html")]
struct Help {
    frame: Frame,
}

pub(super) async fn help(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, _| Ok(())).await?;
    let page = Help { frame: Frame::new(&visit, &viewer, "Help") };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "shortcuts.html")]
struct Shortcuts {
    frame: Frame,
}

/// How to reach everything by the keyboard.
pub(super) async fn shortcuts(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, _| Ok(())).await?;
    let page = Shortcuts { frame: Frame::new(&visit, &viewer, "Keyboard") };
    render::page(&visit, &viewer, &page)
}

/// Other addresses of the help of the original.
pub(super) async fn other_help(_: Visit) -> PageResult<HttpResponse> {
    render::moved("/help")
}

pub(super) async fn robots(_: Visit) -> PageResult<HttpResponse> {
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(ROBOTS))
}

/// Stores the color scheme that the visitor chose.
pub(super) async fn choose_scheme(visit: Visit) -> PageResult<HttpResponse> {
    let scheme = Scheme::parse(visit.form().text("color_scheme")).unwrap_or_default();
    let back = address::return_to(Some(visit.form().text("return_to")));
    Ok(render::see_other(back).cookie(visit.jar().new_scheme(scheme)).finish())
}

/// Answers the go command, which asks where the repository of an import path is. The answer is made from the address
/// alone, so a hidden project and a missing one look the same.
pub(crate) fn go_get(request: &HttpRequest, segments: &[Vec<u8>]) -> Option<HttpResponse> {
    let is_asked = || {
        form_urlencoded::parse(request.query_string().as_bytes())
            .any(|(name, value)| name == "go-get" && value == "1")
    };
    let [namespace, project, ..] = segments else { return None };
    if request.method() != Method::GET || !is_asked() {
        return None;
    }
    let settings = request.app_data::<web::Data<WebSettings>>()?;
    let url = settings.external_url.as_str();
    let host = url.split_once("://").map_or(url, |(_, host)| host);
    let project = project.strip_suffix(b".git").unwrap_or(project);
    let path = format!("{}/{}", address::path(namespace), address::path(project));
    let html = format!(
        "<!DOCTYPE html>\n<html><head><meta name=\"go-import\" content=\"{host}/{path} git {url}/{path}.git\">\
         </head></html>\n"
    );
    let mut response = HttpResponse::Ok();
    Some(
        response
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .content_type("text/html; charset=utf-8")
            .body(html),
    )
}

/// A picture made from a name: five by five squares that are the same on both sides.
pub(super) async fn identicon(visit: Visit) -> PageResult<HttpResponse> {
    let digest = Sha256::digest(visit.param("name").as_bytes());
    let mut squares = String::new();
    for (at, byte) in digest.iter().take(15).enumerate() {
        if byte % 2 == 0 {
            let (column, row) = (at % 3, at / 3);
            for x in [column, 4 - column] {
                squares.push_str(&format!("M{} {row}h1v1h-1z", x));
            }
        }
    }
    let hue = u16::from_be_bytes([digest[15], digest[16]]) % 360;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 7 7\"><rect x=\"-1\" y=\"-1\" width=\"7\" \
         height=\"7\" fill=\"#eee\"/><path fill=\"hsl({hue},50%,40%)\" d=\"{squares}\"/></svg>"
    );
    Ok(HttpResponse::Ok()
        .content_type("image/svg+xml")
        .insert_header((CACHE_CONTROL, "public, max-age=86400"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(svg))
}
