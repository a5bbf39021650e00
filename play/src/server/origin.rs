//! Rejects requests that the page of another site made a browser send.

use std::net::IpAddr;
use std::str::FromStr;

use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, Uri, header};

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

/// The address at which browsers find the page behind a reverse proxy, such as `https://play.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String); // as browsers write it

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let text = text.to_ascii_lowercase();
        let uri = text.parse::<Uri>().ok().filter(|uri| uri.path() == "/" && uri.query().is_none());
        let parts = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.host()?, uri.port_u16())));
        let usual = |scheme| if scheme == "https" { 443 } else { 80 };
        match parts {
            Some((scheme @ ("http" | "https"), host, port)) if !text.contains('@') => {
                let port = port.filter(|port| *port != usual(scheme));
                let port = port.map_or_else(String::new, |port| format!(":{port}"));
                Ok(Origin(format!("{scheme}://{host}{port}")))
            }
            _ => Err("expected https://NAME or https://NAME:PORT".to_owned()),
        }
    }
}

impl Origin {
    fn host(&self) -> &str {
        let (_, host) = self.0.split_once("://").expect("an origin has a scheme");
        name(host)
    }
}

/// The reason to reject a request, by its `Host` and `Origin`. A proxy may pass on the host of its own request, or send
/// the address of this server.
pub(super) fn refuse(method: &Method, headers: &HeaderMap, origins: &[Origin]) -> Option<&'static str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    // A name that an attacker owns can be made to mean this machine; an address cannot.
    let by_address = is_address(host);
    if !by_address && !origins.iter().any(|origin| origin.host().eq_ignore_ascii_case(name(host))) {
        return Some("open this server by its address or as localhost, or start it with --origin for another name");
    }
    if let Some(origin) = text(header::ORIGIN)
        && !(by_address && origin.strip_prefix("http://") == Some(host))
        && !origins.iter().any(|known| known.0 == origin)
    {
        return Some("this request comes from a page of another site");
    }
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    if *method != Method::GET && !matches!(site, None | Some(b"same-origin" | b"none")) {
        return Some("this request comes from a page of another site");
    }
    None
}

/// The name in a `Host` header, without its port.
fn name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Whether a `Host` header, with or without a port, is `localhost` or an IP address.
fn is_address(host: &str) -> bool {
    let name = name(host);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}
