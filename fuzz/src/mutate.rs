//! Damage: changes of bytes, numbers and words, drawn from a seed.

use rand::Rng;

use jarmo::random::{Stream, below};

/// Numbers at the edges of their types, and words that are not numbers.
const EDGES: [&str; 20] = [
    "0",
    "-1",
    "1",
    "127",
    "128",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e300",
    "1e-300",
    "NaN",
    "inf",
];

/// Signs that have a meaning in one of the formats.
const SIGNS: &[u8] = b"\0\t\n\r \"#%&'()*+,-./:;<=>?@[\\]^_`{|}~\x7f\x80\xff";

/// Longer inputs are cut. Other tests check the limits of lines.
const MOST_BYTES: usize = 1 << 20;

/// One to eight changes of an input; pieces come from other inputs of the corpus.
pub(crate) fn mutate(input: &[u8], corpus: &[Vec<u8>], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let changes = 1 << draw(stream, 4);
    for _ in 0..changes {
        change(&mut bytes, corpus, stream);
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], stream: &mut Stream) {
    let place = draw(stream, bytes.len() + 1);
    let piece = place..(place + 1 + draw(stream, 16)).min(bytes.len()).max(place);
    match draw(stream, 9) {
        0 if place < bytes.len() => bytes[place] ^= 1 << draw(stream, 8),
        1 if place < bytes.len() => bytes[place] = draw(stream, 256) as u8,
        2 => bytes.insert(place, SIGNS[draw(stream, SIGNS.len())]),
        3 => drop(bytes.drain(piece)),
        4 => {
            let copy = bytes[piece].to_vec();
            let times = 1 << draw(stream, 6);
            let at = draw(stream, bytes.len() + 1);
            bytes.splice(at..at, copy.repeat(times));
        }
        5 => replace_number(bytes, place, stream),
        6 => bytes.truncate(place),
        7 => {
            let other = &corpus[draw(stream, corpus.len())];
            let from = draw(stream, other.len() + 1);
            let length = draw(stream, 64).min(other.len() - from);
            bytes.splice(piece, other[from..from + length].iter().copied());
        }
        _ => {
            let edge = EDGES[draw(stream, EDGES.len())];
            bytes.splice(piece, edge.bytes());
        }
    }
}

/// Replaces the next number after `place` by one at an edge.
fn replace_number(bytes: &mut Vec<u8>, place: usize, stream: &mut Stream) {
    let Some(start) = bytes[place..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = place + start;
    let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit());
    let end = start + digits.count();
    let edge = EDGES[draw(stream, EDGES.len())];
    bytes.splice(start..end, edge.bytes());
}

/// A number below `n`.
pub(crate) fn draw(stream: &mut Stream, n: usize) -> usize {
    below(stream.next_u64(), n as u32) as usize
}
