//! The page of all sessions, for administrators.

use super::filter::{Condition, Refused};
use super::{Choice, InTerminal, UserChange, by_time, options, orders, quoted};
use crate::pages::session_item::SessionItem;
use crate::pages::text::Text;
use crate::pages::{FormState, render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::authentication_methods::AuthenticationMethods;
use identity::sessions::{ListQuery, Session, SessionDetails, UserSession};
use web::Links;

/// The page of all sessions.
pub(crate) struct SessionsPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) sessions: &'a [UserSession],
    /// The details of these sessions. One without details has ended meanwhile.
    pub(crate) details: &'a [SessionDetails],
    /// The session of the administrator.
    pub(crate) administrator: &'a Session,
    /// The path at which the administrator signs in again before a change, if it is needed.
    pub(crate) sign_in: Option<String>,
    /// The condition on the sessions, which the form shows.
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
#[template(path = "sessions.html")]
struct SessionsTemplate<'a> {
    form: FormState<'a>,
    conditions: [Condition; 1],
    orders: [Choice; 2],
    sessions: Vec<ListedSession<'a>>,
    /// The name of the change that ends a session.
    end_session: &'static str,
    sign_in: Option<&'a str>,
    links: &'a Links,
    page_path: &'a str,
    in_terminal: InTerminal,
    now: Timestamp,
}

struct ListedSession<'a> {
    session: SessionItem,
    /// The methods by which the user signed in, in words.
    methods: Text<'static>,
    expires: Timestamp,
    email: &'a str,
    /// The path of the page of the user.
    user: String,
    /// Whether it is one of the administrator, who ends it on the page of the account.
    is_own: bool,
    effect: Text<'static>,
    in_terminal: InTerminal,
}

/// Renders the page of all sessions.
pub(crate) fn sessions(page: &SessionsPage<'_>) -> Response {
    let (query, administrator) = (page.query, page.administrator);
    let user_id = query.user_id.map(|id| id.get().to_string());
    let conditions = [Condition::new(
        "user_id",
        &text::of("events-user"),
        user_id,
        Refused(&query.refused),
    )];
    let sessions = page.sessions.iter().filter_map(|listed| {
        let id = listed.session.id;
        let details = page.details.iter().find(|details| details.id == id)?;
        let effect = text::of("session-end-effect").with("email", &details.email);
        Some(ListedSession {
            session: SessionItem::new(&listed.session, id == administrator.id),
            methods: match details.methods {
                AuthenticationMethods::Password => text::of("session-by-password"),
                AuthenticationMethods::PasswordAndCode => text::of("session-by-password-and-code"),
                AuthenticationMethods::Passkey => text::of("session-by-passkey"),
            },
            expires: listed.session.expires_at,
            email: &details.email,
            user: paths::of_user(listed.user_id),
            is_own: listed.user_id == administrator.user.id,
            effect: effect.count("families", details.families.unsigned_abs()),
            in_terminal: InTerminal::new(
                &format!("sessions end {id}"),
                &format!("-X DELETE {}/{id}", page.url),
            ),
        })
    });
    let list_command = format!("sessions list{}", options(query.page.accepted()));
    let template = SessionsTemplate {
        form: page.form,
        conditions,
        orders: orders(query.order(), by_time),
        sessions: sessions.collect(),
        end_session: UserChange::EndSession.as_str(),
        sign_in: page.sign_in.as_deref(),
        links: &page.links,
        page_path: page.page_path,
        in_terminal: InTerminal::new(&list_command, &quoted(page.list_url)),
        now: page.now,
    };
    render_in_tab("sessions", &text::of("sessions").plain(), &template)
}
