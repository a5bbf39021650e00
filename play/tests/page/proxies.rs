//! The server behind a reverse proxy: the origin that browsers see, and for whom the proxy asks.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::crowd::connect_from;
use crate::http::{Answer, request_by, serve_options};
use crate::web::open;
use play::server::ServerLimits;
use serde_json::json;

/// A proxy that ends with the test.
struct Proxy {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server at https://play.example, where an address may open two games.
fn server(proxies: &[&str]) -> SocketAddr {
    serve_options(["human", "human"], |options| {
        options.origins = vec!["https://Play.example:443/".parse().unwrap()];
        options.proxies = proxies.iter().map(|proxy| proxy.parse().unwrap()).collect();
        options.bounds = ServerLimits { per_address: 2, ..ServerLimits::default() };
    })
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The text of an example, with these replacements; each must be there.
fn example(name: &str, changes: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(Path::new("../configs/proxy").join(name)).unwrap();
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{name} has {from}");
        text.replace(from, to)
    })
}

/// Starts a program that listens at a port.
fn start(port: u16, folder: tempfile::TempDir, program: &str, arguments: &[&str]) -> Proxy {
    let beyond = Path::new("/usr/sbin").join(program); // where the search path of users does not lead
    let program = if beyond.is_file() { beyond } else { program.into() };
    let child = Command::new(program)
        .args(arguments)
        .env("HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let address = ([127, 0, 0, 1], port).into();
    let proxy = Proxy { child, address, _folder: folder };
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(began.elapsed() < Duration::from_secs(10), "the proxy starts");
        sleep(Duration::from_millis(20));
    }
    proxy
}

/// Starts nginx with these lines inside `http`.
fn nginx(port: u16, inside: &str) -> Proxy {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {place}/{kind};\n"))
        .concat();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {place}/pid;\nerror_log {place}/errors;\nevents {{}}\n\
         http {{\naccess_log off;\n{temporary}{inside}\n}}\n"
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, config).unwrap();
    let file = file.display().to_string();
    let place = folder.path().display().to_string();
    start(port, folder, "nginx", &["-c", &file, "-p", &place])
}

/// Starts a game from an address as a browser does that shows https://play.example.
fn open_by(address: SocketAddr, client: [u8; 4], more: &[(&str, &str)]) -> Answer {
    let mut headers = vec![("Content-Type", "application/json"), ("Host", "play.example")];
    headers.extend([("Origin", "https://play.example"), ("Sec-Fetch-Site", "same-origin")]);
    headers.extend(more);
    request_by(connect_from(client, address), "POST", "/api/sessions", &headers, "{}")
}

/// Two people behind a proxy have each their games, and neither can say that they are someone else.
fn counts_people(proxy: SocketAddr) {
    let [first, second] = [[127, 0, 0, 11], [127, 0, 0, 12]];
    let open = |client, more: &[(&str, &str)]| open_by(proxy, client, more).status;
    assert_eq!([(); 3].map(|()| open(first, &[])), [201, 201, 429]);
    for lie in [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.1"), ("X-Real-IP", "192.0.2.1")] {
        assert_eq!(open(first, &[lie]), 429, "{lie:?}");
    }
    assert_eq!([(); 3].map(|()| open(second, &[])), [201, 201, 429]);
    let page = request_by(connect_from(second, proxy), "GET", "/", &[("Host", "play.example")], "");
    assert_eq!(page.status, 200);
    let other = [("Origin", "https://evil.example"), ("Content-Type", "application/json"), ("Host", "play.example")];
    assert_eq!(request_by(connect_from(second, proxy), "POST", "/api/sessions", &other, "{}").status, 403);
}

#[test]
fn a_page_at_another_origin_plays_if_the_server_knows_the_origin() {
    let address = server(&[]);
    let by_address = address.to_string();
    let post = |host: &str, origin: &str| {
        let headers = [("Content-Type", "application/json"), ("Host", host), ("Origin", origin)];
        request_by(connect_from([127, 0, 0, 1], address), "POST", "/api/sessions", &headers, "not JSON").status
    };
    let taken = 400;
    for (host, origin, expected) in [
        ("play.example", "https://play.example", taken),
        ("PLAY.example:443", "https://play.example", taken),
        (&by_address, "https://play.example", taken), // as nginx forwards by default
        (&by_address, &format!("http://{address}"), taken),
        ("play.example", "http://play.example", 403),
        ("play.example", "https://play.example.evil", 403),
        ("play.example", "https://evil.example", 403),
        ("play.example", "null", 403),
        ("evil.example", "https://play.example", 403),
        (&by_address, "https://play.example:8443", 403),
    ] {
        assert_eq!(post(host, origin), expected, "{host} {origin}");
    }
}

#[test]
fn who_is_forwarded_by_an_address_that_is_not_trusted_is_that_address() {
    let address = server(&["192.0.2.200"]);
    let open = |lie: &str| open_by(address, [127, 0, 0, 1], &[("X-Forwarded-For", lie)]).status;
    assert_eq!(["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(open), [201, 201, 429]);
}

#[test]
fn quotas_count_the_people_behind_a_trusted_proxy() {
    for header in ["X-Forwarded-For", "Forwarded"] {
        let address = server(&["127.0.0.9"]);
        let proxy = [127, 0, 0, 9];
        let open = |client: &str| {
            let value = if header == "Forwarded" { format!("for={client}") } else { client.to_owned() };
            open_by(address, proxy, &[(header, &format!("192.0.2.77, {value}"))]).status
        };
        assert_eq!([(); 3].map(|()| open("192.0.2.1")), [201, 201, 429], "{header}");
        assert_eq!(open("192.0.2.2"), 201, "{header}");
    }
}

#[test]
fn a_person_behind_a_proxy_has_as_many_requests_at_once_as_an_address() {
    let address = server(&["127.0.0.9"]);
    let proxy = [127, 0, 0, 9];
    let (key, view) = open(address, json!({"duel": "white"}));
    let (name, path) = (key.split('.').next().unwrap(), format!("/api/session?since={}", view["version"]));
    let head = "Host: play.example\r\nX-Forwarded-For: 192.0.2.1\r\nX-Session:";
    let text = format!("GET {path} HTTP/1.1\r\n{head} {name}\r\n\r\n");
    let waiting = [(); 4].map(|()| {
        let mut stream = connect_from(proxy, address);
        stream.write_all(text.as_bytes()).unwrap();
        stream
    });
    let ask = |client: &str| {
        let headers = [("Host", "play.example"), ("X-Forwarded-For", client)];
        request_by(connect_from(proxy, address), "GET", "/icon.svg", &headers, "").status
    };
    let began = Instant::now();
    while ask("192.0.2.1") != 503 {
        assert!(began.elapsed() < Duration::from_secs(10), "four requests wait");
        sleep(Duration::from_millis(50));
    }
    assert_eq!(ask("192.0.2.2"), 200);
    drop(waiting);
}

#[test]
#[cfg_attr(not(proxies), ignore = "nginx and caddy are not installed")]
fn a_page_behind_nginx_as_it_forwards_by_default_can_be_played() {
    let (port, address) = (free_port(), server(&[]));
    let inside = format!("server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{address}; }} }}");
    let proxy = nginx(port, &inside);
    let answer = open_by(proxy.address, [127, 0, 0, 11], &[]);
    assert_eq!(answer.status, 201, "{}", answer.body);
}

#[test]
#[cfg_attr(not(proxies), ignore = "nginx and caddy are not installed")]
fn the_example_for_nginx_works() {
    let (port, address) = (free_port(), server(&["127.0.0.1"]));
    let (listen, pass) = (format!("listen 127.0.0.1:{port};"), format!("http://{address};"));
    let inside = example(
        "nginx.conf",
        &[
            ("listen 443 ssl;", &listen),
            ("http://127.0.0.1:8025;", &pass),
            ("ssl_certificate ", "# "), // the test has no certificate
            ("ssl_certificate_key ", "# "),
        ],
    );
    counts_people(nginx(port, &inside).address);
}

#[test]
#[cfg_attr(not(proxies), ignore = "nginx and caddy are not installed")]
fn the_example_for_caddy_works() {
    let (port, address) = (free_port(), server(&["127.0.0.1"]));
    let config = example(
        "Caddyfile",
        &[
            ("play.example {", &format!("http://play.example:{port} {{\n\tbind 127.0.0.1")),
            ("127.0.0.1:8025", &address.to_string()),
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Caddyfile");
    std::fs::write(&file, format!("{{\n\tadmin off\n\tauto_https off\n}}\n{config}")).unwrap();
    let file = file.display().to_string();
    let proxy = start(port, folder, "caddy", &["run", "--adapter", "caddyfile", "--config", &file]);
    counts_people(proxy.address);
}

#[test]
fn an_origin_is_a_scheme_and_a_host() {
    use play::server::Origin;
    for good in ["https://play.example", "http://play.example:8080", "HTTPS://PLAY.example/", "https://[2001:db8::1]"] {
        assert!(good.parse::<Origin>().is_ok(), "{good}");
    }
    for bad in
        ["play.example", "https://", "https://play.example/path", "https://a@play.example", "ftp://play.example", ""]
    {
        let problem = bad.parse::<Origin>().unwrap_err();
        assert!(problem.contains("https://NAME"), "{bad}: {problem}");
    }
}
