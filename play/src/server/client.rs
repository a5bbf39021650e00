//! The client of a request: the address of its connection, or the address given by a trusted reverse proxy.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{FORWARDED, HeaderName};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client to which an address belongs. An IPv6 network of 64 bits is one client, because a household or machine has
/// all of its addresses.
pub(super) fn of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address => address,
    }
}

/// Whether an address is that of a trusted proxy.
pub(super) fn is_proxy(address: IpAddr, proxies: &[IpAddr]) -> bool {
    proxies.iter().any(|proxy| proxy.to_canonical() == address.to_canonical())
}

/// The client of a request from this address. Each proxy appends the address of its caller. The last address that is
/// not a trusted proxy is therefore the client; earlier ones can be forged.
///
/// A proxy appends to one of two headers and passes on the other one unchanged. If a request has both, the true one is
/// unknown, and the request counts for the proxy.
pub(super) fn of_request(from: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let listed = |name: HeaderName| -> Vec<&str> {
        let lines = headers.get_all(name).into_iter().map(|line| line.to_str().unwrap_or_default());
        lines.flat_map(|line| line.split(',')).map(str::trim).collect()
    };
    let hops: Vec<Option<IpAddr>> = match (listed(X_FORWARDED_FOR), listed(FORWARDED)) {
        (plain, elements) if elements.is_empty() => plain.into_iter().map(address).collect(),
        (plain, elements) if plain.is_empty() => elements.into_iter().map(forwarded_for).collect(),
        _ => Vec::new(),
    };
    let mut client = from;
    for hop in hops.into_iter().rev() {
        match hop {
            Some(hop) if is_proxy(client, proxies) => client = hop,
            _ => break,
        }
    }
    of(client)
}

/// The address in an element of `Forwarded`, such as `for="[2001:db8::1]:80";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    address(value.trim().trim_matches('"'))
}

/// Reads an address with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_trusted_proxy_adds_is_believed() {
        let proxies = ["10.0.0.1", "10.0.0.2"].map(|proxy| proxy.parse().unwrap());
        let client = |from: &str, lines: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, value.parse().unwrap());
            }
            of_request(from.parse().unwrap(), &headers, &proxies).to_string()
        };
        let (plain, standard) = ("x-forwarded-for", "forwarded");
        for (from, lines, expected) in [
            ("10.0.0.1", &[(plain, "192.0.2.7")][..], "192.0.2.7"),
            ("::ffff:10.0.0.1", &[(plain, "192.0.2.7")], "192.0.2.7"),
            ("10.0.0.1", &[(standard, "For=192.0.2.7:99;proto=https")], "192.0.2.7"),
            ("10.0.0.1", &[(standard, r#"proto=https;for="[2001:db8::9:1]:4711""#)], "2001:db8::"),
            ("10.0.0.1", &[(plain, "[2001:db8::9:1]:4711")], "2001:db8::"),
            // What the client wrote itself comes first.
            ("10.0.0.1", &[(plain, "203.0.113.1, 192.0.2.7")], "192.0.2.7"),
            ("10.0.0.1", &[(plain, "203.0.113.1"), (plain, "192.0.2.7, 10.0.0.2")], "192.0.2.7"),
            ("10.0.0.1", &[(standard, r#"for=", for=192.0.2.7"#)], "192.0.2.7"),
            ("10.0.0.1", &[(standard, "for=203.0.113.1"), (plain, "192.0.2.7")], "10.0.0.1"),
            ("10.0.0.1", &[(plain, "192.0.2.7, unknown")], "10.0.0.1"),
            ("10.0.0.1", &[(plain, "192.0.2.7, ")], "10.0.0.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("192.0.2.9", &[(plain, "192.0.2.7")], "192.0.2.9"),
        ] {
            assert_eq!(client(from, lines), expected, "{from} {lines:?}");
        }
    }
}
