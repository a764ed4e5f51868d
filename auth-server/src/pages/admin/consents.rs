//! The page of all consents, for administrators.

use super::filter::{Condition, Refused};
use super::{Choice, InTerminal, UserChange, by_id, options, orders, quoted};
use crate::pages::text::Text;
use crate::pages::{FormState, render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::consents::list::{Consent, ConsentDetails, ListQuery};
use web::Links;

/// The page of all consents.
pub(crate) struct ConsentsPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) consents: &'a [Consent],
    /// The details of these consents. One without details was revoked meanwhile.
    pub(crate) details: &'a [ConsentDetails],
    /// The id of the administrator.
    pub(crate) administrator: i64,
    /// The path at which the administrator signs in again before a change, if it is needed.
    pub(crate) sign_in: Option<String>,
    /// The condition on the consents, which the form shows.
    pub(crate) query: &'a ListQuery,
    pub(crate) links: Links,
    /// The path of the page with its query, to which the administrator comes back after a change.
    pub(crate) page_path: &'a str,
    /// The URL of the list with its condition.
    pub(crate) list_url: &'a str,
    /// The URL of the list.
    pub(crate) url: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "consents.html")]
struct ConsentsTemplate<'a> {
    form: FormState<'a>,
    conditions: [Condition; 2],
    orders: [Choice; 2],
    consents: Vec<ListedConsent<'a>>,
    /// Whether the form has a condition.
    has_condition: bool,
    /// The name of the change that revokes a consent.
    revoke_consent: &'static str,
    sign_in: Option<&'a str>,
    links: &'a Links,
    page_path: &'a str,
    in_terminal: InTerminal,
    now: Timestamp,
}

struct ListedConsent<'a> {
    app: &'a str,
    client_id: &'a str,
    /// The path of the page of the app.
    client: String,
    email: &'a str,
    /// The path of the page of the user.
    user: String,
    scopes: Vec<String>,
    given: Timestamp,
    last_used: Option<Timestamp>,
    /// Whether it is one of the administrator, who revokes it on the page of the account.
    is_own: bool,
    effect: Text<'static>,
    in_terminal: InTerminal,
}

/// Renders the page of all consents.
pub(crate) fn consents(page: &ConsentsPage<'_>) -> Response {
    let query = page.query;
    let user_id = query.user_id.map(|id| id.get().to_string());
    let client_id = query.client_id.as_ref().map(ToString::to_string);
    let refused = Refused(&query.refused);
    let field = |name, label: &Text<'_>, value: Option<String>| Condition::new(name, label, value, refused);
    let conditions = [
        field("user_id", &text::of("events-user"), user_id),
        field("client_id", &text::of("events-client"), client_id),
    ];
    let consents = page.consents.iter().filter_map(|consent| {
        let details = page.details.iter().find(|details| details.id == consent.id)?;
        let effect = text::of("consent-revoke-effect").with("app", &consent.access.client_name);
        let effect = effect.with("email", &details.email);
        Some(ListedConsent {
            app: &consent.access.client_name,
            client_id: &consent.client_id,
            client: paths::of_client(&consent.client_id),
            email: &details.email,
            user: paths::of_user(consent.user_id),
            scopes: consent.access.scope.split(' ').map(text::scope).collect(),
            given: consent.access.granted_at,
            last_used: consent.access.last_used_at,
            is_own: consent.user_id == page.administrator,
            effect: effect.count("families", details.families.unsigned_abs()),
            in_terminal: InTerminal::new(
                &format!("consents revoke {}", consent.id),
                &format!("-X DELETE {}/{}", page.url, consent.id),
            ),
        })
    });
    let list_command = format!("consents list{}", options(query.page.accepted()));
    let template = ConsentsTemplate {
        form: page.form,
        conditions,
        orders: orders(query.order(), by_id),
        consents: consents.collect(),
        has_condition: query.user_id.is_some() || query.client_id.is_some(),
        revoke_consent: UserChange::RevokeConsent.as_str(),
        sign_in: page.sign_in.as_deref(),
        links: &page.links,
        page_path: page.page_path,
        in_terminal: InTerminal::new(&list_command, &quoted(page.list_url)),
        now: page.now,
    };
    render_in_tab("consents", &text::of("account-apps").plain(), &template)
}
