//! `/payments`.

use crate::error::ApiError;
use crate::extract::{IdempotentRequest, KeyedRequest, PaymentWriter, Writer};
use crate::principal::Principal;
use crate::versions::Prefix;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::list_query::{PageRequest, Query};
use resources::idempotency::KeyValue;
use resources::payments::{
    self, Amount, Currency, Description, Metadata, NewPayment, Payment, PaymentId, Status, Transition,
};
use serde::Serialize;
use std::sync::Arc;
use storage::db::{Db, WriteTarget};
use utoipa::ToSchema;
use web::openapi::error_responses::code;
use web::{Authorized, Envelope, Error, JsonBody, PathId, Policy, list_response};

/// The response to the creation of a payment.
#[derive(Serialize, ToSchema)]
struct CreatedPayment {
    /// The id of the payment.
    id: PaymentId,
    /// Always `created`.
    status: Status,
}

/// The amount to capture or to refund.
#[derive(ToSchema)]
#[schema(as = PaymentPart, example = json!({"amount": 250}))]
struct Part {
    /// The amount; by default all that is left.
    #[schema(nullable = false)]
    amount: Option<Amount>,
}

/// The body of a cancellation, which has no members.
#[derive(ToSchema)]
#[schema(example = json!({}))]
struct Cancellation {}

/// List payments
///
/// Returns the caller's own payments, 20 per page. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = "/payments", operation_id = "listPayments", tag = "Payments", params(PageRequest),
    security(("session" = []), ("oauth2" = ["payments:read"])),
    responses(
        (status = 200, description = "A page.", body = Envelope<Payment>, headers(("Link"))),
        Principal, code::InsufficientScope, code::Forbidden,
    )
)]
pub(crate) async fn list(
    caller: Principal,
    prefix: Prefix,
    State(db): State<Db>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    caller.require("payments:read")?;
    let user_id = caller.user()?.id;
    let page_request = Query::read(query.as_deref().unwrap_or_default()).page_request();
    let page = payments::list(&db, user_id, &page_request).await?;
    let url = policy.url(&prefix.path("/payments"));
    Ok(list_response(page, &page_request, &url))
}

/// Create a payment
///
/// Creates one payment per idempotency key. Separate calls capture or cancel it.
#[utoipa::path(
    post, path = "/payments", operation_id = "createPayment", tag = "Payments", request_body = NewPayment,
    params(("Idempotency-Key" = inline(KeyValue), Header, description = "Identifies the call, so that a retry does not repeat it.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["payments:write"])),
    responses(
        (status = 201, description = "The payment is created.", body = CreatedPayment,
         headers(("Location"), ("Idempotent-Replayed"))),
        KeyedRequest, PaymentWriter, JsonBody,
    )
)]
pub(crate) async fn create(
    KeyedRequest(request): KeyedRequest,
    Authorized(PaymentWriter(payer), body): Authorized<PaymentWriter, JsonBody>,
) -> Result<Response, ApiError> {
    let new = read_new(&body)?;
    let write =
        async |target: &mut WriteTarget<'_>, now| payments::create(target, payer.allowance, &new, now).await;
    let written = request.run(&payer, &body, write).await?;
    let created = CreatedPayment {
        id: written.receipt().clone(),
        status: Status::Created,
    };
    written.created(&path(&created.id), None, &created)
}

/// Read a payment
///
/// Returns a payment of the caller. The payments of other users are not found.
#[utoipa::path(
    get, path = "/payments/{id}", operation_id = "readPayment", tag = "Payments",
    params(("id" = inline(PaymentId), Path, description = "The id of the payment.")),
    security(("session" = []), ("oauth2" = ["payments:read"])),
    responses(
        (status = 200, description = "The payment.", body = Payment),
        Principal, PathId, code::InsufficientScope, code::Forbidden,
    )
)]
pub(crate) async fn read(
    caller: Principal,
    id: PathId<PaymentId>,
    State(db): State<Db>,
) -> Result<Json<Payment>, ApiError> {
    caller.require("payments:read")?;
    let user_id = caller.user()?.id;
    let payment = payments::find(db.reader(), user_id, &id.or_not_found()?).await?;
    Ok(Json(payment))
}

/// Capture a payment
///
/// Captures a payment with the status `created`, wholly or in part. A payment can be captured once; the rest
/// is released.
#[utoipa::path(
    post, path = "/payments/{id}/captures", operation_id = "capturePayment", tag = "Payments",
    request_body(content = Option<Part>, description = "By default the whole amount."),
    params(
        ("id" = inline(PaymentId), Path, description = "The id of the payment."),
        ("Idempotency-Key" = inline(KeyValue), Header, description = "Identifies the call, so that a retry does not repeat it."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["payments:write"])),
    responses(
        (status = 201, description = "The changed payment.", body = Payment,
         headers(("Location"), ("Idempotent-Replayed"))),
        KeyedRequest, PaymentWriter, PathId, JsonBody, code::PaymentStateConflict,
    )
)]
pub(crate) async fn capture(
    KeyedRequest(request): KeyedRequest,
    id: PathId<PaymentId>,
    State(db): State<Db>,
    Authorized(PaymentWriter(payer), body): Authorized<PaymentWriter, Option<JsonBody>>,
) -> Result<Response, ApiError> {
    let payment = payments::find(db.reader(), payer.actor.user_id, &id.or_not_found()?).await?;
    let body = body.unwrap_or_default();
    let transition = Transition::Capture(read_part(&body)?);
    change(request, &payer, payment, transition, &body).await
}

/// Cancel a payment
///
/// Cancels a payment with the status `created`.
#[utoipa::path(
    post, path = "/payments/{id}/cancellations", operation_id = "cancelPayment", tag = "Payments",
    request_body(content = Option<Cancellation>, description = "An empty object or no body."),
    params(
        ("id" = inline(PaymentId), Path, description = "The id of the payment."),
        ("Idempotency-Key" = inline(KeyValue), Header, description = "Identifies the call, so that a retry does not repeat it."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["payments:write"])),
    responses(
        (status = 201, description = "The changed payment.", body = Payment,
         headers(("Location"), ("Idempotent-Replayed"))),
        KeyedRequest, PaymentWriter, PathId, JsonBody, code::PaymentStateConflict,
    )
)]
pub(crate) async fn cancel(
    KeyedRequest(request): KeyedRequest,
    id: PathId<PaymentId>,
    State(db): State<Db>,
    Authorized(PaymentWriter(payer), body): Authorized<PaymentWriter, Option<JsonBody>>,
) -> Result<Response, ApiError> {
    let payment = payments::find(db.reader(), payer.actor.user_id, &id.or_not_found()?).await?;
    let body = body.unwrap_or_default();
    let Cancellation {} = body.fields()?.finish(Some(Cancellation {}))?;
    change(request, &payer, payment, Transition::Cancel, &body).await
}

/// Refund a payment
///
/// Refunds all of the captured amount that is left, or a part of it. A payment can be refunded in several
/// parts.
#[utoipa::path(
    post, path = "/payments/{id}/refunds", operation_id = "refundPayment", tag = "Payments",
    request_body(content = Option<Part>, description = "By default all that is left."),
    params(
        ("id" = inline(PaymentId), Path, description = "The id of the payment."),
        ("Idempotency-Key" = inline(KeyValue), Header, description = "Identifies the call, so that a retry does not repeat it."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["payments:write"])),
    responses(
        (status = 201, description = "The changed payment.", body = Payment,
         headers(("Location"), ("Idempotent-Replayed"))),
        KeyedRequest, PaymentWriter, PathId, JsonBody, code::PaymentStateConflict,
    )
)]
pub(crate) async fn refund(
    KeyedRequest(request): KeyedRequest,
    id: PathId<PaymentId>,
    State(db): State<Db>,
    Authorized(PaymentWriter(payer), body): Authorized<PaymentWriter, Option<JsonBody>>,
) -> Result<Response, ApiError> {
    let payment = payments::find(db.reader(), payer.actor.user_id, &id.or_not_found()?).await?;
    let body = body.unwrap_or_default();
    let transition = Transition::Refund(read_part(&body)?);
    change(request, &payer, payment, transition, &body).await
}

/// Applies a transition, which was read from the body, to the payer's payment.
async fn change(
    request: IdempotentRequest,
    payer: &Writer,
    payment: Payment,
    transition: Transition,
    body: &JsonBody,
) -> Result<Response, ApiError> {
    let user_id = payer.actor.user_id;
    let write = async |target: &mut WriteTarget<'_>, now| {
        let changed = payments::apply(target, user_id, &payment, transition, now).await;
        changed.map(|payment| payment.state())
    };
    let written = request.run(payer, body, write).await?;
    let payment = payment.in_state(*written.receipt());
    written.created(&path(&payment.id), None, &payment)
}

/// Returns the path of a payment.
fn path(id: &PaymentId) -> String {
    format!("/payments/{}", id.as_str())
}

fn read_new(body: &JsonBody) -> Result<NewPayment, Error> {
    let mut fields = body.fields()?;
    let amount = fields.required_integer("amount", Amount::parse);
    let currency = fields.required("currency", Currency::parse);
    let description = fields.optional("description", Description::parse);
    let metadata = fields.optional_strings("metadata", Metadata::parse);
    let whole = amount.zip(currency);
    fields.finish(whole.map(|(amount, currency)| NewPayment {
        amount,
        currency,
        description,
        metadata: metadata.unwrap_or_default(),
    }))
}

fn read_part(body: &JsonBody) -> Result<Option<Amount>, Error> {
    let mut fields = body.fields()?;
    let part = Part {
        amount: fields.optional_integer("amount", Amount::parse),
    };
    fields.finish(Some(part.amount))
}
