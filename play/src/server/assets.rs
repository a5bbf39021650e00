//! The files of the page and the texts, which never change while the server runs. Each is compressed once and named by
//! a hash of its content, so that a browser fetches it only once.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::{fmt, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::api::Response;
use jarmo_core::checksum::digits;
use jarmo_data::EXPLORERS;

/// Where `index.html` finds the other files; in the answer there is the hash instead.
const ADDRESS: &str = "assets/";

macro_rules! files {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("page/", $name)))),*] };
}

/// The other files of the page.
const FILES: [(&str, &str); 28] = files![
    "address.js" "board.js" "clock.js" "deck.js" "drill.js" "editor.js" "exercise.js" "explorer.js" "friend.js" "fsrs.js"
    "icon.svg" "kept.js" "lesson.js" "look.js" "panels.js" "plain.js" "play.css" "play.js" "puzzle.js" "report.js"
    "server.js" "share.js" "sound.js" "store.js" "study.js" "tabs.js" "texts.js" "welcome.js"
];

/// A content that does not change while the server runs.
pub(super) struct Asset {
    kind: &'static str,
    plain: Bytes,
    compressed: Option<Bytes>, // none of what is compressed already
    tag: HeaderValue,
}

/// The kind of a file that is compressed already.
const PACKED: &str = "application/octet-stream";

impl Asset {
    pub(super) fn new(kind: &'static str, content: impl Into<Bytes>) -> Asset {
        let plain = content.into();
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            let compressed = encoder.write_all(&plain).and_then(|()| encoder.finish());
            compressed.expect("writing to memory does not fail").into()
        };
        let compressed = (kind != PACKED).then(compress);
        let tag = format!("\"{}\"", digits(&[&plain]));
        Asset { kind, plain, compressed, tag: HeaderValue::from_str(&tag).expect("a hash is hexadecimal") }
    }

    /// The answer for a client: the content, or no content if the client has it already.
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
        } else if let Some(compressed) = self.compressed.clone().filter(|_| says(header::ACCEPT_ENCODING, b"gzip")) {
            let response = response.header(header::CONTENT_TYPE, self.kind).header(header::CONTENT_ENCODING, "gzip");
            response.body(compressed.into())
        } else {
            response.header(header::CONTENT_TYPE, self.kind).body(self.plain.clone().into())
        };
        response.expect("every header is plain text")
    }
}

/// All files of the page.
struct Assets {
    index: Asset,
    files: Vec<(String, Asset)>,
    folder: String, // the hash of all files
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let scripts = FILES.map(|(name, content)| (name.to_owned(), content.as_bytes()));
    let openings = EXPLORERS.map(|(game, content)| (format!("{game}.explorer"), content));
    let files = [&scripts[..], &openings].concat();
    let folder = digits(&files.iter().map(|(_, content)| *content).collect::<Vec<_>>());
    let index = include_str!("page/index.html").replace(ADDRESS, &format!("{folder}/"));
    let asset = |(name, content): (String, &'static [u8])| {
        let asset = Asset::new(kind_of(&name), content);
        (name, asset)
    };
    let files = files.into_iter().map(asset).collect();
    Assets { index: Asset::new(kind_of("index.html"), index), files, folder }
});

fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "png")) => "image/png",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "webmanifest")) => "application/manifest+json",
        _ => PACKED,
    }
}

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

/// Where the page without a server is shown.
const TAB: &str = "/tab/";

/// The page itself says what it may load and do. This part of a policy counts only in a header.
const TAB_POLICY: &str = "frame-ancestors 'none'";

/// The page without a server, as `tools/build_page` makes it. In it, an agent can learn in the visitor's browser.
pub struct StaticPage(HashMap<String, Asset>); // by path

impl StaticPage {
    /// Where an agent learns.
    pub(super) const LEARN: &str = "tab/learn.html";

    /// Reads the files of a folder and of the folders in it.
    pub fn read(folder: &Path) -> io::Result<StaticPage> {
        let (mut files, entries) = (HashMap::new(), fs::read_dir(folder)?);
        if !folder.join("learn.html").is_file() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "tools/build_page did not make this folder"));
        }
        for entry in entries {
            let entry = entry?;
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            if !path.is_dir() {
                files.insert(format!("{TAB}{name}"), Asset::new(kind_of(&name), fs::read(path)?));
                continue;
            }
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let inner = entry.file_name().to_string_lossy().into_owned();
                files.insert(format!("{TAB}{name}/{inner}"), Asset::new(kind_of(&inner), fs::read(entry.path())?));
            }
        }
        Ok(StaticPage(files))
    }

    /// As [`file`].
    pub(super) fn file(&self, path: &str, asked: &HeaderMap) -> Option<Response> {
        if path == "/tab" {
            // A relative address also works behind a proxy that adds folders.
            let response = hyper::Response::builder().status(StatusCode::PERMANENT_REDIRECT);
            return response.header(header::LOCATION, "tab/").body(Full::default()).ok();
        }
        let asset = match path {
            TAB => self.0.get("/tab/index.html"),
            _ => self.0.get(path),
        };
        let mut response = asset?.answer(asked, "no-cache");
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(TAB_POLICY));
        Some(response)
    }
}

impl fmt::Debug for StaticPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
