//! All that is kept of a person, as one JSON text, written piece by piece: however much there is, little of it is in
//! memory at a time.

use crate::comments::{self, Comment};
use crate::paging::Listed as _;
use crate::payments::{self, Payment};
use crate::posts::{self, Post};
use futures_util::stream::{Stream, try_unfold};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::cursor::Cursor;
use shared::db::{Db, Error};
use shared::events::list::{self as events, Filter, SecurityEvent};
use shared::grants::consents::{self, Connected};
use shared::identity::sessions::{self, Listed, Session};
use shared::identity::users::User;
use shared::identity::{Identity, mfa};
use utoipa::ToSchema;

/// Items of a list in one piece. A post may have 400 kB.
const PIECE: i64 = 20;

/// What is kept of the caller.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes to readers what is written piece by piece")]
pub(crate) struct Export {
    /// The account.
    user: User,
    /// Whether sign-in asks for a one-time code.
    mfa_enabled: bool,
    /// Where the caller is signed in.
    sessions: Vec<Listed>,
    /// The apps that the caller is connected to.
    grants: Vec<Connected>,
    /// What they wrote, drafts too.
    posts: Vec<Post>,
    /// What they said of posts.
    comments: Vec<Comment>,
    /// What they paid.
    payments: Vec<Payment>,
    /// What happened to the account, the latest first.
    security_events: Vec<SecurityEvent>,
}

/// What is short enough to be written at once.
#[derive(Serialize)]
struct Head<'a> {
    user: &'a User,
    mfa_enabled: bool,
    sessions: Vec<Listed>,
    grants: Vec<Connected>,
}

/// What may be long, in the order in which it is written.
#[derive(Clone, Copy, Debug)]
enum List {
    Posts,
    Comments,
    Payments,
    SecurityEvents,
}

const LISTS: [List; 4] = [List::Posts, List::Comments, List::Payments, List::SecurityEvents];

/// The place of an item in its list: what the list is sorted by.
type Place = (i64, i64, i64);

/// Before any item.
const BEGINNING: Place = (i64::MIN, i64::MIN, i64::MIN);

impl List {
    const fn name(self) -> &'static str {
        match self {
            Self::Posts => "posts",
            Self::Comments => "comments",
            Self::Payments => "payments",
            Self::SecurityEvents => "security_events",
        }
    }

    /// The next items as JSON, each with its place.
    async fn after(self, db: &Db, user_id: i64, after: Place) -> Result<Vec<(Place, String)>, Error> {
        let (first, second, _) = after;
        Ok(match self {
            Self::Posts => {
                let posts = posts::of_author(db, user_id, (first, second), PIECE).await?;
                let place = |post: &Post| (post.created_at.micros(), post.id, 0);
                posts.iter().map(|post| (place(post), json(post))).collect()
            }
            Self::Comments => {
                let comments = comments::of_author(db, user_id, after, PIECE).await?;
                let place = |comment: &Comment| (comment.post_id, comment.created_at.micros(), comment.id);
                comments
                    .iter()
                    .map(|comment| (place(comment), json(comment)))
                    .collect()
            }
            Self::Payments => {
                let payments = payments::of_user(db, user_id, (first, second), PIECE).await?;
                let place = |payment: &Payment| {
                    let Cursor { created_at, id } = payment.cursor();
                    (created_at.micros(), id, 0)
                };
                payments
                    .iter()
                    .map(|payment| (place(payment), json(payment)))
                    .collect()
            }
            Self::SecurityEvents => {
                let last = Cursor {
                    created_at: Timestamp::from_micros(first),
                    id: second,
                };
                let before = (after != BEGINNING).then_some(last);
                let filter = Filter {
                    user_id: Some(user_id),
                    name: None,
                };
                let events = events::newest(db, &filter, before, PIECE).await?;
                let place = |event: &SecurityEvent| (event.at.micros(), event.id, 0);
                events.iter().map(|event| (place(event), json(event))).collect()
            }
        })
    }
}

/// How far it is written.
struct Writer {
    db: Db,
    user_id: i64,
    /// What was written before the lists, the first time.
    head: String,
    list: usize,
    after: Place,
}

impl Writer {
    /// The next piece; empty at the end.
    async fn next(&mut self) -> Result<String, Error> {
        let mut piece = std::mem::take(&mut self.head);
        let Some(list) = LISTS.get(self.list) else {
            return Ok(piece);
        };
        if self.after == BEGINNING {
            piece.push_str(&format!(",\"{}\":[", list.name()));
        }
        let items = list.after(&self.db, self.user_id, self.after).await?;
        for (place, item) in &items {
            if self.after != BEGINNING {
                piece.push(',');
            }
            piece.push_str(item);
            self.after = *place;
        }
        if items.is_empty() {
            piece.push(']');
            self.list += 1;
            self.after = BEGINNING;
        }
        if self.list == LISTS.len() {
            piece.push('}');
        }
        Ok(piece)
    }
}

/// Writes it, piece by piece.
pub(crate) async fn write(
    identity: Identity,
    session: Session,
    now: Timestamp,
) -> Result<impl Stream<Item = Result<String, Error>>, Error> {
    let (db, user_id) = (identity.db.clone(), session.user.id);
    let head = json(&Head {
        user: &session.user,
        mfa_enabled: mfa::is_on(&db, user_id).await?,
        sessions: sessions::list(&db, &session, identity.lifetimes, now).await?,
        grants: consents::list(&db, user_id).await?,
    });
    let writer = Writer {
        db,
        user_id,
        // The lists are members of the same object.
        head: head.trim_end_matches('}').to_owned(),
        list: 0,
        after: BEGINNING,
    };
    Ok(try_unfold(writer, async |mut writer| {
        let piece = writer.next().await?;
        Ok((!piece.is_empty()).then_some((piece, writer)))
    }))
}

/// Types of ours are all JSON.
fn json(item: &impl Serialize) -> String {
    serde_json::to_string(item).unwrap_or_default()
}
