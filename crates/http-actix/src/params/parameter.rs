//! The parameters of a call, declared once: the name of each, the rule by which it is read, and its description.
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
//! The type is the input of the use case, or a struct that the same macro makes. A handler names it as the type of
//! its call, `Api<LabelFields>`; routing, reading and OpenAPI follow from there.

use std::marker::PhantomData;

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

/// Declares how the fields of a struct are read from the parameters of a call. `struct` makes the struct too. A
/// function behind the fields checks them together.
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
pub trait Parameter: Sized {
    /// The type of the value that is read.
    type Value;

    /// Reads the value. The reader keeps the problems.
    fn read(&self, from: &mut Reader<'_>) -> Self::Value;

    /// Adds the description of the parameter.
    fn describe(&self, to: &mut Vec<Param>);

    /// Changes the value.
    fn map<T>(self, change: fn(Self::Value) -> T) -> Mapped<Self, T> {
        Mapped(self, change)
    }

    /// Changes the value if one is given.
    fn map_given<A, B>(self, change: fn(A) -> B) -> MappedGiven<Self, A, B>
    where
        Self: Parameter<Value = Option<A>>,
    {
        MappedGiven(self, change)
    }

    /// The value if none is given.
    fn otherwise<T: Clone>(self, value: T) -> Otherwise<Self, T>
    where
        Self: Parameter<Value = Option<T>>,
    {
        Otherwise(self, value)
    }

    /// Another parameter for the same value, which is read only if this one is not given.
    fn or_else<P: Parameter<Value = Self::Value>>(self, other: P) -> OrElse<Self, P> {
        OrElse(self, other)
    }

    /// Another parameter for the same value, which counts if this one is not given.
    fn or<P: Parameter<Value = Self::Value>>(self, other: P) -> Either<Self, P> {
        Either(self, other)
    }
}

/// A parameter with a rule for its value.
pub struct Rule<T> {
    param: Param,
    read: fn(&mut Reader<'_>, &Param) -> T,
    described: bool,
}

impl<T> Rule<T> {
    pub(super) fn new(param: Param, read: fn(&mut Reader<'_>, &Param) -> T) -> Self {
        Self { param, read, described: true }
    }

    /// A parameter that the description shows as required. The use case reports that it is missing.
    pub fn expected(self) -> Self {
        Self { param: self.param.needed(), ..self }
    }

    /// A parameter that the description does not show.
    pub fn undescribed(self) -> Self {
        Self { described: false, ..self }
    }
}

impl<T: Default> Rule<Option<T>> {
    /// A parameter that is required. An empty one counts as given.
    pub fn needed(self) -> Needed<T> {
        Needed(self.expected())
    }
}

impl<T> Rule<Option<T>> {
    /// Tells a parameter that is given without a value from one that is not given: the former clears a field.
    pub fn or_cleared(self) -> OrCleared<T> {
        OrCleared { rule: self, is_given: |from, name| from.has(name) }
    }

    /// The same, where null does not clear the field.
    pub fn or_emptied(self) -> OrCleared<T> {
        OrCleared { rule: self, is_given: |from, name| from.has_value(name) }
    }
}

impl Rule<Option<String>> {
    /// Takes an empty text as not given.
    pub fn unless_empty(self) -> Mapped<Self, Option<String>> {
        self.map(|text| text.filter(|text| !text.is_empty()))
    }
}

impl<T> Parameter for Rule<T> {
    type Value = T;

    fn read(&self, from: &mut Reader<'_>) -> T {
        (self.read)(from, &self.param)
    }

    fn describe(&self, to: &mut Vec<Param>) {
        if self.described {
            to.push(self.param);
        }
    }
}

/// See [`Rule::needed`].
pub struct Needed<T>(Rule<Option<T>>);

impl<T: Default> Parameter for Needed<T> {
    type Value = T;

    fn read(&self, from: &mut Reader<'_>) -> T {
        from.require(self.0.param.name());
        self.0.read(from).unwrap_or_default()
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.0.describe(to);
    }
}

/// See [`Rule::or_cleared`].
pub struct OrCleared<T> {
    rule: Rule<Option<T>>,
    is_given: fn(&mut Reader<'_>, &str) -> bool,
}

impl<T> Parameter for OrCleared<T> {
    type Value = Option<Option<T>>;

    fn read(&self, from: &mut Reader<'_>) -> Self::Value {
        let value = self.rule.read(from);
        (self.is_given)(from, self.rule.param.name()).then_some(value)
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.rule.describe(to);
    }
}

/// See [`Parameter::map`].
pub struct Mapped<P: Parameter, T>(P, fn(P::Value) -> T);

impl<P: Parameter, T> Parameter for Mapped<P, T> {
    type Value = T;

    fn read(&self, from: &mut Reader<'_>) -> T {
        (self.1)(self.0.read(from))
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.0.describe(to);
    }
}

/// See [`Parameter::map_given`].
pub struct MappedGiven<P, A, B>(P, fn(A) -> B);

impl<P: Parameter<Value = Option<A>>, A, B> Parameter for MappedGiven<P, A, B> {
    type Value = Option<B>;

    fn read(&self, from: &mut Reader<'_>) -> Option<B> {
        self.0.read(from).map(self.1)
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.0.describe(to);
    }
}

/// See [`Parameter::otherwise`].
pub struct Otherwise<P, T>(P, T);

impl<P: Parameter<Value = Option<T>>, T: Clone> Parameter for Otherwise<P, T> {
    type Value = T;

    fn read(&self, from: &mut Reader<'_>) -> T {
        self.0.read(from).unwrap_or_else(|| self.1.clone())
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.0.describe(to);
    }
}

/// See [`Parameter::or`].
pub struct Either<A, B>(A, B);

impl<T, A, B> Parameter for Either<A, B>
where
    A: Parameter<Value = Option<T>>,
    B: Parameter<Value = Option<T>>,
{
    type Value = Option<T>;

    fn read(&self, from: &mut Reader<'_>) -> Option<T> {
        let (first, second) = (self.0.read(from), self.1.read(from));
        first.or(second)
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.0.describe(to);
        self.1.describe(to);
    }
}

/// See [`Parameter::or_else`].
pub struct OrElse<A, B>(A, B);

impl<T, A, B> Parameter for OrElse<A, B>
where
    A: Parameter<Value = Option<T>>,
    B: Parameter<Value = Option<T>>,
{
    type Value = Option<T>;

    fn read(&self, from: &mut Reader<'_>) -> Option<T> {
        self.0.read(from).or_else(|| self.1.read(from))
    }

    fn describe(&self, to: &mut Vec<Param>) {
        self.0.describe(to);
        self.1.describe(to);
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
    /// Shows these parameters as required. The use case reports that they are missing.
    pub fn expecting(self, names: &'static [&'static str]) -> Self {
        Self { expected: names, ..self }
    }

    /// Does not show these parameters.
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
