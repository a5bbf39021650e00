//! Openings that are equally hard for both sides.

use jarmo_core::env::Line;
use jarmo_core::game::Game;
use jarmo_core::games::Jarmo;
use jarmo_exact::agent::{Agent, AgentSpec, build};
use lab::balance::white_scores;

fn agents(count: usize) -> Vec<Box<dyn Agent<Jarmo>>> {
    let spec: AgentSpec = "rollout:20".parse().unwrap();
    let agent = || build(Jarmo::standard(), &spec).unwrap();
    std::iter::repeat_with(agent).take(count).collect()
}

#[test]
fn white_scores_more_where_white_is_ahead_on_any_number_of_threads() {
    let game = Jarmo::standard();
    let opening = |text: &str| Line::at(game.parse_position(text).unwrap());
    let openings = [opening("4b/5/5/5/wwwww w - - 0"), Line::at(game.start()), opening("bbbbb/5/5/5/w4 w - - 0")];
    let scores = |threads: usize| white_scores(&game, agents(threads), &openings, 20, 1, |_| {});
    let one = scores(1);
    assert!(one[0] > 0.8 && one[2] < 0.2, "{one:?}");
    assert!(one[1] > one[2] && one[1] < one[0], "{one:?}");
    assert_eq!(scores(3), one);
}
