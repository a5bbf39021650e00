//! Every numbered ruling of the rules pages, with a position that shows it.

use jarmo::game::{Game, Mask, Outcome, Player, perft};
use jarmo::games::board::Board;
use jarmo::games::{Guard, Jarmo, Tammi};

/// A game at a position, with actions played by their texts.
struct Table<G: Game> {
    game: G,
    position: G::Position,
}

impl<G: jarmo::catalog::CatalogGame> Table<G> {
    fn at(game: G, position: &str) -> Table<G> {
        let position = game.parse_position(position).unwrap();
        Table { game, position }
    }

    fn play(&mut self, actions: &str) -> &mut Table<G> {
        for action in actions.split_whitespace() {
            let here = self.game.position_text(&self.position);
            self.game.play_text(&mut self.position, action).unwrap_or_else(|error| panic!("{here}: {error}"));
        }
        self
    }

    fn text(&self) -> String {
        self.game.position_text(&self.position)
    }

    fn legal(&self) -> String {
        let legal = self.game.legal(&self.position);
        let mut texts: Vec<String> = legal.iter().map(|action| self.game.action_text(&self.position, action)).collect();
        texts.sort_unstable();
        texts.join(" ")
    }

    fn has(&self, action: &str) -> bool {
        self.legal().split(' ').any(|text| text == action)
    }

    fn refusal(&self, action: &str) -> String {
        let mut position = self.position;
        let result = self.game.play_text(&mut position, action);
        result.expect_err("this action is illegal").to_string()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(&self.position)
    }
}

#[test]
fn r1_a_redeploy_is_a_turn_and_the_right_stays_open() {
    let mut table = Table::at(Jarmo::standard(), "W4/5/2b2/5/w4 w - - 0");
    assert_eq!(table.legal(), "@B1 @C1 @D1 @E1 A1-B3 A1-C2");
    table.play("A1-C2 C3-E4");
    assert!(table.has("@A1"), "another action does not cost the right");
    table.play("@B1");
    assert_eq!(table.text(), "w4/4b/5/2w2/1w3 b - C3-E4*1 3");
    table.play("E4-C3");
    assert!(!table.has("@A1"), "the mark is used up");
    assert!(table.refusal("@A1").contains("no marked archer on the goal row"));
}

#[test]
fn r2_the_marked_archer_in_the_lowest_column_loses_its_mark() {
    let mut table = Table::at(Jarmo::standard(), "1W1W1/5/2b2/5/w4 w - - 0");
    assert!(table.play("@C1").text().starts_with("1w1W1/5/2b2/5/w1w2 b"));
}

#[test]
fn r3_a_capture_can_end_the_game_for_the_captured_side() {
    // Black keeps a marked archer on its goal row and could redeploy; the game is over nevertheless.
    let mut table = Table::at(Jarmo::standard(), "5/5/1b3/5/w1B2 w - - 0");
    table.play("A1xB3");
    assert_eq!(table.outcome(), Some(Outcome::by_score([1, 2])));
    assert_eq!(table.outcome().unwrap().winner, Some(Player::Black));
    let mut table = Table::at(Jarmo::standard(), "5/5/1b3/5/w4 w - - 0");
    assert_eq!(table.play("A1xB3").outcome(), Some(Outcome::by_score([1, 0])));
}

#[test]
fn r4_a_player_without_actions_passes_and_two_passes_end_the_game() {
    let blocked = "2w2/w4/5/4b/2b2 w C3-A4*4 D4-E2*4 20";
    let mut table = Table::at(Jarmo::standard(), blocked);
    assert_eq!(table.legal(), "pass");
    assert!(table.refusal("A4-C3").contains("shuttling"));
    table.play("pass");
    assert_eq!(table.text(), "2w2/w4/5/4b/2b2 b pass D4-E2*4 21");
    assert_eq!(table.play("pass").outcome(), Some(Outcome::by_score([3, 3])));
    // A pass is another action: it frees the shuttle.
    let free = "2w2/w4/4b/5/2b2 w C3-A4*4 - 20";
    let mut table = Table::at(Jarmo::standard(), free);
    table.play("pass E3-C2");
    assert_eq!(table.legal(), "A4-C3");
    assert!(table.refusal("pass").contains("only when nothing else is"));
}

#[test]
fn r5_a_long_game_is_cut_off_as_a_draw() {
    let late = "bbbbb/5/5/5/wwwww b - - 199";
    let mut table = Table::at(Jarmo::standard(), late);
    table.play("A5-B3");
    assert_eq!(table.outcome(), Some(Outcome::truncated(Some([5, 5]))));
    assert_eq!(table.legal(), "");
    let mut table = Table::at(Jarmo::standard().with_max_plies(0), late);
    assert_eq!(table.play("A5-B3").outcome(), None);
    // A game that ends by its own rules with the last action is not cut off.
    let mut table = Table::at(Jarmo::standard(), "5/5/1b3/5/w4 w - - 199");
    assert_eq!(table.play("A1xB3").outcome(), Some(Outcome::by_score([1, 0])));
}

#[test]
fn r6_the_shuttle_is_the_players_own_and_counted_in_circles() {
    let mut table = Table::at(Jarmo::standard(), "bbbbb/5/5/5/wwwww w - - 0");
    table.play("A1-C2 A5-B3 C2-A1 B3-C3 A1-C2 C3-A4 C2-A1 A4-C3");
    assert!(!table.has("A1-C2"));
    assert!(table.has("A1-B3"));
    assert!(table.refusal("a1-c2").contains("shuttling"));
    table.play("C1-A2 C3-A4");
    assert!(table.has("A1-C2"), "any other action frees it");

    // The third of the four is a capture, and counts.
    let mut table = Table::at(Jarmo::standard(), "5/5/2b2/3b1/w4 w - - 0");
    table.play("A1-C2 C3-E4 C2-A1 D2-C2 A1xC2 E4-C3 C2-A1 C3-E4");
    assert_eq!(table.text(), "5/4b/5/5/W4 w C2-A1*4 C3-E4*2 8");
    assert_eq!(table.legal(), "A1-B3");

    // A redeploy breaks it.
    let mut table = Table::at(Jarmo::standard(), "W4/5/2b2/5/w4 w C2-A1*4 - 8");
    assert!(!table.has("A1-C2"));
    table.play("@B1 C3-E4");
    assert!(table.has("A1-C2"));
}

#[test]
fn g1_placements_come_before_or_after_the_move_and_pass_only_ends_a_turn() {
    let start = "2W2/5/2b2/5/w4 w start 2,0 2,0 0 10";
    let mut table = Table::at(Guard::standard(), start);
    assert_eq!(table.legal(), "@B1 @C1 @D1 @E1 A1-B3 A1-C2");
    assert!(table.refusal("pass").contains("only after the move"));
    table.play("@B1 A1-C2");
    assert!(table.text().starts_with("2W2/5/2b2/2w2/1w3 w moved 1,0 1,0"));
    assert_eq!(table.legal(), "@A1 @C1 @D1 @E1 pass");
    assert!(table.refusal("C2-A1").contains("move of this turn has been played"));
    let kept = Table::at(Guard::standard(), &table.text()).play("pass").text();
    assert!(kept.starts_with("2W2/5/2b2/2w2/1w3 b start 1,0 1,0 0"), "{kept}");
    let used = table.play("@A1").text();
    assert!(used.starts_with("2W2/5/2b2/2w2/ww3 b start 0,0 0,0 0"), "{used}");
}

#[test]
fn g2_an_archer_that_captures_on_its_goal_row_arrives_as_a_guard() {
    let mut table = Table::at(Guard::standard(), "4b/5/3w1/2b2/5 w start 1,0 0,0 0 10");
    table.play("D3xE5");
    assert_eq!(table.text(), "4W/5/5/2b2/5 w moved 1,1 1,0 0 11");
}

#[test]
fn g3_a_captured_guard_does_not_come_back() {
    let mut table = Table::at(Guard::standard(), "5/5/1B3/5/w3b w start 0,1 0,1 0 4");
    table.play("A1xB3");
    assert!(table.text().ends_with("b start 0,1 0,1 0 5"));
    let mut table = Table::at(Guard::standard(), "3b1/5/1B3/5/w4 w start 0,0 0,1 0 4");
    table.play("A1xB3 D5-B4 B3-C3");
    assert!(table.refusal("@A5").contains("captured guards do not return"));
}

#[test]
fn g4_the_end_of_the_game_is_checked_when_a_turn_ends() {
    let last = "5/5/3W1/2b2/5 w start 1,0 0,0 0 10";
    let mut table = Table::at(Guard::standard(), last);
    table.play("D3-E5");
    assert_eq!(table.outcome(), None, "White can still place");
    assert_eq!(table.play("pass").outcome(), Some(Outcome::by_score([2, 1])));
    let mut table = Table::at(Guard::standard(), last);
    assert_eq!(table.play("D3-E5 @A1").outcome(), None);
    // No piece left counts as all on goal circles.
    let mut table = Table::at(Guard::standard(), "5/5/1b3/5/w4 w start 0,0 0,0 0 4");
    assert_eq!(table.play("A1xB3").outcome(), Some(Outcome::by_score([1, 0])));
}

/// Guard on five separate columns, where a piece can be shut in.
fn guard_on_columns() -> Guard {
    let mut lines = Vec::new();
    for column in "ABCDE".chars() {
        lines.extend((1..5).map(|row| format!("\"{column}{row}-{column}{}\"", row + 1)));
    }
    let columns = Board::from_toml(&format!("name = \"columns\"\nlines = [{}]", lines.join(",")));
    Guard::new(columns.unwrap(), 200)
}

#[test]
fn g5_a_player_without_actions_passes_and_two_such_turns_end_the_game() {
    // On the standard board a piece that may move always can; on five separate columns it may not.
    let game = guard_on_columns();
    let mut table = Table::at(game, "w3b/w3b/w3b/w3b/w3b w start 0,0 0,0 0 8");
    assert_eq!(table.legal(), "pass");
    table.play("pass");
    assert_eq!(table.text(), "w3b/w3b/w3b/w3b/w3b b start 0,0 0,0 1 9");
    assert_eq!(table.play("pass").outcome(), Some(Outcome::by_score([6, 6])));
}

#[test]
fn g6_a_long_game_is_cut_off_as_a_draw() {
    let mut table = Table::at(Guard::standard(), "bbbbb/5/5/5/wwwww b start 0,0 0,0 0 199");
    assert_eq!(table.play("A5-B3").outcome(), Some(Outcome::truncated(Some([5, 5]))));
}

#[test]
fn t1_each_jump_is_an_action_and_only_the_jumping_piece_continues() {
    let mut table = Table::at(Tammi::standard(), "8/8/5b2/8/3b4/2w5/8/w7 w - 3 0");
    assert_eq!(table.legal(), "c3xe5");
    table.play("c3xe5");
    assert_eq!(table.text(), "8/8/5b2/4w3/3b4/8/8/w7 w e5xd4 3 1");
    assert_eq!(table.legal(), "e5xg7");
    let after = table.play("e5xg7").text();
    assert_eq!(after, "8/6w1/8/8/8/8/8/w7 b - 0 2");
    assert_eq!(table.outcome(), Some(Outcome::plain(Some(Player::White))));
    let start = Table::at(Tammi::standard(), "8/8/5b2/8/3b4/2w5/8/w7 w - 3 0");
    assert_eq!(perft(&start.game, &start.position, 1), 1, "two jumps are one turn");
}

#[test]
fn t1_jumped_pieces_block_until_the_capture_is_over() {
    // From e5 the king would reach c7 over d6, but it has jumped d4, which still stands there.
    let text = "8/8/3b4/4W3/3b4/8/8/8 w e5xd4 0 1";
    let table = Table::at(Tammi::standard(), text);
    assert_eq!(table.legal(), "e5xb8 e5xc7");
    assert!(table.refusal("e5xc3").contains("jumped twice"));
}

#[test]
fn t2_a_king_lands_anywhere_and_then_must_continue_if_it_can() {
    let text = "8/8/3b4/8/8/2b5/8/W7 w - 0 0";
    let mut table = Table::at(Tammi::standard(), text);
    assert_eq!(table.legal(), "a1xd4 a1xe5 a1xf6 a1xg7 a1xh8");
    assert!(table.play("a1xd4").text().contains(" b - 0 1"));
    let mut table = Table::at(Tammi::standard(), text);
    assert_eq!(table.play("a1xe5").legal(), "e5xb8 e5xc7");
}

#[test]
fn t3_a_king_that_can_capture_comes_before_any_man() {
    let both = "8/8/8/8/5b2/2b1w3/8/W7 w - 0 0";
    let table = Table::at(Tammi::standard(), both);
    assert_eq!(table.legal(), "a1xd4 a1xe5 a1xf6 a1xg7 a1xh8");
    assert!(table.refusal("e3xg5").contains("king"));
    let man_only = "8/8/8/8/5b2/4w3/8/W7 w - 0 0";
    let table = Table::at(Tammi::standard(), man_only);
    assert_eq!(table.legal(), "e3xg5");
    assert!(table.refusal("a1-b2").contains("compulsory"));
}

#[test]
fn t4_a_limit_of_plies_without_a_capture_draws() {
    let late = "8/8/8/8/8/b7/8/4W3 w - 29 40";
    let mut table = Table::at(Tammi::standard(), late);
    assert_eq!(table.play("e1-f2").outcome(), Some(Outcome::plain(None)));
    let mut table = Table::at(Tammi::new(31, 0), late);
    assert_eq!(table.play("e1-f2").outcome(), None);
}

#[test]
fn a_player_without_a_legal_move_has_lost_even_at_the_limit() {
    // Our reading: the rules mention the loss first but rank neither.
    let late = "8/8/8/8/8/b7/1w5w/2w5 w - 29 0";
    let mut table = Table::at(Tammi::standard(), late);
    let white_wins = Some(Outcome::plain(Some(Player::White)));
    assert_eq!(table.play("h2-g3").outcome(), white_wins);
    assert_eq!(table.legal(), "");
}

#[test]
fn a_placement_that_blocks_the_last_move_ends_the_turn_and_is_no_pass_alone() {
    let game = guard_on_columns();
    let mut table = Table::at(game, "W3b/w3b/w3b/w3b/4b w start 1,0 1,0 0 8");
    assert_eq!(table.legal(), "@A1 @B1 @C1 @D1 A2-A1");
    table.play("@A1");
    assert_eq!(table.legal(), "pass");
    table.play("pass");
    assert!(table.text().ends_with("b start 0,0 0,0 0 10"), "{}", table.text());
}

#[test]
fn t5_a_man_that_captures_onto_the_far_row_is_promoted_and_its_turn_is_over() {
    let mut table = Table::at(Tammi::standard(), "8/4b1b1/3w4/8/8/8/8/8 w - 0 0");
    table.play("d6xf8");
    assert_eq!(table.text(), "5W2/6b1/8/8/8/8/8/8 b - 0 1");
}

#[test]
fn t6_tammi_has_no_points_and_the_third_occurrence_draws() {
    let mut table = Table::at(Tammi::standard(), "5B2/8/8/8/8/8/8/2W5 w - 0 0");
    table.play("c1-d2 f8-e7 d2-c1 e7-f8 c1-d2 f8-e7 d2-c1");
    assert_eq!(table.outcome(), None);
    assert_eq!(table.play("e7-f8").outcome(), Some(Outcome::plain(None)));
    // A capture or a man's move makes earlier positions unreachable, and the count starts again.
    let mut table = Table::at(Tammi::standard(), "5B2/8/8/8/8/8/8/2W3w1 w - 0 0");
    table.play("c1-d2 f8-e7 d2-c1 e7-f8 g1-h2 f8-e7 c1-d2 e7-f8 d2-c1 f8-e7 c1-d2 e7-f8");
    assert_eq!(table.outcome(), None);
    assert_eq!(table.play("d2-c1").outcome(), Some(Outcome::plain(None)));
}
