//! Finds the parameters of a call in the type of its handler.

use actix_web::web;

use crate::api::{Api, ApiWithFile, ApiWithForm, ApiWithStream};
use crate::openapi::{self as doc, Param};
use crate::params::Parameters;

/// The arguments of a handler. The type of the first one has the parameters.
pub(crate) trait Takes {
    /// Adds the description of each parameter.
    fn describe(to: &mut Vec<Param>);
}

impl<P: Parameters> Takes for Api<P> {
    fn describe(to: &mut Vec<Param>) {
        P::describe(to);
    }
}

impl<P: Parameters> Takes for ApiWithForm<P> {
    fn describe(to: &mut Vec<Param>) {
        P::describe(to);
    }
}

impl<P: Parameters, const ARTIFACTS: bool> Takes for ApiWithFile<P, ARTIFACTS> {
    fn describe(to: &mut Vec<Param>) {
        P::describe(to);
        to.push(doc::file("file").needed());
    }
}

impl<P: Parameters> Takes for ApiWithStream<P> {
    fn describe(to: &mut Vec<Param>) {
        P::describe(to);
    }
}

impl<T> Takes for web::Data<T> {
    fn describe(_: &mut Vec<Param>) {}
}

impl<A: Takes> Takes for (A,) {
    fn describe(to: &mut Vec<Param>) {
        A::describe(to);
    }
}

impl<A: Takes, B> Takes for (A, B) {
    fn describe(to: &mut Vec<Param>) {
        A::describe(to);
    }
}

impl<A: Takes, B, C> Takes for (A, B, C) {
    fn describe(to: &mut Vec<Param>) {
        A::describe(to);
    }
}
