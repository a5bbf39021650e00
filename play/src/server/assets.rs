//! What the server answers again and again: the files of the page and the texts. Each is compressed once, and named by
//! a hash of its content, so that a browser asks for it once.

use std::io::Write;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::api::Response;
use jarmo_core::checksum::digits;

/// Where `index.html` finds the other files; in the answer there is the hash instead.
const ADDRESS: &str = "assets/";

macro_rules! files {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("page/", $name)))),*] };
}

/// The other files of the page.
const FILES: [(&str, &str); 19] = files![
    "address.js" "board.js" "editor.js" "exercise.js" "friend.js" "icon.svg" "kept.js" "lesson.js" "panels.js" "plain.js"
    "play.css" "play.js" "puzzle.js" "server.js" "share.js" "study.js" "tabs.js" "texts.js" "welcome.js"
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
        let response = hyper::Response::builder()
            .header(header::ETAG, self.tag.clone())
            .header(header::CACHE_CONTROL, cache)
            .header(header::VARY, "accept-encoding");
        let response = if says(header::IF_NONE_MATCH, self.tag.as_bytes()) {
            response.status(StatusCode::NOT_MODIFIED).body(Full::default())
        } else if says(header::ACCEPT_ENCODING, b"gzip") {
            let response = response.header(header::CONTENT_TYPE, self.kind).header(header::CONTENT_ENCODING, "gzip");
            response.body(self.compressed.clone().into())
        } else {
            response.header(header::CONTENT_TYPE, self.kind).body(self.plain.clone().into())
        };
        response.expect("every header is plain text")
    }
}

/// All files of the page.
struct Assets {
    index: Asset,
    files: Vec<(&'static str, Asset)>,
    folder: String, // the hash of all files
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
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
});

/// The answer to a request for a file of the page; `None` if it has no such file.
pub(super) fn file(path: &str, asked: &HeaderMap) -> Option<Response> {
    let path = path.strip_prefix('/')?;
    if path.is_empty() {
        return Some(ASSETS.index.answer(asked, "no-store")); // a page that was left does not go on asking
    }
    let (name, cache) = match path.split_once('/') {
        Some((folder, name)) if folder == ASSETS.folder => (name, "public, max-age=31536000, immutable"),
        // A browser that still has the page of an older program.
        Some((_, name)) => (name, "no-store"),
        None => (path, "no-cache"),
    };
    let (_, asset) = ASSETS.files.iter().find(|(file, _)| *file == name)?;
    Some(asset.answer(asked, cache))
}
