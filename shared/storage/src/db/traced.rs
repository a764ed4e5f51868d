//! The spans of statements.

use super::Error;
use futures_util::future::BoxFuture;
use opentelemetry::KeyValue;
use opentelemetry::trace::TraceContextExt as _;
use std::borrow::Cow;

/// Returns `call`, in a span if the caller runs in one. `statement` is the name of the constant with the
/// statement, or another expression, and `module` the module of the caller. The text of the statement and its
/// values are not recorded.
#[doc(hidden)]
pub fn traced<'a, T: 'a>(
    system: &'static str,
    module: &'static str,
    statement: &'static str,
    call: BoxFuture<'a, Result<T, Error>>,
) -> BoxFuture<'a, Result<T, Error>> {
    let Some(context) = traces::call(|| name(module, statement)) else {
        return call;
    };
    context
        .span()
        .set_attribute(KeyValue::new("db.system.name", system));
    Box::pin(async move {
        let result = call.await;
        let class = result.as_ref().err().map(Error::class);
        traces::end(&context, class.map(Cow::Borrowed));
        result
    })
}

fn name(module: &'static str, statement: &'static str) -> Cow<'static, str> {
    let is_of_constant = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
    match statement.chars().all(is_of_constant) {
        true => format!("{module}::{statement}").into(),
        false => module.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_is_no_constant_is_that_of_its_module() {
        assert_eq!(name("resources::posts", "INSERT"), "resources::posts::INSERT");
        for unnamed in ["\"SELECT 1\"", "sql", "pattern.statement", "AssertSqlSafe(sql)"] {
            assert_eq!(name("resources::posts", unnamed), "resources::posts");
        }
    }
}
