//! Responses to requests whose body the program does not read to its end.

use tests::{SharedWorld, on_one_shape};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Larger than any body that is accepted.
const SIZE: usize = 3 * 1024 * 1024;

async fn clients_receive_the_response_while_they_send_the_body(world: SharedWorld) {
    let ann = world.user().await;
    let session = format!(
        "Cookie: sid={}; csrf={}\r\nX-CSRF-Token: {}\r\n",
        ann.sid, ann.csrf, ann.csrf
    );
    for (headers, status) in [(session.as_str(), 413), ("", 401)] {
        let head = format!(
            "POST /posts HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Type: application/json\r\nContent-Length: {SIZE}\r\n\r\n"
        );
        let port = world.api_ports()[0];
        let mut client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        client.write_all(head.as_bytes()).await.unwrap();
        client.write_all(&vec![b' '; SIZE]).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

on_one_shape!(clients_receive_the_response_while_they_send_the_body);
