//! Boards of projects and their lists.

use actix_web::HttpResponse;
use hexforge_application::board::{self, ListRef};
use hexforge_domain::id::{BoardId, BoardListId, LabelId};

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::board::{BoardJson, ListJson};
use crate::error::{ApiError, ApiResult};
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Issue boards");
    let boards = call::get("/projects/{id}/boards", "Lists the boards of a project", list);
    calls.add(boards.list::<BoardJson<'_>>());
    let lists = "/projects/{id}/boards/{board_id}/lists";
    calls.add(call::get(lists, "Lists the lists of a board", list_lists).list::<ListJson<'_>>());
    let made = calls.dialect().created();
    calls.add(
        call::post(lists, "Creates a list of a board", create_list).with::<ListJson<'_>>(made),
    );
    let one = "/projects/{id}/boards/{board_id}/lists/{list_id}";
    calls.add(call::get(one, "Shows a list of a board", get_list).ok::<ListJson<'_>>());
    calls.add(call::put(one, "Moves a list of a board", move_list).ok::<ListJson<'_>>());
    calls.add(call::delete(one, "Removes a list of a board", delete_list).ok::<ListJson<'_>>());
}

parameters! {
    struct InPath {
        board: BoardId = declared::in_path("board_id").map(BoardId),
    }
}

parameters!(ListRef {
    board: declared::in_path("board_id").map(BoardId),
    list: declared::in_path("list_id").map(BoardListId),
});

parameters! {
    struct NewList {
        label: LabelId = declared::integer("label_id").needed().map(LabelId),
    }
}

parameters! {
    struct Place {
        position: Option<i64> = declared::integer("position").expected(),
    },
    |from| from.require("position")
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let boards = api.run(move |app, actor, ()| board::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, boards.as_ref().map(BoardJson::from))
}

async fn list_lists(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let lists = api
        .run(move |app, actor, InPath { board }| board::lists(app, actor, &named, board, page))
        .await?;
    respond::paged(&api, page, lists.as_ref().map(ListJson::from))
}

async fn create_list(
    api: Api<(InPath, NewList)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let made = api
        .run(move |app, actor, (InPath { board }, NewList { label })| {
            board::add_list(app, actor, &named, board, label)
        })
        .await?;
    respond::with(api.dialect().created(), ListJson::from(&made))
}

async fn get_list(api: Api<ListRef>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let found = api.run(move |app, actor, list| board::get_list(app, actor, &named, list)).await?;
    respond::ok(ListJson::from(&found))
}

async fn move_list(
    api: Api<(ListRef, Place)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let moved = api
        .run(move |app, actor, (list, Place { position })| {
            // An empty text is not a position.
            let position = position.ok_or_else(|| ApiError::bad_request("position is invalid"))?;
            board::move_list(app, actor, &named, list, position).map_err(ApiError::from)
        })
        .await?;
    respond::ok(ListJson::from(&moved))
}

async fn delete_list(
    api: Api<ListRef>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let ability = api.dialect().ability_to_delete_lists();
    let gone = api
        .run(move |app, actor, list| board::delete_list(app, actor, &named, list, ability))
        .await?;
    respond::ok(ListJson::from(&gone))
}
