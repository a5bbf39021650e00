//! Taking connections: so many at once, so many from one client, and none that dawdles. A browser that
//! is sent away simply comes again.
//!
//! A client is an address; behind a reverse proxy all people are one client.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use super::api::{Response, problem};
use super::handle;
use super::room::{Bounds, Rooms};

/// Bytes that a message may have: a record of a long game fits.
const MOST_BYTES: usize = 64 * 1024;

/// How long after its time a connection may finish what it is at.
const GRACE: Duration = Duration::from_secs(30);

/// How long to wait where the system cannot give another connection, for want of file handles, say.
const RESPITE: Duration = Duration::from_secs(1);

/// The answer to a connection beyond the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\
                      Content-Type: application/json\r\nContent-Length: 73\r\n\r\n\
                      {\"error\":\"too many connections are open to this server; try again later\"}";

/// Serves every connection that there is room for.
pub(super) async fn serve(listener: TcpListener, rooms: &Arc<Rooms>) -> io::Result<()> {
    let bounds = rooms.options.bounds;
    let mut open = Vec::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.patience);
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            sleep(RESPITE).await;
            continue;
        };
        let client = client_of(from.ip());
        let Some(admitted) = admit(&mut open, client, &bounds) else {
            // Says why there is no room, as far as that takes no waiting.
            if let Ok(mut stream) = stream.into_std() {
                let _ = stream.write(FULL);
            }
            continue;
        };
        let rooms = Arc::clone(rooms);
        let service = service_fn(move |request| handle(Arc::clone(&rooms), client, request));
        let connection = http.serve_connection(TokioIo::new(stream), service);
        // It is served until it is closed or its time is up. A broken connection affects no other.
        tokio::spawn(async move {
            let _admitted = admitted;
            let mut connection = pin!(connection);
            if timeout(bounds.visit, connection.as_mut()).await.is_err() {
                connection.as_mut().graceful_shutdown();
                let _ = timeout(GRACE, connection).await;
            }
        });
    }
}

/// The client that an address belongs to: one household or machine has all addresses of an IPv6 network of 64
/// bits.
fn client_of(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(from) => Ipv6Addr::from_bits(from.to_bits() & (u128::MAX << 64)).into(),
        from => from,
    }
}

/// Waits for the whole of a message, but not for ever, and takes none that is too long; otherwise says so.
pub(super) async fn whole(request: Request<Incoming>, patience: Duration) -> Result<Request<Bytes>, Response> {
    let (head, body) = request.into_parts();
    let body = timeout(patience, Limited::new(body, MOST_BYTES).collect()).await;
    let (status, message) = match body {
        Ok(Ok(body)) => return Ok(Request::from_parts(head, body.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("a message has at most {MOST_BYTES} bytes"))
        }
        Ok(Err(_)) => (StatusCode::BAD_REQUEST, "the message is not whole, or its chunks are malformed".to_owned()),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the message took too long to arrive".to_owned()),
    };
    let mut refusal = problem(status, message);
    let close = HeaderValue::from_static("close"); // the rest of the message is not read
    refusal.headers_mut().insert(header::CONNECTION, close);
    Err(refusal)
}

/// Lets a connection of a client in if there is room. The connection keeps what is returned while it is open, and
/// `open` counts what is kept.
fn admit(open: &mut Vec<Weak<IpAddr>>, client: IpAddr, bounds: &Bounds) -> Option<Arc<IpAddr>> {
    open.retain(|other| other.strong_count() > 0);
    let here = open.iter().filter(|other| other.upgrade().as_deref() == Some(&client)).count();
    if here >= bounds.per_address.saturating_mul(2) || open.len() >= bounds.connections {
        return None;
    }
    let admitted = Arc::new(client);
    open.push(Arc::downgrade(&admitted));
    Some(admitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share() {
        let bounds = Bounds { connections: 4, per_address: 1, ..Bounds::default() };
        let mut open = Vec::new();
        let mut admit = |from: &str| admit(&mut open, client_of(from.parse().unwrap()), &bounds);
        let first = admit("10.0.0.1");
        let second = admit("::ffff:10.0.0.1"); // the same in other words
        assert!(first.is_some() && second.is_some() && admit("10.0.0.1").is_none());
        drop(first);
        let third = admit("10.0.0.1");
        assert!(third.is_some(), "who goes makes room");
        let others = [admit("2001:db8::1"), admit("2001:db8::ffff:2")]; // one network
        assert!(others.iter().all(Option::is_some));
        assert!(admit("2001:db8::3").is_none() && admit("10.0.0.2").is_none());
        drop((second, third, others));
        assert!(open.iter().all(|one| one.strong_count() == 0), "no connection is left");
    }

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = std::str::from_utf8(FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let length = head.split("Content-Length: ").nth(1).unwrap();
        assert_eq!(length.parse::<usize>().unwrap(), body.len());
    }
}
