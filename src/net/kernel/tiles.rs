//! The tile unit of AMX: whether it may be used, how its registers are shaped, and the one product
//! that they are for. The instructions are spelled out, since stable Rust has no names for them.

use std::arch::asm;
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::marker::PhantomData;
use std::mem::offset_of;
use std::sync::OnceLock;

use super::bf16::Bf16;
use super::{LANES, Term};

/// Rows of a tile.
pub(super) const ROWS: usize = 16;

/// Inputs that a tile holds for each of its rows.
pub(super) const DEPTH: usize = 32;

/// Columns of a [`Block`]: two tiles beside each other.
pub(super) const COLUMNS: usize = 2 * LANES;

const LINE: usize = 64; // bytes of a row of a tile
const PITCH: usize = COLUMNS * size_of::<f32>(); // bytes from one row of sums to the next

/// The tile unit of this processor. Holding one proves that this process may use it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit(());

impl Unit {
    /// The unit, if processor and system allow it. The first call asks Linux to let this process use
    /// tiles; where it refuses, and on all other systems, there is none.
    ///
    /// The permission is the process's, for all its threads, those already running too: Linux looks
    /// it up when a thread first touches a tile, and then sets room aside to save the thread's tiles in.
    pub(super) fn detect() -> Option<Unit> {
        static ALLOWED: OnceLock<bool> = OnceLock::new();
        let allowed = *ALLOWED.get_or_init(|| built_in() && switched_on() && permitted());
        allowed.then_some(Unit(()))
    }
}

/// Whether the processor has tiles and their bf16 product.
fn built_in() -> bool {
    const TILES: u32 = 1 << 24;
    const BF16: u32 = 1 << 22;
    // Leaf 7 is there wherever AVX2 is, and leaf 0 everywhere.
    is_x86_feature_detected!("avx2") && __cpuid_count(7, 0).edx & (TILES | BF16) == TILES | BF16
}

/// Whether the system saves tiles, shapes and contents, when it switches threads.
fn switched_on() -> bool {
    const TILES: u64 = 1 << 17 | 1 << 18;
    // SAFETY: the processor has the instruction, and the system has enabled it: `avx2` and `xsave`
    // are only detected with its help.
    is_x86_feature_detected!("xsave") && unsafe { _xgetbv(0) } & TILES == TILES
}

/// Asks the system for the permission to use tiles.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let answer: usize;
    // SAFETY: this call reads and writes no memory of ours. It may only make the frames of signals
    // larger, and is refused if a thread's signal stack is too small for them.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

/// How other systems are asked is not known here.
#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

/// What `ldtilecfg` reads.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16], // by tile; eight of them exist
    rows: [u8; 16],
}

/// The tiles of this thread, shaped for one product: 0 to 3 for sums, 4 and 5 for inputs, 6 and 7
/// for weights. Dropping them releases the tiles.
pub(super) struct Tiles(PhantomData<*const ()>); // stays on its thread

impl Tiles {
    /// Tiles for so many rows, and so many inputs in each step.
    ///
    /// # Safety
    /// No other `Tiles` lives on this thread.
    ///
    /// # Panics
    /// Panics if a tile is too small for that, or if a step is no whole number of pairs.
    pub(super) unsafe fn shape(_: Unit, rows: usize, depth: usize) -> Tiles {
        assert!((1..=ROWS).contains(&rows), "rows of a tile");
        assert!((2..=DEPTH).contains(&depth), "inputs of a tile");
        assert!(depth.is_multiple_of(2), "inputs in pairs");
        let mut shapes = Shapes {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            row_bytes: [0; 16],
            rows: [0; 16],
        };
        shapes.row_bytes[..8].fill(LINE as u16);
        shapes.row_bytes[4..6].fill((depth * size_of::<Bf16>()) as u16);
        shapes.rows[..6].fill(rows as u8);
        shapes.rows[6..8].fill((depth / 2) as u8);
        // SAFETY: a `Unit` proves that the instruction is there and allowed; it reads 64 bytes, and
        // the shapes are valid as checked above.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, readonly));
        }
        Tiles(PhantomData)
    }

    /// Multiplies a block and stores its sums.
    ///
    /// In each step the pairs of inputs are multiplied and added up in their order, even and odd
    /// inputs apart, then both are added to the sum: for each row by itself.
    ///
    /// # Safety
    /// With the rows and the depth of [`Tiles::shape`]: for each term from `block.terms` to
    /// `block.end`, inputs of that many rows, and weights for all steps, lie where the block says.
    pub(super) unsafe fn multiply(&self, block: &Block, sums: &mut Sums) {
        // SAFETY: the tiles are shaped, and all reads lie in what the caller promises. The stores fill
        // at most `2 * ROWS` rows of `PITCH` bytes, which is what `sums` has. No tile carries anything
        // from one call to the next, and the compiler uses none for itself.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "mov {term}, [{block} + {TERMS}]",
                "mov {lower}, [{block} + {LOWER}]",
                "mov {right}, [{block} + {RIGHT}]",
                "mov {row}, [{block} + {ROW}]",
                "mov {line}, [{block} + {WEIGHTS_LINE}]",
                // The next term: its inputs and its matrix.
                "2:",
                "cmp {term}, [{block} + {END}]",
                "jae 4f",
                "mov {input}, [{term} + {TERM_INPUT}]",
                "add {input}, {input}",
                "add {input}, [{block} + {INPUT}]",
                "mov {weights}, [{term} + {TERM_TAP}]",
                "imul {weights}, [{block} + {MATRIX}]",
                "add {weights}, [{block} + {WEIGHTS}]",
                "lea {stop}, [{input} + {row}]",
                "add {term}, {TERM}",
                // The next inputs of every row.
                "3:",
                "cmp {input}, {stop}",
                "jae 2b",
                "tileloadd tmm4, [{input} + {row}*1]",
                "tileloadd tmm6, [{weights} + {line}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "lea {other}, [{weights} + {right}]",
                "tileloadd tmm7, [{other} + {line}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "lea {other}, [{input} + {lower}]",
                "tileloadd tmm5, [{other} + {row}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {input}, [{block} + {INPUT_STEP}]",
                "add {weights}, [{block} + {WEIGHTS_STEP}]",
                "jmp 3b",
                "4:",
                "mov {other:e}, {PITCH}",
                "tilestored [{sums} + {other}*1], tmm0",
                "tilestored [{sums} + {other}*1 + {LINE}], tmm1",
                "tilestored [{sums} + {other}*1 + {BELOW}], tmm2",
                "tilestored [{sums} + {other}*1 + {BELOW} + {LINE}], tmm3",
                block = in(reg) block,
                sums = in(reg) sums,
                term = out(reg) _,
                input = out(reg) _,
                weights = out(reg) _,
                stop = out(reg) _,
                other = out(reg) _,
                lower = out(reg) _,
                right = out(reg) _,
                row = out(reg) _,
                line = out(reg) _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                TERMS = const offset_of!(Block, terms),
                END = const offset_of!(Block, end),
                INPUT = const offset_of!(Block, input),
                LOWER = const offset_of!(Block, lower),
                ROW = const offset_of!(Block, row),
                INPUT_STEP = const offset_of!(Block, input_step),
                WEIGHTS = const offset_of!(Block, weights),
                RIGHT = const offset_of!(Block, right),
                WEIGHTS_LINE = const offset_of!(Block, line),
                WEIGHTS_STEP = const offset_of!(Block, weights_step),
                MATRIX = const offset_of!(Block, matrix),
                TERM = const size_of::<Term>(),
                TERM_TAP = const offset_of!(Term, tap),
                TERM_INPUT = const offset_of!(Term, input),
                PITCH = const PITCH,
                LINE = const LINE,
                BELOW = const ROWS * PITCH,
                options(nostack),
            );
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: there was a `Unit`, and nobody else on this thread has shaped tiles.
        unsafe {
            asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, nomem),
            );
        }
    }
}

/// Two tiles of rows times two tiles of columns: where their inputs and weights are. Distances are
/// in bytes.
#[repr(C)]
pub(super) struct Block {
    /// The first term.
    pub(super) terms: *const Term,
    /// The end of the terms.
    pub(super) end: *const Term,
    /// The first row of the upper tile, for a term whose input starts at 0.
    pub(super) input: *const Bf16,
    /// From the upper tile to the lower one.
    pub(super) lower: usize,
    /// From one row of inputs to the next: all inputs of a row.
    pub(super) row: usize,
    /// From the inputs of one step to those of the next.
    pub(super) input_step: usize,
    /// The first matrix of the panel.
    pub(super) weights: *const Bf16,
    /// From the left tile to the right one; 0 if there is only one, which is then computed twice.
    pub(super) right: usize,
    /// From one pair of inputs to the next.
    pub(super) line: usize,
    /// From the weights of one step to those of the next.
    pub(super) weights_step: usize,
    /// From one matrix to the next.
    pub(super) matrix: usize,
}

/// The sums of a block: the upper tiles' rows, then from row [`ROWS`] on the lower tiles'.
#[repr(C, align(64))]
pub(super) struct Sums([[f32; COLUMNS]; 2 * ROWS]);

impl Sums {
    /// Room for the sums of a block.
    pub(super) fn new() -> Sums {
        Sums([[0.0; COLUMNS]; 2 * ROWS])
    }

    /// A row: of the upper tiles, or of the lower ones.
    pub(super) fn row(&self, lower: bool, row: usize) -> &[f32; COLUMNS] {
        &self.0[usize::from(lower) * ROWS + row]
    }
}
