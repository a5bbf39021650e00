//! Playing in a browser: a small server with everything it serves inside the program.
//!
//! Each browser has a session of its own under an id that cannot be guessed. Requests only change a
//! session or wait for it to change; thinking is done by a few threads of its own (see `pool`).

mod admission;
mod api;
mod assets;
mod client;
mod origin;
mod clock;
mod duel;
mod connections;
mod pool;
mod queue;
mod room;
mod saved;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Request, StatusCode};
use tokio::net::TcpListener;

use admission::Admission;
pub use assets::StaticPage;
pub use jarmo_session::page::Defaults;
pub use origin::Origin;
use room::Rooms;
pub use room::ServerLimits;

/// What the server is asked to do.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// What a page begins with.
    pub defaults: Defaults,
    /// How many sessions, and how long.
    pub bounds: ServerLimits,
    /// The folder where games of two people are kept, so that they outlive the server.
    pub folder: Option<PathBuf>,
    /// Where reverse proxies show the page.
    pub origins: Vec<Origin>,
    /// The addresses of reverse proxies, which say for whom they ask.
    pub proxies: Vec<IpAddr>,
    /// The page without a server, shown at `/tab/`.
    pub page: Option<Arc<StaticPage>>,
}

/// Takes a port, any free one for port 0; the error says which one.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::AddrInUse => "; another program has this port, choose one with --port",
            io::ErrorKind::PermissionDenied => "; ports below 1024 are reserved, choose one with --port",
            io::ErrorKind::AddrNotAvailable => "; this machine has no such address",
            _ => "",
        };
        io::Error::new(error.kind(), format!("{address}: {error}{remedy}"))
    })
}

/// Serves until `stop` is ready.
pub async fn run(listener: TcpListener, options: ServerOptions, stop: impl Future<Output = ()>) -> io::Result<()> {
    let rooms = Arc::new(Rooms::new(options));
    pool::start(&rooms);
    let result = tokio::select! {
        result = connections::serve(listener, &rooms) => result,
        () = stop => Ok(()),
    };
    rooms.close();
    result
}

async fn handle(
    rooms: Arc<Rooms>,
    admission: Arc<Admission>,
    from: IpAddr,
    request: Request<Incoming>,
) -> Result<api::Response, Infallible> {
    tokio::task::yield_now().await; // connections take turns, also those with many requests at once
    let ServerOptions { bounds, origins, proxies, .. } = &rooms.options;
    let client = client::of_request(from, request.headers(), proxies);
    let mut response = match origin::refuse(request.method(), request.headers(), origins) {
        Some(message) => api::problem(StatusCode::FORBIDDEN, message),
        None => match connections::whole(request, bounds.patience).await {
            Ok(_) if !admission.answer(client) => api::problem(StatusCode::SERVICE_UNAVAILABLE, connections::TOO_MANY),
            Ok(request) => route(&rooms, client, &request).await,
            Err(refusal) => refusal,
        },
    };
    admission.wait();
    origin::protect(response.headers_mut());
    Ok(response)
}

/// Answers what is asked for under a path.
async fn route(rooms: &Rooms, client: IpAddr, request: &Request<Bytes>) -> api::Response {
    let path = request.uri().path();
    let page = || rooms.options.page.as_ref()?.file(path, request.headers());
    let file = assets::file(path, request.headers()).or_else(page);
    let methods = match path {
        "/api/sessions" | "/api/join" | "/api/setup" | "/api/lesson" | "/api/puzzle" => "POST",
        "/api/session" => "GET, HEAD, POST",
        "/api/texts" | "/api/scene" | "/api/moves" | "/api/picture" | "/api/record" | "/api/puzzles" => "GET, HEAD",
        _ if file.is_some() => "GET, HEAD",
        _ => return api::problem(StatusCode::NOT_FOUND, "there is no such page here"),
    };
    if !methods.split(", ").any(|method| method == request.method().as_str()) {
        let mut response = api::problem(StatusCode::METHOD_NOT_ALLOWED, format!("this path accepts {methods}"));
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
        return response;
    }
    if let Some(file) = file {
        return file;
    }
    let answered = match api::Call::new(rooms, client, request) {
        Ok(call) => call.answer().await,
        Err(rejection) => Err(rejection),
    };
    answered.unwrap_or_else(api::refusal)
}
