//! The fingerprint of search.

use jarmo_exact::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use lab::signature::signature;

#[test]
fn the_signature_of_search_is_the_recorded_one() {
    #[derive(Clone, Copy)]
    struct Sign;
    impl GameTask for Sign {
        type Output = String;
        fn run<G: CatalogGame>(self, game: G) -> String {
            signature(&game)
        }
    }
    let lines = GAMES.map(|name| with_game(name, &GameSettings::default(), Sign).unwrap());
    let expected: Vec<&str> = include_str!("data/signature.txt").lines().collect();
    assert_eq!(
        lines.to_vec(),
        expected,
        "search grows other trees; if that is intended, update lab/tests/data/signature.txt"
    );
}
