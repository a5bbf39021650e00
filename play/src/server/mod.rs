//! Playing in a browser: a small server with everything it serves inside the program.
//!
//! Each browser has a session of its own under an id that cannot be guessed. Requests only change a
//! session or wait for it to change; thinking is done by a few threads of its own (see `pool`).

mod api;
mod assets;
mod begin;
mod origin;
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
use hyper::{Method, Request, StatusCode};
use tokio::net::TcpListener;

use jarmo_session::page;
pub use jarmo_session::page::Defaults;
pub use room::Bounds;
use room::Rooms;

/// What the server is asked to do.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port, 0 for any free one.
    pub port: u16,
    /// What a page begins with.
    pub defaults: Defaults,
    /// How many sessions, and how long.
    pub bounds: Bounds,
    /// The folder where games of two people are kept, so that they outlive the server.
    pub folder: Option<PathBuf>,
}

/// A server that has its port already.
pub struct Server {
    listener: TcpListener,
    options: ServerOptions,
}

impl Server {
    /// Takes the port; the error says which one.
    pub async fn bind(options: ServerOptions) -> io::Result<Server> {
        let address = SocketAddr::new(options.host, options.port);
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let remedy = match error.kind() {
                io::ErrorKind::AddrInUse => "; another program has this port, choose one with --port",
                io::ErrorKind::PermissionDenied => "; ports below 1024 are reserved, choose one with --port",
                io::ErrorKind::AddrNotAvailable => "; this machine has no such address",
                _ => "",
            };
            io::Error::new(error.kind(), format!("{address}: {error}{remedy}"))
        })?;
        Ok(Server { listener, options })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is ready.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let rooms = Arc::new(Rooms::new(self.options));
        pool::start(&rooms);
        let result = tokio::select! {
            result = connections::serve(self.listener, &rooms) => result,
            () = stop => Ok(()),
        };
        rooms.close();
        result
    }
}

/// Answers a request of a client.
async fn handle(rooms: Arc<Rooms>, client: IpAddr, request: Request<Incoming>) -> Result<api::Response, Infallible> {
    tokio::task::yield_now().await; // connections take turns, also those with many requests at once
    let mut response = match origin::refuse(request.method(), request.headers()) {
        Some(message) => api::problem(StatusCode::FORBIDDEN, message),
        None => match connections::whole(request, rooms.options.bounds.patience).await {
            Ok(request) => route(&rooms, client, &request).await,
            Err(refusal) => refusal,
        },
    };
    origin::protect(response.headers_mut());
    Ok(response)
}

/// Answers what is asked for under a path.
async fn route(rooms: &Rooms, client: IpAddr, request: &Request<Bytes>) -> api::Response {
    let path = request.uri().path();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let posts = *request.method() == Method::POST;
    let file = || assets::file(path, request.headers());
    let result = match path {
        "/api/texts" if reads => api::texts(rooms, request),
        "/api/sessions" if posts => begin::create(rooms, client, request).await,
        "/api/join" if posts => begin::join(rooms, request).await,
        "/api/setup" if posts => api::look(rooms, request),
        "/api/scene" | "/api/picture" | "/api/record" if reads => api::look(rooms, request),
        "/api/session" if reads => api::watch(rooms, request).await,
        "/api/session" if posts => api::command(rooms, request).await,
        "/api/lesson" if posts => api::task(rooms, request, page::lesson),
        "/api/puzzle" if posts => api::task(rooms, request, page::puzzle),
        "/api/puzzles" if reads => Ok(api::json_answer(StatusCode::OK, &page::puzzles())),
        "/api/sessions" | "/api/join" | "/api/setup" | "/api/lesson" | "/api/puzzle" => Ok(not_allowed("POST")),
        "/api/session" => Ok(not_allowed("GET, HEAD, POST")),
        "/api/texts" | "/api/record" | "/api/scene" | "/api/picture" | "/api/puzzles" => Ok(not_allowed("GET, HEAD")),
        _ => Ok(match file() {
            Some(answer) if reads => answer,
            Some(_) => not_allowed("GET, HEAD"),
            None => api::problem(StatusCode::NOT_FOUND, "there is no such page here"),
        }),
    };
    result.unwrap_or_else(api::refusal)
}

/// The answer to a method that a path does not have.
fn not_allowed(methods: &'static str) -> api::Response {
    let mut response = api::problem(StatusCode::METHOD_NOT_ALLOWED, format!("this path has {methods}"));
    let methods = HeaderValue::from_static(methods);
    response.headers_mut().insert(header::ALLOW, methods);
    response
}
