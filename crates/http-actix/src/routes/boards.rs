//! Boards of projects and their lists.

use actix_web::{HttpResponse, web};
use hexforge_application::board;
use hexforge_domain::id::{BoardId, BoardListId, LabelId};

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::board::{BoardJson, ListJson};
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Description};
use crate::params::Declared;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/boards", web::get().to(list));
    let lists = "/projects/{id}/boards/{board}/lists";
    cfg.route(lists, web::get().to(list_lists));
    cfg.route(lists, web::post().to(create_list));
    let one = "/projects/{id}/boards/{board}/lists/{list}";
    cfg.route(one, web::get().to(get_list));
    cfg.route(one, web::put().to(move_list));
    cfg.route(one, web::delete().to(delete_list));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Issue boards");
    to.add(doc::get("/projects/:id/boards", "Boards of a project").list::<BoardJson<'_>>());
    let lists = "/projects/:id/boards/:board_id/lists";
    to.add(doc::get(lists, "Lists of a board").list::<ListJson<'_>>());
    let made = to.dialect().created_board_list();
    let label = [doc::integer("label_id").needed()];
    to.add(doc::post(lists, "Adds a list").takes(&label).with::<ListJson<'_>>(made));
    let one = "/projects/:id/boards/:board_id/lists/:list_id";
    to.add(doc::get(one, "A list").ok::<ListJson<'_>>());
    let position = [doc::integer("position").needed()];
    to.add(doc::put(one, "Moves a list").takes(&position).ok::<ListJson<'_>>());
    to.add(doc::delete(one, "Removes a list").ok::<ListJson<'_>>());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page_of_short_list());
    let boards = api.run(move |app, actor, _| Ok(board::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, boards.as_ref().map(BoardJson::from))
}

async fn list_lists(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), board), page) = (ids.into_inner(), api.page_of_short_list());
    let lists = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let board = BoardId(declared.path_integer("board_id", &board));
            declared.finish()?;
            Ok(board::lists(app, actor, &named, board, page)?)
        })
        .await?;
    respond::paged(&api, page, lists.as_ref().map(ListJson::from))
}

async fn create_list(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), board) = ids.into_inner();
    let made = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let board = BoardId(declared.path_integer("board_id", &board));
            let label = LabelId(declared.required_integer("label_id"));
            declared.finish()?;
            Ok(board::add_list(app, actor, &named, board, label)?)
        })
        .await?;
    respond::with(api.dialect().created_board_list(), ListJson::from(&made))
}

/// A list as a path has it.
type ListPath = web::Path<(ProjectPath, String, String)>;

fn read_ids(declared: &mut Declared<'_>, board: &str, list: &str) -> (BoardId, BoardListId) {
    let board = BoardId(declared.path_integer("board_id", board));
    (board, BoardListId(declared.path_integer("list_id", list)))
}

async fn get_list(api: Api, ids: ListPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), board, list) = ids.into_inner();
    let found = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (board, list) = read_ids(&mut declared, &board, &list);
            declared.finish()?;
            Ok(board::get_list(app, actor, &named, board, list)?)
        })
        .await?;
    respond::ok(ListJson::from(&found))
}

async fn move_list(api: Api, ids: ListPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), board, list) = ids.into_inner();
    let moved = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (board, list) = read_ids(&mut declared, &board, &list);
            declared.require("position");
            let position = declared.integer("position");
            declared.finish()?;
            // An empty text is no place.
            let position = position.ok_or_else(|| ApiError::bad_request("position is invalid"))?;
            Ok(board::move_list(app, actor, &named, board, list, position)?)
        })
        .await?;
    respond::ok(ListJson::from(&moved))
}

async fn delete_list(api: Api, ids: ListPath) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), board, list), ability) =
        (ids.into_inner(), api.dialect().ability_to_delete_lists());
    let gone = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (board, list) = read_ids(&mut declared, &board, &list);
            declared.finish()?;
            Ok(board::delete_list(app, actor, &named, ability, board, list)?)
        })
        .await?;
    respond::ok(ListJson::from(&gone))
}
