//! The export of a user's data as one JSON object. It is written in pieces, so that only a small part of the
//! object is in memory at a time.

mod json;

use crate::comments::{self, Comment};
use crate::payments::{self, Payment};
use crate::posts::{self, Post};
use audit::events::list as events;
use audit::events::list::{Filter, SecurityEvent};
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use futures_util::stream::{Stream, try_unfold};
use identity::consents::{self, ConnectedApp};
use identity::passkeys::{self, Passkey};
use identity::sessions::{self, OwnSession, Session};
use identity::users::User;
use identity::{Identity, second_factor};
use json::ObjectWriter;
use serde::Serialize;
use storage::db::{self, Db};
use storage::paging::HasCursor as _;
use utoipa::ToSchema;

/// The maximum number of security events in one piece.
const EVENTS_PER_PIECE: usize = 20;

/// The stored data of the caller.
#[derive(ToSchema)]
#[allow(dead_code, reason = "documents the JSON that is written in pieces")]
pub struct Export {
    /// The account.
    user: User,
    /// Whether sign-in with the password requires a one-time code.
    mfa_enabled: bool,
    /// The caller's passkeys.
    passkeys: Vec<Passkey>,
    /// The caller's sessions.
    sessions: Vec<OwnSession>,
    /// The apps to which the caller has given access.
    grants: Vec<ConnectedApp>,
    /// The caller's posts, including drafts.
    posts: Vec<Post>,
    /// The caller's comments.
    comments: Vec<Comment>,
    /// The caller's payments.
    payments: Vec<Payment>,
    /// The security events of the account, the latest first.
    security_events: Vec<SecurityEvent>,
}

/// Returns the value of the header `Content-Disposition` of the file.
pub fn content_disposition(session: &Session) -> String {
    format!("attachment; filename=\"account-{}.json\"", session.user.id)
}

/// The reason why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A record cannot be serialized as JSON.
    #[error("a record cannot be serialized: {0}")]
    Serialization(#[from] serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// A list that may be long and is therefore written in pieces.
#[derive(Clone, Copy, Debug)]
enum List {
    Posts,
    Comments,
    Payments,
    SecurityEvents,
}

/// The lists in the order in which they are written.
const LISTS: [List; 4] = [List::Posts, List::Comments, List::Payments, List::SecurityEvents];

/// The position of an item in its list: the values of the list's sort keys, and 0 in place of those that it
/// lacks.
type Position = (i64, i64, i64);

/// The position before every item.
const BEGINNING: Position = (i64::MIN, i64::MIN, i64::MIN);

impl List {
    const fn name(self) -> &'static str {
        match self {
            Self::Posts => "posts",
            Self::Comments => "comments",
            Self::Payments => "payments",
            Self::SecurityEvents => "security_events",
        }
    }

    /// Writes the user's next items after this position, about 20, because a post can take 400 kB. Returns
    /// the position of the last item written; `None` if there are no more items.
    async fn write_after(
        self,
        (db, user_id): (&Db, i64),
        after: Position,
        writer: &mut ObjectWriter,
    ) -> Result<Option<Position>, Error> {
        let (first, second, _) = after;
        match self {
            Self::Posts => {
                let posts = posts::of_author(db, user_id, (first, second)).await?;
                write_items(writer, &posts, |post| (post.created_at.micros(), post.id, 0))
            }
            Self::Comments => {
                let comments = comments::of_author(db, user_id, after).await?;
                write_items(writer, &comments, |comment| {
                    (comment.post_id, comment.created_at.micros(), comment.id)
                })
            }
            Self::Payments => {
                let payments = payments::of_user(db, user_id, (first, second)).await?;
                write_items(writer, &payments, |payment| {
                    let Cursor { created_at, id } = payment.cursor();
                    (created_at.micros(), id, 0)
                })
            }
            Self::SecurityEvents => {
                let last = Cursor {
                    created_at: Timestamp::from_micros(first),
                    id: second,
                };
                let before = (after != BEGINNING).then_some(last);
                let filter = Filter {
                    user_id: Some(user_id),
                    ..Filter::default()
                };
                let events = events::newest(db, &filter, before, EVENTS_PER_PIECE).await?;
                let events: Vec<_> = events.into_iter().map(SecurityEvent::for_its_user).collect();
                write_items(writer, &events, |event| (event.at.micros(), event.id, 0))
            }
        }
    }
}

/// Writes the items and returns the position of the last one; `None` if there are no items.
fn write_items<T: Serialize>(
    writer: &mut ObjectWriter,
    items: &[T],
    position: impl Fn(&T) -> Position,
) -> Result<Option<Position>, Error> {
    for item in items {
        writer.element(item)?;
    }
    Ok(items.last().map(position))
}

/// The progress of an export.
struct Progress {
    db: Db,
    user_id: i64,
    writer: ObjectWriter,
    /// The index in [`LISTS`] of the list that is being written.
    list: usize,
    /// The position of the last item written in this list; [`BEGINNING`] if there is none yet.
    after: Position,
}

impl Progress {
    /// Returns the next piece; it is empty at the end.
    async fn next(&mut self) -> Result<String, Error> {
        let Some(list) = LISTS.get(self.list) else {
            return Ok(self.writer.take_piece());
        };
        if self.after == BEGINNING {
            self.writer.begin_array(list.name())?;
        }
        let source = (&self.db, self.user_id);
        match list.write_after(source, self.after, &mut self.writer).await? {
            Some(last) => self.after = last,
            None => {
                self.writer.end_array();
                self.list += 1;
                self.after = BEGINNING;
            }
        }
        if self.list == LISTS.len() {
            self.writer.end();
        }
        Ok(self.writer.take_piece())
    }
}

/// Exports the data of the session's user. The returned stream yields the pieces of one JSON object, which
/// has the members of [`Export`]. Fails if the members before the long lists cannot be read. A later error is
/// the last item of the stream.
pub async fn stream(
    identity: Identity,
    session: Session,
    now: Timestamp,
) -> Result<impl Stream<Item = Result<String, Error>>, Error> {
    let (db, user_id) = (identity.db.clone(), session.user.id);
    let mut writer = ObjectWriter::begin();
    writer.member("user", &session.user)?;
    writer.member("mfa_enabled", &second_factor::is_enabled(&db, user_id).await?)?;
    writer.member("passkeys", &passkeys::list(&db, user_id).await?)?;
    let sessions = sessions::list(&identity, user_id, &session, now).await?;
    writer.member("sessions", &sessions)?;
    writer.member("grants", &consents::list(&db, user_id).await?)?;
    let progress = Progress {
        db,
        user_id,
        writer,
        list: 0,
        after: BEGINNING,
    };
    Ok(try_unfold(progress, async |mut progress| {
        let piece = progress.next().await?;
        Ok((!piece.is_empty()).then_some((piece, progress)))
    }))
}
