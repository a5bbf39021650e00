//! Checks that every game has to pass.

use super::{Action, Game, MAX_ACTIONS, MAX_EVENTS, Mask};

/// Plays `episodes` games and panics with the position text where the game breaks the contract of [`Game`].
/// `choose(n)` returns a number below `n` and thus selects the actions.
pub fn check<G: Game>(game: &G, episodes: usize, choose: &mut impl FnMut(usize) -> usize) {
    assert!(game.actions() <= G::Mask::CAPACITY, "the mask cannot hold all actions");
    assert!(game.actions() <= MAX_ACTIONS, "more than {MAX_ACTIONS} actions");
    assert!(game.events().len() <= MAX_EVENTS, "more than {MAX_EVENTS} events");
    for _ in 0..episodes {
        let mut position = game.start();
        assert_eq!(game.ply(&position), 0, "a game must start at ply 0");
        assert!(game.outcome(&position).is_none(), "the start position is already over");
        while game.outcome(&position).is_none() {
            check_position(game, &position);
            let legal = game.legal(&position);
            let action = legal.nth(choose(legal.count() as usize) as u32);
            let before = position;
            let text = game.position_text(&before);
            game.play(&mut position, action);
            assert_eq!(game.position_text(&before), text, "{text}: playing on changed a copy");
            assert_eq!(game.ply(&position), game.ply(&before) + 1, "{text}: an action must add one ply");
            let again = game.after(&before, action);
            assert_eq!(again, position, "{text}: the same action gave another position");
        }
        check_position(game, &position);
    }
}

/// Checks in one position what [`Game`] promises.
pub fn check_position<G: Game>(game: &G, position: &G::Position) {
    let text = game.position_text(position);
    let legal = game.legal(position);
    let over = game.outcome(position).is_some();
    assert_eq!(legal.is_empty(), over, "{text}: an action must be legal exactly until the game is over");

    let reread = game.parse_position(&text).unwrap_or_else(|error| panic!("{text}: its own text is rejected: {error}"));
    assert_eq!(game.position_text(&reread), text, "text round trip");
    assert_eq!(game.to_move(&reread), game.to_move(position), "{text}: mover");
    assert_eq!(game.ply(&reread), game.ply(position), "{text}: ply");

    let mut texts = Vec::new();
    for index in 0..game.actions() {
        let action = Action(index as u16);
        let mut next = *position;
        let result = game.try_play(&mut next, action);
        assert_eq!(result.is_ok(), legal.contains(action), "{text}: action {index}");
        if result.is_err() {
            assert_eq!(next, *position, "{text}: an illegal action changed the position");
            continue;
        }
        let written = game.action_text(position, action);
        assert_eq!(game.parse_action(position, &written), Ok(action), "{text}: `{written}` does not read back");
        texts.push(written);
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len() as u32, legal.count(), "{text}: two actions have the same text");
    assert!(!game.display(position).to_string().is_empty());
}
