//! Files for the opening explorer of the page: exact results of openings, and how agents play them.
//!
//! A file is one JSON object, compressed by gzip, whose checksum shows damage. The page reads it (`explorer.js`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use jarmo_core::error::FileError;
use jarmo_core::game::{Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::connect_four::COLUMNS;
use jarmo_core::games::{ConnectFour, ConnectFourPosition, Jarmo, JarmoPosition};
use jarmo_core::record::GameRecord;
use jarmo_exact::proof::{Proof, ProofStrategy};

/// What the page knows of a game's openings.
#[derive(Debug, Serialize)]
pub struct Explorer {
    /// 1; a page that reads another format rejects the file.
    pub format: u32,
    /// The name of the game.
    pub game: String,
    /// The lines of the board; empty where they never vary.
    pub board: String,
    /// How the file was made.
    pub made: String,
    /// The number of games in `played`.
    pub games: usize,
    /// By position: the winner with best play, `=` for a draw.
    pub winners: BTreeMap<String, char>,
    /// By ply, of all positions in the order of their keys: the plies to the end as a character from `0` on, even if the
    /// player to move loses, and odd if that player wins; `.` for a draw.
    pub plies: Vec<String>,
    /// By position and move: the games, and those that White and Black won.
    pub played: BTreeMap<String, BTreeMap<String, [u32; 3]>>,
}

impl Explorer {
    /// The content of a file.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        serde_json::to_writer(&mut packed, self)?;
        packed.flush()?;
        packed.finish()
    }
}

/// How a game names the positions of its openings.
pub trait Keyed: Game {
    /// The name of a position, the same for its mirror image, and whether it is that of the mirror image.
    fn key(&self, position: &Self::Position) -> (String, bool);

    /// A move of the mirror image.
    fn mirrored(text: &str) -> String {
        text.to_owned()
    }
}

impl Keyed for Jarmo {
    /// Pieces and player to move: in an opening, the shuttle rule forbids nothing yet.
    fn key(&self, position: &JarmoPosition) -> (String, bool) {
        let text = self.position_text(position);
        let fields: Vec<&str> = text.split(' ').take(2).collect();
        (fields.join(" "), false)
    }
}

impl Keyed for ConnectFour {
    /// The columns, each from its lowest stone up.
    fn key(&self, position: &ConnectFourPosition) -> (String, bool) {
        let column =
            |column| -> String { (0..).map_while(|row| position.at(column, row)).map(Player::letter).collect() };
        let columns: Vec<String> = (0..COLUMNS).map(column).collect();
        let mirrored: Vec<String> = columns.iter().rev().cloned().collect();
        let (seen, mirrored) = (columns.join("/"), mirrored.join("/"));
        if mirrored < seen { (mirrored, true) } else { (seen, false) }
    }

    fn mirrored(text: &str) -> String {
        let column = text.bytes().next().expect("a move names a column") - b'A';
        char::from(b'A' + COLUMNS as u8 - 1 - column).to_string()
    }
}

/// Counts the moves of games, those of a random opening excluded. Positions in which fewer than `least` games made a move
/// are left out.
pub fn count<G: Keyed>(
    game: &G,
    records: &[GameRecord],
    least: u32,
) -> Result<BTreeMap<String, BTreeMap<String, [u32; 3]>>, FileError> {
    let mut played: BTreeMap<String, BTreeMap<String, [u32; 3]>> = BTreeMap::new();
    for record in records {
        let line = record.replay(game)?;
        let positions = line.positions(game);
        let winner = record.outcome.and_then(|outcome| outcome.winner);
        let opening = record.opening_plies.unwrap_or(0);
        for (position, text) in positions.iter().zip(&record.moves).skip(opening) {
            let (key, is_mirrored) = game.key(position);
            let text = if is_mirrored { G::mirrored(text) } else { text.clone() };
            let counts = played.entry(key).or_default().entry(text).or_default();
            counts[0] += 1;
            if let Some(winner) = winner {
                counts[1 + winner.index()] += 1;
            }
        }
    }
    played.retain(|_, moves| moves.values().map(|counts| counts[0]).sum::<u32>() >= least);
    Ok(played)
}

/// The only opening of two plies of jarmo whose result is not known (docs/solution.md).
const OPEN: [&str; 2] = ["C1-A2", "E5-C4"];

/// The winners of jarmo's openings: of up to two plies all that are solved, the wins by the proof and the others as draws;
/// then up to `plies` the positions that the strategies of the proof lead to.
pub fn winners(proof: &Proof, plies: u32) -> BTreeMap<String, char> {
    let game = &proof.game;
    let mut found = BTreeMap::new();
    let start = game.start();
    let mut level = vec![(start, Vec::new())];
    for _ in 0..=2 {
        for (position, line) in &level {
            if *line != OPEN {
                found.insert(game.key(position).0, '=');
            }
        }
        let next = level.iter().flat_map(|(position, line): &(JarmoPosition, Vec<String>)| {
            let legal = game.legal(position);
            let after = |action| {
                let mut next = *position;
                let line = line.iter().cloned().chain([game.action_text(position, action)]).collect();
                game.play(&mut next, action);
                (next, line)
            };
            legal.iter().map(after).collect::<Vec<_>>()
        });
        level = next.collect();
    }
    for claim in &proof.claims {
        follow(proof, claim.opening.position, claim.winner, plies, &mut found);
    }
    found
}

/// Adds a won position and those after it in which the loser is to move.
fn follow(proof: &Proof, position: JarmoPosition, winner: Player, plies: u32, found: &mut BTreeMap<String, char>) {
    let game = &proof.game;
    found.insert(game.key(&position).0, winner.letter());
    if game.ply(&position) >= plies || game.outcome(&position).is_some() {
        return;
    }
    let after = |action| {
        let mut next = position;
        game.play(&mut next, action);
        next
    };
    if game.to_move(&position) == winner {
        let (action, _) = proof.next(game, &position).expect("the strategy continues until it has won");
        return follow(proof, after(action), winner, plies, found);
    }
    for action in game.legal(&position).iter() {
        follow(proof, after(action), winner, plies, found);
    }
}

/// Solves positions: the result of each legal action.
pub type Solve<'a> = &'a mut dyn FnMut(&[ConnectFourPosition]) -> io::Result<Vec<Vec<Proven>>>;

/// The results of all positions of connect four up to a ply, as [`Explorer::plies`] has them.
pub fn plies(game: &ConnectFour, last: u32, solve: Solve<'_>) -> io::Result<Vec<String>> {
    let start = game.start();
    let mut level = BTreeMap::from([(game.key(&start).0, start)]);
    let mut found: Vec<BTreeMap<String, char>> = Vec::new();
    for _ in 0..last {
        let open: Vec<_> = level.values().filter(|one| game.outcome(one).is_none()).copied().collect();
        let (mut next, mut results) = (BTreeMap::new(), BTreeMap::new());
        for (position, solved) in open.iter().zip(solve(&open)?) {
            if found.is_empty() {
                let best = solved.iter().copied().max_by_key(|one| one.preference());
                found.push(BTreeMap::from([(game.key(position).0, sign(best.expect("the start has actions")))]));
            }
            for (action, result) in game.legal(position).iter().zip(solved) {
                let mut after = *position;
                game.play(&mut after, action);
                let key = game.key(&after).0;
                results.insert(key.clone(), sign(before(result)));
                next.insert(key, after);
            }
        }
        found.push(results);
        level = next;
    }
    Ok(found.into_iter().map(|ply| ply.into_values().collect()).collect())
}

/// The result of a position for its player to move, from that of the action that leads there.
fn before(result: Proven) -> Proven {
    Proven { verdict: result.verdict.flip(), plies: result.plies.map(|plies| plies - 1) }
}

fn sign(result: Proven) -> char {
    match (result.verdict, result.plies) {
        (Verdict::Draw, _) => '.',
        (_, plies) => char::from(b'0' + plies.expect("the solver gives distances") as u8),
    }
}
