//! Playing in a browser: a small server with everything it serves inside the program.
//!
//! Each browser has a session of its own under an id that cannot be guessed. Requests only change a
//! session or wait for it to change; thinking is done by a few threads of its own (see `pool`).

mod api;
mod door;
mod guests;
mod pool;
mod room;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::middleware;
use axum::routing::{get, post};
use tokio::net::TcpListener;

use crate::lang::Language;
use crate::specs::Store;
use jarmo::catalog::GameSettings;
pub use room::Bounds;
use room::Rooms;

/// What the server is asked to do.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port, 0 for any free one.
    pub port: u16,
    /// The language of those who ask for none.
    pub language: Language,
    /// The game a browser begins with, and who sits at it.
    pub game: String,
    /// Who plays White and who Black.
    pub seats: [String; 2],
    /// The rules' settings.
    pub settings: GameSettings,
    /// Trained agents and tables.
    pub store: Store,
    /// A game to begin with, as a line of a record file.
    pub record: Option<String>,
    /// The game to begin with is to be looked at, not played.
    pub analyse: bool,
    /// How many sessions, and how long.
    pub bounds: Bounds,
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
                io::ErrorKind::AddrInUse => {
                    "; another program has this port, choose one with --port"
                }
                io::ErrorKind::PermissionDenied => {
                    "; ports below 1024 are reserved, choose one with --port"
                }
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
        let app = router(Arc::clone(&rooms));
        let result = tokio::select! {
            result = guests::serve(self.listener, app, rooms.options.bounds) => result,
            () = stop => Ok(()),
        };
        rooms.close();
        result
    }
}

fn router(rooms: Arc<Rooms>) -> Router {
    let patience = rooms.options.bounds.patience;
    Router::new()
        .route("/", get(page))
        .route("/play.css", get(style))
        .route("/board.js", get(board_script))
        .route("/play.js", get(play_script))
        .route("/icon.svg", get(icon))
        .route("/api/texts", get(api::texts))
        .route("/api/sessions", post(api::create))
        .route("/api/session", get(api::watch).post(api::command))
        .route("/api/record", get(api::record))
        .layer(middleware::from_fn_with_state(patience, guests::whole))
        .layer(middleware::from_fn(door::check))
        .with_state(rooms)
}

/// A file of the page. It is asked for again each time, since it changes with the program.
fn asset(kind: &'static str, text: &'static str) -> impl axum::response::IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text)
}

async fn page() -> impl axum::response::IntoResponse {
    asset("text/html; charset=utf-8", include_str!("page/index.html"))
}

async fn style() -> impl axum::response::IntoResponse {
    asset("text/css; charset=utf-8", include_str!("page/play.css"))
}

async fn board_script() -> impl axum::response::IntoResponse {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("page/board.js"),
    )
}

async fn play_script() -> impl axum::response::IntoResponse {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("page/play.js"),
    )
}

async fn icon() -> impl axum::response::IntoResponse {
    asset("image/svg+xml", include_str!("page/icon.svg"))
}
