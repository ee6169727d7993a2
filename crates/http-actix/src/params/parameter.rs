//! The declaration of a call's parameters: the name of each, the rule that reads it, and its description for OpenAPI.
//!
//! ```ignore
//! parameters!(LabelFields {
//!     name: declared::text("name", limit::SHORT).needed(),
//!     color: declared::text("color", limit::COLOR).needed(),
//!     description: declared::text("description", limit::LABEL_DESCRIPTION),
//!     priority: declared::integer("priority"),
//! });
//! ```
//!
//! The type is the input of the use case, or a struct that the same macro creates. A handler names it in the type of
//! its call, `Api<LabelFields>`. This is enough for reading the parameters and for OpenAPI.

use std::marker::PhantomData;

use hexforge_application::error::Error;

use super::Reader;
use crate::openapi::Param;

/// All parameters of a call.
pub trait Parameters: Sized {
    /// Reads the parameters in the order of their declaration.
    fn read(from: &mut Reader<'_>) -> Self;

    /// Adds the description of each parameter.
    fn describe(to: &mut Vec<Param>);
}

impl Parameters for () {
    fn read(_: &mut Reader<'_>) -> Self {}

    fn describe(_: &mut Vec<Param>) {}
}

impl<A: Parameters, B: Parameters> Parameters for (A, B) {
    fn read(from: &mut Reader<'_>) -> Self {
        (A::read(from), B::read(from))
    }

    fn describe(to: &mut Vec<Param>) {
        A::describe(to);
        B::describe(to);
    }
}

/// Declares how the fields of a struct are read from the parameters of a call. With `struct`, also creates the struct.
/// A function after the fields checks them together.
macro_rules! parameters {
    ($(#[$attribute:meta])* $visible:vis struct $name:ident {
        $($field:ident: $type:ty = $parameter:expr),* $(,)?
    } $(, $check:expr)?) => {
        $(#[$attribute])*
        $visible struct $name {
            $($visible $field: $type),*
        }

        $crate::params::parameters!($name { $($field: $parameter),* } $(, $check)?);
    };
    ($type:ty { $($field:ident: $parameter:expr),* $(,)? } $(, $check:expr)?) => {
        impl $crate::params::Parameters for $type {
            fn read(from: &mut $crate::params::Reader<'_>) -> Self {
                let read = Self { $($field: $crate::params::Parameter::read(&$parameter, from)),* };
                $({
                    let check: fn(&mut $crate::params::Reader<'_>) = $check;
                    check(from);
                })?
                read
            }

            fn describe(to: &mut Vec<$crate::openapi::Param>) {
                $($crate::params::Parameter::describe(&$parameter, to);)*
            }
        }
    };
}

pub(crate) use parameters;

/// One parameter of a call.
pub trait Parameter {
    /// The type of the value that is read.
    type Value;

    /// Reads the value. The reader collects the errors.
    fn read(&self, from: &mut Reader<'_>) -> Self::Value;

    /// Adds the description of the parameter.
    fn describe(&self, to: &mut Vec<Param>);
}

/// A parameter with its description and the function that reads it. Two names may stand for one value.
pub struct Rule<T> {
    params: [Option<Param>; 2],
    read: Box<dyn Fn(&mut Reader<'_>) -> T>,
}

impl<T> Parameter for Rule<T> {
    type Value = T;

    fn read(&self, from: &mut Reader<'_>) -> T {
        (self.read)(from)
    }

    fn describe(&self, to: &mut Vec<Param>) {
        to.extend(self.params.iter().flatten());
    }
}

impl<T: 'static> Rule<T> {
    pub(super) fn new(param: Param, read: fn(&mut Reader<'_>, &Param) -> T) -> Self {
        Self { params: [Some(param), None], read: Box::new(move |from| read(from, &param)) }
    }

    fn with<U>(self, read: impl Fn(&Self, &mut Reader<'_>) -> U + 'static) -> Rule<U> {
        Rule { params: self.params, read: Box::new(move |from| read(&self, from)) }
    }

    fn name(&self) -> &'static str {
        self.params[0].map_or("", |param| param.name())
    }

    /// Shows the parameter as required in OpenAPI. The use case reports it if it is missing.
    pub fn expected(self) -> Self {
        Self { params: self.params.map(|param| param.map(Param::needed)), ..self }
    }

    /// Hides the parameter in OpenAPI.
    pub fn undescribed(self) -> Self {
        Self { params: [None, None], ..self }
    }

    /// Converts the value.
    pub fn map<U>(self, change: impl Fn(T) -> U + 'static) -> Rule<U> {
        self.with(move |rule, from| change(rule.read(from)))
    }
}

impl<T: 'static> Rule<Option<T>> {
    /// Converts the value if one is given.
    pub fn map_given<U: 'static>(self, change: fn(T) -> U) -> Rule<Option<U>> {
        self.map(move |value| value.map(change))
    }

    /// Sets the value that is used if none is given.
    pub fn otherwise(self, value: T) -> Rule<T>
    where
        T: Clone,
    {
        self.map(move |given| given.unwrap_or_else(|| value.clone()))
    }

    /// Requires the parameter. An empty value counts as given.
    pub fn needed(self) -> Rule<T>
    where
        T: Default,
    {
        self.expected().with(|rule, from| {
            from.require(rule.name());
            rule.read(from).unwrap_or_default()
        })
    }

    /// Adds another parameter for the same value, which is used if this one is not given.
    pub fn or(self, other: Self) -> Self {
        let names = [self.params[0], other.params[0]];
        let either = self.with(move |rule, from| {
            let (first, second) = (rule.read(from), other.read(from));
            first.or(second)
        });
        Self { params: names, ..either }
    }

    /// Like [`or`](Self::or), but reads the other parameter only if this one is not given.
    pub fn or_else(self, other: Self) -> Self {
        let names = [self.params[0], other.params[0]];
        let either = self.with(move |rule, from| rule.read(from).or_else(|| other.read(from)));
        Self { params: names, ..either }
    }

    /// Distinguishes a parameter without a value, which clears a field, from one that is not given.
    pub fn or_cleared(self) -> Rule<Option<Option<T>>> {
        self.with(|rule, from| {
            let value = rule.read(from);
            from.has(rule.name()).then_some(value)
        })
    }

    /// Like [`or_cleared`](Self::or_cleared), but null does not clear the field.
    pub fn or_emptied(self) -> Rule<Option<Option<T>>> {
        self.with(|rule, from| {
            let value = rule.read(from);
            from.has_value(rule.name()).then_some(value)
        })
    }
}

impl Rule<i64> {
    /// A whole number in the path. OpenAPI describes it with the path.
    pub(super) fn in_path(name: &'static str) -> Self {
        Self { params: [None, None], read: Box::new(move |from| from.integer_in_path(name)) }
    }
}

impl Rule<String> {
    /// Refuses a blank text as not given.
    pub fn not_blank(self) -> Self {
        self.with(|rule, from| {
            let text = rule.read(from);
            if text.trim().is_empty() {
                from.refuse(Error::NotGiven(rule.name()).into());
            }
            text
        })
    }

    /// The id of a commit in the path. OpenAPI describes it with the path.
    pub(super) fn commit_in_path(name: &'static str) -> Self {
        Self { params: [None, None], read: Box::new(move |from| from.commit_in_path(name)) }
    }
}

impl Rule<Option<String>> {
    /// Treats an empty text as not given.
    pub fn unless_empty(self) -> Self {
        self.map(|text| text.filter(|text| !text.is_empty()))
    }
}

/// The parameters of another type, as a field of this one.
pub struct Nested<P> {
    expected: &'static [&'static str],
    hidden: &'static [&'static str],
    parameters: PhantomData<fn() -> P>,
}

/// Reads a field whose type has parameters of its own.
pub fn nested<P: Parameters>() -> Nested<P> {
    Nested { expected: &[], hidden: &[], parameters: PhantomData }
}

impl<P> Nested<P> {
    /// Shows these parameters as required in OpenAPI. The use case reports them if they are missing.
    pub fn expecting(self, names: &'static [&'static str]) -> Self {
        Self { expected: names, ..self }
    }

    /// Hides these parameters in OpenAPI.
    pub fn hiding(self, names: &'static [&'static str]) -> Self {
        Self { hidden: names, ..self }
    }
}

impl<P: Parameters> Parameter for Nested<P> {
    type Value = P;

    fn read(&self, from: &mut Reader<'_>) -> P {
        P::read(from)
    }

    fn describe(&self, to: &mut Vec<Param>) {
        let mut all = Vec::new();
        P::describe(&mut all);
        let shown = all.into_iter().filter(|param| !self.hidden.contains(&param.name()));
        let is_expected = |param: &Param| self.expected.contains(&param.name());
        to.extend(shown.map(|param| if is_expected(&param) { param.needed() } else { param }));
    }
}
