//! A game that has rules and features, and nothing else.

use std::fmt;

use crate::tables::HasEndgames;
use jarmo_core::encode::{Encode, Mirror};
use jarmo_core::game::{Action, ActionError, Game, Outcome, Player, PositionError, Reason};
use jarmo_core::search::HasHeuristic;
use jarmo_core::search::heuristic::NoHeuristic;
use jarmo_core::view::GameView;

/// A game without view, evaluation, exact tables and proofs. Its rules and features are those of the game inside.
#[derive(Clone, Debug)]
pub struct Bare<G>(pub G);

/// Methods that ask the game inside.
macro_rules! of_the_game_inside {
    ($(fn $name:ident(&self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $(
            #[inline]
            fn $name(&self $(, $argument: $kind)*) $(-> $result)? {
                self.0.$name($($argument),*)
            }
        )*
    };
}

impl<G: Game + Encode> GameView for Bare<G> {}

impl<G: Game + Encode> HasHeuristic for Bare<G> {
    type Heuristic = NoHeuristic;
}

impl<G: Game + Encode> HasEndgames for Bare<G> {}

impl<G: Game> Game for Bare<G> {
    type Position = G::Position;
    type Mask = G::Mask;

    fn with_max_plies(self, max_plies: u32) -> Bare<G> {
        Bare(self.0.with_max_plies(max_plies))
    }

    of_the_game_inside! {
        fn id(&self) -> &'static str;
        fn rules_version(&self) -> u32;
        fn actions(&self) -> usize;
        fn start(&self) -> G::Position;
        fn to_move(&self, position: &G::Position) -> Player;
        fn ply(&self, position: &G::Position) -> u32;
        fn max_points(&self) -> u8;
        fn is_often_forced(&self) -> bool;
        fn board_text(&self) -> String;
        fn max_plies(&self) -> u32;
        fn plies_left(&self, position: &G::Position) -> Option<u32>;
        fn is_cut_off(&self, position: &G::Position) -> bool;
        fn legal(&self, position: &G::Position) -> G::Mask;
        fn play(&self, position: &mut G::Position, action: Action);
        fn outcome(&self, position: &G::Position) -> Option<Outcome>;
        fn why_illegal(&self, position: &G::Position, action: Action) -> Reason;
        fn position_text(&self, position: &G::Position) -> String;
        fn parse_position(&self, text: &str) -> Result<G::Position, PositionError>;
        fn action_text(&self, position: &G::Position, action: Action) -> String;
        fn parse_action(&self, position: &G::Position, text: &str) -> Result<Action, ActionError>;
        fn events(&self) -> &'static [&'static str];
        fn count_events(&self, position: &G::Position, action: Action, counts: &mut [u64]);
        fn draw(&self, position: &G::Position, out: &mut fmt::Formatter<'_>) -> fmt::Result;
        fn try_play(&self, position: &mut G::Position, action: Action) -> Result<(), ActionError>;
        fn play_text(&self, position: &mut G::Position, text: &str) -> Result<Action, ActionError>;
    }
}

impl<G: Encode> Encode for Bare<G> {
    of_the_game_inside! {
        fn encoder_version(&self) -> u32;
        fn extends(&self) -> Option<(u32, usize)>;
        fn planes(&self) -> usize;
        fn board_planes(&self) -> usize;
        fn grid(&self) -> (usize, usize);
        fn features(&self, position: &G::Position, set: impl FnMut(usize));
        fn seen_by(&self, position: &G::Position, viewer: Player) -> G::Position;
        fn threat_planes(&self) -> usize;
        fn threats(&self, position: &G::Position, set: impl FnMut(usize));
        fn inputs(&self, position: &G::Position, set: impl FnMut(usize));
        fn input_count(&self) -> usize;
        fn plane_names(&self) -> Vec<String>;
        fn mirror(&self) -> Option<Mirror>;
        fn observe(&self, position: &G::Position, out: &mut [f32]);
    }
}
