//! Refuses requests that a page of another site made a browser send.

use std::net::IpAddr;

use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, header};

/// What the page may load and do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Gives an answer the headers that keep other sites out.
pub(super) fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Why a request is turned away, by its `Host` and `Origin`.
pub(super) fn refuse(method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // A name that an attacker owns can be made to mean this machine; an address cannot.
    let Some(host) = text(header::HOST).filter(|host| is_address(host)) else {
        return Some("open this server by its address or as localhost, not by another name");
    };
    if let Some(origin) = text(header::ORIGIN)
        && origin.strip_prefix("http://") != Some(host)
    {
        return Some("this request comes from a page of another site");
    }
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    if *method != Method::GET && !matches!(site, None | Some(b"same-origin" | b"none")) {
        return Some("this request comes from a page of another site");
    }
    None
}

/// Whether a `Host` header, with or without a port, is `localhost` or an IP address.
fn is_address(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}
