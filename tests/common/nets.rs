//! Agent files for tests: untrained networks, and files with a changed header.

use jarmo::encode::Encode;
use jarmo::net::{AgentFile, NetSettings, NetShape, Provenance, Weights};
use jarmo::random::stream;

/// The smallest network for this game, with random weights.
pub(crate) fn tiny<G: Encode>(game: &G, seed: u64) -> AgentFile {
    let net = NetSettings { width: 32, blocks: 1 };
    let weights = Weights::random(net, NetShape::of(game), &mut stream(seed, 0));
    AgentFile::new(game, weights, Provenance::default(), Vec::new())
}

/// The bytes of a file with `from` replaced by `to` in its header, under a checksum that fits.
pub(crate) fn with_header(file: &AgentFile, from: &str, to: &str) -> Vec<u8> {
    let bytes = file.to_bytes();
    let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    let [from, to] = [from, to].map(|text| text.replace('"', "\\\"")); // JSON inside JSON
    assert!(header.contains(&from), "{header} has no {from}");
    let header = header.replacen(&from, &to, 1);
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend_from_slice(header.as_bytes());
    changed.extend_from_slice(&bytes[8 + length..]);
    jarmo::checksum::seal(&mut changed);
    changed
}
