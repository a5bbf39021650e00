//! A relay between the client library and the server.
//!
//! A worker can put any bytes into the header of a message. The client library closes its connection if it cannot read a
//! header, and mistakes some headers for answers of the server, so one key could stop a learner. The library offers no
//! place for a filter. It therefore connects to a port of this machine, and the relay passes each such connection on to
//! the server. In the other direction, the relay removes the headers of workers' messages.

use std::borrow::Cow;
use std::future::pending;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use async_nats::ServerAddr;
use async_nats::rustls::pki_types::pem::PemObject;
use async_nats::rustls::pki_types::{CertificateDer, ServerName};
use async_nats::rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::watch;
use tokio_rustls::TlsConnector;

use super::{ANSWER, FAREWELL};
use crate::{FleetError, TICK};
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// Subjects on which workers send begin with this.
const OF_WORKERS: &[u8] = b"jarmo.";

/// The server appends these lines to the header of a stored message when it is asked for the message. The line before
/// them is the server's, too.
const STORED: &[u8] = b"\r\nNats-Subject: ";
const FOLLOWING: &[u8] = b"\r\nNats-Sequence: ";

const MOST_LINE: u64 = 1 << 20; // bytes of a line; the first one describes the server

trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// A connection to a server, and the first line that the server sent.
struct Reached {
    connection: BufReader<Box<dyn Connection>>,
    greeting: Vec<u8>,
}

/// How the server is reached.
struct Way {
    server: ServerAddr,
    authority: Option<Vec<CertificateDer<'static>>>, // `None` for those that the system trusts
    connector: Option<TlsConnector>,                 // after the first encrypted connection
}

/// Connects with the server, then passes on every connection to a port of this machine. Returns its address for the
/// client library, and the number of open connections.
pub(super) async fn open(
    url: &str,
    authority: Option<Vec<CertificateDer<'static>>>,
) -> io::Result<(String, watch::Receiver<usize>)> {
    let mut way = Way { server: url.parse()?, authority, connector: None };
    let mut first = Some(way.reach().await?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("nats://{}", listener.local_addr()?);
    let (open, count) = watch::channel(0);
    tokio::spawn(async move {
        let open = Arc::new(open);
        loop {
            let Ok((client, _)) = listener.accept().await else {
                tokio::time::sleep(TICK).await; // too many files are open, for example
                continue;
            };
            let reached = match first.take() {
                Some(reached) => reached,
                None => match way.reach().await {
                    Ok(reached) => reached,
                    Err(_) => continue, // the client sees that its connection ends, and tries again later
                },
            };
            let open = Arc::clone(&open);
            open.send_modify(|count| *count += 1);
            tokio::spawn(async move {
                pass(client, reached).await;
                open.send_modify(|count| *count -= 1);
            });
        }
    });
    Ok((url, count))
}

/// Reads the certificates of an authority.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, FleetError> {
    let text = read_text(path, SETTINGS_BYTES).map_err(FleetError::at(path))?;
    let certificates = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    certificates.map_err(|error| FleetError::new(format!("{}: {error:?}", path.display())))
}

impl Way {
    /// A connection to the server, encrypted if the address or the server says so.
    async fn reach(&mut self) -> io::Result<Reached> {
        match tokio::time::timeout(ANSWER, self.connect()).await {
            Ok(reached) => reached,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    async fn connect(&mut self) -> io::Result<Reached> {
        let addresses: Vec<_> = lookup_host((self.server.host(), self.server.port())).await?.collect();
        let mut reached = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in &addresses {
            let connected = tokio::time::timeout(ANSWER / addresses.len() as u32, TcpStream::connect(address));
            reached = connected.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            if reached.is_ok() {
                break;
            }
        }
        let stream = reached?;
        stream.set_nodelay(true)?;
        let mut connection = BufReader::new(Box::new(stream) as Box<dyn Connection>);
        let mut greeting = Vec::new();
        read_line(&mut connection, &mut greeting).await?;
        let said = greeting.strip_prefix(b"INFO ").and_then(|said| serde_json::from_slice(said).ok());
        let said: Value = said.ok_or_else(|| io::Error::other("this is not a NATS server"))?;
        if self.server.tls_required() || said["tls_required"] == true {
            let name = ServerName::try_from(self.server.host().to_owned()).map_err(io::Error::other)?;
            let authority = &self.authority;
            let connector = self.connector.get_or_insert_with(|| connector(authority.as_deref()));
            let stream = connector.connect(name, connection.into_inner()).await?;
            connection = BufReader::new(Box::new(stream));
        }
        Ok(Reached { connection, greeting })
    }
}

fn connector(authority: Option<&[CertificateDer<'static>]>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(match authority {
        Some(certificates) => certificates.to_vec(),
        None => rustls_native_certs::load_native_certs().certs,
    });
    Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()).into()
}

/// Passes everything on in both directions until one side ends. Then sends the server the rest of what the client wrote.
async fn pass(client: TcpStream, reached: Reached) {
    let _ = client.set_nodelay(true);
    let (mut heard, to_client) = client.into_split();
    let (from_server, mut to_server) = tokio::io::split(reached.connection);
    let mut from_server = BufReader::new(from_server);
    let mut outward = pin!(async {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = heard.read(&mut bytes).await {
            if to_server.write_all(&bytes[..count]).await.is_err() || to_server.flush().await.is_err() {
                pending::<()>().await; // the server may have said why
            }
        }
        let _ = to_server.shutdown().await;
    });
    let inward = async {
        let mut to_client = BufWriter::new(to_client);
        to_client.write_all(&introduced(&reached.greeting)).await?;
        to_client.flush().await?;
        filter(&mut from_server, &mut to_client).await
    };
    let is_sent = tokio::select! {
        () = &mut outward => true,
        _ = inward => false,
    };
    let rest = async {
        if !is_sent {
            outward.await;
        }
        tokio::io::copy(&mut from_server, &mut tokio::io::sink()).await
    };
    let _ = tokio::time::timeout(FAREWELL, rest).await;
}

/// Passes on what the server says, without the headers that workers wrote.
async fn filter(
    from: &mut BufReader<impl AsyncRead + Unpin>,
    to: &mut BufWriter<impl AsyncWrite + Unpin>,
) -> io::Result<()> {
    let (mut line, mut header) = (Vec::new(), Vec::new());
    while read_line(from, &mut line).await? {
        let words: Vec<&[u8]> = line.trim_ascii_end().split(|byte| *byte == b' ').collect();
        let payload = match words[..] {
            [b"HMSG", subject, .., of_header, of_message] => {
                let (of_header, of_message) = (number(of_header)?, number(of_message)?);
                let payload = of_message.checked_sub(of_header).ok_or(io::ErrorKind::InvalidData)?;
                header.clear();
                (&mut *from).take(of_header).read_to_end(&mut header).await?;
                let about = words[1..words.len() - 2].join(&b' ');
                let header = kept(subject, &header);
                let start = match header.len() {
                    0 => [b"MSG ", &*about, format!(" {payload}\r\n").as_bytes()].concat(),
                    bytes => {
                        let sizes = format!(" {bytes} {}\r\n", bytes as u64 + payload);
                        [b"HMSG ", &*about, sizes.as_bytes(), &*header].concat()
                    }
                };
                to.write_all(&start).await?;
                Some(payload)
            }
            [b"MSG", .., of_message] => {
                to.write_all(&line).await?;
                Some(number(of_message)?)
            }
            [b"INFO", ..] => {
                to.write_all(&introduced(&line)).await?;
                None
            }
            _ => {
                to.write_all(&line).await?;
                None
            }
        };
        if let Some(payload) = payload {
            tokio::io::copy(&mut (&mut *from).take(payload + 2), to).await?; // with the end of the line
        }
        if from.buffer().is_empty() {
            to.flush().await?;
        }
    }
    Ok(())
}

/// The part of a header that is passed on: all of it, unless a worker wrote the message; then only the server's lines.
fn kept<'a>(subject: &[u8], header: &'a [u8]) -> Cow<'a, [u8]> {
    match subject.starts_with(OF_WORKERS) {
        true => Cow::Borrowed(&[]),
        false => appended(header).map_or(Cow::Borrowed(header), Cow::Owned),
    }
}

/// A header with only what the server appended, if it is that of a worker's stored message.
fn appended(header: &[u8]) -> Option<Vec<u8>> {
    let begin = header.windows(STORED.len()).rposition(|part| part == STORED)? + STORED.len();
    let (subject, rest) = header[begin..].split_at(header[begin..].windows(2).position(|part| part == b"\r\n")?);
    if !subject.starts_with(OF_WORKERS) || !rest.starts_with(FOLLOWING) {
        return None;
    }
    // A worker chooses the bytes of its name, too.
    let subject = String::from_utf8_lossy(subject).replace(char::is_control, "?");
    Some([b"NATS/1.0", STORED, subject.as_bytes(), rest].concat())
}

/// The server's description of itself, changed for a client of the relay: no encryption, and no other addresses.
fn introduced(line: &[u8]) -> Vec<u8> {
    let said = line.strip_prefix(b"INFO ").and_then(|said| serde_json::from_slice(said).ok());
    let Some(Value::Object(mut said)) = said else {
        return line.to_vec();
    };
    said.insert("tls_required".to_owned(), false.into());
    said.remove("connect_urls");
    [b"INFO ", Value::Object(said).to_string().as_bytes(), b"\r\n"].concat()
}

/// Reads a line with its end. Returns whether there was one.
async fn read_line(from: &mut BufReader<impl AsyncRead + Unpin>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    (&mut *from).take(MOST_LINE).read_until(b'\n', line).await?;
    match line.last() {
        None => Ok(false),
        Some(b'\n') => Ok(true),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn number(word: &[u8]) -> io::Result<u64> {
    let number = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests;
