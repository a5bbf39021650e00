//! A dense index of all tammi placements of equal force.
//!
//! The *force* of a position is the number of pieces on the board. A placement is the board as the player
//! to move sees it, so it stands for two positions: one with White to move, and the same with the colours
//! exchanged and the board turned. The index of a placement is a number in several digits:
//!
//! 1. its *block*: men and kings of each side, and how many of the opponent's men stand on their first row;
//! 2. the opponent's men elsewhere, then those on their first row;
//! 3. the mover's men among the squares that are left for them;
//! 4. the mover's kings, then the opponent's, among the squares that are left.
//!
//! Men are never on the row where they become kings. The opponent's first row is that row for the mover, so the
//! number of men there decides how many squares the mover's men can have. That is why it belongs to the block.

use std::ops::RangeInclusive;

use crate::tables::solvable::Layer;
use crate::tables::subsets::{choose, compress, rank_of, spread, unrank_below};
use jarmo_core::game::Player;
use jarmo_core::games::TammiPosition;
use jarmo_core::games::tammi::SQUARES;

/// Pieces on the board for which tables can be built.
pub(crate) const FORCES: RangeInclusive<u32> = 2..=5;

const MOST: usize = *FORCES.end() as usize;
const ROW: usize = 4; // squares of a row
const INNER: usize = SQUARES - 2 * ROW; // squares where men of both sides can be
const FIRST_ROW: u32 = 0xf000_0000; // the opponent's, in the mover's view
const KEYS: usize = (MOST + 1).pow(4) * (ROW + 1);
const NO_BLOCK: u8 = u8::MAX;

/// The numbers of pieces that the placements of a block share.
#[derive(Clone, Copy, Debug)]
struct Material {
    own: [usize; 2],   // men, kings
    enemy: [usize; 2], // men, kings
    first_row: usize,  // of the opponent's men
}

impl Material {
    /// The material of a board: own pieces, enemy pieces, kings of both.
    #[inline]
    fn of([own, enemy, kings]: [u32; 3]) -> Material {
        let count = |set: u32| set.count_ones() as usize;
        Material {
            own: [count(own & !kings), count(own & kings)],
            enemy: [count(enemy & !kings), count(enemy & kings)],
            first_row: count(enemy & !kings & FIRST_ROW),
        }
    }

    /// A unique number below `KEYS`.
    #[inline]
    fn key(&self) -> usize {
        let key = self.own.into_iter().chain(self.enemy).fold(0, |key, count| key * (MOST + 1) + count);
        key * (ROW + 1) + self.first_row
    }

    /// The number of values of each digit of the index.
    fn digits(&self) -> [usize; 5] {
        let inner = self.enemy[0] - self.first_row;
        let free = SQUARES - self.own[0] - self.enemy[0];
        [
            choose(INNER, inner),
            choose(ROW, self.first_row),
            choose(INNER + ROW - inner, self.own[0]),
            choose(free, self.own[1]),
            choose(free - self.own[1], self.enemy[1]),
        ]
    }
}

#[derive(Clone, Debug)]
struct Block {
    material: Material,
    start: usize,
    digits: [usize; 5],
}

/// The placements of one force.
#[derive(Clone, Debug)]
pub struct TammiLayer {
    force: u32,
    blocks: Vec<Block>,
    by_key: Vec<u8>, // by material: the index of the block, or NO_BLOCK
    size: usize,
}

impl TammiLayer {
    fn push(&mut self, material: Material) {
        let digits = material.digits();
        self.by_key[material.key()] = self.blocks.len() as u8;
        self.blocks.push(Block { material, start: self.size, digits });
        self.size += digits.iter().product::<usize>();
    }

    /// The index of a board in the mover's view: own pieces, enemy pieces, kings of both. `None` if it has another
    /// force or a player has no piece.
    #[inline]
    pub(super) fn index_of_board(&self, board: [u32; 3]) -> Option<usize> {
        let [own, enemy, kings] = board;
        if (own | enemy).count_ones() != self.force {
            return None;
        }
        let number = self.by_key[Material::of(board).key()];
        let block = self.blocks.get(usize::from(number))?;
        let [own_men, enemy_men] = [own & !kings, enemy & !kings];
        let men = own_men | enemy_men;
        let digits = [
            rank_of((enemy_men & !FIRST_ROW) >> ROW),
            rank_of(enemy_men >> (INNER + ROW)),
            rank_of(compress(own_men, enemy_men)),
            rank_of(compress(own & kings, men)),
            rank_of(compress(enemy & kings, men | own)),
        ];
        let number = block.digits.iter().zip(digits);
        let inside = number.fold(0, |number, (values, digit)| number * values + digit);
        Some(block.start + inside)
    }

    /// The board with this index, in the mover's view: own pieces, enemy pieces, kings of both.
    pub(super) fn board(&self, index: usize) -> [u32; 3] {
        assert!(index < self.size, "the layer has fewer placements");
        let number = self.blocks.partition_point(|block| block.start <= index) - 1;
        let Block { material, start, digits: values } = &self.blocks[number];
        let mut rest = index - start;
        let mut digits = [0; 5];
        for (digit, values) in digits.iter_mut().zip(values).rev() {
            *digit = rest % values;
            rest /= values;
        }
        let set = |digit: usize, size| unrank_below(SQUARES, digits[digit], size);
        let enemy_men =
            set(0, material.enemy[0] - material.first_row) << ROW | set(1, material.first_row) << (INNER + ROW);
        let own_men = spread(set(2, material.own[0]), enemy_men);
        let men = own_men | enemy_men;
        let own_kings = spread(set(3, material.own[1]), men);
        let enemy_kings = spread(set(4, material.enemy[1]), men | own_kings);
        [own_men | own_kings, enemy_men | enemy_kings, own_kings | enemy_kings]
    }
}

impl Layer for TammiLayer {
    type Position = TammiPosition;

    fn new(force: u32) -> TammiLayer {
        assert!(FORCES.contains(&force), "no tables have this force");
        let mut layer = TammiLayer { force, blocks: Vec::new(), by_key: vec![NO_BLOCK; KEYS], size: 0 };
        let force = force as usize;
        for own in 1..force {
            let enemy = force - own;
            for own_kings in 0..=own {
                for enemy_kings in 0..=enemy {
                    for first_row in 0..=ROW.min(enemy - enemy_kings) {
                        layer.push(Material {
                            own: [own - own_kings, own_kings],
                            enemy: [enemy - enemy_kings, enemy_kings],
                            first_row,
                        });
                    }
                }
            }
        }
        layer
    }

    fn force(&self) -> u32 {
        self.force
    }

    fn size(&self) -> usize {
        self.size
    }

    /// The index of the placement; `None` also while a capture is in progress.
    #[inline]
    fn index_of(&self, position: &TammiPosition) -> Option<usize> {
        let [own, enemy, kings, _] = position.mover_view();
        match position.jumper() {
            None => self.index_of_board([own, enemy, kings]),
            Some(_) => None,
        }
    }

    /// One of the two positions of the placement: with White to move where the index is even.
    fn position_at(&self, index: usize) -> TammiPosition {
        TammiPosition::of_mover_view(self.board(index), Player::BOTH[index % 2])
    }

    /// The placements of the player to move, of either colour.
    fn sides(&self) -> Vec<(Option<Player>, std::ops::Range<usize>)> {
        vec![(None, 0..self.size)]
    }
}
