//! A game that has rules and features, and nothing else.

use std::fmt;

use crate::proof::HasProof;
use crate::tables::HasEndgames;
use jarmo_core::encode::{Encode, Mirror};
use jarmo_core::game::{Action, ActionError, Game, Outcome, Player, PositionError, Reason};
use jarmo_core::search::HasHeuristic;
use jarmo_core::search::heuristic::NoHeuristic;
use jarmo_core::view::GameView;

/// A game without view, evaluation, exact tables and proofs. Its rules and features are those of the game inside.
#[derive(Clone, Debug)]
pub struct Bare<G>(pub G);

impl<G: Game + Encode> GameView for Bare<G> {}

impl<G: Game + Encode> HasHeuristic for Bare<G> {
    type Heuristic = NoHeuristic;
}

impl<G: Game + Encode> HasEndgames for Bare<G> {}

impl<G: Game + Encode> HasProof for Bare<G> {}

impl<G: Game> Game for Bare<G> {
    type Position = G::Position;
    type Mask = G::Mask;

    fn id(&self) -> &'static str {
        self.0.id()
    }

    fn rules_version(&self) -> u32 {
        self.0.rules_version()
    }

    fn actions(&self) -> usize {
        self.0.actions()
    }

    #[inline]
    fn start(&self) -> G::Position {
        self.0.start()
    }

    #[inline]
    fn to_move(&self, position: &G::Position) -> Player {
        self.0.to_move(position)
    }

    #[inline]
    fn ply(&self, position: &G::Position) -> u32 {
        self.0.ply(position)
    }

    fn max_points(&self) -> u8 {
        self.0.max_points()
    }

    #[inline]
    fn is_often_forced(&self) -> bool {
        self.0.is_often_forced()
    }

    fn board_text(&self) -> String {
        self.0.board_text()
    }

    #[inline]
    fn max_plies(&self) -> u32 {
        self.0.max_plies()
    }

    #[inline]
    fn plies_left(&self, position: &G::Position) -> Option<u32> {
        self.0.plies_left(position)
    }

    #[inline]
    fn is_cut_off(&self, position: &G::Position) -> bool {
        self.0.is_cut_off(position)
    }

    fn with_max_plies(self, max_plies: u32) -> Bare<G> {
        Bare(self.0.with_max_plies(max_plies))
    }

    #[inline]
    fn legal(&self, position: &G::Position) -> G::Mask {
        self.0.legal(position)
    }

    #[inline]
    fn play(&self, position: &mut G::Position, action: Action) {
        self.0.play(position, action);
    }

    #[inline]
    fn outcome(&self, position: &G::Position) -> Option<Outcome> {
        self.0.outcome(position)
    }

    fn why_illegal(&self, position: &G::Position, action: Action) -> Reason {
        self.0.why_illegal(position, action)
    }

    fn position_text(&self, position: &G::Position) -> String {
        self.0.position_text(position)
    }

    fn parse_position(&self, text: &str) -> Result<G::Position, PositionError> {
        self.0.parse_position(text)
    }

    fn action_text(&self, position: &G::Position, action: Action) -> String {
        self.0.action_text(position, action)
    }

    fn parse_action(&self, position: &G::Position, text: &str) -> Result<Action, ActionError> {
        self.0.parse_action(position, text)
    }

    fn events(&self) -> &'static [&'static str] {
        self.0.events()
    }

    fn count_events(&self, position: &G::Position, action: Action, counts: &mut [u64]) {
        self.0.count_events(position, action, counts);
    }

    fn draw(&self, position: &G::Position, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw(position, out)
    }

    fn try_play(&self, position: &mut G::Position, action: Action) -> Result<(), ActionError> {
        self.0.try_play(position, action)
    }

    fn play_text(&self, position: &mut G::Position, text: &str) -> Result<Action, ActionError> {
        self.0.play_text(position, text)
    }
}

impl<G: Encode> Encode for Bare<G> {
    fn planes(&self) -> usize {
        self.0.planes()
    }

    fn board_planes(&self) -> usize {
        self.0.board_planes()
    }

    fn grid(&self) -> (usize, usize) {
        self.0.grid()
    }

    #[inline]
    fn features(&self, position: &G::Position, set: impl FnMut(usize)) {
        self.0.features(position, set);
    }

    fn seen_by(&self, position: &G::Position, viewer: Player) -> G::Position {
        self.0.seen_by(position, viewer)
    }

    fn threat_planes(&self) -> usize {
        self.0.threat_planes()
    }

    #[inline]
    fn threats(&self, position: &G::Position, set: impl FnMut(usize)) {
        self.0.threats(position, set);
    }

    #[inline]
    fn inputs(&self, position: &G::Position, set: impl FnMut(usize)) {
        self.0.inputs(position, set);
    }

    fn input_count(&self) -> usize {
        self.0.input_count()
    }

    fn plane_names(&self) -> Vec<String> {
        self.0.plane_names()
    }

    fn mirror(&self) -> Option<Mirror> {
        self.0.mirror()
    }

    #[inline]
    fn observe(&self, position: &G::Position, out: &mut [f32]) {
        self.0.observe(position, out);
    }
}
