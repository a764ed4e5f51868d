//! A PostgreSQL server of this test process, started with the first world that needs it.

use crate::installed_programs::postgres_program;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Once, OnceLock};

/// Starts the server and waits on standard input. When the test process ends, the pipe closes, and the script
/// stops the server and removes its directory. The default collation is linguistic if ICU is available, so
/// that a test fails if a query that must compare titles by bytes relies on it.
const SUPERVISE: &str = r#"
trap '' INT TERM HUP PIPE
dir=$1 bin=$2
as_postgres() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi
}
if [ "$(id -u)" = 0 ]; then chown postgres "$dir"; fi
cd "$dir"
exec 2>"$dir/log"
init() { as_postgres "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --no-sync "$@" >&2; }
init --locale=C.UTF-8 --locale-provider=icu --icu-locale=en || { rm -rf data; init --locale=C.UTF-8; } || init
settings="-c listen_addresses= -c unix_socket_directories=$dir -c fsync=off -c synchronous_commit=off
    -c full_page_writes=off -c max_connections=400 -c shared_buffers=64MB"
as_postgres "$bin/pg_ctl" -D "$dir/data" -o "$settings" -l "$dir/data/log" -w start >&2 && echo ready
cat >/dev/null
as_postgres "$bin/pg_ctl" -D "$dir/data" -m immediate stop >&2
rm -rf "$dir"
"#;

/// The login role of the API processes.
const API_LOGIN_ROLE: &str = "some_api";

static CLUSTER: OnceLock<Result<Cluster, String>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

struct Cluster {
    socket_dir: PathBuf,
    /// Held for its standard input, which closes when this process ends.
    _supervisor: Child,
}

/// A database that is dropped with this value.
#[derive(Debug)]
pub(crate) struct Database {
    name: String,
    socket_dir: &'static Path,
}

impl Database {
    /// Creates an empty database.
    pub(crate) fn create() -> Self {
        let socket_dir = match CLUSTER.get_or_init(Cluster::start) {
            Ok(cluster) => &cluster.socket_dir,
            Err(error) => panic!("{error}"),
        };
        let name = format!("world_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let database = Self { name, socket_dir };
        database.run("createdb", &[]);
        database
    }

    /// Returns the URL over the server's Unix socket.
    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// Returns the URL for the API, with a login role that is a member of the role created by the migrations.
    pub(crate) fn api_url(&self) -> String {
        static LOGIN: Once = Once::new();
        LOGIN.call_once(|| {
            let make = format!("CREATE ROLE {API_LOGIN_ROLE} LOGIN IN ROLE latchkey_api");
            self.run("psql", &["-qc", &make]);
        });
        self.url_of(API_LOGIN_ROLE)
    }

    fn url_of(&self, user: &str) -> String {
        format!(
            "postgres://{user}@localhost/{}?host={}",
            self.name,
            self.socket_dir.display()
        )
    }

    /// A dump of the database as SQL.
    pub(crate) fn dump(&self) -> String {
        self.run("pg_dump", &["--inserts"])
    }

    /// Every row of every table as text. Faster than [`Database::dump`].
    pub(crate) fn rows(&self) -> String {
        const TABLES: &str = "SELECT table_name::text FROM information_schema.tables
                              WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
        let url = self.url();
        let read = async move {
            let mut connection = PgConnection::connect(&url).await?;
            let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut connection).await?;
            let mut rows = String::new();
            for table in tables {
                let all = format!("SELECT coalesce(string_agg(t::text, ' '), '') FROM \"{table}\" t");
                let all: String = sqlx::query_scalar(AssertSqlSafe(all))
                    .fetch_one(&mut connection)
                    .await?;
                rows.push_str(&all);
            }
            Ok::<_, sqlx::Error>(rows)
        };
        // A thread of its own, because the caller may be inside a runtime.
        let reader = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(read)
        });
        reader.join().unwrap().unwrap()
    }

    fn run(&self, program: &str, options: &[&str]) -> String {
        let done = Command::new(postgres_program(program).unwrap())
            .args(options)
            .args(["-U", "postgres", "-h"])
            .arg(self.socket_dir)
            .arg(&self.name)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{program}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.run("dropdb", &["--force"]);
        }
    }
}

impl Cluster {
    fn start() -> Result<Self, String> {
        let initdb = postgres_program("initdb")?;
        let bin = initdb.parent().ok_or("initdb has no directory")?;
        let socket_dir = tempfile::Builder::new()
            .prefix("latchkey-pg-")
            .tempdir()
            .map_err(|error| error.to_string())?
            .keep();
        let mut supervisor = Command::new("sh")
            .args(["-c", SUPERVISE, "sh"])
            .args([&socket_dir, bin])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        let mut line = String::new();
        if let Some(stdout) = supervisor.stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        if line.trim() == "ready" {
            return Ok(Self {
                socket_dir,
                _supervisor: supervisor,
            });
        }
        let log = std::fs::read_to_string(socket_dir.join("log")).unwrap_or_default();
        Err(format!("PostgreSQL did not start:\n{log}"))
    }
}
