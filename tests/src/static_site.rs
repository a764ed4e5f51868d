//! A server of files, as an operator runs one for a single-page app.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The page that the server sends for all paths without a file.
const INDEX: &str = "index.html";

/// The server. Stops on drop.
#[derive(Debug)]
pub struct StaticSite {
    /// `http://localhost:PORT`
    pub origin: String,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Content {
    files: HashMap<String, Vec<u8>>,
    policy: String,
}

impl StaticSite {
    /// Serves these files by name on a free port, with this content security policy.
    pub async fn start(files: HashMap<String, Vec<u8>>, policy: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
        let content = Arc::new(Content { files, policy });
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let content = Arc::clone(&content);
                let service = service_fn(move |request: Request<Incoming>| {
                    let response = content.respond(request.uri().path());
                    async move { Ok::<_, Infallible>(response) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { origin, server }
    }
}

impl Drop for StaticSite {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Content {
    fn respond(&self, path: &str) -> Response<Full<Bytes>> {
        let asked = path.trim_start_matches('/');
        let name = if self.files.contains_key(asked) {
            asked
        } else {
            INDEX
        };
        let kind = match name.rsplit('.').next() {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("svg") => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        };
        let response = Response::builder()
            .header(header::CONTENT_TYPE, kind)
            .header(header::CONTENT_SECURITY_POLICY, self.policy.as_str());
        response.body(Full::from(self.files[name].clone())).unwrap()
    }
}
