//! The smallest axum program: `GET /` answers a constant text. It prints the URL on which it listens.
#![forbid(unsafe_code)]

use axum::Router;
use axum::routing::get;
use std::io;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/", get(|| async { "Hello" }))).await
}
