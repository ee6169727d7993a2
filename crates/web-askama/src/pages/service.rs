//! Pages of the service itself: help, robots, identicons, the color scheme.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use askama::Template;
use sha2::{Digest, Sha256};

use crate::address;
use crate::cookies::Scheme;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::render;
use crate::visit::Visit;

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

pub(super) async fn robots(_: Visit) -> PageResult<HttpResponse> {
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(ROBOTS))
}

/// Stores the color scheme that the visitor chose.
pub(super) async fn choose_scheme(visit: Visit) -> PageResult<HttpResponse> {
    let scheme = Scheme::parse(visit.form().text("color_scheme")).unwrap_or_default();
    let back = address::return_to(Some(visit.form().text("return_to")));
    Ok(render::see_other(back).cookie(visit.jar().new_scheme(scheme)).finish())
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
