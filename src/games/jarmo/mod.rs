//! Jarmo: archers that capture, mark, and come back; five a side on a web of lines.

mod text;

use std::fmt;
use std::sync::Arc;

use super::web::{Circle, Circles, Web, WebAction, WebMask, draw_circles, piece_letter};
use crate::game::{Action, ActionError, Game, Mask, Outcome, Player, PositionError, Reason};
use crate::games::reasons::{
    GAME_OVER, NO_MARKED_ARCHER, NONE_CAPTURED, NOT_EMPTY, PASS_LAST, SHUTTLE,
};

/// Archers of a player at the start, and the most he can have.
pub const ARCHERS: u32 = 5;

/// The most archers and marks together: those of the start, and no action adds to them.
pub const MOST_FORCE: u32 = 2 * ARCHERS;

/// How often a move may follow its own reverse: the fifth of X-Y, Y-X, X-Y, Y-X, X-Y is banned.
pub const SHUTTLE_LIMIT: u8 = 4;

/// The limit on the length of a game unless another one is asked for.
pub const DEFAULT_MAX_PLIES: u32 = 200;

/// The rules of jarmo on one web.
#[derive(Clone, Debug)]
pub struct Jarmo {
    web: Arc<Web>,
    max_plies: u32,
}

/// A jarmo position: who stands where, who is to move, both shuttles, and the ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JarmoPosition {
    archers: [Circles; 2],
    marked: Circles, // of both players; no circle has two archers
    ply: u32,
    shuttles: [Shuttle; 2],
    to_move: Player,
}

/// What a player's next move is held against: his last action and how many of his latest actions in
/// a row, that one included, each undid the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuttle {
    last: u8,   // the action of the last move, or one of the two below
    streak: u8, // 1 to SHUTTLE_LIMIT after a move, else 0
}

impl Shuttle {
    /// No action yet, or a redeploy.
    pub const NONE: Shuttle = Shuttle {
        last: u8::MAX,
        streak: 0,
    };

    /// A pass.
    pub const PASS: Shuttle = Shuttle {
        last: u8::MAX - 1,
        streak: 0,
    };

    /// A move, the `streak`-th (1 to [`SHUTTLE_LIMIT`]) in a row of which each undid the one before.
    #[inline]
    pub fn of_move(action: Action, streak: u8) -> Shuttle {
        debug_assert!((1..=SHUTTLE_LIMIT).contains(&streak), "no such streak");
        Shuttle {
            last: action.0 as u8,
            streak,
        }
    }

    /// The last action if it was a move, and the length of its streak.
    pub fn last_move(self) -> Option<(Action, u8)> {
        (self.streak > 0).then_some((Action(u16::from(self.last)), self.streak))
    }
}

impl JarmoPosition {
    /// A position outside any game, before its first action: no shuttle, ply 0. The caller vouches
    /// that it is legal; [`Game::parse_position`] checks.
    #[inline]
    pub fn new(archers: [Circles; 2], marked: Circles, to_move: Player) -> JarmoPosition {
        JarmoPosition {
            archers,
            marked,
            ply: 0,
            shuttles: [Shuttle::NONE; 2],
            to_move,
        }
    }

    /// The circles on which the player's archers stand.
    #[inline]
    pub fn archers(&self, player: Player) -> Circles {
        self.archers[player.index()]
    }

    /// The circles on which marked archers stand, of both players.
    #[inline]
    pub fn marked(&self) -> Circles {
        self.marked
    }

    /// How many of the player's archers are captured.
    #[inline]
    pub fn captured(&self, player: Player) -> u32 {
        ARCHERS - self.archers(player).count()
    }

    /// What the player's next move is held against.
    #[inline]
    pub fn shuttle(&self, player: Player) -> Shuttle {
        self.shuttles[player.index()]
    }

    /// The same position with another past of this player.
    #[inline]
    #[must_use]
    pub fn with_shuttle(mut self, player: Player, shuttle: Shuttle) -> JarmoPosition {
        self.shuttles[player.index()] = shuttle;
        self
    }

    /// Who is to move.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    /// Archers plus marks on the board: it never grows, and is 10 at the start.
    #[inline]
    pub fn force(&self) -> u32 {
        (self.archers[0] | self.archers[1]).count() + self.marked.count()
    }

    /// Two points for an archer on the goal row, one for any other.
    #[inline]
    pub fn score(&self) -> [u8; 2] {
        Player::BOTH.map(|player| {
            let own = self.archers(player);
            (own.count() + (own & Circles::goal(player)).count()) as u8
        })
    }

    /// Whether a player has no archer outside his goal row.
    #[inline]
    pub fn all_home(&self) -> bool {
        // Neither test is predictable, so both are made.
        let white = self.archers[0] & !Circles::goal(Player::White);
        let black = self.archers[1] & !Circles::goal(Player::Black);
        white.is_empty() | black.is_empty()
    }

    #[inline]
    fn both_passed(&self) -> bool {
        self.shuttles == [Shuttle::PASS; 2]
    }

    /// The empty circles of the home row, if the player to move may redeploy to them.
    #[inline]
    fn redeploy_places(&self) -> Circles {
        let own = self.archers(self.to_move);
        let right = !(own & self.marked & Circles::goal(self.to_move)).is_empty();
        if right & (own.count() < ARCHERS) {
            Circles::home(self.to_move) & !(self.archers[0] | self.archers[1])
        } else {
            Circles::NONE
        }
    }
}

impl Jarmo {
    /// The rules on this web, cut off after `max_plies` actions (0 for never).
    pub fn new(web: Web, max_plies: u32) -> Jarmo {
        Jarmo {
            web: Arc::new(web),
            max_plies,
        }
    }

    /// The published web and the default limit.
    pub fn standard() -> Jarmo {
        Jarmo::new(Web::standard(), DEFAULT_MAX_PLIES)
    }

    /// The web the game is played on.
    pub fn web(&self) -> &Web {
        &self.web
    }

    #[inline]
    fn over(&self, position: &JarmoPosition) -> bool {
        position.all_home() | position.both_passed() | self.is_cut_off(position)
    }
}

impl Game for Jarmo {
    type Position = JarmoPosition;
    type Mask = WebMask;

    fn id(&self) -> &'static str {
        "jarmo"
    }

    fn rules_version(&self) -> u32 {
        1
    }

    fn actions(&self) -> usize {
        self.web.actions()
    }

    #[inline]
    fn start(&self) -> JarmoPosition {
        let homes = Player::BOTH.map(Circles::home);
        JarmoPosition::new(homes, Circles::NONE, Player::White)
    }

    #[inline]
    fn to_move(&self, position: &JarmoPosition) -> Player {
        position.to_move
    }

    #[inline]
    fn ply(&self, position: &JarmoPosition) -> u32 {
        position.ply
    }

    fn most_points(&self) -> u8 {
        2 * ARCHERS as u8
    }

    fn board_text(&self) -> String {
        self.web.text()
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> Jarmo {
        Jarmo { max_plies, ..self }
    }

    #[inline]
    fn legal(&self, position: &JarmoPosition) -> WebMask {
        if self.over(position) {
            return WebMask::default();
        }
        let mover = position.to_move;
        let own = position.archers(mover);
        let mut legal = self.web.moves(own & !Circles::goal(mover), own);
        let shuttle = position.shuttle(mover);
        if shuttle.streak == SHUTTLE_LIMIT {
            legal.remove(self.web.reverse(Action(u16::from(shuttle.last))));
        }
        let places = position.redeploy_places();
        if !places.is_empty() {
            let deploys = self.web.deploys(mover, places);
            legal.0[0] |= deploys.0[0];
            legal.0[1] |= deploys.0[1];
        }
        if legal.is_empty() {
            legal.insert(self.web.pass());
        }
        legal
    }

    #[inline]
    fn play(&self, position: &mut JarmoPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        let mover = position.to_move;
        let (me, opponent) = (mover.index(), (!mover).index());
        match self.web.decode(action) {
            WebAction::Move { from, to } => {
                let (from, to) = (Circles::from(from), Circles::from(to));
                let captures = !(position.archers[opponent] & to).is_empty();
                let marked = !(position.marked & from).is_empty();
                position.archers[me] ^= from | to;
                position.archers[opponent] = position.archers[opponent] & !to;
                position.marked = position.marked & !(from | to);
                position.marked.0 |= to.0 * u32::from(captures | marked);
                let shuttle = &mut position.shuttles[me];
                let undoes =
                    shuttle.streak > 0 && self.web.reverse(action).0 == u16::from(shuttle.last);
                *shuttle = Shuttle {
                    last: action.0 as u8,
                    streak: if undoes { shuttle.streak + 1 } else { 1 },
                };
            }
            WebAction::Deploy { column } => {
                let own = position.archers[me];
                position.marked ^= (own & position.marked & Circles::goal(mover)).lowest();
                position.archers[me] |= Circles::from(Circle::home(mover, column));
                position.shuttles[me] = Shuttle::NONE;
            }
            WebAction::Pass => position.shuttles[me] = Shuttle::PASS,
        }
        position.ply += 1;
        position.to_move = !mover;
    }

    #[inline]
    fn outcome(&self, position: &JarmoPosition) -> Option<Outcome> {
        if position.all_home() | position.both_passed() {
            Some(Outcome::by_score(position.score()))
        } else if self.is_cut_off(position) {
            Some(Outcome::truncated(Some(position.score())))
        } else {
            None
        }
    }

    fn why_illegal(&self, position: &JarmoPosition, action: Action) -> Reason {
        let mover = position.to_move;
        let own = position.archers(mover);
        if self.over(position) {
            return GAME_OVER.reason();
        }
        match self.web.decode(action) {
            WebAction::Move { from, to } => super::web_move_problem(mover, own, from, to)
                .unwrap_or_else(|| {
                    let shuttle = SHUTTLE.reason().player(mover);
                    shuttle.with("from", from).with("to", to)
                }),
            WebAction::Deploy { column } => {
                let place = Circle::home(mover, column);
                if position.captured(mover) == 0 {
                    NONE_CAPTURED.reason().player(mover)
                } else if (own & position.marked & Circles::goal(mover)).is_empty() {
                    NO_MARKED_ARCHER.reason().player(mover)
                } else {
                    NOT_EMPTY.reason().with("place", place)
                }
            }
            WebAction::Pass => PASS_LAST.reason(),
        }
    }

    fn position_text(&self, position: &JarmoPosition) -> String {
        text::write(self, position)
    }

    fn parse_position(&self, text: &str) -> Result<JarmoPosition, PositionError> {
        text::parse(self, text)
    }

    fn action_text(&self, position: &JarmoPosition, action: Action) -> String {
        let enemy = position.archers(!position.to_move);
        self.web.action_text(position.to_move, enemy, action)
    }

    fn parse_action(&self, position: &JarmoPosition, text: &str) -> Result<Action, ActionError> {
        let enemy = position.archers(!position.to_move);
        self.web.parse_action(position.to_move, enemy, text)
    }

    fn events(&self) -> &'static [&'static str] {
        &["captures", "redeploys", "shuttle_bans"]
    }

    fn count_events(&self, position: &JarmoPosition, action: Action, counts: &mut [u64]) {
        let mover = position.to_move;
        match self.web.decode(action) {
            WebAction::Move { to, .. } => {
                let captured = position.archers(!mover) & Circles::from(to);
                counts[0] += u64::from(!captured.is_empty());
            }
            WebAction::Deploy { .. } => counts[1] += 1,
            WebAction::Pass => {}
        }
        let shuttle = position.shuttle(mover);
        if shuttle.streak == SHUTTLE_LIMIT {
            let own = position.archers(mover);
            let moves = self.web.moves(own & !Circles::goal(mover), own);
            let banned = self.web.reverse(Action(u16::from(shuttle.last)));
            counts[2] += u64::from(moves.contains(banned));
        }
    }

    fn draw(&self, position: &JarmoPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        draw_circles(
            &self.web,
            |circle| piece_letter(position.archers, position.marked, circle),
            out,
        )?;
        let [white, black] = position.score();
        writeln!(
            out,
            "{} to move, ply {}; score {white}:{black}; captured: white {}, black {}",
            position.to_move.name(),
            position.ply,
            position.captured(Player::White),
            position.captured(Player::Black),
        )?;
        for player in Player::BOTH {
            if position.shuttle(player).streak == SHUTTLE_LIMIT {
                let banned = self
                    .web
                    .reverse(Action(u16::from(position.shuttle(player).last)));
                let text = self.web.action_text(player, Circles::NONE, banned);
                writeln!(out, "shuttle: {} may not play {text}", player.name())?;
            }
        }
        Ok(())
    }
}
