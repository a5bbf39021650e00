//! What the server answers again and again: the files of the page and the texts. Each is compressed once, and named by
//! a hash of its content, so that a browser asks for it once.

use std::io::Write;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::api::{Response, answer};
use jarmo_core::checksum::digits;

/// Where `index.html` finds the other files; in the answer there is the hash instead.
const ADDRESS: &str = "assets/";

/// The other files of the page.
const FILES: [(&str, &str); 19] = [
    ("address.js", include_str!("page/address.js")),
    ("board.js", include_str!("page/board.js")),
    ("editor.js", include_str!("page/editor.js")),
    ("exercise.js", include_str!("page/exercise.js")),
    ("friend.js", include_str!("page/friend.js")),
    ("icon.svg", include_str!("page/icon.svg")),
    ("kept.js", include_str!("page/kept.js")),
    ("lesson.js", include_str!("page/lesson.js")),
    ("panels.js", include_str!("page/panels.js")),
    ("plain.js", include_str!("page/plain.js")),
    ("play.css", include_str!("page/play.css")),
    ("play.js", include_str!("page/play.js")),
    ("puzzle.js", include_str!("page/puzzle.js")),
    ("server.js", include_str!("page/server.js")),
    ("share.js", include_str!("page/share.js")),
    ("study.js", include_str!("page/study.js")),
    ("tabs.js", include_str!("page/tabs.js")),
    ("texts.js", include_str!("page/texts.js")),
    ("welcome.js", include_str!("page/welcome.js")),
];

/// A content that does not change while the server runs.
pub(super) struct Asset {
    kind: &'static str,
    plain: Bytes,
    compressed: Bytes,
    tag: HeaderValue,
}

impl Asset {
    pub(super) fn new(kind: &'static str, content: String) -> Asset {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let compressed = encoder.write_all(content.as_bytes()).and_then(|()| encoder.finish());
        let tag = format!("\"{}\"", digits(&[content.as_bytes()]));
        Asset {
            kind,
            plain: content.into(),
            compressed: compressed.expect("writing to memory does not fail").into(),
            tag: HeaderValue::from_str(&tag).expect("a hash is hexadecimal"),
        }
    }

    /// The content as the client wants it; without it if the client has it already.
    pub(super) fn answer(&self, asked: &HeaderMap, cache: &'static str) -> Response {
        let says = |name: HeaderName, part: &[u8]| {
            let value = asked.get(name).map(HeaderValue::as_bytes);
            value.is_some_and(|value| value.windows(part.len()).any(|found| found == part))
        };
        let mut response = if says(header::IF_NONE_MATCH, self.tag.as_bytes()) {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else if says(header::ACCEPT_ENCODING, b"gzip") {
            let mut response = answer(StatusCode::OK, self.kind, self.compressed.clone());
            let gzip = HeaderValue::from_static("gzip");
            response.headers_mut().insert(header::CONTENT_ENCODING, gzip);
            response
        } else {
            answer(StatusCode::OK, self.kind, self.plain.clone())
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.tag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        let vary = HeaderValue::from_static("accept-encoding");
        headers.insert(header::VARY, vary);
        response
    }
}

/// The answer to a request for a file of the page; `None` if it has no such file.
pub(super) fn file(path: &str, asked: &HeaderMap) -> Option<Response> {
    static ASSETS: LazyLock<Assets> = LazyLock::new(Assets::new);
    ASSETS.answer(path, asked)
}

/// All files of the page.
struct Assets {
    index: Asset,
    files: Vec<(&'static str, Asset)>,
    folder: String, // the hash of all files
}

impl Assets {
    fn new() -> Assets {
        let folder = digits(&FILES.map(|(_, content)| content.as_bytes()));
        let index = include_str!("page/index.html").replace(ADDRESS, &format!("{folder}/"));
        let files = FILES.map(|(name, content)| {
            let kind = match name.rsplit_once('.') {
                Some((_, "css")) => "text/css; charset=utf-8",
                Some((_, "svg")) => "image/svg+xml",
                _ => "text/javascript; charset=utf-8",
            };
            (name, Asset::new(kind, content.to_owned()))
        });
        Assets { index: Asset::new("text/html; charset=utf-8", index), files: files.into(), folder }
    }

    fn answer(&self, path: &str, asked: &HeaderMap) -> Option<Response> {
        let path = path.strip_prefix('/')?;
        if path.is_empty() {
            return Some(self.index.answer(asked, "no-store")); // a page that was left does not go on asking
        }
        let (name, cache) = match path.split_once('/') {
            Some((folder, name)) if folder == self.folder => (name, "public, max-age=31536000, immutable"),
            // A browser that still has the page of an older program.
            Some((_, name)) => (name, "no-store"),
            None => (path, "no-cache"),
        };
        let (_, asset) = self.files.iter().find(|(file, _)| *file == name)?;
        Some(asset.answer(asked, cache))
    }
}
