//! Files of games: they come back as they were, and damage is refused without a panic.

use jarmo::eval::Uniform;
use jarmo::fleet::{GameFile, MOST_BYTES};
use jarmo::games::Jarmo;
use jarmo::net::GameVersion;
use jarmo::search::{Root, SearchSettings};
use jarmo::selfplay::{Round, SelfPlay, SelfPlaySettings};

fn file() -> GameFile {
    let game = Jarmo::standard();
    let settings = SelfPlaySettings {
        games: 32,
        simulations: 2,
        search: SearchSettings::of(Root::Gumbel),
        max_random_plies: 3,
        endgames: 0.5,
        endgame_force: 5,
        lambda: 0.9,
    };
    let mut play = SelfPlay::new(&game, &settings, vec![Uniform], 5);
    play.keep_episodes(1 << 40);
    let mut all = Round::default();
    for _ in 0..60 {
        all.add(play.round());
    }
    assert!(all.episodes.len() > 10);
    GameFile {
        run: "a run".to_owned(),
        origin: GameVersion::of(&game),
        worker: "a worker".to_owned(),
        program: "jarmo".to_owned(),
        games: all.episodes,
    }
}

#[test]
fn a_file_comes_back_as_it_was() {
    let file = file();
    let bytes = file.to_bytes();
    assert!(bytes.len() < MOST_BYTES);
    assert_eq!(GameFile::from_bytes(&bytes).unwrap(), file);
    assert_eq!(GameFile::id(&bytes), GameFile::id(&file.to_bytes()), "the name is the content's");
}

#[test]
fn a_damaged_file_is_refused() {
    let file = file();
    let bytes = file.to_bytes();
    for length in (0..bytes.len()).step_by(bytes.len() / 50) {
        assert!(GameFile::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
    let mut refused = 0;
    for place in (0..bytes.len()).step_by(bytes.len() / 200) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        // A few bits of a compressed file say nothing.
        let read = GameFile::from_bytes(&damaged);
        assert!(read.is_err() || read.as_ref() == Ok(&file), "byte {place}");
        refused += usize::from(read.is_err());
    }
    assert!(refused > 190, "{refused}");
    assert!(GameFile::from_bytes(&vec![0; MOST_BYTES + 1]).is_err());
}
