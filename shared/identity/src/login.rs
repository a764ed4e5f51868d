//! Signing in, signing out and changing a password: one place for the pages and the API.

pub use crate::credential_check::Error;
use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::grants::refresh_families;
use crate::grants::refresh_families::Selection;
use crate::passwords::Password;
use crate::sessions::Session;
use crate::sign_out::sign_out_everywhere;
use crate::users;
use crate::users::User;
use crate::{Identity, sessions};
use audit::events::{Event, EventName};
use audit::mail::Notice;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;

/// Someone signed in.
#[derive(Debug)]
pub struct NewSession {
    /// Who.
    pub user: User,
    /// The new session's identifier, for the cookie.
    pub sid: Secret,
}

/// Who somebody says to be.
#[derive(Clone, Copy, Debug)]
pub struct SignInRequest<'a> {
    /// Any text; one that is no e-mail address is an unknown one.
    pub email: &'a str,
    /// The captcha's answer, if there is one.
    pub captcha: Option<&'a str>,
}

/// Signs in with e-mail and password, and ends the session that the browser came with.
pub async fn login(
    identity: &Identity,
    presented: SignInRequest<'_>,
    proof: PresentedCredentials,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let known = Email::parse(presented.email).ok();
    let stored = match &known {
        Some(email) => users::credentials(&identity.db, email).await?,
        None => None,
    };
    let name = known.as_ref().map_or(presented.email, Email::key);
    let counts = credential_check::begin(identity, name, stored.as_ref(), context).await?;
    credential_check::require_captcha(identity, &counts, presented.captcha, context).await?;
    let asked = RequiredFactors::All;
    credential_check::check(identity, &counts, &proof, asked, stored.as_ref(), context).await?;
    let verified = stored.ok_or(Error::Wrong)?;
    let user_id = verified.id;
    let renewed = identity
        .passwords
        .renew(proof.password, &verified.password_hash)
        .await;

    let mut tx = identity.db.begin().await?;
    if !users::lock(&mut tx, &verified).await? {
        return Err(Error::Wrong);
    }
    if let Some(hash) = renewed {
        users::renew_hash(&mut tx, &verified, &hash).await?;
    }
    // The session that the browser came with ends here, whole: nothing of it is carried over.
    let mut announcement = None;
    if let Some(former) = former
        && let Some(former_id) = sessions::end_by_sid(&mut tx, former).await?
    {
        let ended = Selection::OfSession(former_id);
        announcement = Some(refresh_families::revoke(&mut tx, ended, context).await?);
    }
    let sid = sessions::start(&mut tx, user_id, identity.session_lifetimes, context).await?;
    Event::success(EventName::LoginSuccess)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    if let Some(announcement) = announcement {
        identity.revocations.announce(announcement).await;
    }
    let user = users::find(&identity.db, user_id).await?.ok_or(Error::Wrong)?;
    Ok(NewSession { user, sid })
}

/// Replaces the password of a session's user. Every session, refresh token and access token of theirs
/// dies with the old one, this session included.
pub async fn change_password(
    identity: &Identity,
    session: &Session,
    current: Password,
    new: Password,
    context: &RequestContext,
) -> Result<(), Error> {
    let user_id = session.user.id;
    let proof = PresentedCredentials {
        password: current,
        otp: None,
    };
    let verified = credential_check::reauthenticate(
        identity,
        &session.user,
        &proof,
        RequiredFactors::Password,
        context,
    )
    .await?;
    let hash = identity.passwords.hash(new).await?;

    let mut tx = identity.db.begin().await?;
    if !users::set_password(&mut tx, &verified, &hash, context.now).await? {
        return Err(Error::Wrong);
    }
    let announcement = sign_out_everywhere(&mut tx, user_id, context).await?;
    Event::success(EventName::PasswordChange)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    let mails = &identity.mails;
    mails
        .send_notice(&mut tx, &session.user.email, Notice::PasswordChanged, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce(announcement).await;
    Ok(())
}

/// Ends a session, and what first-party clients began in it.
pub async fn logout(identity: &Identity, session: &Session, context: &RequestContext) -> Result<(), Error> {
    let mut tx = identity.db.begin().await?;
    sessions::end(&mut tx, session.id).await?;
    let ended = Selection::OfSession(session.id);
    let announcement = refresh_families::revoke(&mut tx, ended, context).await?;
    Event::success(EventName::Logout)
        .user(session.user.id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce(announcement).await;
    Ok(())
}
