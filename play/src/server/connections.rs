//! Accepts connections, with timeouts. A browser that is turned away simply tries again.

use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use super::admission::Admissions;
use super::api::{Response, problem};
use super::room::Rooms;
use super::{client, handle};

/// Bytes that a message may have: a record of a long game fits.
const MOST_BYTES: usize = 64 * 1024;

/// How long a connection may continue after its time, to finish its request.
const GRACE: Duration = Duration::from_secs(30);

/// How long to wait if the system cannot accept a connection, for example without free file handles.
const RESPITE: Duration = Duration::from_secs(1);

/// The answer at the limit of connections.
pub(super) const TOO_MANY: &str = "too many connections are open to this server; try again later";

/// Serves every connection that there is room for.
pub(super) async fn serve(listener: TcpListener, rooms: &Arc<Rooms>) -> io::Result<()> {
    let bounds = rooms.options.bounds;
    let admissions = Admissions::new(&bounds);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.patience);
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            sleep(RESPITE).await;
            continue;
        };
        let from = from.ip();
        let Some(admission) = admissions.admit(client::of(from), client::is_proxy(from, &rooms.options.proxies)) else {
            // Says why there is no room, as far as that takes no waiting.
            if let Ok(mut stream) = stream.into_std() {
                let body = json!({ "error": TOO_MANY }).to_string();
                let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\
                            Content-Type: application/json\r\nContent-Length:";
                let _ = stream.write(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
            }
            continue;
        };
        let (rooms, admission) = (Arc::clone(rooms), Arc::new(admission));
        let own = Arc::clone(&admission);
        let service = service_fn(move |request| handle(Arc::clone(&rooms), Arc::clone(&own), from, request));
        let connection = http.serve_connection(TokioIo::new(stream), service);
        // It is served until it is closed, its time is up, or it makes room for another one. A broken connection affects
        // no other.
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            let served = async {
                if timeout(bounds.visit, connection.as_mut()).await.is_err() {
                    connection.as_mut().graceful_shutdown();
                    let _ = timeout(GRACE, connection).await;
                }
            };
            tokio::select! {
                () = served => {}
                () = admission.closing() => {}
            }
        });
    }
}

/// Reads a complete message within `patience`; otherwise, or if it is too long, returns the error response.
pub(super) async fn whole(request: Request<Incoming>, patience: Duration) -> Result<Request<Bytes>, Response> {
    let (head, body) = request.into_parts();
    let body = timeout(patience, Limited::new(body, MOST_BYTES).collect()).await;
    let (status, message) = match body {
        Ok(Ok(body)) => return Ok(Request::from_parts(head, body.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("a message has at most {MOST_BYTES} bytes"))
        }
        Ok(Err(_)) => (StatusCode::BAD_REQUEST, "the message is incomplete, or its chunks are malformed".to_owned()),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the message took too long to arrive".to_owned()),
    };
    let mut refusal = problem(status, message);
    let close = HeaderValue::from_static("close"); // the rest of the message is not read
    refusal.headers_mut().insert(header::CONNECTION, close);
    Err(refusal)
}
