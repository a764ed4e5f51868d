//! A PostgreSQL server with a data directory of its own.

use crate::installed_programs::postgres_program;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

/// Starts the server and waits on standard input. When the test process ends, the pipe closes, and the script
/// stops the server, which may be suspended, and removes its directory. The default collation is linguistic
/// if ICU is available, so that a test fails if a query that must compare titles by bytes relies on it. The
/// settings are one line, because `pg_ctl` gives them to a shell, which would end the command at a line
/// break.
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
settings="-c listen_addresses= -c unix_socket_directories=$dir -c fsync=off -c synchronous_commit=off \
    -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 -c autovacuum=off -c max_connections=400 -c shared_buffers=64MB"
as_postgres "$bin/pg_ctl" -D "$dir/data" -o "$settings" -l "$dir/data/log" -w start >&2 && echo ready
cat >/dev/null
kill -CONT "$(head -n 1 "$dir/data/postmaster.pid")"
as_postgres "$bin/pg_ctl" -D "$dir/data" -m immediate stop >&2
rm -rf "$dir"
"#;

/// The maximum time until a signal has taken effect in every process of the server.
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(10);

/// The login role of the API processes.
pub(super) const API_LOGIN_ROLE: &str = "some_api";

/// A running server, stopped and removed on drop.
#[derive(Debug)]
pub struct PostgresServer {
    socket_dir: PathBuf,
    api_role: Once,
    administration: Mutex<Administration>,
    /// Stops the server when its standard input closes.
    supervisor: Child,
}

/// A session that stays open, because a program and a session for each statement would cost more than most
/// statements.
#[derive(Debug)]
struct Administration {
    psql: Child,
    statements: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// A process of the server.
struct ServerProcess {
    id: String,
    /// The one-letter state in `/proc/PID/stat`, `T` for a suspended process.
    state: String,
    parent: String,
}

impl PostgresServer {
    /// Returns the server that the worlds of this test process share. The first call starts it.
    pub(super) fn shared() -> Arc<Self> {
        static SHARED: OnceLock<Arc<PostgresServer>> = OnceLock::new();
        Arc::clone(SHARED.get_or_init(|| Arc::new(Self::start())))
    }

    /// Starts another server.
    pub(super) fn start() -> Self {
        let initdb = postgres_program("initdb").unwrap_or_else(|error| panic!("{error}"));
        let socket_dir = tempfile::Builder::new().prefix("latchkey-pg-").tempdir();
        let socket_dir = socket_dir.unwrap().keep();
        let mut supervisor = Command::new("sh")
            .args(["-c", SUPERVISE, "sh"])
            .args([&socket_dir, initdb.parent().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        if let Some(stdout) = supervisor.stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        if line.trim() != "ready" {
            let log = std::fs::read_to_string(socket_dir.join("log")).unwrap_or_default();
            panic!("PostgreSQL did not start:\n{log}");
        }
        Self {
            administration: Mutex::new(Administration::begin(&socket_dir)),
            socket_dir,
            api_role: Once::new(),
            supervisor,
        }
    }

    /// The directory of its Unix socket.
    pub(crate) fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// Runs `create` unless it already ran for this server. Creates the login role of the API processes.
    pub(super) fn create_api_role_once(&self, create: impl FnOnce()) {
        self.api_role.call_once(create);
    }

    /// Runs statements on the database `postgres`, each outside of a transaction, which creating and dropping
    /// databases requires. Fails the test unless they succeed.
    pub(super) fn administer(&self, statements: &str) {
        self.administration.lock().unwrap().run(statements);
    }

    /// Runs a PostgreSQL program on a database of this server. Fails the test unless it succeeds. Returns its
    /// output.
    pub(super) fn run(&self, program: &str, options: &[&str], database: &str) -> String {
        let done = Command::new(postgres_program(program).unwrap())
            .args(options)
            .args(["-U", "postgres", "-h"])
            .arg(&self.socket_dir)
            .arg(database)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{program}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Suspends every process of the server with SIGSTOP. The kernel still accepts connections to its socket.
    pub fn suspend(&self) {
        let began = Instant::now();
        // The postmaster goes first, so that it forks no further process.
        signal("-STOP", &[self.postmaster()]);
        while self.processes().iter().any(|process| process.state != "T") {
            let ids: Vec<_> = self.processes().into_iter().map(|process| process.id).collect();
            signal("-STOP", &ids);
            assert!(began.elapsed() < SIGNAL_TIMEOUT, "PostgreSQL was not suspended");
        }
    }

    /// Resumes every process after [`PostgresServer::suspend`].
    pub fn resume(&self) {
        let ids: Vec<_> = self.processes().into_iter().map(|process| process.id).collect();
        signal("-CONT", &ids);
    }

    /// Terminates every connection of the programs to the server with `pg_terminate_backend`.
    pub fn terminate_connections(&self) {
        let terminate = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
                         WHERE backend_type = 'client backend' AND datname <> 'postgres'";
        self.administer(terminate);
    }

    /// The process id of the postmaster, which is the parent of all other processes of the server.
    fn postmaster(&self) -> String {
        let file = std::fs::read_to_string(self.socket_dir.join("data/postmaster.pid")).unwrap();
        file.lines().next().unwrap().to_owned()
    }

    /// The running processes of the server.
    fn processes(&self) -> Vec<ServerProcess> {
        let postmaster = self.postmaster();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let processes = stats.filter_map(|stat| ServerProcess::parse(&stat));
        processes
            .filter(|process| process.id == postmaster || process.parent == postmaster)
            .filter(|process| process.state != "Z")
            .collect()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

impl Administration {
    /// Begins a session of the superuser.
    fn begin(socket_dir: &Path) -> Self {
        let mut psql = Command::new(postgres_program("psql").unwrap())
            .args([
                "-qAtX",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "postgres",
                "-d",
                "postgres",
                "-h",
            ])
            .arg(socket_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            statements: psql.stdin.take().unwrap(),
            answers: BufReader::new(psql.stdout.take().unwrap()),
            psql,
        }
    }

    /// Runs statements and waits for their end. `psql` ends at the first error, and says it on standard
    /// error.
    fn run(&mut self, statements: &str) {
        const DONE: &str = "done";
        writeln!(self.statements, "{statements};\n\\echo {DONE}").unwrap();
        let mut line = String::new();
        while line.trim_end() != DONE {
            line.clear();
            let length = self.answers.read_line(&mut line).unwrap();
            assert!(length > 0, "psql failed: {:?}\n{statements}", self.psql.wait());
        }
    }
}

impl ServerProcess {
    /// Parses `/proc/PID/stat`: the id, the name in parentheses, the state, the id of the parent.
    fn parse(stat: &str) -> Option<Self> {
        let (id, _) = stat.split_once(' ')?;
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ').map(str::to_owned);
        Some(Self {
            id: id.to_owned(),
            state: fields.next()?,
            parent: fields.next()?,
        })
    }
}

/// Sends a signal to processes. Some of them may have ended.
fn signal(name: &str, ids: &[String]) {
    let kill = Command::new("kill")
        .arg(name)
        .args(ids)
        .stderr(Stdio::null())
        .status();
    kill.unwrap();
}
