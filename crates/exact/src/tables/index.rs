//! A dense index of all positions of equal force.
//!
//! The *force* of a position is the number of archers and marks on the board. The positions of one force are a *layer*.
//! A layer is cut into *blocks* by material and side to move; [`JarmoLayer`] gives the order. A block is a matrix:
//!
//! - the **row** encodes the circles and marks of the archers of the player *not* to move:
//!   `rank(circles) * choose(archers, marks) + rank(marks among the archers)`;
//! - the **column** encodes the same for the player to move, with circles counted among those that the
//!   opponent leaves free.
//!
//! Sets of equal size are ranked in the order of their bits read as a number. So positions that differ only in the
//! archers of the player to move share a row of a few kilobytes, which keeps the solver's updates local.

use super::subsets::{
    MOST, choose, compress, expand, next, pattern, pattern_rank, pick, places_outside, rank, unrank_below,
};
use jarmo_core::game::Player;
use jarmo_core::games::JarmoPosition;
use jarmo_core::games::board::{CIRCLES, Circles};

pub use jarmo_core::games::jarmo::MOST_FORCE;

/// The lowest force of a position in which both players have an archer.
pub const LEAST_FORCE: u32 = 2;

/// One player's archers: their circles, and which of them are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Army {
    /// Their circles, one bit each.
    pub archers: u32,
    /// The circles of the marked ones.
    pub marked: u32,
}

impl Army {
    /// The number of archers and marks.
    #[inline(always)]
    pub(super) fn material(self) -> SideMaterial {
        SideMaterial { archers: self.archers.count_ones() as u8, marks: self.marked.count_ones() as u8 }
    }
}

/// The pieces on the board and the player to move: a position without its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The player to move.
    pub mover: Player,
    /// The archers of the player to move.
    pub own: Army,
    /// The opponent's archers.
    pub enemy: Army,
}

impl Placement {
    /// The placement of a position.
    #[inline]
    pub fn of(position: &JarmoPosition) -> Placement {
        let mover = position.to_move();
        let army = |player| {
            let archers = position.archers(player);
            Army { archers: archers.0, marked: (archers & position.marked()).0 }
        };
        Placement { mover, own: army(mover), enemy: army(!mover) }
    }

    /// The position with this placement, without a history.
    pub fn position(&self) -> JarmoPosition {
        let mut archers = [Circles(self.own.archers), Circles(self.enemy.archers)];
        if self.mover == Player::Black {
            archers.swap(0, 1);
        }
        JarmoPosition::new(archers, Circles(self.own.marked | self.enemy.marked), self.mover)
    }

    /// Archers and marks together.
    #[inline(always)]
    pub fn force(&self) -> u32 {
        Material::of(self).force()
    }

    /// The same pieces with the other player to move.
    #[inline(always)]
    pub fn passed(&self) -> Placement {
        Placement { mover: !self.mover, own: self.enemy, enemy: self.own }
    }
}

/// The number of archers and marks of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideMaterial {
    /// Archers on the board.
    pub archers: u8,
    /// Marked archers among them.
    pub marks: u8,
}

impl SideMaterial {
    /// Ways to choose the marks among the archers.
    #[inline(always)]
    pub(super) fn patterns(self) -> usize {
        choose(self.archers.into(), self.marks.into())
    }

    /// Ways to place the archers and marks on this many free circles.
    pub fn placements(self, free: usize) -> usize {
        choose(free, self.archers.into()) * self.patterns()
    }
}

/// The material of both players, and the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Material {
    /// The player to move.
    pub mover: Player,
    /// The material of the player to move.
    pub own: SideMaterial,
    /// The material of the opponent.
    pub enemy: SideMaterial,
}

impl Material {
    /// The material of a placement.
    #[inline(always)]
    pub(super) fn of(placement: &Placement) -> Material {
        Material { mover: placement.mover, own: placement.own.material(), enemy: placement.enemy.material() }
    }

    /// Archers and marks together.
    #[inline(always)]
    pub(super) fn force(&self) -> u32 {
        let Material { own, enemy, .. } = self;
        u32::from(own.archers + own.marks + enemy.archers + enemy.marks)
    }

    /// A unique number below [`MATERIALS`].
    #[inline(always)]
    fn key(&self) -> usize {
        const SIX: usize = MOST + 1;
        let side = |material: SideMaterial| usize::from(material.archers) * SIX + usize::from(material.marks);
        (self.mover.index() * SIX * SIX + side(self.own)) * SIX * SIX + side(self.enemy)
    }
}

const MATERIALS: usize = 2 * (MOST + 1).pow(4);

/// All positions with the same material, as a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The material of its positions, and the player to move.
    pub material: Material,
    /// The index of its first position in the layer.
    pub start: usize,
    /// The same, counting only positions with the same player to move.
    pub start_of_side: usize,
    /// Placements of the player not to move.
    pub rows: usize,
    /// Placements of the player to move in each row.
    pub columns: usize,
}

impl Block {
    /// The number of positions.
    pub fn size(&self) -> usize {
        self.rows * self.columns
    }

    /// The placement in this row and column.
    pub fn placement(&self, row: usize, column: usize) -> Placement {
        let Material { mover, own, enemy } = self.material;
        let enemy = army(enemy, row, 0);
        Placement { mover, own: army(own, column, enemy.archers), enemy }
    }

    /// Visits the placements of a row, with their columns.
    #[inline(always)]
    pub fn each_of_row(&self, row: usize, mut visit: impl FnMut(usize, &Placement)) {
        let Material { mover, own, enemy } = self.material;
        let enemy = army(enemy, row, 0);
        let places = places_outside(enemy.archers);
        let mut set = (1_u32 << own.archers) - 1;
        for first in (0..self.columns).step_by(own.patterns()) {
            let archers = expand(set, &places);
            let mut pattern = (1_u32 << own.marks) - 1;
            for column in first..first + own.patterns() {
                let own_army = Army { archers, marked: pick(pattern, archers) };
                visit(column, &Placement { mover, own: own_army, enemy });
                if own.marks > 0 {
                    pattern = next(pattern);
                }
            }
            set = next(set);
        }
    }
}

/// The number of an army with these archers and this pattern of marks, which is its row or column in a block. See [`army`].
#[inline(always)]
pub(super) fn number_of(material: SideMaterial, archers: u32, marks: u32) -> usize {
    rank(archers, material.archers.into()) * material.patterns() + pattern_rank(marks)
}

/// The layer of all positions of one force, cut into blocks.
///
/// Blocks come in the order of White's archers, Black's archers, White's marks, then White to move
/// before Black to move. The force then determines Black's marks.
#[derive(Clone, Debug)]
pub struct JarmoLayer {
    /// Archers plus marks in every position of the layer.
    pub force: u32,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// The number of positions.
    pub size: usize,
    by_key: Vec<u8>, // by material: the index of the block, or NO_BLOCK
}

const NO_BLOCK: u8 = u8::MAX;

impl JarmoLayer {
    /// The layer of this force.
    ///
    /// # Panics
    /// Panics unless the force is 2 to 10.
    pub fn new(force: u32) -> JarmoLayer {
        assert!((LEAST_FORCE..=MOST_FORCE).contains(&force), "the force must be 2 to 10");
        let mut layer = JarmoLayer { force, blocks: Vec::new(), by_key: vec![NO_BLOCK; MATERIALS], size: 0 };
        let most = MOST as u8;
        for white in 1..=most {
            for black in 1..=most {
                for marks in 0..=white {
                    let Some(rest) = (force as u8).checked_sub(white + black + marks) else {
                        continue;
                    };
                    if rest <= black {
                        layer.push([(white, marks), (black, rest)]);
                    }
                }
            }
        }
        layer
    }

    fn push(&mut self, sides: [(u8, u8); 2]) {
        let [white, black] = sides.map(|(archers, marks)| SideMaterial { archers, marks });
        for mover in Player::BOTH {
            let (own, enemy) = match mover {
                Player::White => (white, black),
                Player::Black => (black, white),
            };
            let material = Material { mover, own, enemy };
            let block = Block {
                material,
                start: self.size,
                start_of_side: self.size_of_side(mover),
                rows: enemy.placements(CIRCLES),
                columns: own.placements(CIRCLES - usize::from(enemy.archers)),
            };
            self.by_key[material.key()] = self.blocks.len() as u8;
            self.size += block.size();
            self.blocks.push(block);
        }
    }

    /// The number of positions with this player to move, in the blocks so far.
    fn size_of_side(&self, mover: Player) -> usize {
        self.blocks.iter().filter(|block| block.material.mover == mover).map(Block::size).sum()
    }

    /// The index of the block with this material, if this layer has one.
    #[inline(always)]
    pub(super) fn block_of(&self, material: &Material) -> Option<usize> {
        let number = *self.by_key.get(material.key())?;
        (number != NO_BLOCK).then_some(number.into())
    }

    /// The index of a placement; `None` if it has another force or a player has no archer.
    #[inline]
    pub fn index(&self, placement: &Placement) -> Option<usize> {
        let (number, within) = self.place(placement)?;
        Some(self.blocks[number].start + within)
    }

    /// The index of a placement, counting only those with the same player to move; there are as many for either player.
    /// `None` if it has another force or a player has no archer.
    #[inline(always)]
    pub fn index_of_side(&self, placement: &Placement) -> Option<usize> {
        let (number, within) = self.place(placement)?;
        Some(self.blocks[number].start_of_side + within)
    }

    /// The block of a placement and its place there; `None` if it has another force or a player has no archer.
    #[inline(always)]
    pub(super) fn place(&self, placement: &Placement) -> Option<(usize, usize)> {
        let material = Material::of(placement);
        if usize::from(material.own.archers.max(material.enemy.archers)) > MOST {
            return None;
        }
        let number = self.block_of(&material)?;
        let Placement { own, enemy, .. } = *placement;
        let row = number_of(material.enemy, enemy.archers, pattern(enemy.marked, enemy.archers));
        let free = compress(own.archers, enemy.archers);
        let column = number_of(material.own, free, pattern(own.marked, own.archers));
        Some((number, row * self.blocks[number].columns + column))
    }

    /// The placement with this index.
    ///
    /// # Panics
    /// Panics unless the index is below the size of the layer.
    pub fn placement(&self, index: usize) -> Placement {
        assert!(index < self.size, "the layer has fewer positions");
        let number = self.blocks.partition_point(|block| block.start <= index) - 1;
        let block = &self.blocks[number];
        block.placement((index - block.start) / block.columns, (index - block.start) % block.columns)
    }
}

/// The army with this number, on the circles outside `taken`.
pub fn army(material: SideMaterial, number: usize, taken: u32) -> Army {
    let set = unrank_below(CIRCLES, number / material.patterns(), material.archers.into());
    let archers = expand(set, &places_outside(taken));
    let marks = unrank_below(CIRCLES, number % material.patterns(), material.marks.into());
    Army { archers, marked: pick(marks, archers) }
}
