//! The commands `users create`, `list`, `show`, `disable`, `enable`, `sign-out`, `set-role`, `set-password`,
//! `unlock` and `reset-mfa`.

use super::{Error, Services, parse_order, parse_text, print, print_table};
use clap::{Args, Subcommand};
use foundation::email::Email;
use foundation::list_query::{Order, PageRequest};
use foundation::secret::Secret;
use foundation::settings::InvalidSetting;
use identity::accounts::administration::{self, AccountWithPassword};
use identity::passwords::{self, NewPassword};
use identity::users::account::{self, Account};
use identity::users::list::{self, ListQuery};
use identity::users::{NewUser, Role};
use runtime::output::{Cell, Column, Table, cell};
use std::io;
use storage::paging::read_all;

const COLUMNS: [Column; 4] = [
    Column::Plain("id"),
    Column::Plain("email"),
    Column::Plain("role"),
    Column::Plain("state"),
];

/// The commands for users.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a user. Without a password on standard input, an initial password is generated and printed.
    Create {
        /// The e-mail address to sign in with.
        #[arg(long, value_parser = parse_email)]
        email: Email,
        /// The user's role.
        #[arg(long, default_value = "user")]
        role: Role,
        /// Read the password from standard input.
        #[arg(long, conflicts_with = "password_hash_stdin")]
        password_stdin: bool,
        /// Read a bcrypt hash of the password ($2a$, $2b$, $2y$) from standard input, for a user of another
        /// service; an Argon2 hash replaces it at the next sign-in.
        #[arg(long)]
        password_hash_stdin: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the users, by id.
    List {
        /// Only the user with this address.
        #[arg(long, value_parser = parse_email)]
        email: Option<Email>,
        /// Only users whose addresses begin with this text.
        #[arg(long, value_name = "TEXT", value_parser = parse_text)]
        search: Option<String>,
        /// Only users with this role.
        #[arg(long)]
        role: Option<Role>,
        /// Only disabled users (`true`), or only enabled ones (`false`).
        #[arg(long, value_name = "BOOL")]
        disabled: Option<bool>,
        /// The order: `desc` lists the newest users first.
        #[arg(long, value_parser = parse_order)]
        order: Option<Order>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show one user.
    Show(UserArgs),
    /// Disable a user: all their sessions and tokens end, and they cannot sign in.
    Disable(UserArgs),
    /// Enable a disabled user: they can sign in again.
    Enable(UserArgs),
    /// End all sessions and tokens of a user, who can sign in again.
    SignOut(UserArgs),
    /// Change a user's role. They are signed out everywhere.
    SetRole {
        #[command(flatten)]
        args: UserArgs,
        /// The new role.
        #[arg(long)]
        role: Role,
    },
    /// Set a user's password: all their sessions and tokens end, their passkeys are removed, and they are
    /// notified by mail. Without --password-stdin, an initial password is generated and printed.
    SetPassword {
        #[command(flatten)]
        args: UserArgs,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Delete a user's failed sign-in attempts, from all addresses.
    Unlock(UserArgs),
    /// Disable a user's two-step sign-in and remove their passkeys: all their sessions and tokens end, and
    /// they are notified by mail.
    ResetMfa(UserArgs),
}

/// The arguments of a command for one user.
#[derive(Args, Debug)]
pub struct UserArgs {
    /// The e-mail address.
    #[arg(long, value_parser = parse_email)]
    email: Email,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    match command {
        Command::Create {
            email,
            role,
            password_stdin,
            password_hash_stdin,
            json,
        } => {
            let password = match (password_stdin, password_hash_stdin) {
                (true, _) => read_password(services, &email)?,
                (_, true) => read_hash()?,
                _ => NewPassword::Generated,
            };
            let (password, generated) = password.hash(&services.passwords).await?;
            let new = NewUser {
                email,
                role,
                password,
            };
            let account = administration::create(&services.db, &new, &services.context()).await?;
            print_with_password(&account, generated.as_ref(), json)
        }
        Command::List {
            email,
            search,
            role,
            disabled,
            order,
            json,
        } => {
            let query = |cursor| ListQuery {
                email: email.clone(),
                search: search.clone(),
                role,
                disabled,
                page: PageRequest::after(cursor, order),
                refused: Vec::new(),
            };
            let accounts = read_all(async |cursor| list::page(&services.db, &query(cursor)).await).await?;
            let rows = accounts.iter().map(|account| row(account, state(account)));
            print_table(json, &accounts, &Table::new(&COLUMNS, rows))
        }
        Command::Show(args) => {
            let account = find(services, &args).await?;
            print(args.json, &account, &lines(&account, state(&account)))
        }
        Command::Disable(args) => {
            let id = find(services, &args).await?.user.id;
            let context = services.context();
            let account = administration::disable(&services.db, &services.revocations, id, &context).await?;
            print_account(&account, "disabled", args.json)
        }
        Command::Enable(args) => {
            let id = find(services, &args).await?.user.id;
            let account = administration::enable(&services.db, id, &services.context()).await?;
            print_account(&account, "enabled", args.json)
        }
        Command::SignOut(args) => {
            let (account, context) = (find(services, &args).await?, services.context());
            let (db, revocations) = (&services.db, &services.revocations);
            administration::sign_out(db, revocations, account.user.id, &context).await?;
            print_account(&account, "signed out", args.json)
        }
        Command::SetRole { args, role } => {
            let (account, context) = (find(services, &args).await?, services.context());
            let (db, revocations) = (&services.db, &services.revocations);
            let account = administration::set_role(db, revocations, &account, role, &context).await?;
            print(args.json, &account, &lines(&account, None))
        }
        Command::SetPassword { args, password_stdin } => set_password(services, &args, password_stdin).await,
        Command::Unlock(args) => {
            let account = find(services, &args).await?;
            let context = services.context();
            administration::unlock(&services.db, account.user.id, &context).await?;
            print_account(&account, "unlocked", args.json)
        }
        Command::ResetMfa(args) => reset_mfa(services, &args).await,
    }
}

async fn find(services: &Services, args: &UserArgs) -> Result<Account, Error> {
    let found = account::find_by_email(&services.db, &args.email).await?;
    found.ok_or_else(|| Error::NotFound(format!("no user has the address {}", args.email.as_str())))
}

async fn set_password(services: &Services, args: &UserArgs, from_stdin: bool) -> Result<(), Error> {
    let (mails, id) = (services.mails()?, find(services, args).await?.user.id);
    let password = match from_stdin {
        true => read_password(services, &args.email)?,
        false => NewPassword::Generated,
    };
    let (password, generated) = password.hash(&services.passwords).await?;
    let (db, revocations) = (&services.db, &services.revocations);
    let context = services.context();
    let account = administration::set_password(db, revocations, &mails, id, &password, &context).await?;
    print_with_password(&account, generated.as_ref(), args.json)
}

async fn reset_mfa(services: &Services, args: &UserArgs) -> Result<(), Error> {
    let (mails, account) = (services.mails()?, find(services, args).await?);
    let (db, revocations) = (&services.db, &services.revocations);
    let context = services.context();
    administration::reset_mfa(db, revocations, &mails, &account, &context).await?;
    let account = Account {
        mfa_enabled: false,
        recovery_codes_left: 0,
        passkeys: 0,
        ..account
    };
    let effect = match account.has_password {
        true => "signs in by the password alone",
        false => "has no password, and signs in after a reset by mail",
    };
    print_account(&account, effect, args.json)
}

/// Reads the password of the account with this address from standard input. Fails if it is not acceptable.
fn read_password(services: &Services, email: &Email) -> Result<NewPassword, Error> {
    let password = services.passwords.parse_new_for(&read_line()?, email.as_str());
    let password = password.map_err(|flaw| InvalidSetting(format!("the password {flaw}")))?;
    Ok(NewPassword::Chosen(password))
}

/// Reads the bcrypt hash of a password from standard input. Fails if it cannot be imported.
fn read_hash() -> Result<NewPassword, Error> {
    let hash = passwords::parse_imported_hash(&read_line()?);
    let hash = hash.map_err(|flaw| InvalidSetting(format!("the password hash {flaw}")))?;
    Ok(NewPassword::Imported(hash))
}

/// Returns the text on standard input, without the line end.
fn read_line() -> Result<String, Error> {
    let text = io::read_to_string(io::stdin())?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Prints the account, and its password if it was generated.
fn print_with_password(account: &Account, generated: Option<&Secret>, json: bool) -> Result<(), Error> {
    let password =
        generated.map(|secret| format!("initial password, to change at sign-in: {}", secret.expose()));
    let lines = [lines(account, None), Vec::from_iter(password)].concat();
    print(json, &AccountWithPassword::new(account, generated), &lines)
}

/// Prints the account. As text, the line ends with `done`, which describes the change.
fn print_account(account: &Account, done: &str, json: bool) -> Result<(), Error> {
    print(json, account, &lines(account, Some(done)))
}

fn lines(account: &Account, state: Option<&str>) -> Vec<String> {
    Table::new(&COLUMNS, [row(account, state)]).to_lines()
}

/// Returns the state of an account, if it is not the usual one.
fn state(account: &Account) -> Option<&'static str> {
    account.disabled_at.map(|_| "disabled")
}

fn row(Account { user, .. }: &Account, state: Option<&str>) -> [Cell; 4] {
    [
        cell(user.id),
        cell(&user.email),
        cell(user.role.as_str()),
        state.map(str::to_owned),
    ]
}

fn parse_email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|flaw| format!("the address {flaw}"))
}
